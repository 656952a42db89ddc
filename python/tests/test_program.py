"""What runs the program: bounds, the paper, logs."""
import json
import os
import subprocess

import numpy as np
import pytest
import tarry


def test_bounds_are_those_of_the_program():
    done = subprocess.run(
        [tarry.program(), "bound", "--policy", "phased-adversarial", "--delay",
         "hold-rarest:sigma=500", "--json"], stdout=subprocess.PIPE, text=True)
    ours = tarry.bound("phased-adversarial", delay="hold-rarest:sigma=500")
    assert ours == json.loads(done.stdout)


def test_bounds_of_ones_own_arms():
    arms = np.eye(3)
    b = tarry.bound(arms=arms, theta=[0.1, 0.2, -0.3], horizon=1e7)
    assert b["design"]["support"] == 3 and len(b["phases"]) > 0


GIVEN = [  # what Python is told, and what the program is
    (lambda: tarry.examine("l"), "examine l --seed=1"),
    (lambda: tarry.examine("l", "a", range=(0.1, 3), maximize=True, name="n",
                           now=7, strict=True, horizon=1e3, runs=4, target="t",
                           export_world="w", page="p", seed=5, threads=2),
     "examine l --arms=a --target=t --range=0.1,3.0 --name=n --now=7 "
     "--horizon=1000.0 --runs=4 --seed=5 --threads=2 --page=p "
     "--export-world=w --maximize --strict"),
    (lambda: tarry.bound("x", instance="i", loss="l", delay="d", horizon=9,
                         seed=3), "bound --policy=x --instance=i --loss=l "
     "--delay=d --horizon=9 --seed=3"),
    (lambda: tarry.paper("row", "o", full=True, seed=2, threads=3),
     "paper --full --out=o --seed=2 --rows=row --threads=3"),
    (lambda: tarry.paper(["a", "b"], "o"),
     "paper --quick --out=o --seed=1 --rows=a,b"),
    (tarry.catalogue, "list")]


@pytest.mark.parametrize("ask, told", GIVEN)
def test_every_option_reaches_the_program(monkeypatch, ask, told):
    heard = []

    def call(*arguments):
        heard.extend(arguments)
        return {"rejected": {"count": 0}}
    monkeypatch.setattr("tarry._program.call", call)
    ask()
    assert " ".join(heard) == told


def test_numbers_reach_the_program_to_the_last_digit(monkeypatch):
    arms = np.array([[1 / 3, 1e-7], [np.pi, 2 / 7]])
    heard = []

    def call(*arguments):
        given = dict(a[2:].split("=", 1) for a in arguments if "=" in a)
        if "instance" in given:  # file:arms=FILE,theta=FILE
            given.update(part.split("=") for part in
                         given["instance"][5:].split(","))
        for key in ("arms", "theta", "target"):
            if key in given:
                heard.append(np.load(given[key]) if given[key].endswith("npy")
                             else np.loadtxt(given[key], delimiter=","))
        return {"rejected": {"count": 0}}
    monkeypatch.setattr("tarry._program.call", call)
    tarry.examine([], arms, target=arms[0])
    tarry.bound(arms=arms, theta=arms[1])
    assert [x.tolist() for x in heard] == [x.tolist() for x in (
        arms, arms[0], arms, arms[1])]


def test_errors_are_the_programs():
    with pytest.raises(tarry.BadInput, match="no delay or adversary 'nix'|nix"):
        tarry.bound(delay="nix")
    with pytest.raises(tarry.BadInput, match="nothing"):
        tarry.paper(rows=["nothing"])


def test_the_paper(tmp_path):
    p = tarry.paper(rows=["design"], out=tmp_path / "page")
    assert p["design"]["verdict"] == "supported"
    assert os.path.exists(p.page)
    assert "supported" in repr(p) and "<table>" in p._repr_html_()


def test_logs_from_files_and_frames(tmp_path):
    pandas = pytest.importorskip("pandas")
    rng = np.random.default_rng(1)
    n = 400
    decided = np.arange(n, dtype=float)
    frame = pandas.DataFrame({
        "id": np.arange(n), "arm": rng.integers(0, 3, n), "decided": decided,
        "reported": decided + rng.exponential(10, n),
        "loss": rng.choice([-1.0, 1.0], n)})
    answer = tarry.examine(frame)
    assert answer["decisions"] == n
    frame.to_csv(tmp_path / "log.csv", index=False)
    assert tarry.examine(tmp_path / "log.csv")["decisions"] == n


def rows_of_a_shop(n=600):
    """A list of dicts: rewards 0 or 1 for three named arms."""
    rng = np.random.default_rng(3)
    return [{"id": i, "arm": "abc"[i % 3], "decided": i, "probability": 1 / 3,
             "reported": i + float(rng.exponential(20)),
             "reward": float(rng.uniform() < 0.2 + 0.3 * (i % 3))}
            for i in range(n)]


def test_logs_with_the_options_of_the_program(tmp_path):
    pandas = pytest.importorskip("pandas")
    rows = rows_of_a_shop()
    arms = pandas.DataFrame(np.eye(3), index=list("abc"))
    answer = tarry.examine(
        rows, arms, range=(0, 1), maximize=True, runs=2, horizon=1000,
        target=[0, 0, 1], seed=5, export_world=tmp_path / "world",
        page=tmp_path / "page")
    assert (tmp_path / "page" / "index.html").exists()
    assert answer["horizon"] == 1000 and answer["seed"] == 5
    mean = np.mean([row["reward"] for row in rows if row["arm"] == "c"])
    value = [v for v in answer["value"] if v["method"] == "snips"
             and v["policy"] == "target"]
    assert abs(value[0]["estimate"] - mean) < 0.02
    world = answer["world"]
    r = tarry.run("lints", horizon=500, runs=2, **world)
    assert r["lints"].regret.shape == (2,)
    assert np.argmin(tarry.World(**world).look().means) == 2


def test_rows_left_out_are_warned_about():
    rows = rows_of_a_shop(50)
    rows[7]["reward"] = 3
    with pytest.warns(UserWarning, match="1 row.* line 8: .*'3'"):
        answer = tarry.examine(rows, range=(0, 1), runs=0)
    assert answer["rejected"]["count"] == 1 and answer["decisions"] == 49
    with pytest.raises(tarry.BadInput, match=":8: "):
        tarry.examine(rows, range=(0, 1), strict=True)
    for log in (None, 5, [1, 2], np.eye(3)):
        with pytest.raises(tarry.BadArgument, match="log"):
            tarry.examine(log)
