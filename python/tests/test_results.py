"""Results: every figure where it belongs, by policy, world and run; tables,
frames and figures against references."""
import json
import math
import pickle
import sys

import numpy as np
import pytest
import tarry
from house import House
from tarry import _results

GRID = [1, 4, 10]


class Made:
    """An experiment with figures of our own: 2 worlds, 4 policies, of which
    the third has finished only some runs and the last cannot run in `b`."""

    names = ["one", "two:x=1", "two:x=2", "<four>"]

    def __init__(self, worlds=("a", "b"), runs=4, names=None):
        self.worlds, self.runs = worlds, runs
        self.names = names or Made.names

    def sizes(self):
        return len(self.worlds), len(self.names)

    def summary(self, world, policy):
        refused = "why & how" if (world, policy) == (1, 3) else None
        return {"world": self.worlds[world], "policy": self.names[policy],
                "refused": refused, "runs": self.runs, "finished": self.runs,
                "grid": np.array(GRID, np.uint64).tobytes()}

    def fields(self, world, policy, run):
        """Figures that nothing else has; the first policy is the best of the
        first world, the second of the second."""
        rng = np.random.default_rng([world, policy, run])
        return dict({name: int(x) for name, x in zip(
            _results._FIELDS, rng.integers(1, 10**6, 13))},
            regret=[50.0, 2000.0][policy != world] * rng.uniform(1, 1.5),
            seconds=rng.uniform(), sigma_mean=rng.uniform(),
            best_kept=run % 2)

    def phases(self, world, policy, run):
        return [(world, policy, run), (1, 2, 3)]

    def curves(self, world, policy, run):
        return np.random.default_rng([7, world, policy, run]).uniform(
            size=(3, 3))

    def finished(self, world, policy):
        return [1, 3] if policy == 2 else list(range(self.runs))

    def outcome(self, world, policy, run):
        if run not in self.finished(world, policy):
            return None
        return (tuple(self.fields(world, policy, run).values()),
                self.phases(world, policy, run),
                *(x.tobytes() for x in self.curves(world, policy, run)))

    def json(self):
        return "{}"


@pytest.fixture
def made():
    return _results.Results(Made(), {"k": 1}, False)


def each():
    """World, policy and the runs that have finished."""
    for w in range(2):
        for p in range(4):
            yield w, p, [] if (w, p) == (1, 3) else Made().finished(w, p)


def test_every_figure_is_that_of_its_world_policy_and_run(made):
    twin = pickle.loads(pickle.dumps(made))
    assert twin.to_json() == "{}" and twin.config == {"k": 1}
    for r in (made, twin):
        assert r.worlds == ["a", "b"] and r.policies == Made.names
        assert len(r) == 8 and [x.name for x in r] == Made.names * 2
        assert r.grid.tolist() == GRID
        for w, p, runs in each():
            x = r[w, p]
            assert (x.world, x.name) == ("ab"[w], Made.names[p])
            assert x.runs.tolist() == runs and x.grid.tolist() == GRID
            for field in _results._FIELDS:
                assert getattr(x, field).tolist() == [
                    Made().fields(w, p, i)[field] for i in runs], field
            assert x.best_kept.dtype == bool
            assert x.phases == [Made().phases(w, p, i) for i in runs]
            for k, curve in enumerate((x.curves, x.certificates,
                                       x.exploit_gaps)):
                assert curve.shape == (len(runs), 3)
                for row, i in zip(curve, runs):
                    assert (row == Made().curves(w, p, i)[k]).all()
            assert (r.curves["ab"[w], x.name] == x.curves).all()
        assert r["b", "<four>"].refused == "why & how"
        assert r["a", "<four>"].refused is None


