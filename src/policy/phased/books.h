/* books.h - per arm: plays, losses that have arrived, and their sum; and what
 * all of them together say, whenever somebody asks.
 *
 * Asking costs O(K r^2), keeping the books a few additions a round. */
#ifndef TARRY_POLICY_PHASED_BOOKS_H
#define TARRY_POLICY_PHASED_BOOKS_H

#include <stdbool.h>
#include "policy/policy_type.h"

typedef struct {
    const tarry__policy_problem *problem;
    double width;       /* factor of all widths; the bounds hold with 1 */
    double lowest;      /* no loss is below this: -1, or 0 */
    size_t n_arms;      /* that have a place in the books */
    size_t dim;         /* features that have a place in W */
    uint64_t *plays;    /* per arm: plays so far */
    uint64_t *arrivals; /* per arm: losses that have arrived */
    double *sums;       /* per arm: the sum of those losses */
    uint64_t learned;   /* losses that have arrived, of all arms */
    size_t rank; /* of the first design, and of all arms; 0: no features */
    double *W;   /* rank by n: W a are coordinates of arm a in which the first
                    design has V = 1 */
    double *column;    /* largest absolute value of each feature, of all arms */
    bool sees_all;     /* all arms are in the span of W */
    double *Z;         /* rank per arm: these coordinates of all arms */
    double *means;     /* per arm: estimated loss, by tarry__books_fit */
    double *work;      /* scratch, rank * (rank + 3) and twice the dimension */
    double *bounds;    /* by tarry__books_certify, one per arm in question */
    uint32_t *lacking; /* scratch, one per arm: arms that miss losses */
} tarry__books;

/* Opens empty books, whose width and lowest loss are set; W (rank by n) is
 * copied; rank 0 for none. */
tarry_status tarry__books_open(tarry__books *books,
                               const tarry__policy_problem *problem,
                               size_t rank, const double *W);
void tarry__books_clear(tarry__books *books);
void tarry__books_archive(tarry__books *books,
                          const tarry__policy_problem *problem,
                          tarry__archive *a);

/* Room for so many arms; the problem has them, and those that are new get their
 * place; coordinates by another W, in which all arms have one.  After a failure
 * nothing has changed. */
tarry_status tarry__books_reserve(tarry__books *books, size_t n_arms);
void tarry__books_extend(tarry__books *books);
tarry_status tarry__books_change(tarry__books *books, size_t rank,
                                 const double *W);

/* Estimates the losses of all arms from all that has arrived: books->means.
 * False: the numbers do not allow for it. */
bool tarry__books_fit(const tarry__books *books);

/* Of the `count` arms in `among`, the one with the smallest estimate, and a
 * bound on its gap to the best of them: it holds at all times at once with
 * probability 1 - delta.  So do, together with it, bounds on its mean less that
 * of among[i], which are then in books->bounds[i]: if one is negative, that arm
 * is not the best; infinity: nothing can be said.  `complete`: delays may
 * depend on losses, so missing ones are completed both ways. */
void tarry__books_certify(const tarry__books *books, double delta,
                          bool complete, const uint32_t *among, size_t count,
                          size_t *arm, double *gap);

#endif
