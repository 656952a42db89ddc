"""Policies: choose an arm now, learn from its loss whenever it comes back."""
from __future__ import annotations

import copy
import html
import json
import os
import struct
import zlib
from typing import Any, Dict, Iterable, List, NamedTuple, Optional, Sequence, Tuple, Type, TypeVar, Union

import numpy as np

from . import _tarry
from ._arrays import Array, ArmsLike, arms_and_names, counts, numbers, \
    read_names, unmasked, whole
from ._errors import BadArgument, BadState, Error, NoSuchArm

Path = Union[str, "os.PathLike[str]"]
P = TypeVar("P", bound="Policy")

DUPLICATE = 255
_WORDS = {"OK": "ok", "LATE": "late", "EXPIRED": "late", "UNKNOWN_ROUND": "unknown",
          "REPORTED_TWICE": "conflict", "BAD_LOSS": "invalid"}


def _results() -> Any:
    """The word for each status."""
    words = ["?"] * 256
    for code, name, _ in _tarry.statuses:
        words[code] = _WORDS.get(name, name.lower())
    words[DUPLICATE] = "duplicate"
    return np.array(words)


_RESULTS = _results()
_REFUSED = np.array([word not in ("ok", "late", "duplicate", "corrected")
                     for word in _RESULTS])


class Pending(NamedTuple):
    """A choice whose loss is outstanding."""
    id: Union[int, str]
    arm: int
    name: Optional[str]
    rounds: int


class Certificate(NamedTuple):
    """The arm a policy would exploit, and a bound on how much worse than the
    best arm it is."""
    arm: int
    gap: float


def settings_text(settings: Dict[str, Any]) -> str:
    """key=value,key=value as descriptions have it; `lambda_` is lambda, which
    Python keeps for itself."""
    def text(value: Any) -> str:
        if isinstance(value, (bool, np.bool_)):
            return "1" if value else "0"
        if isinstance(value, (float, np.floating)):
            return repr(float(value))
        return str(value)
    return ",".join("%s=%s" % (key.rstrip("_"), text(value))
                    for key, value in settings.items() if value is not None)


def shares_text(shares: Dict[Any, float], names: Optional[Sequence[str]]) -> str:
    """{"a": 0.1} as settings have it, 0:0.1, with numbers for names."""
    def number(arm: Any) -> int:
        if names is not None and arm in names:
            return names.index(arm)
        if isinstance(arm, (int, np.integer)):
            return int(arm)
        raise NoSuchArm("no such arm: '%s'" % (arm,))
    return "+".join("%d:%r" % (number(arm), float(share))
                    for arm, share in shares.items())


def policies() -> List[str]:
    """The names of all policies.

    >>> import tarry
    >>> "recommended" in tarry.policies()
    True
    """
    return _tarry.policy_names()


def describe(policy: str) -> Dict[str, Any]:
    """What a policy is: source, summary, settings with defaults and help.

    >>> import tarry
    >>> tarry.describe("lints")["uses_features"]
    True
    """
    return _tarry.describe_policy(policy)


_MAGIC = b"tarry policy from Python, 1\n"


