"""Worlds to try policies in: arms and their mean losses, losses, delays."""
from __future__ import annotations

import copy
import inspect
from typing import Any, Callable, Dict, NamedTuple, Optional, Tuple, Union

import numpy as np

from . import _tarry
from ._arrays import Array, ArmsLike, arms_and_names, numbers, unmasked, whole
from ._errors import BadArgument
from ._tarry import Random



class Problem:
    """What a run is about, as policies and delays of one's own are told."""

    def __init__(self, arms: bytes, n_arms: int, dim: int, horizon: int,
                 seed: int, run: int) -> None:
        #: a row per arm; read-only
        self.arms: Any = np.frombuffer(arms).reshape(n_arms, dim)
        self.n_arms = n_arms
        self.dim = dim
        #: rounds 1 .. horizon are played; 0 for laws of delays
        self.horizon = horizon
        self.seed = seed
        self.run = run

    def random(self, round: int, stream: int = 0) -> Random:
        """The coins of a round; streams 0 to 15 are a policy's."""
        return Random(self.seed, self.run, round, stream)

    def __repr__(self) -> str:
        return "<Problem: %d arms in %d dimensions, horizon %d, run %d>" % (
            self.n_arms, self.dim, self.horizon, self.run)


def name_of(thing: Any) -> str:
    """The class with the settings it was made with, "Mine:width=2"."""
    given = getattr(thing, "name", None)
    if isinstance(given, str) and given:
        return given
    plain = ["%s=%s" % (key, value)
             for key, value in getattr(thing, "__dict__", {}).items()
             if not key.startswith("_")
             and isinstance(value, (bool, int, float, str))]
    kind = type(thing).__name__
    return kind + (":" + ",".join(plain) if plain else "")


def starter(prototype: Any) -> Callable[..., Any]:
    """Begins runs with copies of the prototype."""
    def start(*problem: Any) -> Any:
        twin = copy.deepcopy(prototype)
        begin = getattr(twin, "start", None)
        if begin is not None:
            begin(Problem(*problem))
        return twin
    return start


_DEPENDS = {"nothing": 0, "arm": 1, "loss": 2}


class DelayBase:
    """A law of delays of one's own: write draw() or draw_many().

    `depends` says what a delay may depend on, beside chance: "nothing", "arm",
    or "loss" (loss and arm).  Policies in the same run meet the same luck, if
    the delay is a function of what it is told and of draws of `rng`.  Each run
    works on a copy of its own; start(problem) begins it.

    >>> import tarry
    >>> class LateIfBad(tarry.DelayBase):
    ...     def draw(self, round, arm, loss, rng):
    ...         return rng.exponential(500) if loss > 0 else 0
    >>> r = tarry.run("lints", delay=LateIfBad(), horizon=1000, runs=2)
    >>> r["lints"].regret.shape
    (2,)
    """

    depends = "loss"
    _n_arms = 0  # of the run
    _with_arms = False  # whether draw_many is told them

    def start(self, problem: Problem) -> None:
        """Begins a run."""

    def draw(self, round: int, arm: int, loss: float, rng: Random
             ) -> Optional[float]:
        """The delay of a play in rounds, fractions cut off; None (or
        infinity): its loss never comes."""
        raise NotImplementedError("%s: neither draw nor draw_many"
                                  % type(self).__name__)

    # In place of draw: def draw_many(self, rounds, arms, losses, rng), for a
    # block of rounds, before it is known which arms will be played.  losses[i,
    # j] is the loss in rounds[i] if arms[j] is played (None unless depends is
    # "loss").  Answers delays of that shape; of shape (rounds,) where they
    # depend on nothing (arms is None then).  rng's draws are arrays with a
    # number for each round.  Only arms that are played are asked for, in an
    # order that is left open: a delay must be a function of round, arm, loss
    # and draws.  A law that keeps a memory leaves `arms` out, def
    # draw_many(self, rounds, losses, rng), and is asked for all arms, block
    # after block.
    draw_many: Optional[Callable[..., Any]] = None

    def _block(self, first: int, count: int, arms: Optional[bytes],
               losses: Optional[bytes], rng: Random) -> Any:
        rounds = np.arange(first, first + count)
        chosen = None if arms is None else np.frombuffer(arms, np.intp)
        table = None if losses is None else \
            np.frombuffer(losses).reshape(count, -1)
        assert self.draw_many is not None
        drawn = self.draw_many(rounds, chosen, table, rng) \
            if self._with_arms else self.draw_many(rounds, table, rng)
        return _delays(self, unmasked(drawn, "delays"), count, (
            count, self._n_arms if chosen is None else len(chosen)))


