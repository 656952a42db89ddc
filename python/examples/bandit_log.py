"""A loop and a log as the Open Bandit Pipeline has them."""
# %% [markdown]
# # Policies in other people's loops
# Many simulators call `select_action()` and `update_params(action, reward)`,
# and write logs with `action`, `reward` and `pscore`. An adapter is a few
# lines; it also keeps the id, so that rewards may come late.

# %%
import numpy as np
import tarry


class Adapter:
    """select_action and update_params over a tarry.Policy."""

    def __init__(self, policy, action_context, horizon, **settings):
        self.policy = tarry.Policy(policy, action_context, horizon=horizon,
                                   maximize=True, range=(0, 1), **settings)
        self.n_actions = len(action_context)
        self.open = {}

    def select_action(self):
        choice = self.policy.choose()
        self.open.setdefault(choice.arm, []).append(choice.id)
        return np.array([choice.arm])

    def update_params(self, action, reward):
        id = self.open[int(action)].pop(0)
        self.policy.observe(id, float(reward))


# %%
rng = np.random.default_rng(1)
context = np.eye(5)
means = np.array([0.1, 0.2, 0.5, 0.3, 0.4])
bandit = Adapter("lints", context, horizon=3000, seed=1)
log = {"action": [], "reward": [], "pscore": [], "position": []}
for t in range(3000):
    action = int(bandit.select_action()[0])
    reward = int(rng.random() < means[action])
    bandit.update_params(action, reward)
    for key, value in zip(log, (action, reward, 1 / 5, 0)):
        log[key].append(value)
print("mean reward of the last 1000:", np.mean(log["reward"][-1000:]))

# %% [markdown]
# Replay: a log of uniformly random actions tells how another policy would have
# done. Rounds in which it would have done the same are kept, the others
# are passed over.

# %%
uniform = {"action": rng.integers(0, 5, 20000)}
uniform["reward"] = (rng.random(20000) < means[uniform["action"]]).astype(int)
policy = tarry.Policy("lints", context, horizon=20000, maximize=True,
                      range=(0, 1), seed=1)
rewards = []
choice = policy.choose()
for action, reward in zip(uniform["action"], uniform["reward"]):
    if action == choice.arm:
        policy.observe(choice.id, float(reward))
        rewards.append(reward)
        choice = policy.choose()
print("%d rounds kept, mean reward %.3f; the log has %.3f" % (
    len(rewards), np.mean(rewards), uniform["reward"].mean()))
