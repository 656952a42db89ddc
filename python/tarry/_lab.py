"""Policies side by side in worlds, over many runs."""
from __future__ import annotations

import itertools
import json
import os
import sys
import threading
from functools import partial
from typing import (Any, Dict, Iterable, List, Optional, Tuple, Union)

from . import _tarry
from ._arrays import whole
from ._errors import BadArgument, BadInput
from ._identity import identity_of
from ._processes import run_parts
from ._results import Results
from ._world import Problem, World, name_of, starter


class PolicyBase:
    """A policy of one's own for tarry.run: write choose() and observe().

    Each run works on a copy of its own, begun with start(problem).  For results
    that do not depend on threads and processes a run must depend on nothing but
    what it is told; problem.random(round) are its coins.

    >>> import tarry
    >>> class First(tarry.PolicyBase):
    ...     def choose(self, round):
    ...         return 0
    >>> r = tarry.run([First(), "uniform"], horizon=1000, runs=3)
    >>> r.policies
    ['First', 'uniform']
    """

    problem: Problem

    def start(self, problem: Problem) -> None:
        """Begins a run: arms, horizon, seed, run."""
        self.problem = problem

    def choose(self, round: int) -> int:
        """The arm to play in round 1, 2, ..."""
        raise NotImplementedError("%s: no choose" % type(self).__name__)

    def observe(self, round: int, arm: int, loss: float) -> None:
        """The loss, in [-1, 1], of the arm played in an earlier round, or in
        this one, has come."""

    def certify(self) -> Optional[Tuple[int, float]]:
        """The arm it would exploit and a bound on its gap, or None."""
        return None


def _certifies(policy: Any) -> bool:
    method = getattr(type(policy), "certify", None)
    return method is not None and method is not PolicyBase.certify


def _is_own(policy: Any) -> bool:
    return callable(getattr(policy, "choose", None)) and \
        callable(getattr(policy, "observe", None))


_PAPER = ["phased-stochastic", "phased-adversarial", "phased-loss-dependent",
          "phased-mab"]


def _named(policies: Any) -> List[Tuple[Optional[str], Any]]:
    """Names (None: its own) and policies."""
    if policies is None:
        policies = _PAPER
    if isinstance(policies, dict):
        pairs = [(str(name), p) for name, p in policies.items()]
    elif isinstance(policies, (str, type)) or _is_own(policies):
        pairs = [(None, policies)]  # type: ignore[list-item]
    else:
        try:
            pairs = [(None, p) for p in policies]  # type: ignore[misc]
        except TypeError:
            raise BadArgument("policies: neither names nor policies: %r"
                              % (policies,))
    made: List[Tuple[Optional[str], Any]] = []
    for name, policy in pairs:
        if isinstance(policy, type):
            policy = policy()
        if isinstance(policy, _tarry.Policy) or \
                not (isinstance(policy, str) or _is_own(policy)):
            raise BadArgument(
                "policies: not a description, nor with choose and observe: %r"
                % (policy,))
        if isinstance(policy, str) and name is not None:
            raise BadArgument("policies: '%s': only policies of one's own can "
                              "be named" % name)
        made.append((name, policy))
    return made


#: processes join their runs by journals that nothing else reads
_NO_IDENTITIES = (itertools.repeat(""), itertools.repeat(""))