_DRAW, _DRAW_MANY, _DRAW_ARMS = range(3)


def _hook(law: DelayBase) -> int:
    """Which way the law draws."""
    if law.draw_many is None:
        return _DRAW
    return _DRAW_ARMS if _takes_arms(law.draw_many) else _DRAW_MANY


def _takes_arms(hook: Callable[..., Any]) -> bool:
    """Whether draw_many has a parameter for arms beside the other three."""
    try:
        names = inspect.signature(hook).parameters
    except (TypeError, ValueError):
        return False
    return "arms" in names or len(names) > 3


def _delays(law: DelayBase, drawn: Array, count: int, shape: Tuple[int, int]
            ) -> Array:
    """The law's answer, as the library takes it."""
    if drawn.dtype.kind not in "biuf":
        raise TypeError("%s: delays are numbers" % name_of(law))
    wanted: Tuple[int, ...] = (count,) if law.depends == "nothing" else shape
    if drawn.shape != wanted:
        if drawn.ndim == 1 and len(wanted) == 2:
            drawn = drawn[:, None]
        drawn = np.broadcast_to(drawn, wanted)
    return np.ascontiguousarray(
        drawn, np.float64 if drawn.dtype.kind == "f" else np.int64)


class _Function(DelayBase):
    """A law that is a function (round, arm, loss, rng)."""

    def __init__(self, draw: Callable[..., Any]) -> None:
        self.name = getattr(draw, "__name__", "function")
        self.draw = draw  # type: ignore[assignment]


def _law_start(law: DelayBase) -> Callable[..., Any]:
    begin, with_arms = starter(law), _hook(law) == _DRAW_ARMS

    def start(arms: bytes, n_arms: int, *rest: Any) -> Any:
        twin = begin(arms, n_arms, *rest)
        twin._n_arms = n_arms
        twin._with_arms = with_arms
        return twin
    return start


def _law_of(delay: Any) -> DelayBase:
    if isinstance(delay, type) and issubclass(delay, DelayBase):
        delay = delay()
    law = delay if isinstance(delay, DelayBase) else _Function(delay)
    if law.depends not in _DEPENDS:
        raise BadArgument("depends: not nothing, arm or loss: '%s'"
                          % (law.depends,))
    return law


def _law_tuple(law: DelayBase, version: Optional[str]) -> Tuple[Any, ...]:
    return (name_of(law), version, _DEPENDS[law.depends], _hook(law),
            _law_start(law))


class View(NamedTuple):
    """What a run meets in a world."""
    model: str
    arms: Any
    means: Any
    best: int


_MODELS = ("stochastic", "stochastic by arm", "adversarial",
           "adversarial by arm", "loss-dependent")
_NEVER = np.uint64(2**64 - 1)

_DEFAULTS = {"instance": "sphere", "loss": "rademacher",
             "delay": "exponential:mean=100"}


