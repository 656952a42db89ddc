/* own.c - see own.h. */
#include "own.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

bool own_init(own_prototype *own, const char *name, const char *version,
              PyObject *start)
{
    *own = (own_prototype){.name = strdup(name),
                           .version = version != NULL ? strdup(version) : NULL,
                           .start = Py_NewRef(start)};
    const bool ok =
        own->name != NULL && (version == NULL || own->version != NULL);
    if (!ok)
        PyErr_NoMemory();
    return ok;
}

void own_clear(own_prototype *own)
{
    free(own->name);
    free(own->version);
    Py_XDECREF(own->start);
    Py_XDECREF(own->failure);
    *own = (own_prototype){0};
}

/* ---- exceptions -----------------------------------------------------------*/

/* Keeps the exception that is set, if it is the first. */
static tarry_status keep_failure(own_prototype *own)
{
    PyObject *type, *value, *trace;
    PyErr_Fetch(&type, &value, &trace);
    PyErr_NormalizeException(&type, &value, &trace);
    if (trace != NULL)
        PyException_SetTraceback(value, trace);
    if (own->failure == NULL)
        own->failure = Py_XNewRef(value);
    Py_XDECREF(type);
    Py_XDECREF(value);
    Py_XDECREF(trace);
    return TARRY_CANCELLED;
}

bool own_raise(own_prototype *own)
{
    PyObject *failure = own->failure;
    if (failure == NULL)
        return false;
    own->failure = NULL;
    PyErr_SetObject((PyObject *)Py_TYPE(failure), failure);
    Py_DECREF(failure);
    return true;
}

/* ---- a run ----------------------------------------------------------------*/

typedef struct {
    own_prototype *own;
    size_t n_arms;
    PyObject *object;
    PyObject *choose, *observe, *certify, *draw; /* its methods, or NULL */
    PyObject *random;
} run;

static void drop(run *r)
{
    Py_XDECREF(r->object);
    Py_XDECREF(r->choose);
    Py_XDECREF(r->observe);
    Py_XDECREF(r->certify);
    Py_XDECREF(r->draw);
    Py_XDECREF(r->random);
    free(r);
}

static void end(void *state)
{
    PyGILState_STATE gil = PyGILState_Ensure();
    drop(state);
    PyGILState_Release(gil);
}

static PyObject *begin_object(const own_prototype *own,
                              const tarry_problem *problem)
{
    const size_t bytes = problem->n_arms * problem->dim * sizeof(double);
    return PyObject_CallFunction(
        own->start, "y#nnKKk", (const char *)problem->arms, (Py_ssize_t)bytes,
        (Py_ssize_t)problem->n_arms, (Py_ssize_t)problem->dim,
        (unsigned long long)problem->horizon, (unsigned long long)problem->seed,
        (unsigned long)problem->run);
}

/* NULL: an exception is set. */
static run *begin(own_prototype *own, const tarry_problem *problem)
{
    run *r = calloc(1, sizeof *r);
    if (r == NULL) {
        PyErr_NoMemory();
        return NULL;
    }
    r->own = own;
    r->n_arms = problem->n_arms;
    r->object = begin_object(own, problem);
    if (r->object != NULL)
        return r;
    drop(r);
    return NULL;
}

static tarry_status give(own_prototype *own, run *r, void **state)
{
    if (!PyErr_Occurred()) {
        *state = r;
        return TARRY_OK;
    }
    if (r != NULL)
        drop(r);
    return keep_failure(own);
}

/* ---- policies -------------------------------------------------------------*/

static tarry_status start_policy(void *context, const tarry_problem *problem,
                                 void **state)
{
    own_prototype *own = context;
    PyGILState_STATE gil = PyGILState_Ensure();
    run *r = begin(own, problem);
    if (r != NULL && (r->choose = PyObject_GetAttrString(r->object, "choose")))
        r->observe = PyObject_GetAttrString(r->object, "observe");
    if (r != NULL && r->observe != NULL &&
        (r->certify = PyObject_GetAttrString(r->object, "certify")) == NULL)
        PyErr_Clear(); /* asked for only if it is there */
    const tarry_status status = give(own, r, state);
    PyGILState_Release(gil);
    return status;
}

static bool read_arm(const run *r, uint64_t round, PyObject *answer,
                     size_t *arm)
{
    *arm = SIZE_MAX;
    PyObject *index = answer != NULL ? PyNumber_Index(answer) : NULL;
    if (index == NULL)
        return false;
    const Py_ssize_t number = PyNumber_AsSsize_t(index, NULL);
    Py_DECREF(index);
    if (number >= 0 && (size_t)number < r->n_arms) {
        *arm = (size_t)number;
        return true;
    }
    PyErr_Format(PyExc_ValueError, "%s: arm %zd of %zu chosen in round %llu",
                 r->own->name, number, r->n_arms, (unsigned long long)round);
    return false;
}

