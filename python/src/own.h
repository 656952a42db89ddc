/* own.h - policies and delay laws that are Python objects, as the C library
 * calls them.
 *
 * A prototype is a Python function that begins a run: it is told the problem
 * and answers an object whose methods are called from then on.  The first
 * exception that one of them raises is kept, ends the experiment, and is raised
 * again where the experiment was started.  All of it takes the GIL by itself
 * where the library calls. */
#ifndef TARRY_OWN_H
#define TARRY_OWN_H

#include "binding.h"

typedef struct {
    char *name, *version; /* version NULL: without a journal */
    PyObject *start;   /* (arms, n_arms, dim, horizon, seed, run) -> object */
    PyObject *failure; /* the first exception, or NULL */
} own_prototype;

/* Takes copies of name and version (may be NULL) and holds on to `start`.
 * False: an exception is set. */
bool own_init(own_prototype *own, const char *name, const char *version,
              PyObject *start);
void own_clear(own_prototype *own);

/* Raises the exception kept, if there is one, and forgets it. */
bool own_raise(own_prototype *own);

/* What a law's object has: draw, or _block for all arms, or for some. */
typedef enum { OWN_DRAW, OWN_DRAW_MANY, OWN_DRAW_ARMS } own_hook;

/* The records to hand over; they live as long as the prototype does. */
tarry_own_policy own_policy_record(own_prototype *own, bool certifies);
tarry_delay_law own_law_record(own_prototype *own,
                               tarry_delay_dependence depends, own_hook hook);

#endif