def _read_table(table: Any) -> Tuple[Array, Array, Array]:
    """Columns arm, loss and delay of a data frame, a record array, a tuple of
    three arrays, or rows of three numbers."""
    try:
        if hasattr(table, "columns") or \
                getattr(getattr(table, "dtype", None), "names", None):
            columns = [table[key] for key in ("arm", "loss", "delay")]
        elif isinstance(table, tuple):
            columns = list(table)
        else:
            columns = list(numbers(table, "table", 2).T)
        if len(columns) != 3:
            raise ValueError("%d columns" % len(columns))
        arm, loss, delay = (numbers(c, "table", 1) for c in columns)
    except BadArgument:
        raise
    except (KeyError, ValueError, TypeError) as error:
        raise BadArgument("table: not rows of arm, loss and delay: %s" % error)
    if not (np.all(arm >= 0) and np.all(arm == np.floor(arm))
            and np.all(arm < 2**53)):
        raise BadArgument("table: an arm is no whole number from 0 on")
    if np.any(delay < 0):
        raise BadArgument("table: a delay is below 0")
    never = ~(delay < 1e18)
    rounds = np.where(never, 0, delay).astype(np.uint64)
    rounds[never] = _NEVER
    return arm.astype(np.uint64), loss, rounds


class World:
    """A world to try policies in; parts that are not given are those of
    `tarry run`.

    instance, loss, delay: descriptions, as `tarry list` has them.  In place of
    an instance: `arms` with `theta` (an arm's mean loss is its product with
    theta) or `means`; in place of a delay by description: a DelayBase or a
    function (round, arm, loss, rng).  In place of means, loss and delay: a
    `table` with rows (arm, loss, delay), of which a play of an arm gets one of
    the arm's, all with equal chances (nan: never).

    `report` says which outcomes are ever reported ("all", "only-low",
    "only-high", "window:rounds=100"), `default_outcome` which outcome the
    others have, "1/500r": all policies are told; with "1/500r/final" an outcome
    that takes longer is not seen, else it replaces the default.

    >>> import tarry
    >>> w = tarry.World(arms=[[1, 0], [0, 1]], theta=[0.3, -0.2], delay="none")
    >>> w.look().means.tolist(), w.look().best
    ([0.3, -0.2], 1)
    """

    def __init__(self, instance: Union[str, Tuple[Any, Any], None] = None,
                 loss: Optional[str] = None, delay: Any = None, *,
                 arms: Optional[ArmsLike] = None, theta: Any = None,
                 means: Any = None, table: Any = None,
                 name: Optional[str] = None, report: Optional[str] = None,
                 default_outcome: Optional[str] = None) -> None:
        if isinstance(instance, tuple):
            if len(instance) != 2 or arms is not None or theta is not None:
                raise BadArgument("instance: a description or (arms, theta)")
            arms, theta = instance
            instance = None
        rows: Tuple[Any, Any, Any] = (None, None, None)
        if table is not None:
            rows = _read_table(table)
            if arms is None and len(rows[0]) > 0:
                arms = int(rows[0].max()) + 1
        #: what it was made with, for pickles and copies
        self._made = dict(instance=instance, loss=loss, delay=delay, arms=arms,
                          theta=theta, means=means, table=table, name=name,
                          report=report, default_outcome=default_outcome)
        self.name = name
        self._texts: Dict[str, Any] = {
            "instance": instance, "loss": loss, "delay": delay,
            "report": report, "default_outcome": default_outcome}
        if arms is None:
            self._default("instance")
            array = None
        else:
            array, _ = arms_and_names(arms)
        if table is None:
            self._default("loss")
            self._default("delay")
        law = None
        if delay is not None and not isinstance(delay, str):
            if not (callable(delay) or isinstance(delay, DelayBase)):
                raise BadArgument("delay: neither a description nor a law: %r"
                                  % (delay,))
            law = _law_of(delay)
        for key in ("instance", "loss", "report", "default_outcome"):
            if not isinstance(self._texts[key], (str, type(None))):
                raise BadArgument("%s: not a description: %r"
                                  % (key, self._texts[key]))
        #: whether Python code is called in each round
        self.slow = law is not None
        self._law = law
        self._parts = (
            name, self._texts["instance"], self._texts["loss"],
            None if law else self._texts["delay"],
            (array, _vector(theta, "theta"), _vector(means, "means")) + rows)
        self._reports = (report, default_outcome)
        self._world = self._handle()
        self._label = name_of(law) if law else self._texts["delay"]
        if array is not None:  # as the library's results call them
            self._texts["instance"] = "arrays:arms=%d,dim=%d" % array.shape
        if table is not None:
            self._texts["loss"] = self._texts["delay"] = "table:rows=%d" \
                % len(rows[0])

    def _default(self, key: str) -> None:
        if self._texts[key] is None:
            self._texts[key] = _DEFAULTS[key]

    def _handle(self, version: Optional[str] = None) -> _tarry.World:
        """For one experiment: what a law raises is that experiment's."""
        if self._law is not None:
            return _tarry.World(*self._parts, _law_tuple(self._law, version),
                                *self._reports)
        return getattr(self, "_world", None) or \
            _tarry.World(*self._parts, None, *self._reports)

    def look(self, seed: int = 1, run: int = 0) -> View:
        """The world as this run of an experiment with this seed meets it."""
        model, n_arms, dim, best, arms, means = self._world.look(
            whole(seed, "seed", 2**64 - 1), whole(run, "run", 2**32 - 1))
        return View(_MODELS[model], np.frombuffer(arms).reshape(n_arms, dim),
                    np.frombuffer(means), best)

    def sample(self, rounds: int = 10000, seed: int = 1) -> "Sample":
        """Plays its arms in turn and answers what came: (arm, loss, delay), an
        entry per round; a delay of nan is a loss that has not come within ten
        times as many rounds.

        >>> import tarry
        >>> s = tarry.World(delay="constant:rounds=7").sample(100)
        >>> s.delay.min(), s.delay.max()
        (7.0, 7.0)
        """
        from ._lab import run
        probe = _Probe(whole(rounds, "rounds", 1 << 39))
        world = World(**dict(self._made, default_outcome=None))
        run(probe, worlds=world, horizon=10 * rounds, runs=1, seed=seed,
            points=1, threads=1)
        return Sample(*(np.array(column) for column in probe.seen()))

    def config(self) -> Dict[str, Any]:
        """Its descriptions, as experiment files have them."""
        config = {key: value if isinstance(value, str) or value is None
                  else self._label for key, value in self._texts.items()}
        return {key: value for key, value in
                dict(config, name=self.name).items() if value is not None}

    def __repr__(self) -> str:
        return "World(%s)" % ", ".join(
            "%s=%r" % pair for pair in self.config().items())

    def __reduce__(self) -> Tuple[Any, ...]:
        return _remake, (self._made,)