static tarry_status choose(void *state, uint64_t round, size_t *arm)
{
    run *r = state;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *number = PyLong_FromUnsignedLongLong(round);
    PyObject *answer =
        number != NULL ? PyObject_CallOneArg(r->choose, number) : NULL;
    const tarry_status status =
        read_arm(r, round, answer, arm) ? TARRY_OK : keep_failure(r->own);
    Py_XDECREF(number);
    Py_XDECREF(answer);
    PyGILState_Release(gil);
    return status;
}

/* f(round, arm, loss) or f(round, arm, loss, more). */
static PyObject *call(PyObject *f, uint64_t round, size_t arm, double loss,
                      PyObject *more)
{
    PyObject *args[] = {PyLong_FromUnsignedLongLong(round),
                        PyLong_FromSize_t(arm), PyFloat_FromDouble(loss), more};
    PyObject *answer = NULL;
    if (args[0] != NULL && args[1] != NULL && args[2] != NULL)
        answer = PyObject_Vectorcall(f, args, more != NULL ? 4 : 3, NULL);
    for (int i = 0; i < 3; i++)
        Py_XDECREF(args[i]);
    return answer;
}

static tarry_status observe(void *state, uint64_t round, size_t arm,
                            double loss)
{
    run *r = state;
    PyGILState_STATE gil = PyGILState_Ensure();
    PyObject *answer = call(r->observe, round, arm, loss, NULL);
    const tarry_status status =
        answer != NULL ? TARRY_OK : keep_failure(r->own);
    Py_XDECREF(answer);
    PyGILState_Release(gil);
    return status;
}

static bool read_certificate(const run *r, PyObject *answer, size_t *arm,
                             double *gap)
{
    *gap = NAN;
    if (answer == Py_None)
        return true;
    PyObject *pair = answer != NULL ? PySequence_Tuple(answer) : NULL;
    bool ok = pair != NULL && PyTuple_GET_SIZE(pair) == 2 &&
              read_arm(r, 0, PyTuple_GET_ITEM(pair, 0), arm);
    if (ok)
        *gap = PyFloat_AsDouble(PyTuple_GET_ITEM(pair, 1));
    else if (!PyErr_Occurred())
        PyErr_Format(PyExc_TypeError, "%s: certify answers (arm, gap) or None",
                     r->own->name);
    Py_XDECREF(pair);
    return !PyErr_Occurred();
}

static tarry_status certify(void *state, size_t *arm, double *gap)
{
    run *r = state;
    PyGILState_STATE gil = PyGILState_Ensure();
    *arm = 0;
    PyObject *answer = PyObject_CallNoArgs(r->certify);
    const tarry_status status =
        read_certificate(r, answer, arm, gap) ? TARRY_OK : keep_failure(r->own);
    Py_XDECREF(answer);
    PyGILState_Release(gil);
    return status;
}

tarry_own_policy own_policy_record(own_prototype *own, bool certifies)
{
    return (tarry_own_policy){.name = own->name,
                              .version = own->version,
                              .context = own,
                              .start = start_policy,
                              .choose = choose,
                              .observe = observe,
                              .certify = certifies ? certify : NULL,
                              .end = end};
}

/* ---- laws of delays -------------------------------------------------------*/

/* Streams from here on are the law's. */
enum { FIRST_STREAM = 32 };

static tarry_status start_law(void *context, const tarry_problem *problem,
                              void **state, bool many)
{
    own_prototype *own = context;
    const tarry_random nowhere = {0};
    PyGILState_STATE gil = PyGILState_Ensure();
    run *r = begin(own, problem);
    if (r != NULL && (r->random = random_new(&nowhere, 0)) != NULL)
        r->draw = PyObject_GetAttrString(r->object, many ? "_block" : "draw");
    const tarry_status status = give(own, r, state);
    PyGILState_Release(gil);
    return status;
}

static tarry_status start_single(void *context, const tarry_problem *problem,
                                 void **state)
{
    return start_law(context, problem, state, false);
}

static tarry_status start_many(void *context, const tarry_problem *problem,
                               void **state)
{
    return start_law(context, problem, state, true);
}

/* None and infinity are "never"; fractions are cut off. */
static bool read_delay(const run *r, PyObject *answer, uint64_t *delay)
{
    *delay = TARRY_NEVER;
    if (answer == NULL || answer == Py_None)
        return answer != NULL;
    const double rounds = PyFloat_AsDouble(answer);
    if (PyErr_Occurred())
        return false;
    if (!(rounds >= 0)) {
        PyErr_Format(PyExc_ValueError, "%s: not a delay: '%S'", r->own->name,
                     answer);
        return false;
    }
    if (rounds < 0x1p63)
        *delay = (uint64_t)rounds;
    return true;
}

static tarry_status draw(void *state, uint64_t round, size_t arm, double loss,
                         const tarry_random *at, uint64_t *delay)
{
    run *r = state;
    tarry_random first = *at;
    first.stream = FIRST_STREAM;
    PyGILState_STATE gil = PyGILState_Ensure();
    random_move(r->random, &first, 0);
    PyObject *answer = call(r->draw, round, arm, loss, r->random);
    const tarry_status status =
        read_delay(r, answer, delay) ? TARRY_OK : keep_failure(r->own);
    Py_XDECREF(answer);
    PyGILState_Release(gil);
    return status;
}

