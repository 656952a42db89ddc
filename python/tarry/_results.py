"""What an experiment showed: arrays, tables, data frames, figures."""
from __future__ import annotations

import html
import math
import re
from typing import Any, Dict, Iterator, List, NamedTuple, Optional, Tuple

import numpy as np

from . import _tarry
from ._arrays import Array
from ._errors import BadArgument
from ._optional import optional


_FIELDS = ("regret", "seconds", "sigma_mean", "sigma_max", "sigma_final",
           "used", "late", "ignored", "lost", "first_seen", "active",
           "best_kept", "n_phases")


def student(freedom: int) -> float:
    """The 97.5 % point of Student's t."""
    small = (12.7062, 4.3027, 3.1824, 2.7764, 2.5706, 2.4469, 2.3646, 2.3060,
             2.2622, 2.2281)
    if freedom <= len(small):
        return small[freedom - 1]
    z, v = 1.959963985, float(freedom)
    z2 = z * z
    return z + z * (z2 + 1) / (4 * v) + \
        z * (5 * z2 * z2 + 16 * z2 + 3) / (96 * v * v)


class Mean(NamedTuple):
    """A mean over runs with the half-width of its 95 % interval."""
    mean: float
    ci95: float

    def __str__(self) -> str:
        return "%.4g ± %.2g" % self


def _sum(values: Any) -> float:
    """From left to right, as the program adds: NumPy and newer Pythons add in
    orders of their own."""
    total = 0.0
    for value in values:
        total += float(value)
    return total


def mean_of(values: Any) -> Mean:
    count = len(values)
    if count == 0:
        return Mean(math.nan, math.nan)
    if count == 1:
        return Mean(float(values[0]), math.nan)  # no interval
    mean = _sum(values) / count
    squares = _sum((value - mean) * (value - mean) for value in values)
    return Mean(mean, student(count - 1) * math.sqrt(
        squares / (count - 1) / count))


class PolicyResult:
    """What a policy did in a world; arrays have an entry per finished run."""

    #: numbers of the runs that have finished
    runs: Array
    #: sum over rounds of the mean loss less the best arm's
    regret: Array
    seconds: Array
    sigma_mean: Array  #: plays outstanding at the start of a round
    sigma_max: Array
    sigma_final: Array
    used: Array     #: losses counted
    late: Array     #: losses of an earlier phase
    ignored: Array  #: losses that were not needed
    lost: Array     #: plays whose loss never comes
    first_seen: Array  #: round of the first loss seen; 0: none
    active: Array      #: arms at the end
    best_kept: Array   #: whether a best arm is among them
    n_phases: Array    #: phases finished
    #: per run a list of (rounds, losses to count, arms left)
    phases: List[List[Tuple[int, int, int]]]
    #: the rounds of the curves
    grid: Array
    #: regret after round grid[i], a row per run
    curves: Array
    #: bound the policy then stated on the gap of its best arm; nan: none
    certificates: Array
    #: that gap
    exploit_gaps: Array

    def __init__(self, handle: _tarry.Experiment, world: int, policy: int
                 ) -> None:
        summary = handle.summary(world, policy)
        self.name: str = summary["policy"]
        self.world: Optional[str] = summary["world"]
        #: why it cannot run in this world, or None
        self.refused: Optional[str] = summary["refused"]
        self.grid = np.frombuffer(summary["grid"], np.uint64).astype(np.int64)
        outcomes = [] if self.refused is not None else [
            (i, handle.outcome(world, policy, i))
            for i in range(summary["runs"])]
        done = [pair for pair in outcomes if pair[1] is not None]
        self.runs = np.array([i for i, _ in done], np.int64)
        columns = list(zip(*(outcome[0] for _, outcome in done))) or \
            [()] * len(_FIELDS)
        for field, column in zip(_FIELDS, columns):
            kind = float if field in ("regret", "seconds", "sigma_mean") \
                else bool if field == "best_kept" else np.int64
            setattr(self, field, np.array(column, kind))
        self.phases = [outcome[1] for _, outcome in done]
        self.curves, self.certificates, self.exploit_gaps = (
            np.frombuffer(b"".join(outcome[part] for _, outcome in done)
                          ).reshape(len(done), -1 if done else len(self.grid))
            for part in (2, 3, 4))

    @property
    def mean(self) -> float:
        """The mean regret."""
        return mean_of(self.regret).mean

    @property
    def ci95(self) -> float:
        """Half-width of the 95 % interval of the mean regret."""
        return mean_of(self.regret).ci95

    @property
    def rounds_per_second(self) -> float:
        """Of one thread."""
        return float(self.grid[-1] / np.mean(self.seconds)) \
            if len(self.seconds) else math.nan

    def __repr__(self) -> str:
        if self.refused is not None:
            return "<%s: refused: %s>" % (self.name, self.refused)
        return "<%s: regret %s, %d runs>" % (
            self.name, mean_of(self.regret), len(self.runs))


