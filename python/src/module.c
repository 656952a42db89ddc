/* module.c - the module's functions, its exceptions, and arrays. */
#include "binding.h"

#include <string.h>

/* Exception classes by name of status; filled by the package. */
static PyObject *errors;
static PyObject *numpy_empty;

/* ---- failures -------------------------------------------------------------*/

static PyObject *class_of(tarry_status status)
{
    PyObject *class = PyDict_GetItemString(errors, tarry_status_name(status));
    return class != NULL ? class : PyExc_RuntimeError;
}

PyObject *fail(tarry_status status, const char *text)
{
    PyErr_SetString(class_of(status),
                    text != NULL ? text : tarry_status_text(status));
    return NULL;
}

PyObject *fail_about(tarry_status status, const char *text, PyObject *value)
{
    PyErr_Format(class_of(status), "%s: '%S'", text, value);
    return NULL;
}

PyObject *fail_value(tarry_status status, PyObject *value)
{
    return fail_about(status, tarry_status_text(status), value);
}

PyObject *fail_error(tarry_status status, const tarry_error *error)
{
    return PyErr_Occurred() ? NULL : fail(status, error->text);
}

/* ---- numbers and arrays ---------------------------------------------------*/

static bool is_type(const Py_buffer *view, const char *type)
{
    const char *format = view->format != NULL ? view->format : "B";
    if (*type == 'Q' && view->itemsize == 8 && strlen(format) == 1)
        return strchr("QL", *format) != NULL;
    return strcmp(format, type) == 0;
}

bool view_array(PyObject *object, const char *type, int rank, bool writable,
                Py_buffer *view)
{
    const int flags =
        PyBUF_C_CONTIGUOUS | PyBUF_FORMAT | (writable ? PyBUF_WRITABLE : 0);
    if (PyObject_GetBuffer(object, view, flags) != 0)
        return false;
    if (view->ndim == rank && is_type(view, type))
        return true;
    PyErr_Format(PyExc_TypeError,
                 "an array of rank %d and item type '%s' is needed, not of "
                 "rank %d and type '%s'",
                 rank, type, view->ndim, view->format);
    PyBuffer_Release(view);
    return false;
}

PyObject *new_array(Py_ssize_t count, Py_buffer *view)
{
    PyObject *array = PyObject_CallFunction(numpy_empty, "n", count);
    if (array != NULL && !view_array(array, "d", 1, true, view))
        Py_CLEAR(array);
    return array;
}

static bool read_whole_float(double x, uint64_t *out)
{
    const bool whole = x >= 0 && x < 0x1p63 && x == (double)(uint64_t)x;
    *out = whole ? (uint64_t)x : 0;
    return whole;
}

bool read_count(PyObject *object, const char *what, uint64_t *out)
{
    if (PyFloat_Check(object)) {
        if (read_whole_float(PyFloat_AS_DOUBLE(object), out))
            return true;
    } else {
        PyObject *index = PyNumber_Index(object);
        if (index == NULL)
            return false;
        *out = PyLong_AsUnsignedLongLong(index);
        Py_DECREF(index);
        if (!PyErr_Occurred())
            return true;
        if (!PyErr_ExceptionMatches(PyExc_OverflowError))
            return false;
        PyErr_Clear();
    }
    PyErr_Format(class_of(TARRY_BAD_ARGUMENT), "%s: not a whole number: '%R'",
                 what, object);
    return false;
}

/* ---- what the library says of itself --------------------------------------*/

static PyObject *set_errors(PyObject *self, PyObject *classes)
{
    (void)self;
    if (!PyDict_Check(classes)) {
        PyErr_SetString(PyExc_TypeError, "a dict is needed");
        return NULL;
    }
    PyDict_Clear(errors);
    if (PyDict_Update(errors, classes) != 0)
        return NULL;
    Py_RETURN_NONE;
}

