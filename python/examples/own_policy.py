"""Your own policy and your own delays against those of the house."""
# %% [markdown]
# # Your own policy, your own delays
# A policy is a class with `choose` and `observe`; each run works on a copy of
# its own. This one is epsilon-greedy on a ridge regression.

# %%
import numpy as np
import tarry


class EpsilonGreedy(tarry.PolicyBase):
    def __init__(self, epsilon=0.05):
        self.epsilon = epsilon

    def start(self, problem):
        self.problem = problem
        self._V = np.eye(problem.dim)
        self._b = np.zeros(problem.dim)
        self._best = 0

    def choose(self, round):
        coins = self.problem.random(round)
        if coins.uniform() < self.epsilon:
            return int(coins.uniform() * self.problem.n_arms)
        return self._best

    def observe(self, round, arm, loss):
        x = self.problem.arms[arm]
        self._V += np.outer(x, x)
        self._b += loss * x
        if round % 10 == 0:
            theta = np.linalg.solve(self._V, self._b)
            self._best = int(np.argmin(self.problem.arms @ theta))


# %% [markdown]
# A law of delays sees arm and loss. `draw_many` answers for a block of rounds
# at once: `rng`'s draws are arrays, one number for each round.

# %%
class SlowComplaints(tarry.DelayBase):
    """Bad outcomes come after some 300 rounds, one in ten of them never."""
    depends = "loss"

    def draw_many(self, rounds, losses, rng):
        late = np.where(rng.uniform() < 0.1, np.inf, rng.exponential(300))
        return np.where(losses > 0, late[:, None], 0)


r = tarry.run([EpsilonGreedy(), EpsilonGreedy(0.2), "lints", "recommended"],
              delay=SlowComplaints(), horizon=5000, runs=4, seed=1)
print(r)

# %% [markdown]
# Several processes give the same numbers as one.

# %%
again = tarry.run([EpsilonGreedy(), EpsilonGreedy(0.2)],
                  delay=SlowComplaints(), horizon=5000, runs=4, seed=1,
                  processes=2)
assert (again[0].regret == r[0].regret).all()

# %% [markdown]
# A policy of the house, played from Python, is the same to the last bit, as
# long as one loss comes at a time.


# %%
class House(tarry.PolicyBase):
    def start(self, problem):
        self._policy = tarry.Policy(
            "lints", problem.arms, horizon=problem.horizon, seed=problem.seed,
            run=problem.run)

    def choose(self, round):
        return self._policy.choose().arm

    def observe(self, round, arm, loss):
        self._policy.observe(round, loss)


r = tarry.run([House(), "lints"], delay="constant:rounds=60", horizon=5000,
              runs=2)
assert (r["House"].curves == r["lints"].curves).all()

# %% [markdown]
# Your own data: arms and theta, or a table of outcomes (arm, loss, delay).

# %%
rng = np.random.default_rng(1)
table = np.column_stack([rng.integers(0, 3, 500), rng.uniform(-1, 1, 500),
                         rng.geometric(0.01, 500)])
print(tarry.run(["lints", "ucb-delayed"], table=table, horizon=5000, runs=4))
