/* lab.c - worlds and experiments. */
#include "own.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- worlds ---------------------------------------------------------------*/

typedef struct {
    PyObject_HEAD tarry_world *world;
    own_prototype law; /* empty without one */
} world_object;

static PyTypeObject world_type;

/* An array that may be None: then *data stays NULL. */
typedef struct {
    Py_buffer view;
    bool viewed;
} array;

static bool open_array(array *a, PyObject *object, const char *type, int rank)
{
    a->viewed = false;
    if (object == Py_None)
        return true;
    a->viewed = view_array(object, type, rank, false, &a->view);
    return a->viewed;
}

static const void *data_of(const array *a)
{
    return a->viewed ? a->view.buf : NULL;
}

static size_t length_of(const array *a, int axis)
{
    return a->viewed ? (size_t)a->view.shape[axis] : 0;
}

enum { ARMS, THETA, MEANS, ROW_ARM, ROW_LOSS, ROW_DELAY, N_ARRAYS };

/* The library sees bare pointers, so that lengths are looked at here. */
static const char *check_lengths(const array *a)
{
    if (a[THETA].viewed && length_of(&a[THETA], 0) != length_of(&a[ARMS], 1))
        return "theta needs one number for each of the arms' features";
    if (a[MEANS].viewed && length_of(&a[MEANS], 0) != length_of(&a[ARMS], 0))
        return "there must be one mean loss for each arm";
    if (length_of(&a[ROW_LOSS], 0) != length_of(&a[ROW_ARM], 0) ||
        length_of(&a[ROW_DELAY], 0) != length_of(&a[ROW_ARM], 0))
        return "the table's columns have different lengths";
    return NULL;
}

static PyObject *make_world(world_object *self, tarry_world_params *p,
                            const array *a, const tarry_delay_law *law)
{
    tarry_error error;
    const char *wrong = check_lengths(a);
    if (wrong != NULL)
        return fail(TARRY_BAD_ARGUMENT, wrong);
    p->law = law;
    p->n_arms = length_of(&a[ARMS], 0);
    p->dim = length_of(&a[ARMS], 1);
    p->arms = data_of(&a[ARMS]);
    p->theta = data_of(&a[THETA]);
    p->means = data_of(&a[MEANS]);
    p->n_rows = length_of(&a[ROW_ARM], 0);
    p->row_arm = data_of(&a[ROW_ARM]);
    p->row_loss = data_of(&a[ROW_LOSS]);
    p->row_delay = data_of(&a[ROW_DELAY]);
    const tarry_status status = tarry_world_create(p, &self->world, &error);
    if (own_raise(&self->law))
        return NULL;
    return status == TARRY_OK ? (PyObject *)self : fail(status, error.text);
}

/* World(name, instance, loss, delay, arrays, law, report, default_outcome):
 * arrays is a tuple of six, law None or (name, version or None, depends, hook,
 * start). */
static PyObject *new_world(PyTypeObject *type, PyObject *args, PyObject *named)
{
    tarry_world_params p = tarry_world_defaults();
    tarry_delay_law record;
    PyObject *o[N_ARRAYS], *law, *start, *made = NULL;
    array a[N_ARRAYS] = {0};
    const char *law_name, *version;
    int depends, hook, n = 0;
    (void)named;
    if (!PyArg_ParseTuple(args, "zzzz(OOOOOO)Ozz", &p.name, &p.instance,
                          &p.loss, &p.delay, &o[0], &o[1], &o[2], &o[3], &o[4],
                          &o[5], &law, &p.report, &p.default_outcome))
        return NULL;
    world_object *self = (world_object *)type->tp_alloc(type, 0);
    if (self == NULL)
        return NULL;
    bool ok = true;
    if (law != Py_None) {
        ok = PyArg_ParseTuple(law, "sziiO", &law_name, &version, &depends,
                              &hook, &start) &&
             own_init(&self->law, law_name, version, start);
        if (ok)
            record = own_law_record(&self->law, (tarry_delay_dependence)depends,
                                    (own_hook)hook);
    }
    static const char *const types[] = {"d", "d", "d", "Q", "d", "Q"};
    for (; ok && n < N_ARRAYS; n += ok)
        ok = open_array(&a[n], o[n], types[n], n == ARMS ? 2 : 1);
    if (ok)
        made = make_world(self, &p, a, law != Py_None ? &record : NULL);
    for (int i = 0; i < N_ARRAYS; i++)
        if (a[i].viewed)
            PyBuffer_Release(&a[i].view);
    if (made == NULL)
        Py_DECREF(self);
    return made;
}

