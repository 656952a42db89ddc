"""Figures by matplotlib, fit for a paper: colours that everybody can tell
apart (Okabe and Ito), different dashes too, legends with the policies' names."""
from __future__ import annotations

from typing import Any, Dict, Iterable, List, Optional

import numpy as np

from ._errors import BadArgument
from ._optional import optional
from ._results import PolicyResult, student

COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9",
           "#000000", "#999999")
DASHES = ("-", "--", "-.", ":", (0, (5, 1)), (0, (3, 1, 1, 1)), (0, (1, 1)))


def _axes(ax: Any, width: float, height: float) -> Any:
    matplotlib = optional("matplotlib", "figures")
    if ax is not None:
        return ax
    if "matplotlib.pyplot" in __import__("sys").modules or \
            hasattr(matplotlib, "_called_from_pytest"):
        pyplot = optional("matplotlib.pyplot", "figures")
        figure = pyplot.figure(figsize=(width, height))
    else:
        figure = optional("matplotlib.figure", "figures").Figure(
            figsize=(width, height))
    return figure.add_subplot()


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


def plot(results: Any, kind: str = "regret", *, ax: Any = None, world: Any = 0,
         policies: Optional[Iterable[Any]] = None, log: bool = False,
         labels: Optional[Dict[str, str]] = None, title: Optional[str] = None,
         width: float = 5.0, height: float = 3.2, path: Any = None) -> Any:
    """See Results.plot."""
    if kind not in _LABELS:
        raise BadArgument("kind: not one of %s: '%s'"
                          % (", ".join(_LABELS), kind))
    row = results._all[results._world(world)]
    chosen = [r for r in (row if policies is None else
                          [row[results._policy(p)] for p in policies])
              if len(r.runs)]
    ax = _axes(ax, width, height)
    labels = labels or {}
    if kind == "outstanding":
        _bars(ax, chosen, labels)
    for i, r in enumerate(chosen if kind != "outstanding" else []):
        style = dict(color=COLOURS[i % len(COLOURS)], linewidth=1.5,
                     linestyle=DASHES[i % len(DASHES)],
                     label=labels.get(r.name, r.name))
        if kind == "regret":
            _band(ax, r.grid, r.curves, style)
        else:
            _certificates(ax, r, style)
    if kind != "outstanding":
        ax.set_xlabel("round")
    ax.set_ylabel(_LABELS[kind])
    if log:
        ax.set_yscale("log")
        if kind != "outstanding":
            ax.set_xscale("log")
    if title is not None:
        ax.set_title(title)
    if ax.get_legend_handles_labels()[0]:
        ax.legend(frameon=False, fontsize="small")
    ax.spines[["top", "right"]].set_visible(False)
    if path is not None:
        ax.figure.savefig(path, bbox_inches="tight")
    return ax
