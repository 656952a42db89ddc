"""Figures by matplotlib, fit for a paper: colours that everybody can tell
apart (Okabe and Ito), different dashes too, legends with the policies' names."""
from __future__ import annotations

import sys
from typing import Any, Dict, Iterable, List, Optional

import numpy as np

from ._errors import BadArgument
from ._optional import optional
from ._results import PolicyResult, student

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
           "#000000", "#999999")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def _has_pyplot() -> bool:
    """Whether a figure belongs to pyplot: it is in use, or this is a notebook,
    which shows pyplot's figures at the end of a cell."""
    return "matplotlib.pyplot" in sys.modules or "ipykernel" in sys.modules


def _figure(width: float, height: float) -> Any:
    if _has_pyplot():
        pyplot = optional("matplotlib.pyplot", "figures")
        return pyplot.figure(figsize=(width, height))
    figure = optional("matplotlib.figure", "figures")
    return figure.Figure(figsize=(width, height))


def _axes(ax: Any, width: float, height: float) -> Any:
    return _figure(width, height).add_subplot() if ax is None else ax


def _panels(count: int, width: float, height: float) -> Any:
    """An array of axes, up to three beside each other."""
    columns = min(count, 3)
    rows = -(-count // columns)
    figure = _figure(width * columns, height * rows)
    figure.set_layout_engine("tight")
    return np.array([figure.add_subplot(rows, columns, i + 1)
                     for i in range(count)], object)


def _band(ax: Any, grid: Any, curves: Any, style: Dict[str, Any]) -> None:
    mean = curves.mean(0)
    ax.plot(grid, mean, **style)
    if len(curves) > 1:
        half = student(len(curves) - 1) * curves.std(0, ddof=1) / \
            np.sqrt(len(curves))
        ax.fill_between(grid, mean - half, mean + half, alpha=0.2, linewidth=0,
                        color=style["color"])


def _certificates(ax: Any, result: PolicyResult, style: Dict[str, Any]) -> None:
    bounds = result.certificates
    if bounds.size == 0 or np.isnan(bounds).all():
        return
    ax.plot(result.grid, bounds.mean(0),
            **dict(style, linestyle="--", label=style["label"] + ", bound"))
    ax.plot(result.grid, result.exploit_gaps.mean(0),
            **dict(style, linestyle="-", label=style["label"] + ", gap"))


def _bars(ax: Any, results: List[PolicyResult], labels: Dict[str, str]) -> None:
    at = np.arange(len(results))
    for values, offset, colour, label in (
            ([r.sigma_mean.mean() for r in results], -0.2, COLOURS[0], "mean"),
            ([r.sigma_max.max() for r in results], 0.2, COLOURS[1],
             "largest")):
        ax.bar(at + offset, values, 0.4, color=colour, label=label)
    ax.set_xticks(at, [labels.get(r.name, r.name) for r in results],
                  rotation=30, ha="right")


def plot_delays(sample: Any, *, ax: Any = None, log: bool = False,
                title: Optional[str] = None, width: float = 5.0,
                height: float = 3.2, path: Any = None) -> Any:
    """See Sample.plot."""
    ax = _axes(ax, width, height)
    middle = np.nanmedian(sample.loss)
    for low, label, colour, dash in (
            (True, "loss at most %.3g" % middle, COLOURS[0], "-"),
            (False, "loss above", COLOURS[1], "--")):
        chosen = (sample.loss <= middle) == low
        delays = np.sort(np.where(np.isnan(sample.delay), np.inf,
                                  sample.delay)[chosen
                                                | np.isnan(sample.loss)])
        if len(delays):
            ax.step(delays, np.arange(1, len(delays) + 1) / len(delays), dash,
                    where="post", color=colour, label=label)
    ax.set_xlabel("rounds")
    ax.set_ylabel("share of losses seen")
    ax.set_ylim(0, 1.02)
    if log:
        ax.set_xscale("symlog")
    if title is not None:
        ax.set_title(title)
    ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    if path is not None:
        ax.figure.savefig(path, bbox_inches="tight")
    return ax


_LABELS = {"regret": "regret", "certificate": "gap of the arm to exploit",
           "outstanding": "plays outstanding"}


def plot(results: Any, kind: str = "regret", *, ax: Any = None,
         world: Any = None, policies: Optional[Iterable[Any]] = None,
         log: bool = False, labels: Optional[Dict[str, str]] = None,
         title: Optional[str] = None, width: float = 5.0, height: float = 3.2,
         path: Any = None) -> Any:
    """See Results.plot."""
    if kind not in _LABELS:
        raise BadArgument("kind: not one of %s: '%s'"
                          % (", ".join(_LABELS), kind))
    worlds = list(range(len(results._all))) if world is None else \
        [results._world(world)]
    chosen = None if policies is None else \
        [results._policy(p) for p in policies]
    if ax is not None and len(worlds) > 1:
        raise BadArgument("ax: one axes for several worlds; give world=, one "
                          "of %s" % ", ".join(map(repr, results.worlds)))
    panels = np.array([ax], object) if ax is not None else \
        _panels(len(worlds), width, height)
    for w, panel in zip(worlds, panels):
        row = results._all[w]
        _draw(panel, row if chosen is None else [row[p] for p in chosen], kind,
              log, labels or {})
        if len(worlds) > 1:
            panel.set_title(row[0].world)
    if title is not None:
        (panels[0].set_title if len(worlds) == 1 else
         panels[0].figure.suptitle)(title)
    if path is not None:
        panels[0].figure.savefig(path, bbox_inches="tight")
    return panels[0] if len(worlds) == 1 else panels


def _draw(ax: Any, row: List[PolicyResult], kind: str, log: bool,
          labels: Dict[str, str]) -> None:
    """One world's policies, of which some may have no run."""
    if kind == "outstanding":
        _bars(ax, [r for r in row if len(r.runs)], labels)
    for i, r in enumerate(row if kind != "outstanding" else []):
        style = dict(color=COLOURS[i % len(COLOURS)], linewidth=1.5,
                     linestyle=DASHES[i % len(DASHES)],
                     label=labels.get(r.name, r.name))
        if kind == "regret" and len(r.runs):
            _band(ax, r.grid, r.curves, style)
        elif len(r.runs):
            _certificates(ax, r, style)
    if kind != "outstanding":
        ax.set_xlabel("round")
    ax.set_ylabel(_LABELS[kind])
    if log:
        ax.set_yscale("log")
        if kind != "outstanding":
            ax.set_xscale("log")
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