def test_worlds_and_policies_are_found_by_name_and_number(made):
    for world in ("b", 1, -1, np.int64(1)):
        for policy in ("two:x=1", 1, -3, np.int8(1)):
            assert made[world, policy] is made["b", 1]
    assert made["a", "one"] is made[0, 0]
    for key in [("c", 0), (2, 0), (-3, 0), (0, 4), (0, -5), (0, "two"),
                (0, "tw"), (None, 0), (0, None), 0, "one", (0, 0, 0)]:
        with pytest.raises(KeyError):
            made[key]
    single = _results.Results(Made(worlds=[None]), {}, True)
    assert single["one"] is single[0] is single[0, "one"]
    assert list(single.curves) == Made.names


def t_point(freedom):
    """The 97.5 % point of Student's t, by quadrature of its density."""
    x = np.linspace(0, 20, 200001)
    y = (1 + x**2 / freedom)**(-(freedom + 1) / 2)
    area = np.cumsum((y[1:] + y[:-1]) / 2) * x[1]
    half = math.sqrt(freedom * math.pi) / 2 * math.exp(
        math.lgamma(freedom / 2) - math.lgamma((freedom + 1) / 2))
    return x[np.searchsorted(area, 0.95 * half) + 1]


def reference(values):
    mean = sum(values) / len(values)
    if len(values) == 1:
        return mean, math.nan
    s = math.sqrt(sum((x - mean)**2 for x in values) / (len(values) - 1))
    return mean, t_point(len(values) - 1) * s / math.sqrt(
        len(values))


def test_intervals_are_those_of_student():
    for freedom in list(range(1, 60)) + [100, 1000]:
        assert _results.student(freedom) == pytest.approx(
            t_point(freedom), rel=1e-3)
    for count in (2, 3, 11, 12, 40):
        values = np.random.default_rng(count).normal(3, 2, count)
        assert _results.mean_of(values) == pytest.approx(reference(values),
                                                         rel=1e-3)
    assert np.isnan(_results.mean_of([])).all()


def rows_by_hand():
    """What rows() must say: regret, and above the best of the same world."""
    for w in range(2):
        done = {p: runs for u, p, runs in each() if u == w and runs}
        regret = {p: {i: Made().fields(w, p, i)["regret"] for i in runs}
                  for p, runs in done.items()}
        means = {p: np.mean(list(x.values())) for p, x in regret.items()}
        best = min(means, key=means.get)
        assert best == w
        for p in range(4):
            if p not in done:
                yield {"world": "ab"[w], "policy": Made.names[p],
                       "error": "why & how"}
                continue
            pairs = [regret[p][i] - regret[best][i] for i in done[p]]
            line = {"world": "ab"[w], "policy": Made.names[p],
                    "runs": len(done[p])}
            line["regret"], line["ci95"] = reference(list(regret[p].values()))
            line["above_best"], line["above_best_ci95"] = reference(pairs)
            some = [Made().fields(w, p, i) for i in done[p]]
            for key, field in (("phases", "n_phases"), ("active", "active"),
                               ("best_kept", "best_kept")):
                line[key] = np.mean([x[field] for x in some])
            line["sigma_max"] = max(x["sigma_max"] for x in some)
            line["rounds_per_second"] = 10 / np.mean([x["seconds"]
                                                      for x in some])
            yield line


def test_rows_compare_with_the_best_of_the_same_world(made):
    rows, wanted = made.rows(), list(rows_by_hand())
    assert len(rows) == len(wanted) == 8
    for row, line in zip(rows, wanted):
        assert set(row) == set(line)
        for key, value in line.items():
            assert row[key] == (pytest.approx(value, rel=1e-3) if isinstance(
                value, float) else value), key


def test_differences_are_of_the_world_that_is_named(made):
    for w in range(2):
        for world in (w, "ab"[w]):
            pairs = [Made().fields(w, 2, i)["regret"] -
                     Made().fields(w, 0, i)["regret"] for i in (1, 3)]
            assert made.differences(2, "one", world).tolist() == pairs
            assert made.difference(2, 0, world) == pytest.approx(
                reference(pairs), rel=1e-3)


