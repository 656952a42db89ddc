/* policy.c - the type behind tarry.Policy.
 *
 * Ids: a choice is named by its round or by a text of the user's.  Texts are
 * kept with their choices, so that the same text gets the same answer.  The
 * losses of the last rounds reported are kept too, to tell the same loss once
 * more (harmless) from another one.
 *
 * Threads: a policy has a lock, since long calls let other threads run.  It is
 * never held while Python code runs: neither what makes an exception nor, where
 * objects are made, what the collection of garbage calls. */
#include "binding.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "policy/reports.h"

enum { MEMORY = 1 << 20, CHUNK = 2048, DUPLICATE = 255 };

typedef struct {
    uint64_t round; /* 0: free */
    double loss;
} report;

typedef struct {
    PyObject_HEAD tarry_policy *policy; /* NULL until __init__ */
    PyThread_type_lock lock;
    PyObject *names; /* tuple of texts, or NULL */
    PyObject *ids;   /* dict from text to (round, arm, probability), or NULL */
    uint64_t last;   /* the round of the last choice */
    report *reports; /* at round modulo n_reports, the latest */
    size_t n_reports;
    unsigned forks; /* of the process, when the lock was taken last */
} policy_object;

/* ---- the lock -------------------------------------------------------------*/

static unsigned forks; /* that this process is away from the first */

static void count_fork(void)
{
    forks++;
}

/* Waits for another thread; false: it stayed in the process that this one is a
 * copy of, and has left the policy in the middle of something. */
static bool wait_for_lock(policy_object *self)
{
    if (self->forks != forks)
        return false;
    PyThreadState *thread = PyEval_SaveThread();
    PyThread_acquire_lock(self->lock, WAIT_LOCK);
    PyEval_RestoreThread(thread);
    return true;
}

/* False: an exception is set. */
static bool enter(policy_object *self)
{
    if (!PyThread_acquire_lock(self->lock, NOWAIT_LOCK) &&
        !wait_for_lock(self)) {
        fail(TARRY_BAD_STATE, "another thread was using this policy when the "
                              "process was forked");
        return false;
    }
    self->forks = forks;
    if (self->policy != NULL)
        return true;
    PyThread_release_lock(self->lock);
    fail(TARRY_BAD_ARGUMENT, "this policy was never made: no __init__");
    return false;
}

static void leave(policy_object *self)
{
    PyThread_release_lock(self->lock);
}

/* Where objects were made with the lock, and PyGC_Disable before: a finalizer
 * may ask the same policy. */
static void leave_and_collect(policy_object *self, bool collects)
{
    leave(self);
    if (collects)
        PyGC_Enable();
}

/* ---- what was reported ----------------------------------------------------*/

static void put_report(policy_object *self, uint64_t round, double loss)
{
    self->reports[round % self->n_reports] = (report){round, loss};
}

/* Without memory for more, older ones are forgotten sooner. */
static void grow_reports(policy_object *self, uint64_t round)
{
    const size_t old_count = self->n_reports;
    report *old = self->reports;
    size_t count = old_count > 0 ? old_count : 64;
    while (count < MEMORY && count <= round)
        count *= 2;
    report *grown = count > old_count ? calloc(count, sizeof *grown) : NULL;
    if (grown == NULL)
        return;
    self->reports = grown;
    self->n_reports = count;
    for (size_t i = 0; i < old_count; i++)
        if (old[i].round > 0)
            put_report(self, old[i].round, old[i].loss);
    free(old);
}

static void remember(policy_object *self, uint64_t round, double loss)
{
    if (round >= self->n_reports && self->n_reports < MEMORY)
        grow_reports(self, round);
    if (self->n_reports > 0 &&
        self->reports[round % self->n_reports].round <= round)
        put_report(self, round, loss);
}

static bool was_reported(const policy_object *self, uint64_t round, double loss)
{
    if (self->n_reports == 0)
        return false;
    const report *r = &self->reports[round % self->n_reports];
    return r->round == round && r->loss == loss;
}

/* As tarry_policy_observe; DUPLICATE: the same loss once more. */
static int take_report(policy_object *self, uint64_t round, double loss)
{
    const tarry_status status = tarry_policy_observe(self->policy, round, loss);
    if (status == TARRY_OK || status == TARRY_LATE || status == TARRY_EXPIRED ||
        status == TARRY_CORRECTED)
        remember(self, round, loss);
    if (status == TARRY_REPORTED_TWICE && was_reported(self, round, loss))
        return DUPLICATE;
    return status;
}

/* ---- choose ---------------------------------------------------------------*/

static PyObject *name_of(const policy_object *self, size_t arm)
{
    if (self->names == NULL || arm >= (size_t)PyTuple_GET_SIZE(self->names))
        return Py_None;
    return PyTuple_GET_ITEM(self->names, (Py_ssize_t)arm);
}

static tarry_status take_choice(policy_object *self, choice *c)
{
    c->probability = NAN;
    const tarry_status status =
        tarry_policy_choose(self->policy, &c->round, &c->arm);
    if (status == TARRY_OK)
        self->last = c->round;
    return status;
}

