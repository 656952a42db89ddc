"""What the program `tarry` does that the library does not: the paper's bounds
and claims, logs."""
from __future__ import annotations

import csv
import datetime
import html
import json
import numbers as kinds
import os
import shutil
import subprocess
import tempfile
import warnings
from typing import Any, Dict, Iterable, List, Optional, Tuple, Union

import numpy as np

from ._arrays import arms_and_names, numbers
from ._errors import BadArgument, BadInput, ProgramError


def program() -> str:
    """The path of the program: $TARRY, the package's own copy, the source
    tree's, or that of PATH."""
    here = os.path.dirname(os.path.abspath(__file__))
    real = os.path.dirname(os.path.realpath(__file__))
    for path in (os.environ.get("TARRY"),
                 os.path.join(here, "bin", "tarry"),
                 os.path.join(here, "..", "..", "tarry"),
                 os.path.join(real, "..", "..", "build", "tarry"),
                 shutil.which("tarry")):
        if path and os.path.isfile(path) and os.access(path, os.X_OK):
            return os.path.abspath(path)
    raise ProgramError("the program tarry is not found; $TARRY may name it")


def call(*arguments: str) -> Any:
    """Runs a command with --json; its answer."""
    done = subprocess.run([program(), *arguments, "--json"],
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, encoding="utf-8",
                          errors="replace")
    if done.returncode != 0:
        text = done.stderr.strip() or "exit code %d" % done.returncode
        if text.startswith("tarry: "):
            text = text[len("tarry: "):]
        raise (BadInput if done.returncode == 2 else ProgramError)(text)
    return json.loads(done.stdout)


def catalogue() -> Dict[str, Any]:
    """Every policy, instance, loss and delay with its settings, as
    `tarry list --json` has them."""
    answer: Dict[str, Any] = call("list")
    return answer


def _options(**given: Any) -> List[str]:
    return ["--%s=%s" % (key, value) for key, value in given.items()
            if value is not None]


# ---- bounds ----------------------------------------------------------------


def bound(policy: str = "phased-stochastic", *, instance: Optional[str] = None,
          arms: Any = None, theta: Any = None, loss: Optional[str] = None,
          delay: Optional[str] = None, horizon: float = 1e6, seed: int = 1
          ) -> Dict[str, Any]:
    """What the paper promises for one of its policies in a world: bounds on
    the regret, phases, and the horizon below which the first phase does not
    end.  `arms` and `theta` may take the place of an instance.

    >>> import tarry
    >>> b = tarry.bound("phased-adversarial", delay="hold-rarest:sigma=500",
    ...                 horizon=1e9)
    >>> b["upper"]["regret"] > 0
    True
    """
    for what, value in (("delay", delay), ("loss", loss),
                        ("instance", instance)):
        if not isinstance(value, (str, type(None))):
            raise BadArgument("%s: not a description: %r" % (what, value))
    with tempfile.TemporaryDirectory() as folder:
        if arms is not None:
            if theta is None or instance is not None:
                raise BadArgument("arms: with theta, in place of an instance")
            array, _ = arms_and_names(arms)
            np.save(os.path.join(folder, "arms.npy"), array)
            np.savetxt(os.path.join(folder, "theta.csv"),
                       numbers(theta, "theta", 1), fmt="%.17g")
            instance = "file:arms=%s,theta=%s" % (
                os.path.join(folder, "arms.npy"),
                os.path.join(folder, "theta.csv"))
        answer: Dict[str, Any] = call("bound", *_options(
            policy=policy, instance=instance, loss=loss, delay=delay,
            horizon=horizon, seed=seed))
    return answer


# ---- the paper -------------------------------------------------------------


class Paper:
    """The paper's claims as they were measured, paper["stochastic"] ..."""

    def __init__(self, results: Dict[str, Any], page: str) -> None:
        #: all of results.json
        self.results = results
        #: the page about it
        self.page = page

    @property
    def rows(self) -> List[Dict[str, Any]]:
        """A dict per claim: id, claim, theory, measured, ci95, verdict."""
        return list(self.results["rows"])

    def __getitem__(self, id: str) -> Dict[str, Any]:
        for row in self.rows:
            if row["id"] == id:
                return row
        raise KeyError(id)

    def __repr__(self) -> str:
        return "\n".join("%-45s %s" % (row["claim"][:45], row["verdict"])
                         for row in self.rows)

    def _repr_html_(self) -> str:
        return "<table>%s</table>" % "".join(
            "<tr><td>%s</td><td>%s</td></tr>" % (
                html.escape(row["claim"]), html.escape(row["verdict"]))
            for row in self.rows)


def paper(rows: Optional[Iterable[str]] = None,
          out: Union[str, "os.PathLike[str]"] = "tarry-paper", *,
          full: bool = False, seed: int = 1, threads: int = 0) -> Paper:
    """Tests the paper's claims, all of them or some by id, and writes a page
    about them to the folder `out`."""
    if isinstance(rows, str):
        rows = [rows]
    options = _options(out=os.fspath(out), seed=seed,
                       rows=None if rows is None else ",".join(rows),
                       threads=threads or None)
    results = call("paper", "--full" if full else "--quick", *options)
    return Paper(results, os.path.join(os.fspath(out), "index.html"))


