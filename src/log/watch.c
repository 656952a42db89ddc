/* watch.c - see watch.h.  The sample is a reservoir: outcome n takes the place
 * of a random one with probability 4096/n. */
#include "log/watch.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include "base/base.h"
#include "tarry/random.h"

enum { ROOM = 4096, FIRST_TEST = 64, TESTS = 25, LEAST_OUTCOMES = 325 };
enum { STREAM = 40 }; /* of the reservoir's coins */
static const double level = 0.05, tolerance = 0.05, patience_share = 0.99;

typedef struct {
    uint64_t round, arm;
    double delay, loss;
} outcome;

typedef struct {
    uint64_t count; /* outcomes that it is a sample of */
    uint64_t now;   /* the last round when it was taken */
    uint64_t kept;
    outcome outcome[ROOM];
} sample;

struct tarry__watch {
    uint64_t seed;
    sample all, aside;
    tarry__watch_found found; /* in `aside`, if it has been tested */
};

tarry_status tarry__watch_create(uint64_t seed, tarry__watch **out)
{
    tarry__watch *w = *out = tarry__base_alloc(1, sizeof *w);
    if (w == NULL)
        return TARRY_NO_MEMORY;
    /* Outcomes take memory of the machine only once they are there. */
    memset(&w->all, 0, offsetof(sample, outcome));
    memset(&w->aside, 0, offsetof(sample, outcome));
    w->seed = seed;
    w->found = (tarry__watch_found){.p_value = 1};
    return TARRY_OK;
}

void tarry__watch_free(tarry__watch *w)
{
    tarry__base_free(w);
}

/* ---- the sample -----------------------------------------------------------*/

static void keep(tarry__watch *w, outcome o)
{
    sample *s = &w->all;
    if (s->kept < ROOM) {
        s->outcome[s->kept++] = o;
        return;
    }
    const tarry_random at = {
        .seed = w->seed, .round = s->count, .stream = STREAM};
    const double place = tarry_random_uniform(&at) * (double)s->count;
    if (place < ROOM)
        s->outcome[(size_t)place] = o;
}

static void copy(const sample *from, sample *to)
{
    memcpy(to, from,
           offsetof(sample, outcome) + from->kept * sizeof *from->outcome);
}

static bool is_power_of_two(uint64_t n)
{
    return (n & (n - 1)) == 0;
}

void tarry__watch_observe(tarry__watch *w, size_t arm, uint64_t round,
                          uint64_t now, double loss)
{
    w->all.now = now;
    w->all.count++;
    keep(w, (outcome){.round = round,
                      .arm = arm,
                      .delay = (double)(now - round),
                      .loss = loss});
    if (w->all.count >= FIRST_TEST && is_power_of_two(w->all.count))
        copy(&w->all, &w->aside);
}

/* ---- the test -------------------------------------------------------------*/

static int by_time(const void *a, const void *b)
{
    const outcome *x = a, *y = b;
    return (x->round > y->round) - (x->round < y->round);
}

static int by_number(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return (x > y) - (x < y);
}

/* Its columns, one outcome after the other. */
typedef struct {
    outcome sorted[ROOM];
    uint64_t known[ROOM];
    uint32_t arm[ROOM];
    double loss[ROOM], delay[ROOM], age[ROOM];
} columns;

/* Arms as 0, 1, 2, ... in order of their numbers, which may be anything. */
static size_t number_arms(columns *c, size_t count)
{
    size_t arms = 0;
    for (size_t i = 0; i < count; i++)
        c->known[i] = c->sorted[i].arm;
    qsort(c->known, count, sizeof *c->known, by_number);
    for (size_t i = 0; i < count; i++)
        if (i == 0 || c->known[i] != c->known[arms - 1])
            c->known[arms++] = c->known[i];
    for (size_t i = 0; i < count; i++)
        c->arm[i] = (uint32_t)((const uint64_t *)bsearch(
                                   &c->sorted[i].arm, c->known, arms,
                                   sizeof *c->known, by_number) -
                               c->known);
    return arms;
}