class Results:
    """Results by policy, r["lints"], and with several worlds by world and
    policy, r["exponential", "lints"]."""

    def __init__(self, handle: _tarry.Experiment, config: Dict[str, Any],
                 single: bool) -> None:
        n_worlds, n_policies = handle.sizes()
        #: the experiment, with the keys of its JSON file
        self.config = config
        self._single = single
        self._handle: Optional[_tarry.Experiment] = handle
        self._json: Optional[str] = None
        self._all = [[PolicyResult(handle, w, p) for p in range(n_policies)]
                     for w in range(n_worlds)]

    # ---- looking things up -------------------------------------------------

    @property
    def policies(self) -> List[str]:
        """The policies' names, in order."""
        return [result.name for result in self._all[0]]

    @property
    def worlds(self) -> List[Optional[str]]:
        """The worlds' names, in order."""
        return [row[0].world for row in self._all]

    @property
    def grid(self) -> Array:
        """The rounds of the curves."""
        return self._all[0][0].grid

    def _world(self, key: Any) -> int:
        if isinstance(key, str) and key in self.worlds:
            return self.worlds.index(key)
        if isinstance(key, (int, np.integer)) and \
                -len(self._all) <= key < len(self._all):
            return int(key)
        raise KeyError("no world %r (there are: %s)" % (
            key, ", ".join(str(name) for name in self.worlds)))

    def _policy(self, key: Any) -> int:
        names = self.policies
        if isinstance(key, (int, np.integer)) and \
                -len(names) <= key < len(names):
            return int(key)
        if isinstance(key, str) and key in names:
            return names.index(key)
        short = [i for i, name in enumerate(names)
                 if isinstance(key, str) and name.split(":")[0] == key]
        if len(short) == 1:
            return short[0]
        raise KeyError("no policy %r (there are: %s)" % (
            key, ", ".join(names)))

    def __getitem__(self, key: Any) -> PolicyResult:
        if isinstance(key, tuple):
            if len(key) != 2:
                raise KeyError("a policy, or a world and a policy")
            return self._all[self._world(key[0])][self._policy(key[1])]
        if len(self._all) > 1:
            raise KeyError("several worlds: say r[world, policy]")
        return self._all[0][self._policy(key)]

    def __iter__(self) -> Iterator[PolicyResult]:
        return (result for row in self._all for result in row)

    def __len__(self) -> int:
        return sum(len(row) for row in self._all)

    @property
    def curves(self) -> Dict[Any, Array]:
        """The regret curves, an array (runs, points) per policy (with several
        worlds: per (world, policy)); r.grid has the rounds."""
        return {(result.name if len(self._all) == 1 else
                 (result.world, result.name)): result.curves
                for result in self}

    # ---- differences -------------------------------------------------------

    def difference(self, one: Any, other: Any, world: Any = 0) -> Mean:
        """How much more regret `one` had than `other`, by pairs of runs with
        the same luck."""
        return mean_of(self.differences(one, other, world))

    def differences(self, one: Any, other: Any, world: Any = 0) -> Array:
        """The same for each run that both have finished."""
        row = self._all[self._world(world)]
        a, b = row[self._policy(one)], row[self._policy(other)]
        both, i, j = np.intersect1d(a.runs, b.runs, return_indices=True)
        return np.asarray(a.regret[i] - b.regret[j])

    # ---- tables ------------------------------------------------------------

    def rows(self) -> List[Dict[str, Any]]:
        """A dict per world and policy: means over runs."""
        rows = []
        for row in self._all:
            done = [r for r in row if len(r.regret)]
            best = min(done, key=lambda r: r.mean) if done else None
            for r in row:
                line: Dict[str, Any] = {"world": r.world, "policy": r.name}
                if r.refused is not None:
                    rows.append(dict(line, error=r.refused))
                    continue
                above = Mean(math.nan, math.nan) if best is None else \
                    self.difference(r.name, best.name, self._all.index(row))
                rows.append(dict(
                    line, regret=r.mean, ci95=r.ci95, above_best=above.mean,
                    above_best_ci95=above.ci95, runs=len(r.runs),
                    phases=_mean(r.n_phases), active=_mean(r.active),
                    best_kept=_mean(r.best_kept),
                    sigma_max=int(r.sigma_max.max()) if len(r.runs) else 0,
                    rounds_per_second=r.rounds_per_second))
        return rows

    def table(self, format: str = "text") -> str:
        """Regret and its difference to the best policy's, as "text",
        "markdown", "latex" (booktabs) or "html"."""
        head = ["policy", "regret", "above the best", "runs"]
        several = len(self._all) > 1
        body = []
        for row in self.rows():
            cells = [row["policy"]] + (
                [row["error"], "", ""] if "error" in row else
                [_pair(row["regret"], row["ci95"], format),
                 _pair(row["above_best"], row["above_best_ci95"], format)
                 if row["above_best"] != 0 else "best",
                 str(row["runs"])])
            body.append(([row["world"] or ""] if several else []) + cells)
        if format not in _TABLES:
            raise BadArgument("format: not one of %s: '%s'" % (
                ", ".join(_TABLES), format))
        return _TABLES[format]((["world"] if several else []) + head, body)

    def __repr__(self) -> str:
        return self.table()

    def _repr_html_(self) -> str:
        return self.table("html")

    # ---- elsewhere ---------------------------------------------------------

    def to_json(self) -> str:
        """All of it, as `tarry run --json` prints it."""
        if self._json is None:
            assert self._handle is not None
            self._json = self._handle.json()
        return self._json

    def to_pandas(self) -> Any:
        """A data frame with a row per world, policy and run."""
        pandas = optional("pandas", "data frames")
        frames = [pandas.DataFrame(dict(
            {"world": r.world, "policy": r.name, "run": r.runs},
            **{field: getattr(r, field) for field in _FIELDS}))
            for r in self if r.refused is None]
        frame = pandas.concat(frames, ignore_index=True)
        return frame.drop(columns="world") if len(self._all) == 1 else frame

    def curves_to_pandas(self) -> Any:
        """A data frame with a row per world, policy, run and point."""
        pandas = optional("pandas", "data frames")
        frames = [pandas.DataFrame({
            "world": r.world, "policy": r.name,
            "run": np.repeat(r.runs, len(r.grid)),
            "round": np.tile(r.grid, len(r.runs)),
            "regret": r.curves.ravel(),
            "certificate": r.certificates.ravel(),
            "exploit_gap": r.exploit_gaps.ravel()})
            for r in self if r.refused is None]
        frame = pandas.concat(frames, ignore_index=True)
        return frame.drop(columns="world") if len(self._all) == 1 else frame

    def plot(self, kind: str = "regret", **options: Any) -> Any:
        """Draws curves with 95 % bands by matplotlib; answers the axes, with
        several worlds an array of them, a panel for each.  A notebook shows
        the figure below the cell.

        kind "regret", "certificate" (the bounds stated, dashed, and the gaps
        they bound) or "outstanding" (plays without feedback, mean and
        largest).  Options: ax, world (one of several), policies, log, labels (a
        dict), title, width and height of a panel in inches, path to save the
        figure to."""
        from ._plot import plot
        return plot(self, kind, **options)

    def __getstate__(self) -> Dict[str, Any]:
        self.to_json()
        return dict(self.__dict__, _handle=None)


