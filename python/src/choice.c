/* choice.c - tarry.Choice: what Policy.choose answers.
 *
 * It unpacks like a tuple of id, arm and probability.  The probability is found
 * when it is asked for, since for some policies that takes the time of many
 * choices; it can be until the policy makes its next choice or one is
 * cancelled. */
#include "binding.h"

#include <math.h>

typedef struct {
    PyObject_HEAD PyObject
        *policy;    /* to ask for the probability; NULL: it is known */
    PyObject *id;   /* NULL: the round is the id */
    PyObject *name; /* of the arm, or None */
    uint64_t round;
    size_t arm;
    double probability;
    bool repeated;
} choice_object;

static PyTypeObject choice_type;

PyObject *choice_new(const choice *c, PyObject *policy, PyObject *id,
                     PyObject *name, bool repeated)
{
    choice_object *self = PyObject_GC_New(choice_object, &choice_type);
    if (self == NULL)
        return NULL;
    self->policy = Py_XNewRef(policy);
    self->id = Py_XNewRef(id);
    self->name = Py_NewRef(name);
    self->round = c->round;
    self->arm = c->arm;
    self->probability = c->probability;
    self->repeated = repeated;
    PyObject_GC_Track(self);
    return (PyObject *)self;
}

/* ---- fields ---------------------------------------------------------------*/

static PyObject *get_id(PyObject *object, void *unused)
{
    const choice_object *self = (choice_object *)object;
    (void)unused;
    return self->id != NULL ? Py_NewRef(self->id)
                            : PyLong_FromUnsignedLongLong(self->round);
}

static PyObject *get_arm(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromSize_t(((choice_object *)self)->arm);
}

/* Others may ask too while this one waits, so that the policy needs a reference
 * of its own meanwhile; the first answer stays. */
static PyObject *get_probability(PyObject *object, void *unused)
{
    choice_object *self = (choice_object *)object;
    PyObject *policy = self->policy;
    (void)unused;
    if (policy != NULL) {
        Py_INCREF(policy);
        const double found = policy_probability(policy, self->round, self->id);
        if (self->policy != NULL)
            self->probability = found;
        Py_CLEAR(self->policy);
        Py_DECREF(policy);
    }
    return PyFloat_FromDouble(self->probability);
}

static PyObject *get_name(PyObject *self, void *unused)
{
    (void)unused;
    return Py_NewRef(((choice_object *)self)->name);
}

static PyObject *get_round(PyObject *self, void *unused)
{
    (void)unused;
    return PyLong_FromUnsignedLongLong(((choice_object *)self)->round);
}

static PyObject *get_repeated(PyObject *self, void *unused)
{
    (void)unused;
    return PyBool_FromLong(((choice_object *)self)->repeated);
}

static PyGetSetDef fields[] = {
    {"id", get_id, NULL, "names this choice: its round, or the text given",
     NULL},
    {"arm", get_arm, NULL, "its number, from 0", NULL},
    {"probability", get_probability, NULL,
     "with which the arm was chosen, given all that was known; nan: not known, "
     "or\nasked for after the policy's next choice or a cancellation",
     NULL},
    {"name", get_name, NULL, "of the arm, or None", NULL},
    {"round", get_round, NULL, "1, 2, 3, ...", NULL},
    {"repeated", get_repeated, NULL, "whether the id had been given before",
     NULL},
    {NULL, NULL, NULL, NULL, NULL},
};

/* ---- as a sequence --------------------------------------------------------*/

static Py_ssize_t length(PyObject *self)
{
    (void)self;
    return 3;
}

static PyObject *item(PyObject *self, Py_ssize_t i)
{
    switch (i) {
    case 0:
        return get_id(self, NULL);
    case 1:
        return get_arm(self, NULL);
    case 2:
        return get_probability(self, NULL);
    default:
        PyErr_SetString(PyExc_IndexError, "a choice has three parts");
        return NULL;
    }
}

/* Only what is asked for is found. */
static PyObject *part(PyObject *self, PyObject *key)
{
    Py_ssize_t start, stop, step;
    if (!PySlice_Check(key)) {
        const Py_ssize_t i = PyNumber_AsSsize_t(key, PyExc_IndexError);
        return i == -1 && PyErr_Occurred() ? NULL
                                           : item(self, i < 0 ? i + 3 : i);
    }
    if (PySlice_Unpack(key, &start, &stop, &step) != 0)
        return NULL;
    const Py_ssize_t count = PySlice_AdjustIndices(3, &start, &stop, step);
    PyObject *tuple = PyTuple_New(count);
    for (Py_ssize_t i = 0; tuple != NULL && i < count; i++) {
        PyObject *value = item(self, start + i * step);
        if (value == NULL)
            Py_CLEAR(tuple);
        else
            PyTuple_SET_ITEM(tuple, i, value);
    }
    return tuple;
}

