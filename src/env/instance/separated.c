/* separated.c - sets of arms whose pairs are all checked.
 *
 * The probabilistic method gives such sets with room to spare, so nearly
 * always the first draw passes; an arm at fault with an earlier one is drawn
 * anew and all pairs are checked again.  Products come in square blocks of
 * the Gram matrix, K^2 n / 2 multiplications in all. */
#include "env/instance.h"

#include <string.h>
#include "base/base.h"
#include "linalg/linalg.h"

enum { BLOCK = 256, ATTEMPTS = 32 };

typedef struct {
    const tarry__instance *set;
    double low, high;
    double *products;            /* BLOCK by BLOCK */
    unsigned char *bad;          /* per arm: must be drawn anew */
    size_t n_bad, first, second; /* how many; a pair at fault ... */
    double product;              /* ... and its product */
} checker;

static void judge(checker *c, size_t i, size_t j, double product)
{
    if ((product >= c->low && product <= c->high) || c->bad[i] || c->bad[j])
        return;
    c->bad[j] = 1;
    c->n_bad++;
    c->first = i;
    c->second = j;
    c->product = product;
}

static void check_block(checker *c, size_t i0, size_t j0)
{
    const size_t K = c->set->n_arms, n = c->set->dim;
    const size_t rows = K - i0 < BLOCK ? K - i0 : BLOCK;
    const size_t columns = K - j0 < BLOCK ? K - j0 : BLOCK;
    tarry__linalg_transposed_multiply(c->set->arms + i0 * n,
                                      c->set->arms + j0 * n, rows, n, columns,
                                      c->products);
    for (size_t j = 0; j < columns; j++)
        for (size_t i = 0; i < rows && i0 + i < j0 + j; i++)
            judge(c, i0 + i, j0 + j, c->products[i + j * rows]);
}

static void check_all(checker *c)
{
    c->n_bad = 0;
    memset(c->bad, 0, c->set->n_arms);
    for (size_t j0 = 0; j0 < c->set->n_arms; j0 += BLOCK)
        for (size_t i0 = 0; i0 <= j0; i0 += BLOCK)
            check_block(c, i0, j0);
}

static tarry_status draw_until_good(checker *c, tarry__instance *instance,
                                    tarry_random at,
                                    tarry__instance_candidate *draw,
                                    tarry_error *error)
{
    memset(c->bad, 1, instance->n_arms);
    for (at.attempt = 0; at.attempt < ATTEMPTS; at.attempt++) {
        for (size_t k = 0; k < instance->n_arms; k++)
            if (c->bad[k])
                draw(at, k, instance->dim, instance->arms + k * instance->dim);
        check_all(c);
        if (c->n_bad == 0)
            return TARRY_OK;
    }
    return tarry__base_fail(
        error, TARRY_BAD_INPUT,
        "%s: no such set of %zu arms in dimension %zu found: "
        "arms %zu and %zu have product %g, not %g to %g",
        instance->type->entry.name, instance->n_arms, instance->dim, c->first,
        c->second, c->product, c->low, c->high);
}

tarry_status tarry__instance_separate(tarry__instance *instance,
                                      tarry_random at,
                                      tarry__instance_candidate *draw,
                                      double low, double high,
                                      tarry_error *error)
{
    checker c = {.set = instance, .low = low, .high = high};
    c.products = tarry__base_alloc((size_t)BLOCK * BLOCK, sizeof *c.products);
    c.bad = tarry__base_alloc(instance->n_arms, 1);
    const tarry_status status =
        c.products && c.bad
            ? draw_until_good(&c, instance, at, draw, error)
            : tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    tarry__base_free(c.products);
    tarry__base_free(c.bad);
    return status;
}