class Policy(_tarry.Policy):
    """Policy(policy, arms, horizon=..., **settings): a policy ready to choose.

    `policy` is a name or a description `name:key=value,...`; further settings
    can be given as keyword arguments (`lambda_` for lambda).  `arms` has a row
    per arm: an array, a data frame whose index names the arms, a file, or just
    a number of arms without features.  What the policy promises holds until the `horizon`, with
    probability 1 - 1/horizon, or for ever with probability `confidence`; one of
    them must be given.  Outcomes are losses in `range`, or rewards if `maximize`.
    Their means are affine in the features; with `intercept="no"` they are linear.
    `floor=0.02`, `control={"a": 0.1}`, `cap={"b": 0.3}` set least, exact and largest
    shares of arms; probabilities are told with them.
    `default_outcome="0/500r"`: a choice for which nothing was reported within
    500 rounds has the outcome 0; a later report replaces it and is 'corrected',
    or with "0/500r/final" it is 'late'.  Ages that are times ("0/7d") are told
    by apply_default(id).
    The same arguments and the same calls give the same choices.

    >>> import tarry
    >>> arms = [[1, 0], [0, 1], [0.6, 0.8]]
    >>> p = tarry.Policy("lints", arms, horizon=1000, range=(0, 1), seed=1)
    >>> c = p.choose()
    >>> c.id
    1
    >>> p.observe(c.id, 0.25)
    'ok'
    >>> p.observe(c.id, 0.25)
    'duplicate'
    >>> p.observe(7, 0.25)
    Traceback (most recent call last):
        ...
    tarry.UnknownRound: no such round has been chosen: '7'
    """

    def __init__(self, policy: str, arms: ArmsLike,
                 horizon: Optional[float] = None, *,
                 confidence: Optional[float] = None,
                 range: Tuple[float, float] = (-1, 1), maximize: bool = False,
                 seed: int = 1, run: int = 0,
                 names: Optional[Iterable[str]] = None,
                 beyond_horizon: bool = False, intercept: str = "auto",
                 default_outcome: Optional[str] = None,
                 **settings: Any) -> None:
        array, texts = arms_and_names(arms, names)
        try:
            low, high = (float(x) for x in range)
        except (TypeError, ValueError):
            raise BadArgument("range: not (low, high): '%s'" % (range,))
        if horizon is None and confidence is None:
            raise BadArgument("horizon, confidence: one must be given")
        if confidence == 0:  # to the library: none
            raise BadArgument("the confidence must be 0.5 to below 1: 0")
        for key in ("control", "cap"):
            if isinstance(settings.get(key), dict):
                settings[key] = shares_text(settings[key], texts)
        if intercept != "auto":
            settings["intercept"] = intercept
        if default_outcome is not None:
            settings["default_outcome"] = default_outcome
        self._make(policy, settings_text(settings), array,
                   0 if horizon is None else horizon,
                   0.0 if confidence is None else confidence, seed, run,
                   low, high, maximize, beyond_horizon)
        self._names = texts

    # ---- many at once ------------------------------------------------------

    def choose_many(self, count: int) -> Tuple[Array, Array]:
        """The ids and arms of `count` choices, as arrays.  Fewer at the
        horizon's end; none are left: HorizonReached.

        >>> import tarry
        >>> p = tarry.Policy("uniform", 3, horizon=1000, range=(0, 1))
        >>> ids, arms = p.choose_many(5)
        >>> ids.tolist()
        [1, 2, 3, 4, 5]
        >>> p.observe_many(ids, [0, 1, 0, 1, 1]).tolist()
        ['ok', 'ok', 'ok', 'ok', 'ok']
        """
        ids, arms, _ = self._many(count, False)
        return ids, arms

    def choose_many_with_probability(self, count: int
                                     ) -> Tuple[Array, Array, Array]:
        """As choose_many, with the probabilities of the choices; for Thompson
        sampling each takes the time of a hundred choices."""
        ids, arms, probabilities = self._many(count, True)
        assert probabilities is not None
        return ids, arms, probabilities

    def _many(self, count: int, ask: bool
              ) -> Tuple[Array, Array, Optional[Array]]:
        wanted = whole(count, "count", 1 << 39)
        if wanted > 1 << 20:  # no more room than there are rounds
            s = self._status()
            if s["horizon"] > s["round"] and not s["beyond_horizon"]:
                wanted = min(wanted, s["horizon"] - s["round"])
        try:
            ids = np.empty(wanted, np.uint64)
            arms = np.empty(len(ids), np.uint64)
            probabilities = np.empty(len(ids)) if ask else None
        except (MemoryError, ValueError):
            raise BadArgument("count: too many choices: '%s'" % (count,))
        done = self._choose_many(ids, arms, probabilities)
        return (ids[:done].view(np.int64), arms[:done].view(np.int64),
                None if probabilities is None else probabilities[:done])

    def observe_many(self, ids: Any, losses: Any) -> Array:
        """Reports many losses; answers 'ok', 'late', 'duplicate' or 'corrected' for
        each.

        If some are refused the others are taken in all the same, and then the
        first refusal is raised; the exception's `results` has the words for
        all, with 'unknown', 'conflict' and 'invalid' for those refused."""
        values = numbers(losses, "losses", 1)
        rounds = self._rounds(ids)
        if len(rounds) != len(values):
            raise BadArgument("%d losses for %d ids"
                              % (len(values), len(rounds)))
        codes = np.empty(len(rounds), np.uint8)
        self._observe_many(rounds, values, codes)
        refused = _REFUSED[codes]
        results: Array = _RESULTS[codes]
        if refused.any():
            self._refuse(ids, rounds, values, results,
                         np.flatnonzero(refused))
        return results

    def _rounds(self, ids: Any) -> Array:
        array = unmasked(ids, "ids")
        if array.dtype.kind not in "UO" or array.ndim != 1:
            return counts(array, "ids")
        known = self._ids()
        return np.array([known[id][0] if id in known else
                         id if isinstance(id, (int, np.integer))
                         and 0 < id < 2**63 else 0
                         for id in list(ids)], np.uint64)

    def _refuse(self, ids: Any, rounds: Array, losses: Array, results: Array,
                refused: Array) -> None:
        first = int(refused[0])
        id = list(ids)[first]
        if not isinstance(id, (str, int, np.integer)):  # 7.0, or no id at all
            id = int(rounds.astype(np.int64)[first])
        try:
            self.observe(id, float(losses[first]))
        except Error as error:
            if len(refused) > 1:
                error.args = ("%s (and %d more of %d)" % (
                    error, len(refused) - 1, len(losses)),)
            error.results = results  # type: ignore[attr-defined]
            raise
        raise Error("refused: %s" % results[first])

    # ---- arms that come and go ---------------------------------------------

    def admit(self, name: Any, features: Any = None) -> int:
        """Adds an arm, admit("blue", [0.2, 1]) or admit([0.2, 1]); answers its
        number.  Numbers of arms never change.  Without features, admit("blue"), it has
        nothing in common with other arms and gets a dimension of its own.

        >>> import tarry
        >>> p = tarry.Policy("lints", [[1, 0], [0, 1]], confidence=0.99)
        >>> p.admit([0.5, 0.5])
        2
        >>> p.withdraw(0)
        >>> p.status()["available"]
        [1, 2]
        """
        if features is None and not isinstance(name, str):
            name, features = None, name
        array = (np.zeros(0) if features is None
                 else numbers(features, "features", 1))
        if features is not None and array.size == 0:
            raise BadArgument("features: there are none; leave them out for an "
                              "arm with a dimension of its own")
        return self._admit(array, None if name is None else str(name))

    def withdraw(self, arm: Union[int, str]) -> None:
        """Takes an arm out, by number or name; losses of its plays still
        count."""
        if isinstance(arm, str):
            if self._names is None or arm not in self._names:
                raise NoSuchArm("no such arm is available: '%s'" % arm)
            try:
                return self._withdraw(self._names.index(arm))
            except NoSuchArm:
                raise NoSuchArm("no such arm is available: '%s'" % arm)
        self._withdraw(arm)

    # ---- what it knows -----------------------------------------------------

    @property
    def arms(self) -> Array:
        """The arms, a row each."""
        return np.frombuffer(self._arms()).reshape(-1, self._status()["dim"])

    @property
    def names(self) -> Optional[Tuple[str, ...]]:
        """The arms' names, or None."""
        return self._names

    def status(self) -> Dict[str, Any]:
        """What it knows: round, phase, active arms, plan, estimates, pending,
        certificate, ...; as `status` of `tarry pipe` has it, but for what
        it tells of delays (`dependence`).  `silence` says what to do if the
        guide finds that one kind of outcome is never reported, else None."""
        status = self._status()
        status["exploit"], status["certificate"] = self._certify()
        return status

    def pending(self, limit: Optional[int] = None) -> List[Pending]:
        """The outstanding choices that were not given up, oldest first, at
        most `limit`: id, arm, name and age in rounds.

        >>> import tarry
        >>> p = tarry.Policy("lints", [[1, 0], [0, 1]], confidence=0.99)
        >>> for id in [None, "order-17", None]:
        ...     _ = p.choose(id=id) if id else p.choose()
        >>> _ = p.observe(1, 0.5)
        >>> [(w.id, w.rounds) for w in p.pending()]
        [('order-17', 1), (3, 0)]
        """
        most = 2**63 if limit is None else whole(limit, "limit", 2**63)
        rounds = np.frombuffer(self._pending(most), np.uint64).reshape(-1, 2)
        own = {line[0]: id for id, line in self._ids().items()}
        last = self._status()["round"]
        return [Pending(own.get(round, round), arm,
                        None if self._names is None else self._names[arm],
                        last - round)
                for round, arm in rounds.tolist()]

    def certificate(self) -> Optional[Certificate]:
        """The arm it would exploit now and a bound on its gap, in the unit of
        the losses; None if the policy states no bounds."""
        arm, gap = self._certify()
        return None if gap is None else Certificate(arm, gap)

    def __repr__(self) -> str:
        try:
            s = self._status()
        except Error:
            return "<Policy that was never made>"
        return "<Policy %s: %d arms in %d dimensions, round %s, %d pending>" \
            % (s["policy"], s["n_arms"], s["dim"], _round(s), s["pending"])

    def _repr_html_(self) -> str:
        s = self.status()
        best = s["best"]
        lines = [("policy", s["policy"]),
                 ("arms", "%d in %d dimensions" % (s["n_arms"], s["dim"])),
                 ("round", _round(s)),
                 ("pending", s["pending"]),
                 ("active arms", len(s["active"])),
                 ("best so far", "not known" if best is None else
                  self.names[best] if self.names else best),
                 ("certificate", "none" if s["certificate"] is None
                  else "%.4g" % s["certificate"])]
        return "<table>%s</table>" % "".join(
            "<tr><th>%s</th><td>%s</td></tr>" % (key, html.escape(str(value)))
            for key, value in lines)

    # ---- saving ------------------------------------------------------------

    def to_bytes(self) -> bytes:
        """The complete state, with names and ids."""
        state, reports, ids, names = self._snapshot()
        head = json.dumps({"names": names, "ids": ids,
                           "reports": len(reports)}).encode()
        body = struct.pack("<Q", len(head)) + head + reports + state
        return _MAGIC + struct.pack("<I", zlib.crc32(body)) + body

    @classmethod
    def from_bytes(cls: Type[P], data: bytes) -> P:
        """Makes a policy that will choose as the saved one would have."""
        return cls._from_bytes(data, "the bytes")

    @classmethod
    def _from_bytes(cls: Type[P], data: bytes, what: str) -> P:
        policy = cls.__new__(cls)
        state, names, ids, reports = _take_apart(data, what)
        try:
            policy._unpack(state)
        except Error as error:
            error.args = (str(error).replace("a packed state", what),)
            raise
        status = policy._status()
        policy._names = read_names(names, status["n_arms"])
        policy._set_reports(reports)
        for id, (round, arm, probability) in ids.items():
            policy._add_id(id, round, arm, probability)
        return policy

    def save(self, path: Path, *, plain: bool = False) -> None:
        """Writes the complete state to a file: a crash leaves the old one or
        the new one.  `plain`: without names and ids, as the program reads it
        (`tarry pipe --restore`)."""
        if plain:
            self._save(path)
            return
        _tarry.write_file(path, self.to_bytes())

    @classmethod
    def restore(cls: Type[P], path: Path) -> P:
        """Makes a policy from a file of save() or of the program."""
        return cls._from_bytes(_tarry.read_file(path), os.fspath(path))

    def __reduce__(self) -> Tuple[Any, ...]:
        return _unpickle, (type(self), self.to_bytes()), self.__dict__ or None

    def __copy__(self: P) -> P:
        twin = type(self).from_bytes(self.to_bytes())
        twin.__dict__.update(self.__dict__)
        return twin

    def __deepcopy__(self: P, memo: Dict[int, Any]) -> P:
        twin = type(self).from_bytes(self.to_bytes())
        memo[id(self)] = twin
        twin.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return twin


def _unpickle(cls: Type[P], data: bytes) -> P:
    return cls.from_bytes(data)


def _round(status: Dict[str, Any]) -> str:
    end = status["horizon"]
    return "%d of %d" % (status["round"], end) if end else \
        str(status["round"])


def _take_apart(data: bytes, what: str) -> Tuple[bytes, Any, Any, bytes]:
    """State, names, ids and reports; only a state if the program saved it."""
    if not isinstance(data, bytes):
        raise BadArgument("%s: not bytes" % what)
    if not data.startswith(_MAGIC):
        return data, None, {}, b""
    try:
        at = len(_MAGIC)
        (sum,) = struct.unpack_from("<I", data, at)
        (size,) = struct.unpack_from("<Q", data, at + 4)
        if zlib.crc32(data[at + 4:]) != sum:
            raise ValueError
        head = json.loads(data[at + 12:at + 12 + size])
        end = at + 12 + size + head["reports"]
        return (data[end:], head["names"], head["ids"],
                data[at + 12 + size:end])
    except (struct.error, ValueError, KeyError, TypeError):
        raise BadState("%s: not a saved state, or damaged" % what)