# ---- logs ------------------------------------------------------------------


def _plain(value: Any, what: str) -> Any:
    """A value of a log as JSON has it: times in ISO 8601, NumPy's and other
    numbers as Python's, what is missing as None."""
    if isinstance(value, np.generic) and not isinstance(value, np.timedelta64):
        value = str(value) if isinstance(value, np.datetime64) else value.item()
    if value is None or isinstance(value, (str, bool, int, float)):
        return value
    if isinstance(value, datetime.date):  # datetimes and Timestamps too
        return value.isoformat()
    if isinstance(value, kinds.Number) and not isinstance(value, np.generic) \
            and not isinstance(value, complex):
        return float(value)  # type: ignore[arg-type]
    if type(value).__name__ == "NAType":  # pandas.NA
        return None
    raise BadArgument("%s: not a number, a text, a time or None: %r" % (
        what, value))


def _plain_row(row: Dict[Any, Any], number: int) -> Dict[str, Any]:
    return {str(key): _plain(value, "log: row %d: %s" % (number, key))
            for key, value in row.items()}


def _log_file(log: Any, path: str) -> str:
    """Files and stores are taken as they are; frames and dicts are written."""
    if isinstance(log, (str, os.PathLike)):
        return os.fspath(log)
    if hasattr(log, "to_csv"):
        log.to_csv(path, index=False)
        return path
    if not isinstance(log, (list, tuple)) or \
            not all(isinstance(row, dict) for row in log):
        raise BadArgument("log: neither a file nor a table: %r" % (log,))
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(_plain_row(row, number)) + "\n"
                        for number, row in enumerate(log))
    return path


def _arms_file(arms: Any, path: str) -> Optional[str]:
    if arms is None or isinstance(arms, (str, os.PathLike)):
        return None if arms is None else os.fspath(arms)
    array, names = arms_and_names(arms)
    with open(path, "w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        for k, row in enumerate(array.tolist()):
            writer.writerow(([] if names is None else [names[k]]) +
                            [repr(x) for x in row])
    return path


def _target_file(target: Any, path: str) -> Optional[str]:
    if target is None or isinstance(target, (str, os.PathLike)):
        return None if target is None else os.fspath(target)
    np.savetxt(path, numbers(target, "target", 1), fmt="%.17g")
    return path


def examine(log: Any, arms: Any = None, *,
            range: Optional[Tuple[float, float]] = None,
            maximize: bool = False, name: Optional[str] = None,
            now: Any = None, strict: bool = False,
            max_refused: Optional[float] = None,
            horizon: Optional[float] = None, runs: Optional[float] = None,
            target: Any = None,
            export_world: Union[str, "os.PathLike[str]", None] = None,
            page: Union[str, "os.PathLike[str]", None] = None,
            seed: int = 1, threads: Optional[int] = None) -> Dict[str, Any]:
    """What a log says about its delays, and which policy to use: the answer of
    `tarry examine --json`, whose options these are.

    `log` is a file (CSV or NDJSON), a store, a data frame with columns id, arm,
    decided, reported and loss (or reward), or a list of dicts with these keys;
    times are numbers, texts in ISO 8601, datetimes or Timestamps (without a
    zone: UTC), what is missing is None, NaN or NaT; `arms` and
    `target` are a file, a data frame or an array.  If the log cannot tell
    policies from uniform play, answer["recommendation"]["policy"] is None.
    Rows that make no sense are in answer["rejected"] and raise a warning, or with `strict` BadInput; if
    they are more than the share `max_refused` (0.01 unless told), nothing is
    concluded and ProgramError says why.

    >>> import tarry
    >>> rows = [{"arm": i % 2, "decided": i, "reported": i + i % 7, "loss": 0.5}
    ...         for i in range(100)]
    >>> answer = tarry.examine(rows, runs=0)
    >>> answer["decisions"], answer["delay"]["median"]
    (100, 3.0)
    """
    if range is not None:
        try:
            low, high = (float(x) for x in range)
        except (TypeError, ValueError):
            raise BadArgument("range: not (low, high): '%s'" % (range,))
    with tempfile.TemporaryDirectory() as folder:
        def place(name: str) -> str:
            return os.path.join(folder, name)
        options = _options(**{
            "arms": _arms_file(arms, place("arms.csv")),
            "target": _target_file(target, place("target.csv")),
            "range": None if range is None else "%r,%r" % (low, high),
            "name": name, "now": _plain(now, "now"), "max-refused": max_refused,
            "horizon": horizon, "runs": runs, "seed": seed,
            "threads": threads, "page": page, "export-world": export_world})
        options += ["--maximize"] * bool(maximize) + ["--strict"] * bool(strict)
        answer: Dict[str, Any] = call("examine", _log_file(log, place("log")),
                                      *options)
    left_out = answer["rejected"]
    if left_out["count"] > 0:
        first = left_out["first"][0]
        warnings.warn("%d rows left out, the first in line %d: %s" % (
            left_out["count"], first["line"], first["why"]), stacklevel=2)
    return answer