static PyObject *choose_next(policy_object *self)
{
    choice c;
    if (!enter(self))
        return NULL;
    const tarry_status status = take_choice(self, &c);
    leave(self);
    return status == TARRY_OK ? choice_new(&c, (PyObject *)self, NULL,
                                           name_of(self, c.arm), false)
                              : fail(status, NULL);
}

/* ---- texts as ids ---------------------------------------------------------*/

static bool keep_id(const policy_object *self, PyObject *id, const choice *c)
{
    PyObject *line = Py_BuildValue("KKd", (unsigned long long)c->round,
                                   (unsigned long long)c->arm, c->probability);
    const bool ok = line != NULL && PyDict_SetItem(self->ids, id, line) == 0;
    Py_XDECREF(line);
    return ok;
}

/* False: not known, or an exception is set. */
static bool find_id(const policy_object *self, PyObject *id, choice *c)
{
    unsigned long long round, arm;
    PyObject *line =
        self->ids != NULL ? PyDict_GetItemWithError(self->ids, id) : NULL;
    if (line == NULL ||
        !PyArg_ParseTuple(line, "KKd", &round, &arm, &c->probability))
        return false;
    c->round = round;
    c->arm = arm;
    return true;
}

/* With the lock held, so that a text is never given two choices. */
static PyObject *choose_once(policy_object *self, PyObject *id,
                             tarry_status *status)
{
    choice c;
    const bool repeated = find_id(self, id, &c);
    if (PyErr_Occurred())
        return NULL;
    *status = repeated ? TARRY_OK : take_choice(self, &c);
    if (*status != TARRY_OK || (!repeated && !keep_id(self, id, &c)))
        return NULL;
    return choice_new(&c, isnan(c.probability) ? (PyObject *)self : NULL, id,
                      name_of(self, c.arm), repeated);
}

static PyObject *choose_named(policy_object *self, PyObject *id)
{
    PyObject *made = NULL;
    tarry_status status = TARRY_OK;
    if (!PyUnicode_Check(id) || PyUnicode_GET_LENGTH(id) == 0)
        return PyErr_Format(PyExc_TypeError, "an id is a text, not %R", id);
    PyObject *ids = self->ids == NULL ? PyDict_New() : NULL;
    if (self->ids == NULL) /* nor has a finalizer made it */
        self->ids = ids;
    else
        Py_XDECREF(ids);
    if (self->ids == NULL)
        return NULL;
    PyObject *text = PyUnicode_FromObject(id); /* no class of the user's */
    if (text != NULL && enter(self)) {
        const bool collects = PyGC_Disable();
        made = choose_once(self, text, &status);
        leave_and_collect(self, collects);
    }
    Py_XDECREF(text);
    return status == TARRY_OK ? made : fail(status, NULL);
}

static PyObject *choose(PyObject *object, PyObject *const *args,
                        Py_ssize_t count, PyObject *keys)
{
    policy_object *self = (policy_object *)object;
    const Py_ssize_t all = count + (keys != NULL ? PyTuple_GET_SIZE(keys) : 0);
    if (all == 0)
        return choose_next(self);
    if (all > 1 || (count == 0 && PyUnicode_CompareWithASCIIString(
                                      PyTuple_GET_ITEM(keys, 0), "id") != 0))
        return PyErr_Format(PyExc_TypeError, "choose() takes an id, if any");
    return args[0] == Py_None ? choose_next(self) : choose_named(self, args[0]);
}

double policy_probability(PyObject *object, uint64_t round, PyObject *id)
{
    policy_object *self = (policy_object *)object;
    choice c;
    tarry_status status = TARRY_UNKNOWN_ROUND;
    if (!enter(self)) {
        PyErr_Clear();
        return NAN;
    }
    if (self->last == round) {
        PyThreadState *thread = PyEval_SaveThread();
        status = tarry_policy_probability(self->policy, &c.probability);
        PyEval_RestoreThread(thread);
    }
    leave(self);
    const double probability = status == TARRY_OK ? c.probability : NAN;
    if (id != NULL && find_id(self, id, &c) && status == TARRY_OK) {
        c.probability = probability;
        keep_id(self, id, &c);
    }
    PyErr_Clear();
    return probability;
}

/* choose_many(rounds, arms, probabilities or None): fills the arrays; how many
 * were chosen before the horizon. */
static tarry_status choose_chunk(policy_object *self, uint64_t *round,
                                 uint64_t *arm, double *probability,
                                 Py_ssize_t *done, Py_ssize_t end)
{
    tarry_status status = TARRY_OK;
    for (; status == TARRY_OK && *done < end; *done += status == TARRY_OK) {
        choice c;
        status = take_choice(self, &c);
        if (status != TARRY_OK)
            break;
        round[*done] = c.round;
        arm[*done] = c.arm;
        if (probability != NULL &&
            tarry_policy_probability(self->policy, &probability[*done]) !=
                TARRY_OK)
            probability[*done] = NAN;
    }
    return status;
}