/* Two are the same if id and arm are. */
static PyObject *compare(PyObject *a, PyObject *b, int operation)
{
    if (!PyObject_TypeCheck(b, &choice_type) ||
        (operation != Py_EQ && operation != Py_NE))
        Py_RETURN_NOTIMPLEMENTED;
    PyObject *x = get_id(a, NULL), *y = get_id(b, NULL);
    int same =
        x != NULL && y != NULL ? PyObject_RichCompareBool(x, y, Py_EQ) : -1;
    Py_XDECREF(x);
    Py_XDECREF(y);
    if (same < 0)
        return NULL;
    same &= ((choice_object *)a)->arm == ((choice_object *)b)->arm;
    return PyBool_FromLong(same == (operation == Py_EQ));
}

static Py_hash_t hash(PyObject *self)
{
    PyObject *id = get_id(self, NULL);
    const Py_hash_t h = id != NULL ? PyObject_Hash(id) : -1;
    Py_XDECREF(id);
    return h;
}

/* ---- the type -------------------------------------------------------------*/

static PyObject *describe(PyObject *object)
{
    const choice_object *self = (choice_object *)object;
    PyObject *id = get_id(object, NULL);
    PyObject *text =
        id == NULL ? NULL
        : self->name != Py_None
            ? PyUnicode_FromFormat("Choice(id=%R, arm=%zu, name=%R)", id,
                                   self->arm, self->name)
            : PyUnicode_FromFormat("Choice(id=%R, arm=%zu)", id, self->arm);
    Py_XDECREF(id);
    return text;
}

static PyObject *reduce(PyObject *object, PyObject *unused)
{
    const choice_object *self = (choice_object *)object;
    (void)unused;
    return Py_BuildValue("O(NnNOKO)", &choice_type, get_id(object, NULL),
                         (Py_ssize_t)self->arm, get_probability(object, NULL),
                         self->name, (unsigned long long)self->round,
                         self->repeated ? Py_True : Py_False);
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *names[] = {"id",    "arm",      "probability", "name",
                            "round", "repeated", NULL};
    PyObject *id, *arm, *name = Py_None, *round = NULL;
    uint64_t number = 0, place;
    choice c = {.probability = NAN};
    int repeated = 0;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, named, "OO|dOOp:Choice", names, &id,
                                     &arm, &c.probability, &name, &round,
                                     &repeated) ||
        !read_count(arm, "arm", &place) ||
        (round != NULL && !read_count(round, "round", &number)))
        return NULL;
    c.round = number;
    c.arm = place;
    return choice_new(&c, NULL, id, name, repeated);
}

static int traverse(PyObject *object, visitproc visit, void *arg)
{
    choice_object *self = (choice_object *)object;
    Py_VISIT(self->policy);
    Py_VISIT(self->id);
    Py_VISIT(self->name);
    return 0;
}

static int clear(PyObject *object)
{
    Py_CLEAR(((choice_object *)object)->policy);
    return 0;
}

static void end(PyObject *object)
{
    choice_object *self = (choice_object *)object;
    PyObject_GC_UnTrack(object);
    Py_XDECREF(self->policy);
    Py_XDECREF(self->id);
    Py_XDECREF(self->name);
    PyObject_GC_Del(object);
}

static PySequenceMethods as_sequence = {.sq_length = length, .sq_item = item};
static PyMappingMethods as_mapping = {.mp_length = length,
                                      .mp_subscript = part};
static PyMethodDef methods[] = {
    {"__reduce__", reduce, METH_NOARGS, NULL},
    {NULL, NULL, 0, NULL},
};

static PyTypeObject choice_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tarry.Choice",
    .tp_doc = "What Policy.choose answers; id, arm and probability unpack.",
    .tp_basicsize = sizeof(choice_object),
    .tp_flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC,
    .tp_new = make,
    .tp_dealloc = end,
    .tp_traverse = traverse,
    .tp_clear = clear,
    .tp_repr = describe,
    .tp_hash = hash,
    .tp_richcompare = compare,
    .tp_as_sequence = &as_sequence,
    .tp_as_mapping = &as_mapping,
    .tp_getset = fields,
    .tp_methods = methods,
};

int add_choice(PyObject *module)
{
    return PyModule_AddType(module, &choice_type);
}
