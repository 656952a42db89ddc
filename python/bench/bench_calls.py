"""What a call through Python costs: choose and observe, one by one and in
batches of 1000, against the library's own time for the same rounds.

    PYTHONPATH=python python3 python/bench/bench_calls.py

Nanoseconds of processor time per pair, the least of several tries."""
import time

import numpy as np
import tarry

rng = np.random.default_rng(1)
ARMS = rng.normal(size=(100, 10))
ARMS /= np.linalg.norm(ARMS, axis=1)[:, None]
PAIRS, BATCH = 100000, 1000


def least(f, name, tries=7):
    times = []
    for _ in range(tries):
        p = tarry.Policy(name, ARMS, horizon=1e9)
        begin = time.process_time()
        f(p)
        times.append(time.process_time() - begin)
    return min(times) / PAIRS * 1e9


def one_by_one(p):
    choose, observe = p.choose, p.observe
    for _ in range(PAIRS):
        observe(choose().id, 0.5)


def in_batches(p):
    losses = np.full(BATCH, 0.5)
    for _ in range(PAIRS // BATCH):
        ids, _ = p.choose_many(BATCH)
        p.observe_many(ids, losses)


def library(p, batch=BATCH):
    """The loops in C alone; batch 1 for the order of calls of one_by_one."""
    ids, arms = np.empty(batch, np.uint64), np.empty(batch, np.uint64)
    losses, results = np.full(batch, 0.5), np.empty(batch, np.uint8)
    for _ in range(PAIRS // batch):
        p._choose_many(ids, arms, None)
        p._observe_many(ids, losses, results)


if __name__ == "__main__":
    print("%-20s %12s %12s %16s" % ("policy", "one by one", "in batches",
                                    "batches in C"))
    for name in ("uniform", "phased-stochastic", "lints"):
        print("%-20s %12.0f %12.0f %16.0f" % (
            name, least(one_by_one, name), least(in_batches, name),
            least(library, name)))