static PyObject *choose_arrays(policy_object *self, const Py_buffer *round,
                               const Py_buffer *arm,
                               const Py_buffer *probability)
{
    const Py_ssize_t count = round->shape[0];
    const Py_ssize_t chunk = probability != NULL ? CHUNK / 64 : CHUNK;
    tarry_status status = TARRY_OK;
    Py_ssize_t done = 0;
    if (arm->shape[0] != count ||
        (probability != NULL && probability->shape[0] != count))
        return PyErr_Format(PyExc_ValueError, "arrays of different lengths");
    while (status == TARRY_OK && done < count) {
        const Py_ssize_t end = count - done > chunk ? done + chunk : count;
        if (!enter(self))
            return NULL;
        PyThreadState *thread = PyEval_SaveThread();
        status = choose_chunk(self, round->buf, arm->buf,
                              probability != NULL ? probability->buf : NULL,
                              &done, end);
        PyEval_RestoreThread(thread);
        leave(self);
        if (PyErr_CheckSignals() != 0)
            return NULL;
    }
    return status == TARRY_OK || done > 0 ? PyLong_FromSsize_t(done)
                                          : fail(status, NULL);
}

static PyObject *choose_many(PyObject *self, PyObject *args)
{
    PyObject *o[3], *answer = NULL;
    Py_buffer view[3];
    int n = 0;
    if (!PyArg_ParseTuple(args, "OOO", &o[0], &o[1], &o[2]))
        return NULL;
    const int wanted = o[2] == Py_None ? 2 : 3;
    while (n < wanted && view_array(o[n], n < 2 ? "Q" : "d", 1, true, &view[n]))
        n++;
    if (n == wanted)
        answer = choose_arrays((policy_object *)self, &view[0], &view[1],
                               n == 3 ? &view[2] : NULL);
    while (n > 0)
        PyBuffer_Release(&view[--n]);
    return answer;
}

/* ---- observe --------------------------------------------------------------*/

static bool read_round(const policy_object *self, PyObject *id, uint64_t *round)
{
    if (PyLong_CheckExact(id)) {
        *round = PyLong_AsUnsignedLongLong(id);
        if (!PyErr_Occurred())
            return true;
    } else if (PyUnicode_Check(id)) {
        choice c;
        if (find_id(self, id, &c)) {
            *round = c.round;
            return true;
        }
    } else {
        PyObject *index = PyNumber_Index(id);
        const bool ok = index != NULL && read_round(self, index, round);
        Py_XDECREF(index);
        return ok;
    }
    if (PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_OverflowError))
        return false;
    PyErr_Clear();
    fail_value(TARRY_UNKNOWN_ROUND, id);
    return false;
}

static PyObject *word_ok, *word_late, *word_duplicate, *word_corrected;

static PyObject *observe_one(policy_object *self, PyObject *id, PyObject *value)
{
    uint64_t round;
    const double loss = PyFloat_AsDouble(value);
    if ((loss == -1 && PyErr_Occurred()) || !read_round(self, id, &round) ||
        !enter(self))
        return NULL;
    const int result = take_report(self, round, loss);
    leave(self);
    switch (result) {
    case TARRY_OK:
        return Py_NewRef(word_ok);
    case TARRY_LATE:
    case TARRY_EXPIRED:
        return Py_NewRef(word_late);
    case DUPLICATE:
        return Py_NewRef(word_duplicate);
    case TARRY_CORRECTED:
        return Py_NewRef(word_corrected);
    default:
        return fail_value((tarry_status)result,
                          result == TARRY_BAD_LOSS ? value : id);
    }
}

static PyObject *observe(PyObject *self, PyObject *const *args,
                         Py_ssize_t count, PyObject *keys)
{
    PyObject *given[2] = {NULL, NULL};
    static const char *const names[] = {"id", "loss"};
    const Py_ssize_t named = keys != NULL ? PyTuple_GET_SIZE(keys) : 0;
    bool ok = count + named == 2;
    for (Py_ssize_t i = 0; ok && i < 2; i++) {
        Py_ssize_t at = i;
        if (i >= count) {
            PyObject *key = PyTuple_GET_ITEM(keys, i - count);
            at = PyUnicode_CompareWithASCIIString(key, names[0]) == 0 ? 0 : 1;
            ok = PyUnicode_CompareWithASCIIString(key, names[at]) == 0;
        }
        ok = ok && given[at] == NULL;
        given[at] = args[i];
    }
    if (!ok)
        return PyErr_Format(PyExc_TypeError,
                            "observe() takes an id and a loss");
    return observe_one((policy_object *)self, given[0], given[1]);
}

/* observe_many(rounds, losses, results): fills the results with statuses, or
 * DUPLICATE. */
static void observe_chunk(policy_object *self, const uint64_t *round,
                          const double *loss, uint8_t *result, Py_ssize_t count)
{
    for (Py_ssize_t i = 0; i < count; i++)
        result[i] = (uint8_t)take_report(self, round[i], loss[i]);
}

