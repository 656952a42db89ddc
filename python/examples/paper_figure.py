"""A figure of the paper: the price of stochastic delays."""
# %% [markdown]
# # A figure of the paper
# With stochastic delays the regret grows with the mean delay and not with the
# dimension. Here: Algorithm 1 with exact widths, two dimensions, four delays.

# %%
import numpy as np
import tarry

means = [100, 400, 1600]
cost = {}
for dim in (4, 8):
    worlds = [tarry.World("sphere:dim=%d,arms=50" % dim, name="mean %d" % mean,
                          delay="exponential:mean=%d" % mean)
              for mean in means]
    r = tarry.run("phased-stochastic:constants=tight", worlds=worlds,
                  horizon=2e5, runs=4, seed=1)
    cost[dim] = [r[w.name, 0].mean for w in worlds]
    print("dimension", dim, np.round(cost[dim]))

# %%
from matplotlib.figure import Figure

figure = Figure(figsize=(4, 3))
ax = figure.add_subplot()
for dim, marker in zip(cost, "os"):
    ax.plot(means, cost[dim], marker=marker, label="n = %d" % dim)
ax.set_xlabel("mean delay, rounds")
ax.set_ylabel("regret")
ax.legend(frameon=False)
figure.savefig("paper_figure.pdf", bbox_inches="tight")

# %% [markdown]
# What the theorem promises there, and one of the paper's claims put to the
# test (the page is in `paper-page/index.html`).

# %%
b = tarry.bound("phased-stochastic:constants=tight", horizon=2e5,
                delay="exponential:mean=1600", instance="sphere:dim=8,arms=50")
print("upper bound", b["upper"]["regret"])
p = tarry.paper(rows=["design"], out="paper-page")
print(p)
