/* random.c - tarry.Random: draws that are functions of an address.
 *
 * Each draw takes the next stream, so that two draws in a row are independent.
 * With a count the draws are arrays: number i is that of round + i, whatever
 * the count is. */
#include "binding.h"

typedef struct {
    PyObject_HEAD tarry_random at;
    Py_ssize_t count; /* 0: single numbers */
} random_object;

static PyTypeObject random_type;

/* ---- draws ----------------------------------------------------------------*/

typedef double draw(const tarry_random *at, double a, double b);

static double uniform(const tarry_random *at, double low, double high)
{
    return low + (high - low) * tarry_random_uniform(at);
}

static double normal(const tarry_random *at, double mean, double deviation)
{
    return mean + deviation * tarry_random_normal(at);
}

static double exponential(const tarry_random *at, double mean, double unused)
{
    (void)unused;
    return tarry_random_exponential(at, mean);
}

static double geometric(const tarry_random *at, double p, double unused)
{
    (void)unused;
    return p >= 0 && p <= 1 ? (double)tarry_random_geometric(at, p) : Py_NAN;
}

static double poisson(const tarry_random *at, double mean, double unused)
{
    (void)unused;
    return mean >= 0 && mean <= 1e9 ? (double)tarry_random_poisson(at, mean)
                                    : Py_NAN;
}

static PyObject *draw_array(random_object *self, draw *f, double a, double b)
{
    Py_buffer view;
    PyObject *array = new_array(self->count, &view);
    if (array == NULL)
        return NULL;
    double *x = view.buf;
    tarry_random at = self->at;
    for (Py_ssize_t i = 0; i < self->count; i++, at.round++)
        x[i] = f(&at, a, b);
    PyBuffer_Release(&view);
    return array;
}

static PyObject *draw_next(random_object *self, draw *f, double a, double b)
{
    PyObject *answer = self->count > 0 ? draw_array(self, f, a, b)
                                       : PyFloat_FromDouble(f(&self->at, a, b));
    self->at.stream++;
    return answer;
}

/* A method with up to two numbers, which have defaults from x and y on. */
#define METHOD(name, function, keys, format, x, y)                             \
    static PyObject *draw_##name(PyObject *self, PyObject *args,               \
                                 PyObject *named)                              \
    {                                                                          \
        static char *names[] = {keys, NULL};                                   \
        double a = x, b = y;                                                   \
        if (!PyArg_ParseTupleAndKeywords(args, named, format, names, &a, &b))  \
            return NULL;                                                       \
        return draw_next((random_object *)self, function, a, b);               \
    }
#define KEYS(a, b) a, b

METHOD(uniform, uniform, KEYS("low", "high"), "|dd:uniform", 0, 1)
METHOD(normal, normal, KEYS("mean", "deviation"), "|dd:normal", 0, 1)
METHOD(lognormal, tarry_random_lognormal, KEYS("mu", "sigma"), "dd:lognormal",
       0, 1)
METHOD(weibull, tarry_random_weibull, KEYS("shape", "scale"), "dd:weibull", 1,
       1)
METHOD(pareto, tarry_random_pareto, KEYS("shape", "scale"), "dd:pareto", 1, 1)
METHOD(lomax, tarry_random_lomax, KEYS("shape", "scale"), "dd:lomax", 1, 1)
METHOD(exponential, exponential, KEYS("mean", NULL), "d:exponential", 1, 0)
METHOD(geometric, geometric, KEYS("p", NULL), "d:geometric", 1, 0)
METHOD(poisson, poisson, KEYS("mean", NULL), "d:poisson", 1, 0)

/* ---- the type -------------------------------------------------------------*/

PyObject *random_new(const tarry_random *at, Py_ssize_t count)
{
    random_object *self = PyObject_New(random_object, &random_type);
    if (self != NULL)
        random_move((PyObject *)self, at, count);
    return (PyObject *)self;
}

void random_move(PyObject *random, const tarry_random *at, Py_ssize_t count)
{
    ((random_object *)random)->at = *at;
    ((random_object *)random)->count = count;
}

static bool read_small(PyObject *object, const char *what, uint64_t most,
                       uint64_t *out)
{
    if (object == NULL)
        return true;
    if (!read_count(object, what, out))
        return false;
    if (*out <= most)
        return true;
    PyErr_Format(PyExc_ValueError, "%s: above %llu: '%R'", what,
                 (unsigned long long)most, object);
    return false;
}

static PyObject *make(PyTypeObject *type, PyObject *args, PyObject *named)
{
    static char *names[] = {"seed", "run", "round", "stream", "count", NULL};
    PyObject *o[5] = {NULL};
    uint64_t seed = 0, run = 0, round = 0, stream = 32, count = 0;
    (void)type;
    if (!PyArg_ParseTupleAndKeywords(args, named, "O|OOOO:Random", names, &o[0],
                                     &o[1], &o[2], &o[3], &o[4]) ||
        !read_small(o[0], "seed", UINT64_MAX, &seed) ||
        !read_small(o[1], "run", UINT32_MAX, &run) ||
        !read_small(o[2], "round", UINT64_MAX, &round) ||
        !read_small(o[3], "stream", UINT16_MAX, &stream) ||
        !read_small(o[4], "count", 1ull << 40, &count))
        return NULL;
    const tarry_random at = {.seed = seed,
                             .round = round,
                             .run = (uint32_t)run,
                             .stream = (uint16_t)stream};
    return random_new(&at, (Py_ssize_t)count);
}

static PyObject *describe(PyObject *object)
{
    const random_object *self = (random_object *)object;
    return PyUnicode_FromFormat(
        "Random(seed=%llu, run=%lu, round=%llu, stream=%d, count=%zd)",
        (unsigned long long)self->at.seed, (unsigned long)self->at.run,
        (unsigned long long)self->at.round, (int)self->at.stream, self->count);
}

#define ENTRY(name, text)                                                      \
    {                                                                          \
#name, (PyCFunction)(void (*)(void))draw_##name,                       \
            METH_VARARGS | METH_KEYWORDS, text                                 \
    }

static PyMethodDef methods[] = {
    ENTRY(uniform, "uniform(low=0, high=1): between them, both ends open."),
    ENTRY(normal, "normal(mean=0, deviation=1)"),
    ENTRY(lognormal, "lognormal(mu, sigma): the median is exp(mu)."),
    ENTRY(weibull, "weibull(shape, scale)"),
    ENTRY(pareto, "pareto(shape, scale): from scale on."),
    ENTRY(lomax, "lomax(shape, scale): a Pareto moved to start at 0."),
    ENTRY(exponential, "exponential(mean)"),
    ENTRY(geometric, "geometric(p): failures before the first success."),
    ENTRY(poisson, "poisson(mean): mean from 0 to 1e9."),
    {NULL, NULL, 0, NULL},
};

static PyTypeObject random_type = {
    PyVarObject_HEAD_INIT(NULL, 0).tp_name = "tarry.Random",
    .tp_doc = "Random(seed, run=0, round=0, stream=32, count=0)\n--\n\n"
              "Draws that are functions of (seed, run, round, stream) alone.\n"
              "Each draw takes the next stream; with a count, draws are arrays "
              "with one\nnumber for each of the rounds from `round` on.  "
              "Parameters outside their\nrange give nan.",
    .tp_basicsize = sizeof(random_object),
    .tp_flags = Py_TPFLAGS_DEFAULT,
    .tp_new = make,
    .tp_repr = describe,
    .tp_methods = methods,
};

int add_random(PyObject *module)
{
    return PyModule_AddType(module, &random_type);
}
