"""tarry.run against the program `tarry run`, and what own delays cost.

    PYTHONPATH=python python3 python/bench/bench_run.py

Processor time, the least of several tries in turn; the program's start and
Python's imports are left out by taking the time of a tiny experiment off."""
import resource
import subprocess
import time

import numpy as np
import tarry

T, RUNS = 1000000, 2


def program(policy, horizon):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run([tarry.program(), "run", "--policy", policy, "--horizon",
                    str(horizon), "--runs", str(RUNS), "--threads", "1",
                    "--json"], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def package(policy, horizon, **more):
    begin = time.process_time()
    tarry.run(policy, horizon=horizon, runs=RUNS, threads=1, progress=False,
              **more)
    return time.process_time() - begin


def least(f, *arguments, tries=5, **more):
    return min(f(*arguments, **more) for _ in range(tries))


class ByNothing(tarry.DelayBase):
    depends = "nothing"

    def draw_many(self, rounds, losses, rng):
        return rng.exponential(100)


class ByLoss(tarry.DelayBase):
    def draw_many(self, rounds, arms, losses, rng):
        return np.where(losses < 0, 100, 0)


class ByLossAllArms(tarry.DelayBase):
    def draw_many(self, rounds, losses, rng):
        return np.where(losses < 0, 100, 0)


class OneByOne(tarry.DelayBase):
    def draw(self, round, arm, loss, rng):
        return 100 if loss < 0 else 0


if __name__ == "__main__":
    for policy in ("lints", "phased-stochastic"):
        small = least(program, policy, 100), least(package, policy, 100)
        times = [(program(policy, T) - small[0], package(policy, T) - small[1])
                 for _ in range(5)]
        a, b = min(t[0] for t in times), min(t[1] for t in times)
        print("%s: program %.0f ns a round, package %.0f, ratio %.3f" % (
            policy, a / T / RUNS * 1e9, b / T / RUNS * 1e9, b / a))
    for policy in ("phased-stochastic", "lints", "recommended", "uniform"):
        house = least(package, policy, T, tries=3, delay="low-late:late=100")
        for law in (ByNothing, ByLoss, ByLossAllArms, OneByOne):
            own = least(package, policy, T, tries=3, delay=law())
            print("%s, %s: %.0f ns a round more than a delay of the house" % (
                policy, law.__name__, (own - house) / T / RUNS * 1e9))