def cells_by_hand(rows, sign):
    def pair(mean, half):
        digits = "%.1f" if abs(mean) < 1000 else "%.0f"
        return (digits + sign + digits) % (mean, half)
    for row in rows:
        yield [row["world"], row["policy"]] + (
            [row["error"], "", ""] if "error" in row else
            [pair(row["regret"], row["ci95"]),
             pair(row["above_best"], row["above_best_ci95"])
             if row["above_best"] else "best", str(row["runs"])])


def test_tables_have_every_cell_in_its_place(made):
    head = ["world", "policy", "regret", "above the best", "runs"]
    cells = list(cells_by_hand(made.rows(), " ± "))
    text = made.table()
    assert text == repr(made)
    starts = [text.index(word) for word in head]
    for line, row in zip(text.splitlines()[1:], cells):
        for start, cell in zip(starts, row):
            assert line[start:].startswith(cell) or not cell
    assert [line[2:-2].split(" | ") for line in
            made.table("markdown").splitlines()] == \
        [head, ["---"] * 5] + cells
    import html
    shown = made.table("html")
    assert shown == made._repr_html_() == "<table><tr>%s</tr>%s</table>" % (
        "".join("<th>%s</th>" % word for word in head),
        "".join("<tr>%s</tr>" % "".join(
            "<td>%s</td>" % html.escape(cell) for cell in row)
            for row in cells))
    latex = made.table("latex").splitlines()
    assert latex[0] == r"\begin{tabular}{llrrr}"
    assert latex[2] == " & ".join(head) + r" \\"
    for line, row in zip(latex[4:12], cells_by_hand(made.rows(), r" \pm ")):
        assert line == " & ".join(
            "$%s$" % cell if r"\pm" in cell else cell.replace("&", r"\&")
            for cell in row) + r" \\"
    with pytest.raises(tarry.BadArgument, match="format"):
        made.table("csv")
    single = _results.Results(Made(worlds=[None]), {}, True)
    assert single.table("latex").startswith(r"\begin{tabular}{lrrr}")
    assert "world" not in single.table()


def test_frames_have_a_row_per_run_and_per_point(made):
    pytest.importorskip("pandas")
    frame, points = made.to_pandas(), made.curves_to_pandas()
    at = 0
    for w, p, runs in each():
        for i in runs:
            line = frame.iloc[at]
            assert (line.world, line.policy, line.run) == \
                ("ab"[w], Made.names[p], i)
            for field, value in Made().fields(w, p, i).items():
                assert line[field] == value
            some = points.iloc[3 * at:3 * at + 3]
            assert set(some.world) == {"ab"[w]}
            assert set(some.policy) == {Made.names[p]} and \
                set(some.run) == {i}
            assert some["round"].tolist() == GRID
            for key, curve in zip(("regret", "certificate", "exploit_gap"),
                                  Made().curves(w, p, i)):
                assert some[key].tolist() == curve.tolist()
            at += 1
    assert len(frame) == at and len(points) == 3 * at
    assert frame.index.tolist() == list(range(at))
    single = _results.Results(Made(worlds=[None]), {}, True)
    assert "world" not in single.to_pandas().columns
    assert "world" not in single.curves_to_pandas().columns


@pytest.mark.parametrize("name, purpose, call", [
    ("pandas", "data frames", lambda r: r.to_pandas()),
    ("pandas", "data frames", lambda r: r.curves_to_pandas()),
    ("matplotlib", "figures", lambda r: r.plot(world="b"))])