static tarry__dependence_pairs lay_out(columns *c, const sample *s)
{
    memcpy(c->sorted, s->outcome, s->kept * sizeof *c->sorted);
    qsort(c->sorted, s->kept, sizeof *c->sorted, by_time);
    for (size_t i = 0; i < s->kept; i++) {
        c->loss[i] = c->sorted[i].loss;
        c->delay[i] = c->sorted[i].delay;
        c->age[i] = (double)(s->now - c->sorted[i].round);
    }
    return (tarry__dependence_pairs){.count = s->kept,
                                     .n_arms = number_arms(c, s->kept),
                                     .arm = c->arm,
                                     .loss = c->loss,
                                     .delay = c->delay,
                                     .age = c->age};
}

/* False: out of memory. */
static bool test(tarry__watch *w)
{
    tarry__dependence_found f;
    columns *c = tarry__base_alloc(1, sizeof *c);
    if (c == NULL)
        return false;
    tarry__dependence_pairs pairs = lay_out(c, &w->aside);
    pairs.seed = w->seed ^ w->aside.count;
    const bool done = tarry__dependence_test(&pairs, &f);
    if (done) {
        w->found = (tarry__watch_found){
            .verdict = f.p_value <= level / TESTS ? TARRY__WATCH_DEPENDENT
                                                  : TARRY__WATCH_CANNOT_TELL,
            .p_value = f.p_value,
            .correlation = f.correlation,
            .z = f.z,
            .tested = w->aside.count};
        tarry__dependence_clear(&f);
    }
    tarry__base_free(c);
    return done;
}

/* ---- looking --------------------------------------------------------------*/

uint64_t tarry__watch_patience(const tarry__watch *w)
{
    uint64_t delay[ROOM];
    const size_t kept = w->all.kept;
    if (kept == 0)
        return 0;
    for (size_t i = 0; i < kept; i++)
        delay[i] = (uint64_t)w->all.outcome[i].delay;
    qsort(delay, kept, sizeof *delay, by_number);
    return delay[(size_t)(patience_share * (double)(kept - 1))];
}

static const char *direction(double z)
{
    return z > 2    ? "high outcomes come later than low ones of the same arm"
           : z < -2 ? "low outcomes come later than high ones of the same arm"
                    : "late outcomes of an arm differ from its early ones";
}

tarry__watch_found tarry__watch_look(tarry__watch *w, uint64_t decisions,
                                     uint64_t overdue)
{
    const bool known = w->found.tested == w->aside.count || test(w);
    tarry__watch_found f = w->found;
    f.outcomes = w->all.count;
    if (!known) {
        f = (tarry__watch_found){.p_value = 1, .why = "out of memory"};
    } else if (f.verdict == TARRY__WATCH_DEPENDENT) {
        f.why = direction(f.z);
    } else if (f.tested < LEAST_OUTCOMES) {
        f.why = "too few outcomes have come";
    } else if ((double)overdue > tolerance * (double)decisions) {
        f.why = "too many decisions that should have an outcome have none";
    } else {
        f.verdict = TARRY__WATCH_INDEPENDENT;
        f.why = "late outcomes of an arm look like its early ones";
    }
    return f;
}

const char *tarry__watch_text(tarry__watch_verdict verdict)
{
    static const char *const texts[] = {"cannot tell", "independent",
                                        "dependent"};
    return texts[verdict];
}

/* ---- keeping --------------------------------------------------------------*/

static bool is_sound(const sample *s)
{
    bool sound = s->kept <= s->count;
    for (size_t i = 0; i < s->kept; i++) {
        const outcome *o = &s->outcome[i];
        sound &= o->round <= s->now && isfinite(o->loss) && o->delay >= 0 &&
                 o->delay <= (double)(s->now - o->round);
    }
    return sound;
}

static void archive(sample *s, tarry__archive *a)
{
    tarry__archive_field(a, s->count);
    tarry__archive_field(a, s->now);
    tarry__archive_field(a, s->kept);
    tarry__archive_require(a, s->kept <= ROOM);
    if (a->status != TARRY_OK) {
        s->kept = 0;
        return;
    }
    tarry__archive_bytes(a, s->outcome, s->kept * sizeof *s->outcome);
    tarry__archive_require(a, a->status == TARRY_OK && is_sound(s));
}

void tarry__watch_archive(tarry__watch *w, tarry__archive *a)
{
    archive(&w->all, a);
    archive(&w->aside, a);
}