static PyObject *observe_arrays(policy_object *self, const Py_buffer *round,
                                const Py_buffer *loss, const Py_buffer *result)
{
    const Py_ssize_t count = round->shape[0];
    if (loss->shape[0] != count || result->shape[0] != count)
        return PyErr_Format(PyExc_ValueError, "arrays of different lengths");
    for (Py_ssize_t i = 0; i < count; i += CHUNK) {
        const Py_ssize_t n = count - i > CHUNK ? CHUNK : count - i;
        if (!enter(self))
            return NULL;
        PyThreadState *thread = PyEval_SaveThread();
        observe_chunk(self, (uint64_t *)round->buf + i, (double *)loss->buf + i,
                      (uint8_t *)result->buf + i, n);
        PyEval_RestoreThread(thread);
        leave(self);
        if (PyErr_CheckSignals() != 0)
            return NULL;
    }
    Py_RETURN_NONE;
}

static PyObject *observe_many(PyObject *self, PyObject *args)
{
    static const char *const types[] = {"Q", "d", "B"};
    PyObject *o[3], *answer = NULL;
    Py_buffer view[3];
    int n = 0;
    if (!PyArg_ParseTuple(args, "OOO", &o[0], &o[1], &o[2]))
        return NULL;
    while (n < 3 && view_array(o[n], types[n], 1, n == 2, &view[n]))
        n++;
    if (n == 3)
        answer =
            observe_arrays((policy_object *)self, &view[0], &view[1], &view[2]);
    while (n > 0)
        PyBuffer_Release(&view[--n]);
    return answer;
}

/* ---- other fates of choices, arms that come and go ------------------------*/

static PyObject *settle(PyObject *object, PyObject *id,
                        tarry_status (*f)(tarry_policy *, uint64_t))
{
    policy_object *self = (policy_object *)object;
    uint64_t round;
    if (!read_round(self, id, &round) || !enter(self))
        return NULL;
    const tarry_status status = f(self->policy, round);
    leave(self);
    if (status != TARRY_OK && status != TARRY_EXPIRED)
        return fail_value(status, id);
    Py_RETURN_NONE;
}

static PyObject *cancel(PyObject *self, PyObject *id)
{
    return settle(self, id, tarry_policy_cancel);
}

static PyObject *expire(PyObject *self, PyObject *id)
{
    return settle(self, id, tarry_policy_expire);
}

static PyObject *apply_default(PyObject *self, PyObject *id)
{
    return settle(self, id, tarry_policy_apply_default);
}

/* The names of `count` arms and one behind them, which may be None: arms
 * without a name are called by their numbers.  NULL: an exception is set. */
static PyObject *longer_names(const policy_object *self, size_t count,
                              PyObject *name)
{
    const Py_ssize_t last = (Py_ssize_t)count;
    const Py_ssize_t known =
        self->names != NULL ? PyTuple_GET_SIZE(self->names) : 0;
    PyObject *names = PyTuple_New(last + 1);
    for (Py_ssize_t i = 0; names != NULL && i <= last; i++) {
        PyObject *text = i == last && name != Py_None ? Py_NewRef(name)
                         : i < known
                             ? Py_NewRef(PyTuple_GET_ITEM(self->names, i))
                             : PyUnicode_FromFormat("%zd", i);
        if (text != NULL)
            PyTuple_SET_ITEM(names, i, text);
        else
            Py_CLEAR(names);
    }
    return names;
}

/* The last of these names is none of the others. */
static bool has_own_last(PyObject *names)
{
    const Py_ssize_t last = PyTuple_GET_SIZE(names) - 1;
    Py_ssize_t i = 0;
    while (i < last && PyUnicode_Compare(PyTuple_GET_ITEM(names, i),
                                         PyTuple_GET_ITEM(names, last)) != 0)
        i++;
    return i == last;
}

/* With the lock held, so that an arm and its name come together.  NULL, or why
 * it is refused; an exception may be set. */
static const char *admit_named(policy_object *self, const Py_buffer *features,
                               PyObject *name, size_t *arm,
                               tarry_status *status)
{
    tarry_policy_status s;
    PyObject *names = NULL;
    *status = tarry_policy_get_status(self->policy, &s);
    if (*status != TARRY_OK)
        return NULL;
    *status = TARRY_BAD_ARGUMENT;
    const bool has_none = features->shape[0] == 0;
    if (!has_none && (size_t)features->shape[0] != s.dim)
        return "an arm needs as many features as the others have";
    if ((name != Py_None || self->names != NULL) &&
        (names = longer_names(self, s.n_arms, name)) == NULL)
        return NULL;
    if (names != NULL && !has_own_last(names)) {
        fail_about(TARRY_BAD_ARGUMENT, "there is an arm of the name",
                   PyTuple_GET_ITEM(names, PyTuple_GET_SIZE(names) - 1));
        Py_DECREF(names);
        return NULL;
    }
    *status =
        tarry_policy_admit(self->policy, has_none ? NULL : features->buf, arm);
    if (*status == TARRY_OK && names != NULL) {
        PyObject *before = self->names;
        self->names = names;
        names = before;
    }
    Py_XDECREF(names); /* texts only */
    return NULL;
}