def test_a_missing_package_is_named_with_the_way_to_install_it(
        made, monkeypatch, name, purpose, call):
    for module in [m for m in sys.modules if m.split(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    monkeypatch.setitem(sys.modules, name, None)
    with pytest.raises(ImportError) as told:
        call(made)
    assert str(told.value) == (
        "tarry needs the package %s for %s, and it is not installed: install "
        "python3-%s (Debian) or `pip install %s`" % (name, purpose, name, name))


# ---- figures ---------------------------------------------------------------


def lines_of(ax):
    return {line.get_label(): line.get_xydata() for line in ax.get_lines()}


def test_curves_are_drawn_with_their_bands(made):
    pytest.importorskip("matplotlib")
    ax = made.plot(world="b", labels={"one": "First"}, title="T")
    names = ["First", "two:x=1", "two:x=2"]  # what cannot run is left out
    assert list(lines_of(ax)) == names and ax.get_title() == "T"
    assert (ax.get_xlabel(), ax.get_ylabel()) == ("round", "regret")
    assert ax.get_xscale() == ax.get_yscale() == "linear"
    for p, name in enumerate(names):
        curves = made["b", p].curves
        x, y = lines_of(ax)[name].T
        assert x.tolist() == GRID and np.allclose(y, curves.mean(0))
        half = _results.student(len(curves) - 1) * curves.std(0, ddof=1) / \
            math.sqrt(len(curves))
        band = ax.collections[p].get_paths()[0].vertices
        for k, round in enumerate(GRID):
            heights = band[band[:, 0] == round, 1]
            assert heights.min() == pytest.approx(y[k] - half[k])
            assert heights.max() == pytest.approx(y[k] + half[k])
    colours = {line.get_color() for line in ax.get_lines()}
    dashes = {line.get_linestyle() for line in ax.get_lines()}
    assert len(colours) == len(dashes) == 3
    ax = made.plot(world="a", policies=[2, "one"], log=True)
    assert list(lines_of(ax)) == ["two:x=2", "one"]
    assert np.allclose(lines_of(ax)["one"][:, 1], made["a", 0].curves.mean(0))
    assert ax.get_xscale() == ax.get_yscale() == "log"
    again = made.plot(ax=ax, world=0)
    assert again is ax and len(ax.get_lines()) == 6
    with pytest.raises(tarry.BadArgument, match="give world=, one of 'a', 'b'"):
        made.plot(ax=ax)


def test_each_world_has_a_panel(made, tmp_path):
    pytest.importorskip("matplotlib")
    panels = made.plot(title="T", width=3, height=2, path=tmp_path / "f.png")
    assert [ax.get_title() for ax in panels] == ["a", "b"]
    figure = panels[0].figure
    assert figure.axes == list(panels) and figure._suptitle.get_text() == "T"
    assert figure.get_size_inches().tolist() == [6, 2]
    assert (tmp_path / "f.png").stat().st_size > 0
    for w, ax in enumerate(panels):
        for p, (name, points) in enumerate(lines_of(ax).items()):
            assert np.allclose(points[:, 1], made[w, name].curves.mean(0))
            assert ax.get_lines()[p].get_color() == \
                panels[0].get_lines()[p].get_color()


def test_certificates_and_outstanding_plays_are_drawn(made):
    pytest.importorskip("matplotlib")
    made["a", "one"].certificates = np.full((4, 3), np.nan)  # states none
    ax = made.plot("certificate", world=0)
    drawn = lines_of(ax)
    assert len(drawn) == 6
    for p in (1, 2, 3):
        for what, curves in (("bound", made["a", p].certificates),
                             ("gap", made["a", p].exploit_gaps)):
            x, y = drawn["%s, %s" % (Made.names[p], what)].T
            assert x.tolist() == GRID and np.allclose(y, curves.mean(0))
    ax = made.plot("outstanding", world=1, labels={"one": "First"}, log=True)
    heights = [bar.get_height() for bar in ax.patches]
    shown = [made["b", p] for p in range(3)]
    assert np.allclose(heights, [r.sigma_mean.mean() for r in shown] +
                       [r.sigma_max.max() for r in shown])
    assert [t.get_text() for t in ax.get_xticklabels()] == \
        ["First", "two:x=1", "two:x=2"]
    assert ax.get_yscale() == "log" and ax.get_xscale() == "linear"
    assert ax.get_ylabel() == "plays outstanding"
    with pytest.raises(tarry.BadArgument, match="kind"):
        made.plot("delay")


def test_losses_that_never_came_lower_the_share_that_is_seen():
    pytest.importorskip("matplotlib")
    nan = np.nan
    s = tarry.Sample(np.zeros(8), np.array([-1, -1, -1, 1, 1, nan, nan, nan]),
                     np.array([5, 3, 9, 0, 4, nan, nan, nan]))
    ax = s.plot(log=True, title="T")
    drawn = lines_of(ax)
    low, high = drawn["loss at most -1"], drawn["loss above"]
    assert low[:3].tolist() == [[3, 1 / 6], [5, 2 / 6], [9, 3 / 6]]
    assert high[:2].tolist() == [[0, 1 / 5], [4, 2 / 5]]
    for points, seen in ((low, 3), (high, 2)):
        assert np.isinf(points[seen:, 0]).all()
    assert len({line.get_color() for line in ax.get_lines()}) == 2
    assert ax.get_xscale() == "symlog" and ax.get_title() == "T"
    assert s.plot().get_xscale() == "linear"
    none = tarry.Sample(np.zeros(3), np.array([0.5, 0.25, 1]), np.arange(3))
    for points in lines_of(none.plot()).values():
        assert points[-1, 1] == 1


# ---- runs ------------------------------------------------------------------


class Counting(House):
    """What the library says of a run, counted by those who play."""
    last = {}

    def start(self, problem):
        super().start(problem)
        self._problem, self._now, self._seen, self._first = problem, 0, 0, 0
        self._plays, self._waiting = [], []

    def choose(self, round):
        self._waiting.append(round - 1 - self._seen)
        self._now = round
        self._plays.append(self._policy.choose().arm)
        Counting.last[self._problem.run] = self
        return self._plays[-1]

    def observe(self, round, arm, loss):
        assert arm == self._plays[round - 1] and -1 <= loss <= 1
        self._policy.observe(round, loss)
        self._first = self._first or self._now
        self._seen += 1


@pytest.mark.parametrize("delay", ["exponential:mean=40",
                                   "two-point:low=0,high=90,never=0.2",
                                   "constant:rounds=200"])
def test_the_figures_of_a_run_are_those_counted_by_the_policy(delay):
    name = "phased-stochastic:constants=tight,width=0.5"
    world = tarry.World(None, "uniform", delay, arms=np.eye(3),
                        means=[0.3, -0.3, -0.1])
    Counting.last.clear()
    r = tarry.run([name, Counting(name)], worlds=world, horizon=1500,
                  runs=3, seed=4, points=7)
    theirs, ours = r
    for run in range(3):
        c, view = Counting.last[run], world.look(4, run)
        status = c._policy.status()
        gaps = (view.means - view.means.min())[c._plays]
        curve = np.cumsum(gaps)
        assert view.best == view.means.argmin() and len(gaps) == 1500
        for x in (ours, theirs):
            assert x.runs[run] == run
            assert x.regret[run] == pytest.approx(curve[-1])
            assert x.curves[run] == pytest.approx(curve[x.grid - 1])
            assert x.sigma_max[run] == max(c._waiting)
            assert x.sigma_mean[run] == pytest.approx(np.mean(c._waiting))
            assert x.first_seen[run] == c._first
            assert x.sigma_final[run] >= x.lost[run]
        for field in ("used", "late", "ignored"):
            assert getattr(theirs, field)[run] == status[field], field
        assert theirs.active[run] == len(status["active"])
        assert theirs.n_phases[run] == len(theirs.phases[run])
        assert sum(p[0] for p in theirs.phases[run]) <= 1500
        assert theirs.best_kept[run] == (view.best in status["active"])
    listed = json.loads(r.to_json())["policies"][0]["phase_log"]
    assert [[(p["length"], p["designated"], p["active_after"]) for p in log]
            for log in listed] == theirs.phases
    assert any(p[0] > p[1] for log in theirs.phases for p in log)
    share = ours.lost.sum() / 4500
    never = 0.2 if "never" in delay else 0
    assert abs(share - never) <= 4 * (never * (1 - never) / 4500)**0.5


class Sure(tarry.PolicyBase):
    """Would exploit another arm from round to round."""

    def choose(self, round):
        self._round = round
        return 0

    def certify(self):
        k = self._round % (self.problem.n_arms + 1)
        return None if k == self.problem.n_arms else (k, 0.5 * k)


def test_certificates_stand_beside_the_gaps_that_they_bound():
    world = tarry.World(arms=np.eye(4), means=[0.5, -0.25, 0.125, -0.5])
    gaps = [1, 0.25, 0.625, 0]
    r = tarry.run(Sure(), worlds=world, horizon=40, runs=2, points=40)
    assert {round % 5 for round in r.grid.tolist()} == set(range(5))
    for run in range(2):
        for round, bound, gap in zip(r.grid, r[0, 0].certificates[run],
                                     r[0, 0].exploit_gaps[run]):
            k = round % 5
            assert math.isnan(bound) if k == 4 else (
                (bound, gap) == (0.5 * k, gaps[k]))


# ---- what is shown ---------------------------------------------------------


def test_results_show_themselves(made):
    x = made["a", "two:x=1"]
    assert repr(x) == "<two:x=1: regret %s, 4 runs>" % str(
        _results.Mean(x.mean, x.ci95))
    assert str(_results.Mean(1234.56, 7.891)) == "1235 \u00b1 7.9"
    assert repr(made["b", "<four>"]) == "<<four>: refused: why & how>"


@pytest.mark.parametrize("mean, half, text", [
    (1000, 1, "1000 \u00b1 1"), (999.94, 0.05, "999.9 \u00b1 0.1"),
    (1000.4, 99.6, "1000 \u00b1 100"), (-1000.4, 1, "-1000 \u00b1 1"),
    (-999.94, 2, "-999.9 \u00b1 2.0"), (0.04, math.nan, "0.0"),
    (12345.6, math.nan, "12346")])
def test_numbers_of_tables_have_a_digit_below_a_thousand(mean, half, text):
    assert _results._pair(mean, half, "text") == text
    assert _results._pair(mean, half, "latex") == \
        "$%s$" % text.replace("\u00b1", r"\pm")


def test_figures_are_pyplots_only_where_there_is_pyplot(made, monkeypatch):
    pyplot = pytest.importorskip("matplotlib.pyplot")
    pyplot.close("all")
    ax = made.plot(world=0, width=4, height=2)
    assert pyplot.get_fignums() == [ax.figure.number]
    assert ax.figure.get_size_inches().tolist() == [4, 2]
    monkeypatch.delitem(sys.modules, "matplotlib.pyplot")
    ax = made.plot("outstanding", world=0, width=3, height=5)
    assert len(pyplot.get_fignums()) == 1
    assert ax.figure.get_size_inches().tolist() == [3, 5]
    pyplot.close("all")


@pytest.mark.parametrize("kind", ["regret", "certificate", "outstanding"])
def test_figures_may_have_any_number_of_policies(kind):
    pytest.importorskip("matplotlib")
    names = ["p%d" % i for i in range(20)]
    ax = _results.Results(Made([None], names=names), {}, True).plot(kind)
    if kind == "outstanding":
        assert len(ax.patches) == 40
    else:
        lines = ax.get_lines()[::1 + (kind == "certificate")]
        looks = [(line.get_color(), line.get_linestyle(),
                  line._unscaled_dash_pattern) for line in ax.get_lines()]
        assert len(lines) == 20 and len(set(looks)) >= 16
