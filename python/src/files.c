/* files.c - files read and written as the library does it (base/input.h,
 * base/file.h), with Python's own exceptions for what the system refuses. */
#include "binding.h"

#include <errno.h>
#include "base/base.h"
#include "base/file.h"
#include "base/input.h"

/* `code` is errno as it was when the call came back. */
static PyObject *fail_file(tarry_status status, const tarry_error *error,
                           int code, PyObject *path)
{
    if (status != TARRY_IO_ERROR)
        return fail(status, error->text);
    errno = code;
    return PyErr_SetFromErrnoWithFilenameObject(PyExc_OSError, path);
}

PyObject *read_file(PyObject *self, PyObject *path)
{
    PyObject *name;
    tarry_error error;
    char *bytes;
    size_t size;
    (void)self;
    if (!PyUnicode_FSConverter(path, &name))
        return NULL;
    PyThreadState *thread = PyEval_SaveThread();
    const tarry_status status =
        tarry__input_read(PyBytes_AS_STRING(name), &bytes, &size, &error);
    const int code = errno;
    PyEval_RestoreThread(thread);
    PyObject *answer = status == TARRY_OK
                           ? PyBytes_FromStringAndSize(bytes, (Py_ssize_t)size)
                           : fail_file(status, &error, code, path);
    tarry__base_free(bytes);
    Py_DECREF(name);
    return answer;
}

PyObject *write_file(PyObject *self, PyObject *args)
{
    PyObject *path, *name;
    tarry_error error;
    Py_buffer view;
    (void)self;
    if (!PyArg_ParseTuple(args, "Oy*", &path, &view))
        return NULL;
    if (!PyUnicode_FSConverter(path, &name)) {
        PyBuffer_Release(&view);
        return NULL;
    }
    PyThreadState *thread = PyEval_SaveThread();
    const tarry_status status = tarry__file_save(
        PyBytes_AS_STRING(name), view.buf, (size_t)view.len, &error);
    const int code = errno;
    PyEval_RestoreThread(thread);
    PyBuffer_Release(&view);
    Py_DECREF(name);
    if (status != TARRY_OK)
        return fail_file(status, &error, code, path);
    Py_RETURN_NONE;
}