/* admit(features, name or None) */
static PyObject *admit(PyObject *object, PyObject *args)
{
    policy_object *self = (policy_object *)object;
    PyObject *features, *name;
    tarry_status status;
    Py_buffer view;
    size_t arm = 0;
    if (!PyArg_ParseTuple(args, "OO", &features, &name))
        return NULL;
    if (name != Py_None && !PyUnicode_CheckExact(name))
        return PyErr_Format(PyExc_TypeError, "a name is a text, not %R", name);
    if (!view_array(features, "d", 1, false, &view))
        return NULL;
    if (!enter(self)) {
        PyBuffer_Release(&view);
        return NULL;
    }
    const bool collects = PyGC_Disable();
    const char *why = admit_named(self, &view, name, &arm, &status);
    leave_and_collect(self, collects);
    PyBuffer_Release(&view);
    if (PyErr_Occurred())
        return NULL;
    return status == TARRY_OK ? PyLong_FromSize_t(arm) : fail(status, why);
}

static PyObject *withdraw(PyObject *object, PyObject *number)
{
    policy_object *self = (policy_object *)object;
    uint64_t arm;
    if (!read_count(number, "arm", &arm) || !enter(self))
        return NULL;
    const tarry_status status = tarry_policy_withdraw(self->policy, arm);
    leave(self);
    if (status != TARRY_OK)
        return fail_value(status, number);
    Py_RETURN_NONE;
}

/* ---- what it knows --------------------------------------------------------*/

static PyObject *append(PyObject *list, PyObject *item)
{
    if (list == NULL || item == NULL || PyList_Append(list, item) != 0)
        Py_CLEAR(list);
    Py_XDECREF(item);
    return list;
}

static PyObject *active_list(const tarry_policy_status *s)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < s->n_active; i++)
        list = append(list, PyLong_FromUnsignedLong(s->active[i]));
    return list;
}

static PyObject *available_list(const tarry_policy_status *s)
{
    PyObject *list = PyList_New(0);
    const size_t count = s->available != NULL ? s->n_available : s->n_arms;
    for (size_t i = 0; list != NULL && i < count; i++)
        list = append(list, PyLong_FromSize_t(
                                s->available != NULL ? s->available[i] : i));
    return list;
}

static PyObject *plan_list(const tarry_policy_status *s)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < s->n_plan; i++)
        list = append(
            list, Py_BuildValue(
                      "{s:n, s:d, s:K, s:K}", "arm", (Py_ssize_t)s->plan[i].arm,
                      "weight", s->plan[i].weight, "target",
                      (unsigned long long)s->plan[i].target, "observed",
                      (unsigned long long)s->plan[i].observed));
    return list;
}

static PyObject *estimate_list(const tarry_policy_status *s)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < s->n_active && s->n_estimates > 0;
         i++) {
        const tarry_estimate *e = &s->estimates[s->active[i]];
        list = append(list, Py_BuildValue("{s:I, s:d, s:d}", "arm",
                                          (unsigned)s->active[i], "lower",
                                          e->lower, "upper", e->upper));
    }
    return list;
}

static PyObject *status_dict(const tarry_policy_status *s)
{
    char reports[TARRY__REPORTS_ROOM];
    tarry__reports_print(s, reports);
    PyObject *best =
        s->best_known ? PyLong_FromSize_t(s->best) : Py_NewRef(Py_None);
    return Py_BuildValue(
        "{s:s, s:K, s:K, s:K, s:d, s:K, s:N, s:N, s:K, s:K, s:K, s:K, s:K, "
        "s:K, s:O, s:N, s:N, s:n, s:n, s:(dd), s:O, s:K, s:N, s:d, s:K, s:K, "
        "s:z, s:O, s:O, s:z, s:K, s:K, s:s, s:z}",
        "policy", s->name, "round", s->round, "horizon", s->horizon, "phase",
        s->phase, "epsilon", s->epsilon, "phase_start", s->phase_start,
        "active", active_list(s), "best", best, "pending", s->pending,
        "pending_max", s->pending_max, "used", s->used, "ignored", s->ignored,
        "late", s->late, "first_phase_rounds", s->first_phase_rounds,
        "horizon_too_short",
        s->horizon > 0 && s->first_phase_rounds > s->horizon ? Py_True
                                                             : Py_False,
        "plan", plan_list(s), "estimates", estimate_list(s), "n_arms",
        (Py_ssize_t)s->n_arms, "dim", (Py_ssize_t)s->dim, "range", s->low,
        s->high, "maximize", s->maximize ? Py_True : Py_False, "seed", s->seed,
        "available", available_list(s), "confidence", s->confidence, "expired",
        s->expired, "cancelled", s->cancelled, "description", s->description,
        "beyond_horizon", s->beyond_horizon ? Py_True : Py_False, "intercept",
        s->intercept ? Py_True : Py_False, "default_outcome",
        s->default_outcome, "defaulted", s->defaulted, "corrected",
        s->corrected, "reports", reports, "silence", tarry__reports_advice(s));
}

