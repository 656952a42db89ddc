/* overview_inner.h - what an overview holds. */
#ifndef TARRY_SERVICE_OVERVIEW_INNER_H
#define TARRY_SERVICE_OVERVIEW_INNER_H

#include "service/overview.h"
#include "service/absent.h"

enum {
    BUCKETS = TARRY__OVERVIEW_BUCKETS,
    BINS = 160,  /* four per octave from 1 ms: 34 years */
    RECENT = 32, /* decisions that are listed one by one */
    ID_ROOM = 300,
};

/* What happened in a stretch of time. */
typedef struct {
    uint64_t decisions, outcomes;
    double sum;                    /* of the outcomes */
    uint64_t pending, pending_max; /* at its end, and at most in it */
} tarry__overview_bucket;

typedef struct {
    char *name; /* NULL: its number is its name */
    bool is_withdrawn;
    uint64_t decisions, outcomes, cancelled;
    double mean, squares; /* of outcomes: their mean, and the sum of squared
                             distances from it */
    uint32_t *counts;     /* NULL before it is chosen; else decisions by
                             bucket, then outcomes by the bin of their delay */
} tarry__overview_arm;

typedef struct {
    uint64_t round; /* 0: none */
    uint64_t arm;
    char id[ID_ROOM];
    int64_t at, ended_at;
    double probability, value;
    tarry__store_event_kind state; /* CHOOSE: it is out */
} tarry__overview_decision;

struct tarry__overview {
    const tarry__store_experiment *made;
    uint64_t seq;
    tarry__overview_arm *arms;
    size_t n_arms, arms_room;
    tarry__absent waiting;
    uint64_t decisions, outcomes, cancelled;
    uint64_t expired;   /* decisions given up whose outcome has not come */
    uint64_t defaulted; /* decisions with a default that may be corrected */
    double default_value;
    uint64_t pending_max;
    int64_t start, width, last; /* of the buckets; the time of the last event */
    size_t bucket;              /* the last that was reached */
    tarry__overview_bucket buckets[BUCKETS];
    tarry__overview_decision recent[RECENT];
    int64_t gap_width; /* buckets of their own, from the same start: they go */
    size_t n_gaps;     /*   on while events have yet to be read */
    double gap[BUCKETS]; /* the last certificate in each, or NaN */
};

/* The bin of a delay, and where its middle is, in milliseconds. */
size_t tarry__overview_bin(int64_t ms);
double tarry__overview_middle(size_t bin);

uint64_t tarry__overview_pending(const tarry__overview *o);

#endif