class Experiment:
    """Policies, worlds, horizon, runs, seed; run() plays it."""

    def __init__(self, policies: Any = None, *, worlds: Any = None,
                 instance: Any = None, loss: Optional[str] = None,
                 delay: Any = None, arms: Any = None, theta: Any = None,
                 means: Any = None, table: Any = None, horizon: float = 1e5,
                 runs: float = 10, seed: int = 1, points: int = 100,
                 report: Optional[str] = None,
                 default_outcome: Optional[str] = None) -> None:
        parts = dict(instance=instance, loss=loss, delay=delay, arms=arms,
                     theta=theta, means=means, table=table, report=report,
                     default_outcome=default_outcome)
        self.policies = _named(policies)
        self.single = worlds is None
        if isinstance(instance, World):
            self.worlds = [instance]
        elif worlds is None:
            self.worlds = [World(**parts)]
        elif isinstance(worlds, World):
            self.worlds = [worlds]
        else:
            self.worlds = [_world_of(world, parts) for world in worlds]
        self.horizon, self.runs = horizon, runs
        self.seed, self.points = seed, points

    @classmethod
    def from_json(cls, source: Any) -> "Experiment":
        """From an experiment file of `tarry run`, its text, or a dict."""
        config = _read_config(source)
        if isinstance(config.get("config"), dict):  # a result of tarry run
            config = config["config"]
        known = {"policy", "worlds", "instance", "loss", "delay", "horizon",
                 "runs", "seed", "points", "report", "default_outcome"}
        for key in config:
            if key not in known:
                raise BadInput("unknown key '%s'" % key)
        seed = config.get("seed")
        if isinstance(seed, str) and seed.isdecimal():  # from 2^63 on
            config = dict(config, seed=int(seed))
        return cls(config.get("policy"),
                   **{key: value for key, value in config.items()
                      if key != "policy"})

    def to_json(self, path: Union[str, "os.PathLike[str]", None] = None
                ) -> str:
        """As text, and to a file if there is a path; `tarry run` reads it, and
        refuses what is one's own."""
        text = json.dumps(self.config(), indent=2) + "\n"
        if path is not None:
            _tarry.write_file(path, text.encode())
        return text

    def config(self) -> Dict[str, Any]:
        """The keys of an experiment file of `tarry run`."""
        config: Dict[str, Any] = {} if not self.single else \
            self.worlds[0].config()
        if not self.single:
            config["worlds"] = [world.config() for world in self.worlds]
        return dict(config, policy=[
            name for name, _ in self._all_named()], horizon=self.horizon,
            runs=self.runs, seed=self.seed, points=self.points)

    def _all_named(self) -> List[Tuple[str, Any]]:
        """Each policy with its name; of equal names the second ends in #2."""
        named: List[Tuple[str, Any]] = []
        seen: Dict[str, int] = {}
        for given, policy in self.policies:
            name = policy if isinstance(policy, str) else \
                given or name_of(policy)
            seen[name] = seen.get(name, 0) + 1
            if seen[name] > 1 and not isinstance(policy, str):
                name += "#%d" % seen[name]
            named.append((name, policy))
        return named

    def _slow(self) -> bool:
        return any(world.slow for world in self.worlds) or \
            any(not isinstance(policy, str) for _, policy in self.policies)

    def _identities(self, version: Optional[str]
                    ) -> Tuple[Iterable[Optional[str]], ...]:
        """What a journal knows the laws and the policies in Python by."""
        return ([identity_of(world._law, version) if world.slow else None
                 for world in self.worlds],
                [None if isinstance(policy, str)
                 else identity_of(policy, version)
                 for _, policy in self.policies])

    def _open(self, identities: Any, threads: int, journal: Any, part: int = 0,
              parts: int = 1) -> _tarry.Experiment:
        handle = _tarry.Experiment(self.horizon, self.runs, self.seed,
                                   self.points, threads, journal, part, parts)
        laws, policies = identities
        for world, version in zip(self.worlds, laws):
            handle.add_world(world._handle(version))
        for (name, policy), version in zip(self._all_named(), policies):
            if isinstance(policy, str):
                handle.add_policy(policy)
            else:
                handle.add_own(name, version, starter(policy),
                               _certifies(policy))
        return handle

    def run(self, *, threads: Optional[int] = None, processes: int = 1,
            journal: Union[str, "os.PathLike[str]", None] = None,
            version: Optional[str] = None,
            progress: Optional[bool] = None) -> Results:
        """Plays it; see tarry.run."""
        if threads is None:  # Python code runs in one thread at a time
            threads = 1 if self._slow() else 0
        identities = self._identities(version) if journal is not None else \
            _NO_IDENTITIES
        if whole(processes, "processes", 1024) > 1:
            handle = run_parts(partial(self._open, identities), processes,
                               journal)
        else:
            handle = self._open(identities, whole(threads, "threads", 1024),
                                journal)
            _watch(handle, progress)
        return Results(handle, self.config(), self.single)

    def __repr__(self) -> str:
        return "Experiment(%s)" % json.dumps(self.config())


def _world_of(world: Any, parts: Dict[str, Any]) -> World:
    if isinstance(world, World):
        return world
    if not isinstance(world, dict):
        raise BadArgument("worlds: not a World or a dict: %r" % (world,))
    given = {key: value for key, value in parts.items() if value is not None}
    try:
        return World(**dict(given, **world))
    except TypeError as error:
        raise BadArgument("worlds: %s" % error)


