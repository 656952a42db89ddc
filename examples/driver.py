#!/usr/bin/env python3
"""A policy from Python: the class below, then a demonstration.

The demonstration is the one of loop.sh, with reports that come back after an
exponential time of 200 packets in the mean."""
import json
import os
import random
import subprocess

HERE = os.path.dirname(os.path.abspath(__file__))
TARRY = os.environ.get("TARRY", os.path.join(HERE, "../build/tarry"))


class Policy:
    """Policy("phased-mab", "arms.csv", 1e5, range="0,1", store="log.db")"""

    def __init__(self, policy, arms, horizon, **options):
        options.update(policy=policy, arms=arms, horizon=horizon)
        self.process = subprocess.Popen(
            [TARRY, "pipe"] + ["--%s=%s" % pair for pair in options.items()],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, line):
        print(line, file=self.process.stdin, flush=True)
        answer = self.process.stdout.readline()
        if not answer or answer.startswith("error "):
            raise ValueError("%s: %s" % (line, answer.strip() or "no answer"))
        return answer

    def choose(self):
        """The id of this choice and the name of its arm."""
        return tuple(self.ask("choose").strip().split(" ", 1))

    def observe(self, id, loss):
        self.ask("observe %s %r" % (id, loss))

    def status(self):
        return json.loads(self.ask("status"))


def main(packets=80000):
    arms = os.path.join(HERE, "arms.csv")
    names = [line.split(",")[0] for line in open(arms)][1:]
    slow = dict(zip(names, [0.185, 0.5, 0.815, 0.41, 0.4955]))  # not told
    policy = Policy("phased-stochastic", arms, packets, range="0,1", seed=1)
    rng, due, phase, n_slow = random.Random(2385), {}, 0, 0
    for t in range(1, packets + 1):
        id, arm = policy.choose()
        loss = int(rng.random() < slow[arm])
        n_slow += loss
        back = t + int(rng.expovariate(1 / 200))
        due.setdefault(back, []).append((id, loss))
        for report in due.pop(t, []):
            policy.observe(*report)
        if t % 500 == 1 and policy.status()["phase"] != phase:
            status = policy.status()
            phase = status["phase"]
            print("packet %5d  phase %d  routes still in: %s" % (
                t, phase, " ".join(status["active"])))
    print("%.1f%% of the packets were slow; on a random route it would be "
          "%.1f%%" % (100 * n_slow / packets,
                       100 * sum(slow.values()) / len(slow)))


if __name__ == "__main__":
    main()
