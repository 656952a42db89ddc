/* own_mean.c - see own_mean.h. */
#include "base/elementary.h"
#include "policy/phased/own_mean.h"

#include <math.h>

enum { HALVINGS = 60 };

static double log_beta(double a, double b)
{
    return tarry__lgamma(a) + tarry__lgamma(b) - tarry__lgamma(a + b);
}

/* h log p + (n - h) log(1 - p), 0 log 0 being 0. */
static double log_likelihood(double h, double n, double p)
{
    return (h > 0 ? h * tarry__ln(p) : 0) +
           (n - h > 0 ? (n - h) * tarry__log1p(-p) : 0);
}

/* The largest p that n losses with high share h allow. */
static double largest_p(double n, double h, double delta)
{
    const double least =
        log_beta(h + 0.5, n - h + 0.5) - log_beta(0.5, 0.5) + tarry__ln(delta);
    double low = n > 0 ? h / n : 1, high = 1; /* low is allowed */
    if (n == 0 || log_likelihood(h, n, 1) >= least)
        return 1;
    for (int i = 0; i < HALVINGS; i++) {
        const double p = (low + high) / 2;
        if (log_likelihood(h, n, p) >= least)
            low = p;
        else
            high = p;
    }
    return high;
}

static double high_share(double n, double sum, double low)
{
    return fmin(fmax((sum - n * low) / (1 - low), 0), n);
}

double tarry__own_mean_upper(double n, double sum, double low, double delta)
{
    return low + (1 - low) * largest_p(n, high_share(n, sum, low), delta);
}

double tarry__own_mean_lower(double n, double sum, double low, double delta)
{
    return 1 - (1 - low) * largest_p(n, n - high_share(n, sum, low), delta);
}
