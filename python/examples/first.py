"""A first experiment: which policy loses least while feedback is late?"""
# %% [markdown]
# # A first experiment
# 100 arms in 10 dimensions, losses +1 or -1. The outcome of a choice is seen
# after an exponential delay of 500 rounds in the mean; all policies meet the
# same arms and the same luck.

# %%
import tarry

r = tarry.run(["recommended", "lints", "linucb", "uniform"],
              delay="exponential:mean=500", horizon=2e4, runs=8, seed=1)
print(r)

# %% [markdown]
# Differences are paired: they have smaller errors than the regrets themselves.

# %%
print("linucb less lints:", r.difference("linucb", "lints"))
print(r.table("markdown"))

# %% [markdown]
# Everything is an array; figures are matplotlib's.

# %%
print(r["lints"].regret.round(1), r["lints"].curves.shape)
r.plot(policies=["recommended", "lints", "linucb"], path="first.pdf",
       title="Exponential delay, mean 500")

# %% [markdown]
# What if good outcomes are late *because* they are good?

# %%
late = tarry.run(["recommended", "lints"], delay="low-late:late=2000",
                 horizon=2e4, runs=8, seed=1)
print(late)