/* Delays from an array of float64 or int64 in one pass; false: one is below 0
 * or nan. */
static bool take_floats(const double *from, size_t count, uint64_t *delay)
{
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        const bool is_delay = from[i] >= 0; /* nan is none */
        ok &= is_delay;
        delay[i] = is_delay && from[i] < 0x1p63 ? (uint64_t)(int64_t)from[i]
                                                : TARRY_NEVER;
    }
    return ok;
}

static bool take_counts(const int64_t *from, size_t count, uint64_t *delay)
{
    bool ok = true;
    for (size_t i = 0; i < count; i++) {
        ok &= from[i] >= 0;
        delay[i] = (uint64_t)from[i];
    }
    return ok;
}

static bool take_delays(const run *r, const Py_buffer *view, size_t places,
                        uint64_t *delay)
{
    if (view->itemsize != 8 || (size_t)view->len != places * 8) {
        PyErr_Format(PyExc_ValueError, "%s: %zd bytes for %zu delays",
                     r->own->name, view->len, places);
        return false;
    }
    if (view->format[0] == 'd' ? take_floats(view->buf, places, delay)
                               : take_counts(view->buf, places, delay))
        return true;
    PyErr_Format(PyExc_ValueError, "%s: a delay below 0, or nan", r->own->name);
    return false;
}

/* Bytes, or None in place of NULL. */
static PyObject *bytes_or_none(const void *data, size_t size)
{
    return data != NULL ? PyBytes_FromStringAndSize(data, (Py_ssize_t)size)
                        : Py_NewRef(Py_None);
}

/* Delays of `count` rounds in n columns: for the arms listed, for all (NULL),
 * or one for any. */
typedef struct {
    size_t count, n;
    const size_t *arm;
    const double *loss; /* NULL: they do not depend on it */
    uint64_t *delay;
} block;

/* object._block(first round, count, arms or None, losses or None, random)
 * answers an array with as many numbers as `delay` has places. */
static bool draw_block(run *r, const tarry_random *at, const block *b)
{
    const size_t cells = b->count * b->n;
    Py_buffer view;
    PyObject *arms = bytes_or_none(b->arm, b->n * sizeof *b->arm);
    PyObject *losses = bytes_or_none(b->loss, cells * sizeof *b->loss);
    PyObject *answer =
        arms != NULL && losses != NULL
            ? PyObject_CallFunction(
                  r->draw, "KnOOO", (unsigned long long)at->round,
                  (Py_ssize_t)b->count, arms, losses, r->random)
            : NULL;
    bool ok = answer != NULL &&
              PyObject_GetBuffer(answer, &view,
                                 PyBUF_C_CONTIGUOUS | PyBUF_FORMAT) == 0;
    if (ok) {
        ok = take_delays(r, &view, cells, b->delay);
        PyBuffer_Release(&view);
    }
    Py_XDECREF(arms);
    Py_XDECREF(losses);
    Py_XDECREF(answer);
    return ok;
}

static tarry_status draw_columns(run *r, const tarry_random *at, const block *b)
{
    tarry_random first = *at;
    first.stream = FIRST_STREAM;
    PyGILState_STATE gil = PyGILState_Ensure();
    random_move(r->random, &first, (Py_ssize_t)b->count);
    const tarry_status status =
        draw_block(r, &first, b) ? TARRY_OK : keep_failure(r->own);
    PyGILState_Release(gil);
    return status;
}

static tarry_status draw_rounds(void *state, size_t count,
                                const tarry_random *at, const double *loss,
                                uint64_t *delay)
{
    const block b = {count, 1, NULL, loss, delay};
    return draw_columns(state, at, &b);
}

static tarry_status draw_all_arms(void *state, size_t count,
                                  const tarry_random *at, const double *loss,
                                  uint64_t *delay)
{
    run *r = state;
    const block b = {count, r->n_arms, NULL, loss, delay};
    return draw_columns(r, at, &b);
}

static tarry_status draw_arms(void *state, size_t count, const tarry_random *at,
                              size_t n, const size_t *arm, const double *loss,
                              uint64_t *delay)
{
    const block b = {count, n, arm, loss, delay};
    return draw_columns(state, at, &b);
}

tarry_delay_law own_law_record(own_prototype *own,
                               tarry_delay_dependence depends, own_hook hook)
{
    tarry_delay_law law = {
        .name = own->name,
        .version = own->version,
        .depends = depends,
        .context = own,
        .start = hook == OWN_DRAW ? start_single : start_many,
        .end = end,
    };
    if (hook == OWN_DRAW)
        law.draw = draw;
    else if (depends == TARRY_DELAY_BY_NOTHING)
        law.draw_many = draw_rounds;
    else if (hook == OWN_DRAW_MANY)
        law.draw_many = draw_all_arms;
    else
        law.draw_arms = draw_arms;
    return law;
}