static PyObject *get_status(PyObject *object, PyObject *unused)
{
    policy_object *self = (policy_object *)object;
    tarry_policy_status status;
    (void)unused;
    if (!enter(self))
        return NULL;
    const bool collects = PyGC_Disable();
    const tarry_status read = tarry_policy_get_status(self->policy, &status);
    PyObject *dict = read == TARRY_OK ? status_dict(&status) : NULL;
    leave_and_collect(self, collects);
    return read == TARRY_OK ? dict : fail(read, NULL);
}

static PyObject *get_arms(PyObject *object, PyObject *unused)
{
    policy_object *self = (policy_object *)object;
    tarry_policy_status s;
    (void)unused;
    if (!enter(self))
        return NULL;
    const tarry_status read = tarry_policy_get_status(self->policy, &s);
    PyObject *bytes = read == TARRY_OK
                          ? PyBytes_FromStringAndSize(
                                (const char *)s.arms,
                                (Py_ssize_t)(s.n_arms * s.dim * sizeof *s.arms))
                          : NULL;
    leave(self);
    return read == TARRY_OK ? bytes : fail(read, NULL);
}

/* The arm and the bound, or None for the latter. */
static PyObject *certify(PyObject *object, PyObject *unused)
{
    policy_object *self = (policy_object *)object;
    size_t arm;
    double gap;
    tarry_status status;
    (void)unused;
    if (!enter(self))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    status = tarry_policy_certify(self->policy, &arm, &gap);
    PyEval_RestoreThread(thread);
    leave(self);
    if (status == TARRY_OK)
        return Py_BuildValue("nd", (Py_ssize_t)arm, gap);
    return status == TARRY_BAD_ARGUMENT
               ? Py_BuildValue("nO", (Py_ssize_t)arm, Py_None)
               : fail(status, NULL);
}

/* The oldest `most` outstanding choices, (rounds, arms) as bytes. */
static PyObject *get_pending(PyObject *object, PyObject *args)
{
    policy_object *self = (policy_object *)object;
    unsigned long long most;
    if (!PyArg_ParseTuple(args, "K", &most) || !enter(self))
        return NULL;
    tarry_policy_status s = {0};
    tarry_status status = tarry_policy_get_status(self->policy, &s);
    const size_t room = (size_t)(most < s.pending ? most : s.pending);
    PyObject *bytes = PyBytes_FromStringAndSize(
        NULL, (Py_ssize_t)(room * sizeof(tarry_pending)));
    if (status == TARRY_OK && bytes != NULL && room > 0)
        tarry_policy_pending(self->policy,
                             (tarry_pending *)(void *)PyBytes_AS_STRING(bytes),
                             room);
    leave(self);
    return bytes;
}

/* choose_in(features): refused, in the library's words. */
static PyObject *choose_in(PyObject *object, PyObject *features)
{
    policy_object *self = (policy_object *)object;
    uint64_t round;
    size_t arm;
    tarry_error error = {""};
    (void)features;
    if (!enter(self))
        return NULL;
    const tarry_status status =
        tarry_policy_choose_in(self->policy, NULL, 0, &round, &arm, &error);
    leave(self);
    return fail(status, error.text);
}

/* ---- saving ---------------------------------------------------------------*/

