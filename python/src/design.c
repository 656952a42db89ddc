/* design.c - designs and arm files. */
#include "binding.h"

#include <string.h>

/* ---- designs --------------------------------------------------------------*/

/* Lets Ctrl-C through, and tells a function of the user's how far it is. */
static int look_around(void *context, double share, double g_over_rank)
{
    PyObject *progress = context;
    PyGILState_STATE state = PyGILState_Ensure();
    bool stop = PyErr_CheckSignals() != 0;
    if (!stop && progress != Py_None) {
        PyObject *answer =
            PyObject_CallFunction(progress, "dd", share, g_over_rank);
        stop = answer == NULL || PyObject_IsTrue(answer) != 0;
        Py_XDECREF(answer);
    }
    PyGILState_Release(state);
    return stop;
}

static PyObject *bytes_of(const void *data, size_t count, size_t size)
{
    return PyBytes_FromStringAndSize(data, (Py_ssize_t)(count * size));
}

static PyObject *answer(tarry_status status, const tarry_design *d)
{
    return Py_BuildValue(
        "{s:K, s:d, s:N, s:N, s:d, s:d, s:d, s:O}", "rank",
        (unsigned long long)d->rank, "g", d->g, "arm",
        bytes_of(d->arm, d->n_support, sizeof *d->arm), "weight",
        bytes_of(d->weight, d->n_support, sizeof *d->weight), "min_weight",
        d->min_weight, "passes", d->passes, "seconds", d->seconds, "target_met",
        status == TARRY_OK ? Py_True : Py_False);
}

/* solve_design(arms, paper, tolerance, rank_tolerance, max_support, threads,
 * warm arms, progress) */
PyObject *solve_design(PyObject *self, PyObject *args)
{
    PyObject *arms, *warm, *progress, *result = NULL;
    int paper;
    unsigned long long max_support;
    Py_buffer a, w;
    tarry_design *design;
    tarry_design_options o = tarry_design_defaults();
    (void)self;
    if (!PyArg_ParseTuple(args, "OpddKiOO", &arms, &paper, &o.tolerance,
                          &o.rank_tolerance, &max_support, &o.threads, &warm,
                          &progress))
        return NULL;
    if (!view_array(arms, "d", 2, false, &a))
        return NULL;
    if (!view_array(warm, "Q", 1, false, &w)) {
        PyBuffer_Release(&a);
        return NULL;
    }
    o.rule = paper ? TARRY_DESIGN_PAPER : TARRY_DESIGN_NEAR;
    o.max_support = max_support;
    o.warm_arms = w.len > 0 ? w.buf : NULL;
    o.warm_count = (size_t)w.shape[0];
    o.progress = look_around;
    o.progress_context = progress;
    const size_t n_arms = (size_t)a.shape[0], dim = (size_t)a.shape[1];
    const char *wrong = tarry_design_options_check(&o, n_arms, dim);
    if (wrong != NULL) {
        fail(TARRY_BAD_ARGUMENT, wrong);
    } else {
        tarry_status status;
        PyThreadState *thread = PyEval_SaveThread();
        status = tarry_design_solve(a.buf, n_arms, dim, &o, &design);
        PyEval_RestoreThread(thread);
        if (status == TARRY_OK || status == TARRY_TARGET_NOT_MET)
            result = answer(status, design);
        else if (!PyErr_Occurred())
            fail(status, NULL);
        tarry_design_free(design);
    }
    PyBuffer_Release(&a);
    PyBuffer_Release(&w);
    return result;
}

/* ---- arm files ------------------------------------------------------------*/

static PyObject *names_of(const tarry_arms *arms)
{
    if (arms->names == NULL)
        Py_RETURN_NONE;
    PyObject *list = PyList_New((Py_ssize_t)arms->n_arms);
    for (size_t k = 0; list != NULL && k < arms->n_arms; k++) {
        PyObject *name = PyUnicode_DecodeUTF8(
            arms->names[k], (Py_ssize_t)strlen(arms->names[k]), "replace");
        if (name == NULL)
            Py_CLEAR(list);
        else
            PyList_SET_ITEM(list, (Py_ssize_t)k, name);
    }
    return list;
}

/* The numbers as bytes, how many arms, how many numbers each, their names. */
PyObject *read_arms(PyObject *self, PyObject *path)
{
    PyObject *bytes;
    tarry_arms *arms;
    tarry_error error;
    tarry_status status;
    (void)self;
    if (!PyUnicode_FSConverter(path, &bytes))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    status = tarry_arms_read(PyBytes_AS_STRING(bytes), &arms, &error);
    PyEval_RestoreThread(thread);
    Py_DECREF(bytes);
    if (status != TARRY_OK)
        return fail(status, error.text);
    PyObject *result = Py_BuildValue(
        "NKKN", bytes_of(arms->data, arms->n_arms * arms->dim, sizeof(double)),
        (unsigned long long)arms->n_arms, (unsigned long long)arms->dim,
        names_of(arms));
    tarry_arms_free(arms);
    return result;
}