def _mean(values: Array) -> float:
    return _sum(values) / len(values) if len(values) else math.nan


# ---- tables ----------------------------------------------------------------


def _pair(mean: float, ci95: float, format: str) -> str:
    digits = "%.1f" if abs(mean) < 1000 else "%.0f"
    sign = {"latex": r" \pm ", "text": " ± "}.get(format, " ± ")
    text = digits % mean
    if not math.isnan(ci95):
        text += sign + digits % ci95
    return "$%s$" % text if format == "latex" else text


def _text(head: List[str], body: List[List[str]]) -> str:
    lines = [head] + body
    widths = [max(len(line[i]) for line in lines) for i in range(len(head))]
    return "\n".join("  ".join(
        cell.ljust(width) for cell, width in zip(line, widths)).rstrip()
        for line in lines)


def _markdown(head: List[str], body: List[List[str]]) -> str:
    lines = [head, ["---"] * len(head)] + \
        [[cell.replace("|", r"\|") for cell in line] for line in body]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


_NUMBER = re.compile(r"\$(nan|-?[\d.]+( \\pm [\d.]+)?)\$")  # of _pair
_LATEX = dict({sign: "\\" + sign for sign in "&%_#{}$"}, **{
    "\\": r"\textbackslash{}", "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}"})


def _escape(text: str) -> str:
    return text if _NUMBER.fullmatch(text) else \
        "".join(_LATEX.get(sign, sign) for sign in text)


def _latex(head: List[str], body: List[List[str]]) -> str:
    rows = "\n".join(" & ".join(_escape(cell) for cell in line) + r" \\"
                     for line in body)
    return "\\begin{tabular}{%s}\n\\toprule\n%s \\\\\n\\midrule\n%s\n" \
        "\\bottomrule\n\\end{tabular}" % (
            "l" * (len(head) - 3) + "rrr", " & ".join(head), rows)


def _html(head: List[str], body: List[List[str]]) -> str:
    def line(cells: List[str], tag: str) -> str:
        return "<tr>%s</tr>" % "".join(
            "<%s>%s</%s>" % (tag, html.escape(cell), tag) for cell in cells)
    return "<table>%s%s</table>" % (
        line(head, "th"), "".join(line(cells, "td") for cells in body))


_TABLES = {"text": _text, "markdown": _markdown, "latex": _latex,
           "html": _html}