static PyObject *save_state(PyObject *object, PyObject *path)
{
    policy_object *self = (policy_object *)object;
    PyObject *bytes;
    tarry_error error;
    tarry_status status;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    if (!enter(self)) {
        Py_DECREF(bytes);
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    status = tarry_policy_save(self->policy, PyBytes_AS_STRING(bytes), &error);
    PyEval_RestoreThread(thread);
    leave(self);
    Py_DECREF(bytes);
    if (status != TARRY_OK)
        return fail(status, error.text);
    Py_RETURN_NONE;
}

/* The reports as bytes. */
static PyObject *report_bytes(const policy_object *self)
{
    size_t count = 0;
    for (size_t i = 0; i < self->n_reports; i++)
        count += self->reports[i].round > 0;
    PyObject *bytes = PyBytes_FromStringAndSize(
        NULL, (Py_ssize_t)(count * sizeof *self->reports));
    for (size_t i = 0, at = 0; bytes != NULL && i < self->n_reports; i++)
        if (self->reports[i].round > 0)
            memcpy(PyBytes_AS_STRING(bytes) + at++ * sizeof *self->reports,
                   &self->reports[i], sizeof *self->reports);
    return bytes;
}

static PyObject *copy_ids(const policy_object *self)
{
    return self->ids != NULL ? PyDict_Copy(self->ids) : PyDict_New();
}

/* snapshot(): (state, reports, ids, names), all of one moment. */
static PyObject *take_snapshot(PyObject *object, PyObject *unused)
{
    policy_object *self = (policy_object *)object;
    PyObject *answer = NULL;
    void *state = NULL;
    size_t size = 0;
    (void)unused;
    if (!enter(self))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    const tarry_status status = tarry_policy_pack(self->policy, &state, &size);
    PyEval_RestoreThread(thread);
    const bool collects = PyGC_Disable();
    if (status == TARRY_OK)
        answer = Py_BuildValue("y#NNO", state, (Py_ssize_t)size,
                               report_bytes(self), copy_ids(self),
                               self->names != NULL ? self->names : Py_None);
    leave_and_collect(self, collects);
    tarry_policy_pack_free(state);
    return status == TARRY_OK ? answer : fail(status, NULL);
}

static PyObject *take_over(policy_object *self, tarry_policy *policy)
{
    if (self->policy != NULL) {
        tarry_policy_free(policy);
        return fail(TARRY_BAD_ARGUMENT, "this policy is made already");
    }
    self->policy = policy;
    Py_RETURN_NONE;
}

/* In place of __init__. */
static PyObject *unpack_state(PyObject *object, PyObject *bytes)
{
    tarry_error error;
    tarry_policy *policy;
    if (!PyBytes_Check(bytes))
        return PyErr_Format(PyExc_TypeError, "bytes are needed");
    PyThreadState *thread = PyEval_SaveThread();
    const tarry_status status =
        tarry_policy_unpack(PyBytes_AS_STRING(bytes),
                            (size_t)PyBytes_GET_SIZE(bytes), &policy, &error);
    PyEval_RestoreThread(thread);
    return status == TARRY_OK ? take_over((policy_object *)object, policy)
                              : fail(status, error.text);
}

/* In place of __init__. */
static PyObject *restore_state(PyObject *object, PyObject *path)
{
    policy_object *self = (policy_object *)object;
    PyObject *bytes;
    tarry_error error;
    tarry_policy *policy;
    tarry_status status;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    status = tarry_policy_restore(PyBytes_AS_STRING(bytes), &policy, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(bytes);
    return status == TARRY_OK ? take_over(self, policy)
                              : fail(status, error.text);
}

static PyObject *set_reports(PyObject *object, PyObject *bytes)
{
    policy_object *self = (policy_object *)object;
    if (!PyBytes_Check(bytes))
        return PyErr_Format(PyExc_TypeError, "bytes are needed");
    if (!enter(self))
        return NULL;
    const size_t count = (size_t)PyBytes_GET_SIZE(bytes) / sizeof(report);
    for (size_t i = 0; i < count; i++) {
        report r;
        memcpy(&r, PyBytes_AS_STRING(bytes) + i * sizeof r, sizeof r);
        if (r.round > 0)
            remember(self, r.round, r.loss);
    }
    leave(self);
    Py_RETURN_NONE;
}

static PyObject *get_ids(PyObject *object, PyObject *unused)
{
    const policy_object *self = (policy_object *)object;
    (void)unused;
    return copy_ids(self);
}

static PyObject *add_id(PyObject *object, PyObject *args)
{
    policy_object *self = (policy_object *)object;
    PyObject *id;
    unsigned long long round, arm;
    double probability;
    if (!PyArg_ParseTuple(args, "UKKd", &id, &round, &arm, &probability))
        return NULL;
    if (self->ids == NULL && (self->ids = PyDict_New()) == NULL)
        return NULL;
    const choice c = {round, arm, probability};
    if (!keep_id(self, id, &c))
        return NULL;
    Py_RETURN_NONE;
}

/* ---- the type -------------------------------------------------------------*/

static PyObject *get_names(PyObject *self, void *unused)
{
    PyObject *names = ((policy_object *)self)->names;
    (void)unused;
    return Py_NewRef(names != NULL ? names : Py_None);
}

static int set_names(PyObject *object, PyObject *value, void *unused)
{
    policy_object *self = (policy_object *)object;
    PyObject *names = NULL;
    (void)unused;
    if (value != NULL && value != Py_None) {
        if ((names = PySequence_Tuple(value)) == NULL)
            return -1;
        for (Py_ssize_t i = 0; i < PyTuple_GET_SIZE(names); i++)
            if (!PyUnicode_Check(PyTuple_GET_ITEM(names, i))) {
                Py_DECREF(names);
                PyErr_SetString(PyExc_TypeError, "names are texts");
                return -1;
            }
    }
    Py_XSETREF(self->names, names);
    return 0;
}

static PyObject *new_policy(PyTypeObject *type, PyObject *args, PyObject *named)
{
    (void)args;
    (void)named;
    policy_object *self = (policy_object *)type->tp_alloc(type, 0);
    if (self != NULL && (self->lock = PyThread_allocate_lock()) == NULL) {
        Py_DECREF(self);
        return PyErr_NoMemory();
    }
    return (PyObject *)self;
}

/* make(description, settings, arms, horizon, confidence, seed, run, low, high,
 * maximize, beyond_horizon) */
static PyObject *make(PyObject *object, PyObject *args)
{
    policy_object *self = (policy_object *)object;
    const char *description;
    PyObject *arms, *horizon, *seed, *run;
    uint64_t number;
    Py_buffer view;
    tarry_error error;
    tarry_policy *policy;
    tarry_status status;
    tarry_policy_params p = tarry_policy_defaults();
    if (!PyArg_ParseTuple(args, "ssOOdOOddpp", &description, &p.settings, &arms,
                          &horizon, &p.confidence, &seed, &run, &p.low, &p.high,
                          &p.maximize, &p.beyond_horizon) ||
        !read_count(horizon, "horizon", &p.horizon) ||
        !read_count(seed, "seed", &p.seed) ||
        !read_count(run, "run", &number) ||
        !view_array(arms, "d", 2, false, &view))
        return NULL;
    if (number > UINT32_MAX) {
        PyBuffer_Release(&view);
        return fail_about(TARRY_BAD_ARGUMENT, "run: not from 0 to 4294967295",
                          run);
    }
    p.run = (uint32_t)number;
    p.n_arms = (size_t)view.shape[0];
    p.dim = (size_t)view.shape[1];
    p.arms = view.buf;
    PyThreadState *thread = PyEval_SaveThread();
    status = tarry_policy_create(description, &p, &policy, &error);
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&view);
    if (status != TARRY_OK)
        return fail(status, error.text);
    if (self->policy != NULL) {
        tarry_policy_free(policy);
        return fail(TARRY_BAD_ARGUMENT, "this policy is made already");
    }
    self->policy = policy;
    Py_RETURN_NONE;
}

static void end(PyObject *object)
{
    policy_object *self = (policy_object *)object;
    tarry_policy_free(self->policy);
    if (self->lock != NULL)
        PyThread_free_lock(self->lock);
    Py_XDECREF(self->names);
    Py_XDECREF(self->ids);
    free(self->reports);
    Py_TYPE(object)->tp_free(object);
}

#define FAST(f) (PyCFunction)(void (*)(void)) f, METH_FASTCALL | METH_KEYWORDS

static PyMethodDef methods[] = {
    {"choose", FAST(choose),
     "choose($self, /, id=None)\n--\n\n"
     "Picks the next arm.  With a text as id the choice bears it, and the same "
     "text\nagain gets the same answer."},
    {"observe", FAST(observe),
     "observe($self, /, id, loss)\n--\n\n"
     "Reports the loss (the reward, of a policy that maximizes) of an earlier "
     "choice,\nin any order, any time later.  Answers 'ok', 'late' (of an "
     "earlier phase),\n'duplicate' (the same loss once more) or 'corrected' "
     "(it replaces the\n"
     "default outcome)."},
    {"cancel", cancel, METH_O,
     "cancel($self, id, /)\n--\n\n"
     "The choice was never put into effect; what it was planned for is planned "
     "again."},
    {"apply_default", apply_default, METH_O,
     "apply_default($self, id, /)\n--\n\n"
     "The choice has reached the age of the default outcome, if that is a "
     "time;\nages in rounds are looked after by choose()."},
    {"expire", expire, METH_O,
     "expire($self, id, /)\n--\n\n"
     "The loss is taken as never coming.  Should it come all the same, "
     "observe()\ntakes it in and answers 'late'."},
    {"_admit", admit, METH_VARARGS, NULL},
    {"_withdraw", withdraw, METH_O, NULL},
    {"_choose_many", choose_many, METH_VARARGS, NULL},
    {"_observe_many", observe_many, METH_VARARGS, NULL},
    {"_make", make, METH_VARARGS, NULL},
    {"_status", get_status, METH_NOARGS, NULL},
    {"_arms", get_arms, METH_NOARGS, NULL},
    {"_certify", certify, METH_NOARGS, NULL},
    {"choose_in", choose_in, METH_O,
     "choose_in($self, arms, /)\n--\n\n"
     "For choices among arms that come with each round; not there yet: "
     "refuses."},
    {"_pending", get_pending, METH_VARARGS, NULL},
    {"_snapshot", take_snapshot, METH_NOARGS, NULL},
    {"_unpack", unpack_state, METH_O, NULL},
    {"_save", save_state, METH_O, NULL},
    {"_restore", restore_state, METH_O, NULL},
    {"_set_reports", set_reports, METH_O, NULL},
    {"_ids", get_ids, METH_NOARGS, NULL},
    {"_add_id", add_id, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyGetSetDef attributes[] = {
    {"_names", get_names, set_names, NULL, NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

static PyTypeObject policy_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tarry._tarry.Policy",
    .tp_basicsize = sizeof(policy_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_BASETYPE,
    .tp_new = new_policy,
    .tp_dealloc = end,
    .tp_methods = methods,
    .tp_getset = attributes,
};

int add_policy(PyObject *module)
{
    word_ok = PyUnicode_InternFromString("ok");
    word_late = PyUnicode_InternFromString("late");
    word_duplicate = PyUnicode_InternFromString("duplicate");
    word_corrected = PyUnicode_InternFromString("corrected");
    if (word_ok == NULL || word_late == NULL || word_duplicate == NULL ||
        word_corrected == NULL)
        return -1;
    if (pthread_atfork(NULL, NULL, count_fork) != 0) {
        PyErr_NoMemory();
        return -1;
    }
    return PyModule_AddType(module, &policy_type);
}