def _read_config(source: Any) -> Dict[str, Any]:
    what = "the text"
    if isinstance(source, os.PathLike) or (
            isinstance(source, str) and not source.lstrip().startswith("{")):
        what = os.fspath(source)
        source = _tarry.read_file(source)
    if isinstance(source, (str, bytes)):
        try:
            source = json.loads(source)
        except ValueError as error:
            raise BadInput("%s: %s" % (what, error))
    if not isinstance(source, dict):
        raise BadInput("%s: not a JSON object" % what)
    return source


# ---- waiting ---------------------------------------------------------------


def _is_watched() -> bool:
    """On a terminal, or in a notebook."""
    return sys.stderr.isatty() or "ipykernel" in sys.modules


class _Bar:
    """tqdm's, if there is tqdm."""

    def __init__(self, wanted: Optional[bool]) -> None:
        self._bar: Any = None
        if wanted or (wanted is None and _is_watched()):
            try:
                from tqdm.auto import tqdm  # type: ignore[import]
                self._bar = tqdm(
                    total=100, leave=False, unit="%",
                    bar_format="{l_bar}{bar}| {elapsed}<{remaining}")
            except ImportError:
                pass

    def show(self, share: float) -> None:
        if self._bar is not None:
            self._bar.update(max(0, 100 * share - self._bar.n))

    def end(self) -> None:
        if self._bar is not None:
            self._bar.close()


def _watch(handle: _tarry.Experiment, progress: Optional[bool]) -> None:
    """Runs the experiment in a thread of its own, so that this one can show
    how far it is and notice Ctrl-C."""
    if sys.is_finalizing():  # in a __del__: no thread begins any more
        handle.run()
        return
    failure: List[BaseException] = []

    def work() -> None:
        try:
            handle.run()
        except BaseException as error:
            failure.append(error)

    thread = threading.Thread(target=work, daemon=True)
    thread.start()
    bar = None
    try:
        thread.join(0.2)
        while thread.is_alive():
            bar = bar or _Bar(progress)
            bar.show(handle.share())
            thread.join(0.2)
    except BaseException:
        handle.cancel()
        thread.join()
        raise
    finally:
        if bar is not None:
            bar.end()
    if failure:
        raise failure[0]


def run(policies: Any = None, *, worlds: Any = None, instance: Any = None,
        loss: Optional[str] = None, delay: Any = None, arms: Any = None,
        theta: Any = None, means: Any = None, table: Any = None,
        horizon: float = 1e5, runs: float = 10, seed: int = 1,
        points: int = 100, threads: Optional[int] = None, processes: int = 1,
        journal: Union[str, "os.PathLike[str]", None] = None,
        version: Optional[str] = None,
        progress: Optional[bool] = None, report: Optional[str] = None,
        default_outcome: Optional[str] = None) -> Results:
    """Plays policies in a world, or in several, many times over, with the same
    luck for all, and says what each has lost against the best arm.

    `policies`: names, descriptions, the groups all, linear and mab, or objects
    with choose and observe (see PolicyBase); default the paper's four.  The
    world: see World; several as `worlds`, a list of World or of dicts.
    `horizon`, `runs`, `seed`, `points` (on the curves): as `tarry run` has
    them; the same seed gives the same numbers as there.

    `threads`: 0 for all cores; Python code is called in one unless you say
    otherwise.  `processes`: that many for the runs, for policies in Python; no
    effect on the result.  `journal`: a file that keeps finished runs, so that
    an interrupted experiment goes on, and one with more policies, worlds or
    runs plays only those.  A run in it counts only while the code, settings
    and arrays of its policy and world are the same; what cannot be read of
    them (a file that the code opens, a compiled function) is known by
    `version`, a text to change with it.  `progress`: a bar of tqdm; default on
    terminals and in notebooks.

    >>> import tarry
    >>> r = tarry.run(["lints", "uniform"], horizon=1e4, runs=4, seed=1)
    >>> bool(r["lints"].mean < r["uniform"].mean)
    True
    """
    return Experiment(
        policies, worlds=worlds, instance=instance, loss=loss, delay=delay,
        arms=arms, theta=theta, means=means, table=table, horizon=horizon,
        runs=runs, seed=seed, points=points, report=report,
        default_outcome=default_outcome).run(
            threads=threads, processes=processes, journal=journal,
            version=version, progress=progress)