static void end_world(PyObject *object)
{
    world_object *self = (world_object *)object;
    tarry_world_free(self->world);
    own_clear(&self->law);
    Py_TYPE(object)->tp_free(object);
}

static PyObject *look_world(PyObject *object, PyObject *args)
{
    world_object *self = (world_object *)object;
    unsigned long long seed;
    unsigned long run;
    tarry_world_view v;
    tarry_error error;
    if (!PyArg_ParseTuple(args, "Kk", &seed, &run))
        return NULL;
    const tarry_status status =
        tarry_world_look(self->world, seed, (uint32_t)run, &v, &error);
    if (own_raise(&self->law))
        return NULL;
    if (status != TARRY_OK)
        return fail(status, error.text);
    PyObject *answer = Py_BuildValue(
        "innny#y#", (int)v.model, (Py_ssize_t)v.n_arms, (Py_ssize_t)v.dim,
        (Py_ssize_t)v.best, (const char *)v.arms,
        (Py_ssize_t)(v.n_arms * v.dim * sizeof *v.arms), (const char *)v.means,
        (Py_ssize_t)(v.n_arms * sizeof *v.means));
    tarry_world_view_free(&v);
    return answer;
}

static PyMethodDef world_methods[] = {
    {"look", look_world, METH_VARARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject world_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tarry._tarry.World",
    .tp_basicsize = sizeof(world_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = new_world,
    .tp_dealloc = end_world,
    .tp_methods = world_methods,
};

/* ---- experiments ----------------------------------------------------------*/

enum { MAX_OWN = 64 };

typedef struct {
    PyObject_HEAD tarry_experiment *experiment;
    PyObject *worlds; /* list: they must outlive the experiment */
    size_t n_own;
    own_prototype *own[MAX_OWN];
    bool running;
    _Atomic int cancelled;
    _Atomic double share;
} experiment_object;

/* From a thread of the library's, without the GIL. */
static int watch(void *context, double share)
{
    experiment_object *self = context;
    atomic_store(&self->share, share);
    return atomic_load(&self->cancelled);
}

/* Experiment(horizon, runs, seed, points, threads, journal or None, part,
 * parts) */
static PyObject *new_experiment(PyTypeObject *type, PyObject *args,
                                PyObject *named)
{
    tarry_experiment_params p = tarry_experiment_defaults();
    PyObject *count[4], *journal = NULL;
    unsigned long long part, parts;
    tarry_error error;
    (void)named;
    if (!PyArg_ParseTuple(args, "OOOOiOKK", &count[0], &count[1], &count[2],
                          &count[3], &p.threads, &journal, &part, &parts) ||
        !read_count(count[0], "horizon", &p.horizon) ||
        !read_count(count[1], "runs", &p.runs) ||
        !read_count(count[2], "seed", &p.seed) ||
        !read_count(count[3], "points", &p.points))
        return NULL;
    PyObject *path = NULL;
    if (journal != Py_None && !PyUnicode_FSConverter(journal, &path))
        return NULL;
    experiment_object *self = (experiment_object *)type->tp_alloc(type, 0);
    if (self != NULL && (self->worlds = PyList_New(0)) != NULL) {
        p.journal = path != NULL ? PyBytes_AS_STRING(path) : NULL;
        p.part = part;
        p.parts = parts;
        p.progress = watch;
        p.progress_context = self;
        const tarry_status status =
            tarry_experiment_create(&p, &self->experiment, &error);
        if (status != TARRY_OK)
            fail(status, error.text);
    }
    Py_XDECREF(path);
    if (PyErr_Occurred())
        Py_CLEAR(self);
    return (PyObject *)self;
}

static void end_experiment(PyObject *object)
{
    experiment_object *self = (experiment_object *)object;
    tarry_experiment_free(self->experiment);
    Py_XDECREF(self->worlds);
    for (size_t i = 0; i < self->n_own; i++) {
        own_clear(self->own[i]);
        free(self->own[i]);
    }
    Py_TYPE(object)->tp_free(object);
}

/* False: an exception is set. */
static bool is_idle(const experiment_object *self)
{
    if (self->running)
        fail(TARRY_BAD_ARGUMENT, "the experiment is running");
    return !self->running;
}

static PyObject *add_world(PyObject *object, PyObject *world)
{
    experiment_object *self = (experiment_object *)object;
    tarry_error error;
    if (!PyObject_TypeCheck(world, &world_type))
        return PyErr_Format(PyExc_TypeError, "a World is needed, not %R",
                            world);
    if (!is_idle(self) || PyList_Append(self->worlds, world) != 0)
        return NULL;
    const tarry_status status = tarry_experiment_add_world(
        self->experiment, ((world_object *)world)->world, &error);
    if (status != TARRY_OK)
        return fail(status, error.text);
    Py_RETURN_NONE;
}

static PyObject *add_described(PyObject *object, PyObject *description)
{
    experiment_object *self = (experiment_object *)object;
    tarry_error error;
    const char *text = PyUnicode_AsUTF8(description);
    if (text == NULL || !is_idle(self))
        return NULL;
    const tarry_status status =
        tarry_experiment_add_policy(self->experiment, text, &error);
    if (status != TARRY_OK)
        return fail(status, error.text);
    Py_RETURN_NONE;
}

/* add_own(name, version or None, start, certifies) */
static PyObject *add_own(PyObject *object, PyObject *args)
{
    experiment_object *self = (experiment_object *)object;
    const char *name, *version;
    PyObject *start;
    int certifies;
    tarry_error error;
    if (!PyArg_ParseTuple(args, "szOp", &name, &version, &start, &certifies) ||
        !is_idle(self))
        return NULL;
    if (self->n_own == MAX_OWN)
        return fail(TARRY_BAD_ARGUMENT, "too many policies");
    own_prototype *own = malloc(sizeof *own);
    if (own == NULL)
        return PyErr_NoMemory();
    self->own[self->n_own++] = own;
    if (!own_init(own, name, version, start))
        return NULL;
    const tarry_own_policy record = own_policy_record(own, certifies);
    const tarry_status status =
        tarry_experiment_add_own_policy(self->experiment, &record, &error);
    if (status != TARRY_OK)
        return fail(status, error.text);
    Py_RETURN_NONE;
}

/* Raises what Python code has raised meanwhile. */
static bool raise_kept(experiment_object *self)
{
    bool raised = false;
    for (size_t i = 0; !raised && i < self->n_own; i++)
        raised = own_raise(self->own[i]);
    for (Py_ssize_t i = 0; !raised && i < PyList_GET_SIZE(self->worlds); i++) {
        PyObject *world = PyList_GET_ITEM(self->worlds, i);
        raised = own_raise(&((world_object *)world)->law);
    }
    return raised;
}

/* Python ends its threads, as it ends itself, where they ask for the GIL.  That
 * may be below an OpenMP region, which a thread cannot leave; so it waits for
 * the end of the process. */
static void wait_for_the_end(void *unused)
{
    (void)unused;
    for (;;)
        pause();
}

static tarry_status run_whole(tarry_experiment *experiment, tarry_error *error)
{
    tarry_status status;
    pthread_cleanup_push(wait_for_the_end, NULL);
    status = tarry_experiment_run(experiment, error);
    pthread_cleanup_pop(0);
    return status;
}

/* Runs to the end or until cancel(); true: it was cancelled. */
static PyObject *run_experiment(PyObject *object, PyObject *unused)
{
    experiment_object *self = (experiment_object *)object;
    tarry_error error;
    tarry_status status;
    (void)unused;
    if (!is_idle(self))
        return NULL;
    self->running = true;
    PyThreadState *thread = PyEval_SaveThread();
    status = run_whole(self->experiment, &error);
    PyEval_RestoreThread(thread);
    self->running = false;
    if (raise_kept(self))
        return NULL;
    if (status != TARRY_OK && status != TARRY_CANCELLED)
        return fail(status, error.text);
    return PyBool_FromLong(status == TARRY_CANCELLED);
}

static PyObject *cancel(PyObject *self, PyObject *unused)
{
    (void)unused;
    atomic_store(&((experiment_object *)self)->cancelled, 1);
    Py_RETURN_NONE;
}

static PyObject *get_share(PyObject *self, PyObject *unused)
{
    (void)unused;
    return PyFloat_FromDouble(atomic_load(&((experiment_object *)self)->share));
}

/* ---- results --------------------------------------------------------------*/

static PyObject *get_sizes(PyObject *object, PyObject *unused)
{
    const experiment_object *self = (experiment_object *)object;
    (void)unused;
    return Py_BuildValue(
        "nn", (Py_ssize_t)tarry_experiment_n_worlds(self->experiment),
        (Py_ssize_t)tarry_experiment_n_policies(self->experiment));
}

/* summary(world, policy) */
static PyObject *get_summary(PyObject *object, PyObject *args)
{
    const experiment_object *self = (experiment_object *)object;
    tarry_experiment_summary s;
    Py_ssize_t world, policy;
    if (!PyArg_ParseTuple(args, "nn", &world, &policy) || !is_idle(self))
        return NULL;
    const tarry_status status = tarry_experiment_get_summary(
        self->experiment, (size_t)world, (size_t)policy, &s);
    if (status != TARRY_OK)
        return fail(status, NULL);
    return Py_BuildValue(
        "{s:z, s:s, s:z, s:K, s:K, s:y#}", "world", s.world, "policy", s.policy,
        "refused", s.refused, "runs", (unsigned long long)s.runs, "finished",
        (unsigned long long)s.finished, "grid", (const char *)s.grid,
        (Py_ssize_t)(s.n_points * sizeof *s.grid));
}

static PyObject *phase_list(const tarry_experiment_outcome *o)
{
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < o->n_listed; i++) {
        const tarry_experiment_phase *p = &o->phases[i];
        PyObject *line = Py_BuildValue("KKK", (unsigned long long)p->length,
                                       (unsigned long long)p->designated,
                                       (unsigned long long)p->active_after);
        if (line == NULL || PyList_Append(list, line) != 0)
            Py_CLEAR(list);
        Py_XDECREF(line);
    }
    return list;
}

/* outcome(world, policy, run): None if it has not finished. */
static PyObject *get_outcome(PyObject *object, PyObject *args)
{
    const experiment_object *self = (experiment_object *)object;
    tarry_experiment_outcome o;
    Py_ssize_t world, policy;
    unsigned long long run;
    if (!PyArg_ParseTuple(args, "nnK", &world, &policy, &run) || !is_idle(self))
        return NULL;
    const tarry_status status = tarry_experiment_get_outcome(
        self->experiment, (size_t)world, (size_t)policy, run, &o);
    if (status == TARRY_UNKNOWN_ROUND)
        Py_RETURN_NONE;
    if (status != TARRY_OK)
        return fail(status, NULL);
    const Py_ssize_t bytes = (Py_ssize_t)(o.n_points * sizeof *o.curve);
    return Py_BuildValue(
        "((dddKKKKKKKKiK)Ny#y#y#)", o.regret, o.seconds, o.sigma_mean,
        (unsigned long long)o.sigma_max, (unsigned long long)o.sigma_final,
        (unsigned long long)o.used, (unsigned long long)o.late,
        (unsigned long long)o.ignored, (unsigned long long)o.lost,
        (unsigned long long)o.first_seen, (unsigned long long)o.active,
        o.best_kept, (unsigned long long)o.n_phases, phase_list(&o),
        (const char *)o.curve, bytes, (const char *)o.certificate, bytes,
        (const char *)o.exploit_gap, bytes);
}

static PyObject *get_json(PyObject *object, PyObject *unused)
{
    const experiment_object *self = (experiment_object *)object;
    (void)unused;
    if (!is_idle(self))
        return NULL;
    char *text = tarry_experiment_json(self->experiment);
    PyObject *answer = text != NULL
                           ? PyUnicode_FromString(text)
                           : fail(TARRY_BAD_ARGUMENT, "nothing has been run");
    tarry_experiment_free_json(text);
    return answer;
}

static PyMethodDef experiment_methods[] = {
    {"add_world", add_world, METH_O, NULL},
    {"add_policy", add_described, METH_O, NULL},
    {"add_own", add_own, METH_VARARGS, NULL},
    {"run", run_experiment, METH_NOARGS, NULL},
    {"cancel", cancel, METH_NOARGS, NULL},
    {"share", get_share, METH_NOARGS, NULL},
    {"sizes", get_sizes, METH_NOARGS, NULL},
    {"summary", get_summary, METH_VARARGS, NULL},
    {"outcome", get_outcome, METH_VARARGS, NULL},
    {"json", get_json, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject experiment_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tarry._tarry.Experiment",
    .tp_basicsize = sizeof(experiment_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = new_experiment,
    .tp_dealloc = end_experiment,
    .tp_methods = experiment_methods,
};

int add_lab(PyObject *module)
{
    if (PyModule_AddType(module, &world_type) != 0)
        return -1;
    return PyModule_AddType(module, &experiment_type);
}