def _remake(made: Dict[str, Any]) -> World:
    return World(**made)


class Sample(NamedTuple):
    """Plays of a world; see World.sample."""
    arm: Any
    loss: Any
    delay: Any

    def plot(self, **options: Any) -> Any:
        """Draws the share of losses that have come after so many rounds, those
        at or below the median loss apart; options as for Results.plot."""
        from ._plot import plot_delays
        return plot_delays(self, **options)


class _Probe:
    """A policy that plays arms in turn and remembers what came when."""

    def __init__(self, rounds: int) -> None:
        self.rounds, self._now, self._n_arms = rounds, 0, 1
        self._loss = np.full(rounds, np.nan)
        self._delay = np.full(rounds, np.nan)

    def __deepcopy__(self, memo: Any) -> "_Probe":
        return self

    def start(self, problem: Problem) -> None:
        self._n_arms = problem.n_arms

    def choose(self, round: int) -> int:
        self._now = round
        return (round - 1) % self._n_arms

    def observe(self, round: int, arm: int, loss: float) -> None:
        if round <= self.rounds:
            self._loss[round - 1] = loss
            self._delay[round - 1] = self._now - round

    def seen(self) -> Tuple[Array, Array, Array]:
        return (np.arange(self.rounds) % self._n_arms, self._loss,
                self._delay)


def _vector(value: Any, what: str) -> Any:
    return None if value is None else numbers(value, what, 1)
