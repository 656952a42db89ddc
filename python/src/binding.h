/* binding.h - what the files of the Python module share.
 *
 * The module is a thin layer on tarry's public C headers (and its way with
 * files): handles as Python
 * types, arrays by the buffer protocol, failures as exceptions.  Whatever can
 * be said in Python (defaults, conversions, names, texts) is said there, in the
 * package's .py files; what is called once per round is here.  NumPy's own C
 * interface is not used, so the module works with any version of it. */
#ifndef TARRY_BINDING_H
#define TARRY_BINDING_H

#define PY_SSIZE_T_CLEAN
#include <Python.h>
#include <stdbool.h>
#include "tarry/tarry.h"

/* Raises the exception class of a status; `text` NULL: the status's own
 * sentence.  Answers NULL. */
PyObject *fail(tarry_status status, const char *text);

/* The same with the value at fault behind the text, or the status's own
 * sentence, as the program has it: "...: 'value'". */
PyObject *fail_about(tarry_status status, const char *text, PyObject *value);
PyObject *fail_value(tarry_status status, PyObject *value);

/* Raises `error`, or the exception a callback has left behind. */
PyObject *fail_error(tarry_status status, const tarry_error *error);

/* Views the C-contiguous array of a given item type ("d", "Q", "B") and rank;
 * `writable` asks for one that may be filled.  False: an exception is set.  The
 * caller ends the view with PyBuffer_Release. */
bool view_array(PyObject *object, const char *type, int rank, bool writable,
                Py_buffer *view);

/* A new one-dimensional array of NumPy: float64. */
PyObject *new_array(Py_ssize_t count, Py_buffer *view);

/* A whole number from 0 on; floats without a fraction (1e6) will do.  False: an
 * exception is set that names `what`. */
bool read_count(PyObject *object, const char *what, uint64_t *out);

/* Each adds its types or functions to the module; -1: an exception is set. */
int add_choice(PyObject *module);
int add_policy(PyObject *module);
int add_random(PyObject *module);
int add_lab(PyObject *module);

PyObject *solve_design(PyObject *self, PyObject *args);
PyObject *read_arms(PyObject *self, PyObject *path);
PyObject *read_file(PyObject *self, PyObject *path);
PyObject *write_file(PyObject *self, PyObject *args);

/* A choice as Python object.  With a policy its probability is asked for when
 * it is needed; `id` NULL: the round is the id. */
typedef struct {
    uint64_t round;
    size_t arm;
    double probability;
} choice;
PyObject *choice_new(const choice *c, PyObject *policy, PyObject *id,
                     PyObject *name, bool repeated);

/* The probability of the policy's last choice, if `round` is that; else NaN. */
double policy_probability(PyObject *policy, uint64_t round, PyObject *id);

/* A random address as Python object, and its place inside it. */
PyObject *random_new(const tarry_random *at, Py_ssize_t count);
void random_move(PyObject *random, const tarry_random *at, Py_ssize_t count);

#endif
