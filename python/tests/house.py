"""A policy of the house, played by Python."""
import tarry


class House(tarry.PolicyBase):
    """Plays a policy of the library through tarry.Policy."""

    def __init__(self, policy):
        self.policy = policy

    def start(self, problem):
        self._policy = tarry.Policy(
            self.policy, problem.arms, horizon=problem.horizon,
            seed=problem.seed, run=problem.run)

    def choose(self, round):
        return self._policy.choose().arm

    def observe(self, round, arm, loss):
        self._policy.observe(round, loss)
