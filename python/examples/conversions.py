"""Conversions that come days late: a live loop, with a restart."""
# %% [markdown]
# # Conversions that come days late
# Four banners are shown 2 000 times a day; a sale comes hours or
# days after the click, most clicks never sell. The policy is told of a sale
# when it happens, and of "no sale" when three days have passed.

# %%
import heapq
import os
import numpy as np
import tarry

names = ["plain", "discount", "story", "video"]
rate = np.array([0.05, 0.08, 0.06, 0.11])  # not known to the policy
rng = np.random.default_rng(1)
STATE = "banners.state"

policy = tarry.Policy("recommended", 4, horizon=40000, names=names,
                      range=(0, 1), maximize=True, seed=1)

# %% [markdown]
# The loop: choose, show, and report what has come in. Ids are the shop's own
# (here the number of the visit), so that a repeated request gets the same
# banner.

# %%
PER_DAY, WINDOW = 2000, 3 * 2000
due = []  # (when, id, reward): the outside world


def visit(t):
    choice = policy.choose(id="visit-%d" % t)
    if rng.random() < rate[choice.arm]:
        wait = min(rng.exponential(1.0) * PER_DAY, WINDOW - 1)
        heapq.heappush(due, (t + wait, choice.id, 1.0))
    else:
        heapq.heappush(due, (t + WINDOW, choice.id, 0.0))
    while due and due[0][0] <= t:
        _, id, reward = heapq.heappop(due)
        policy.observe(id, reward)


for t in range(10000):
    visit(t)
policy.save(STATE)
print(policy)

# %% [markdown]
# The process ends; a new one goes on as if nothing had happened, with all
# decisions that are still pending.

# %%
pending = policy.status()["pending"]
expected = policy.choose(id="next").arm
policy = tarry.Policy.restore(STATE)
assert policy.status()["pending"] == pending
assert policy.choose(id="next").arm == expected
assert policy.choose(id="visit-17").repeated
for t in range(10000, 20000):
    visit(t)
status = policy.status()
print("pending", status["pending"], "- best so far:", names[status["best"]])
print("certificate", policy.certificate())
os.remove(STATE)
