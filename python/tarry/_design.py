"""Optimal designs."""
from __future__ import annotations

from typing import Any, Callable, Optional

import numpy as np

from . import _tarry
from ._arrays import Array, ArmsLike, arms_and_names, counts, whole
from ._errors import BadArgument


class Design:
    """A solved design: which arms to play how often."""

    #: dimension of the arms' span
    rank: int
    #: largest variance of any arm; no design has less than `rank`
    g: float
    #: numbers of the arms with weight, increasing
    support: Array
    #: their weights, with sum 1
    support_weights: Array
    #: the smallest of them
    min_weight: float
    #: evaluations of a variance, divided by the number of arms
    passes: float
    #: time of the solve
    seconds: float
    #: whether g is as small as was asked for
    target_met: bool

    def __init__(self, n_arms: int, answer: Any) -> None:
        self.n_arms = n_arms
        self.rank = answer["rank"]
        self.g = answer["g"]
        self.support = np.frombuffer(answer["arm"], np.uint64).astype(np.intp)
        self.support_weights = np.frombuffer(answer["weight"]).copy()
        self.min_weight = answer["min_weight"]
        self.passes = answer["passes"]
        self.seconds = answer["seconds"]
        self.target_met = answer["target_met"]

    @property
    def weights(self) -> Array:
        """The weight of each arm."""
        weights = np.zeros(self.n_arms)
        weights[self.support] = self.support_weights
        return weights

    def __repr__(self) -> str:
        return "Design(%d of %d arms, rank=%d, g=%.6g)" % (
            len(self.support), self.n_arms, self.rank, self.g)

    def _repr_html_(self) -> str:
        rows = "".join(
            "<tr><td>%d</td><td>%.6f</td></tr>" % pair for pair in
            list(zip(self.support, self.support_weights))[:40])
        return ("<p>%d of %d arms, span of rank %d, largest variance %.6g</p>"
                "<table><tr><th>arm</th><th>weight</th></tr>%s</table>" % (
                    len(self.support), self.n_arms, self.rank, self.g, rows))


def design(arms: ArmsLike, rule: str = "near", tol: float = 1e-3, *,
           rank_tol: float = 1e-11, max_support: int = 0,
           warm: Any = (), threads: int = 0,
           progress: Optional[Callable[[float, float], Any]] = None) -> Design:
    """Solves for the weights that make all arms' losses known equally well.

    rule "near": g is at most (1 + tol) times the rank.  rule "paper": at most
    2 times on few arms, then every weight raised to 1/(2 support) or more.
    `max_support` limits the number of arms (0: no limit); a design that then
    misses `tol` has target_met False.  `warm` are arms that are likely to
    matter.  `progress(share, g / rank)` is called now and then; an answer that
    is true cancels.

    Arrays in C order and float64, memory-mapped ones too, are not copied.

    >>> import tarry
    >>> d = tarry.design([[2, 0], [0, 3], [1, 1]])
    >>> d.rank, round(d.g, 6), d.support.tolist(), d.weights.round(3).tolist()
    (2, 2.0, [0, 1], [0.5, 0.5, 0.0])
    """
    if rule not in ("near", "paper"):
        raise BadArgument("rule: neither near nor paper: '%s'" % (rule,))
    if progress is not None and not callable(progress):
        raise BadArgument("progress: not a function: %r" % (progress,))
    array, _ = arms_and_names(arms)
    answer = _tarry.solve_design(array, rule == "paper", tol, rank_tol,
                                 whole(max_support, "max_support", 1 << 40),
                                 whole(threads, "threads", 1024),
                                 counts(warm, "warm"),
                                 progress)
    return Design(len(array), answer)
