/* machine.c - asks the processor, and TARRY_VECTORS. */
#include "base/machine.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name;
    size_t lanes;
} widths[] = {{"plain", 2}, {"avx2", 4}, {"avx512", 8}};

static size_t lanes_of_processor(void)
{
#ifdef __x86_64__
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
        return 8;
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
        return 4;
#endif
    return 2;
}

/* 0 if `name` is none of the widths; NULL and "" mean the widest. */
static size_t lanes_of_name(const char *name)
{
    if (name == NULL || *name == '\0')
        return 8;
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++)
        if (strcmp(name, widths[i].name) == 0)
            return widths[i].lanes;
    return 0;
}

size_t tarry__base_vector_lanes(void)
{
    static atomic_size_t lanes; /* 0: not asked yet */
    size_t known = atomic_load_explicit(&lanes, memory_order_relaxed);
    if (known == 0) {
        const size_t most = lanes_of_processor(),
                     said = lanes_of_name(getenv("TARRY_VECTORS"));
        known = said > 0 && said < most ? said : most;
        atomic_store_explicit(&lanes, known, memory_order_relaxed);
    }
    return known;
}

const char *tarry__base_vectors_unknown(void)
{
    const char *name = getenv("TARRY_VECTORS");
    return lanes_of_name(name) > 0 ? NULL : name;
}