static PyObject *status_list(void)
{
    static const tarry_status codes[] = {
#define CODE(code, text) TARRY_##code,
        TARRY_STATUS_LIST(CODE)
#undef CODE
    };
    PyObject *list = PyList_New(0);
    for (size_t i = 0; list != NULL && i < sizeof codes / sizeof *codes; i++) {
        PyObject *line =
            Py_BuildValue("iss", (int)codes[i], tarry_status_name(codes[i]),
                          tarry_status_text(codes[i]));
        if (line == NULL || PyList_Append(list, line) != 0)
            Py_CLEAR(list);
        Py_XDECREF(line);
    }
    return list;
}

static PyObject *policy_names(PyObject *self, PyObject *unused)
{
    PyObject *list = PyList_New(0);
    (void)self;
    (void)unused;
    for (size_t i = 0; list != NULL && tarry_policy_name(i) != NULL; i++) {
        PyObject *name = PyUnicode_FromString(tarry_policy_name(i));
        if (name == NULL || PyList_Append(list, name) != 0)
            Py_CLEAR(list);
        Py_XDECREF(name);
    }
    return list;
}

static PyObject *setting_list(const tarry_setting *setting)
{
    PyObject *list = PyList_New(0);
    for (; list != NULL && setting != NULL && setting->key != NULL; setting++) {
        PyObject *line =
            Py_BuildValue("{s:s, s:s, s:z, s:s}", "key", setting->key, "help",
                          setting->help, "default", setting->value, "choices",
                          setting->choices != NULL ? setting->choices : "");
        if (line == NULL || PyList_Append(list, line) != 0)
            Py_CLEAR(list);
        Py_XDECREF(line);
    }
    return list;
}

static PyObject *describe_policy(PyObject *self, PyObject *arg)
{
    tarry_policy_info info;
    const char *name = PyUnicode_AsUTF8(arg);
    (void)self;
    if (name == NULL)
        return NULL;
    const tarry_status status = tarry_policy_describe(name, &info);
    if (status != TARRY_OK)
        return fail_value(status, arg);
    return Py_BuildValue(
        "{s:s, s:s, s:s, s:O, s:z, s:N}", "name", info.name, "source",
        info.source, "summary", info.summary, "uses_features",
        info.uses_features ? Py_True : Py_False, "stands_for", info.stands_for,
        "settings", setting_list(info.settings));
}

/* ---- the module -----------------------------------------------------------*/

static PyMethodDef functions[] = {
    {"set_errors", set_errors, METH_O, "Tells which exceptions to raise."},
    {"policy_names", policy_names, METH_NOARGS, "The names of all policies."},
    {"describe_policy", describe_policy, METH_O, "What a policy is."},
    {"solve_design", solve_design, METH_VARARGS, "See tarry.design."},
    {"read_arms", read_arms, METH_O, "See tarry.read_arms."},
    {"read_file", read_file, METH_O, "All bytes of a file."},
    {"write_file", write_file, METH_VARARGS,
     "Makes a file, or leaves the old."},
    {NULL, NULL, 0, NULL},
};

static struct PyModuleDef definition = {
    PyModuleDef_HEAD_INIT,
    .m_name = "tarry._tarry",
    .m_doc = "The C library behind the package tarry.",
    .m_size = -1,
    .m_methods = functions,
};

static int fill(PyObject *module)
{
    PyObject *numpy = PyImport_ImportModule("numpy");
    numpy_empty = numpy != NULL ? PyObject_GetAttrString(numpy, "empty") : NULL;
    Py_XDECREF(numpy);
    errors = PyDict_New();
    PyObject *statuses = status_list();
    if (numpy_empty == NULL || errors == NULL || statuses == NULL ||
        PyModule_AddObject(module, "statuses", statuses) != 0 ||
        PyModule_AddStringConstant(module, "version", tarry_version()) != 0 ||
        add_choice(module) != 0 || add_policy(module) != 0 ||
        add_random(module) != 0 || add_lab(module) != 0)
        return -1;
    return 0;
}

PyMODINIT_FUNC PyInit__tarry(void)
{
    PyObject *module = PyModule_Create(&definition);
    if (module != NULL && fill(module) != 0)
        Py_CLEAR(module);
    return module;
}
