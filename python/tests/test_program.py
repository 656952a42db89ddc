"""What runs the program: bounds, the paper, logs."""
import json
import os
import subprocess
import sys

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
                           now=7, strict=True, max_refused=0.5, horizon=1e3,
                           runs=4, target="t", export_world="w", page="p",
                           seed=5, threads=2),
     "examine l --arms=a --target=t --range=0.1,3.0 --name=n --now=7 "
     "--max-refused=0.5 --horizon=1000.0 --runs=4 --seed=5 --threads=2 --page=p "
     "--export-world=w --maximize --strict"),
    (lambda: tarry.bound("x", instance="i", loss="l", delay="d", horizon=9,
                         seed=3), "bound --policy=x --instance=i --loss=l "
     "--delay=d --horizon=9 --seed=3"),
    (lambda: tarry.examine("l", now=0, horizon=0, runs=0, seed=0, threads=0),
     "examine l --now=0 --horizon=0 --runs=0 --seed=0 --threads=0"),
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
    rows = rows_of_a_shop(600)
    rows[7]["reward"] = 3
    with pytest.warns(UserWarning, match="1 row.* line 8: .*'3'") as w:
        answer = tarry.examine(rows, range=(0, 1), runs=0)
    assert [one.filename for one in w
            if one.category is UserWarning] == [__file__]
    assert answer["rejected"]["count"] == 1 and answer["decisions"] == 599
    with pytest.raises(tarry.ProgramError, match="nothing is concluded"):
        tarry.examine(rows, range=(0, 1), max_refused=0.001)
    with pytest.raises(tarry.BadInput, match=":8: "):
        tarry.examine(rows, range=(0, 1), strict=True)
    for log in (None, 5, [1, 2], np.eye(3)):
        with pytest.raises(tarry.BadArgument, match="log"):
            tarry.examine(log)


def test_rows_may_have_times_and_numbers_of_any_library():
    """Datetimes, Timestamps, NumPy's numbers: the answer is that of plain
    rows."""
    import datetime
    import decimal
    pandas = pytest.importorskip("pandas")
    start = datetime.datetime(2026, 5, 1, tzinfo=datetime.timezone.utc)
    plain = rows_of_a_shop(300)
    for row in plain:
        for key in "decided", "reported":
            row[key] = (start + datetime.timedelta(
                seconds=round(row[key] * 60))).isoformat()
    for row in plain[::10]:
        row["reported"] = row["reward"] = None
    wanted = tarry.examine(plain, range=(0, 1), runs=0)

    def none_is(nothing, change):
        return lambda x: nothing if x is None else change(x)
    moment = datetime.datetime.fromisoformat
    for time, number, probability in [
            (none_is(None, moment), none_is(np.nan, np.float32), float),
            (none_is(pandas.NaT, pandas.Timestamp),
             none_is(pandas.NA, np.int8), np.float64),
            (none_is(np.datetime64("NaT"),
                     lambda x: np.datetime64(moment(x).replace(tzinfo=None))),
             none_is(None, decimal.Decimal), float)]:
        rows = [dict(row, id=np.int64(row["id"]), decided=time(row["decided"]),
                     reported=time(row["reported"]),
                     reward=number(row["reward"]),
                     probability=probability(row["probability"]))
                for row in plain]
        assert tarry.examine(rows, range=(0, 1), runs=0) == wanted
        answer = tarry.examine(pandas.DataFrame(rows), range=(0, 1), runs=0)
        assert answer.pop("format") == "CSV"
        assert answer == {key: wanted[key] for key in answer}
    late = start + datetime.timedelta(days=400)
    answer = tarry.examine(plain, range=(0, 1), runs=0, now=late)
    assert answer["now"] == "2027-06-05T00:00:00Z"
    for bad in object(), 1j, [1], np.timedelta64(3, "s"), b"x":
        with pytest.raises(tarry.BadArgument, match="log: row 1: reward: not"):
            tarry.examine([plain[0], dict(plain[1], reward=bad)])


# ---- the program itself ----------------------------------------------------


def a_program(path, text, mode=0o755):
    path.parent.mkdir(exist_ok=True)
    path.write_text("#!%s\n%s\n" % (sys.executable, text))
    path.chmod(mode)
    return str(path)


def test_the_program_is_found_where_it_is_looked_for(tmp_path, monkeypatch):
    mine = a_program(tmp_path / "mine", "")
    monkeypatch.setenv("TARRY", mine)
    assert tarry.program() == mine
    others = [a_program(tmp_path / "no", "", 0o644), str(tmp_path),
              str(tmp_path / "nowhere"), ""]
    for other in others:  # what cannot be run is not taken
        monkeypatch.setenv("TARRY", other)
        assert tarry.program() != other
    monkeypatch.delenv("TARRY")
    monkeypatch.setattr("tarry._program.__file__",
                        str(tmp_path / "a" / "b" / "_program.py"))
    monkeypatch.setenv("PATH", str(tmp_path / "path"))
    with pytest.raises(tarry.ProgramError, match="TARRY"):
        tarry.program()
    found = a_program(tmp_path / "path" / "tarry", "")
    assert tarry.program() == found
    (tmp_path / "a" / "b" / "bin").mkdir(parents=True)
    own = a_program(tmp_path / "a" / "b" / "bin" / "tarry", "")
    assert tarry.program() == own
    monkeypatch.setenv("TARRY", mine)
    assert tarry.program() == mine


@pytest.mark.parametrize("code, said, kind, text", [
    (2, "tarry: f:3: bad", tarry.BadInput, "f:3: bad"),
    (1, "tarry: disk full", tarry.ProgramError, "disk full"),
    (3, "other", tarry.ProgramError, "other"),
    (7, "", tarry.ProgramError, "exit code 7"),
    (2, "", tarry.BadInput, "exit code 2")])
def test_what_the_program_says_is_raised(tmp_path, monkeypatch, code, said,
                                         kind, text):
    monkeypatch.setenv("TARRY", a_program(
        tmp_path / "p", "import sys; sys.stderr.write(%r); sys.exit(%d)"
        % (said, code)))
    with pytest.raises(kind) as error:
        tarry.catalogue()
    assert type(error.value) is kind and str(error.value) == text


def test_tables_reach_the_program_as_they_are(monkeypatch):
    pandas = pytest.importorskip("pandas")
    heard = []

    def call(*arguments):
        with open(arguments[1], encoding="utf-8") as file:
            log = file.read()
        given = dict(a[2:].split("=", 1) for a in arguments if "=" in a)
        arms = None
        if "arms" in given:
            import csv
            with open(given["arms"], encoding="utf-8", newline="") as file:
                arms = list(csv.reader(file))
        heard.append((log, arms, given.get("range")))
        return {"rejected": {"count": 0}}
    monkeypatch.setattr("tarry._program.call", call)
    rows = [{"arm": "\u00e9\"\n", "loss": 0.1 + 0.2}, {"arm": 1, "loss": None}]
    names = ["a,b", "c\"d"]
    frame = pandas.DataFrame([[1 / 3, 1e-300], [2, 3]], index=names)
    tarry.examine(rows, frame, range=[0.1 + 0.2, 1])
    log, arms, limits = heard.pop()
    assert [json.loads(line) for line in log.splitlines()] == rows
    assert [[row[0]] + [float(x) for x in row[1:]] for row in arms] == \
        [["a,b", 1 / 3, 1e-300], ["c\"d", 2, 3]]
    assert limits == "0.30000000000000004,1.0"
    tarry.examine(pandas.DataFrame({"arm": ["x,y"], "loss": [0.1 + 0.2]},
                                   index=[7]), 2)
    log, arms, limits = heard.pop()
    assert log == 'arm,loss\n"x,y",0.30000000000000004\n' and limits is None
    assert [[float(x) for x in row] for row in arms] == [[1, 0], [0, 1]]
    for bad in (5, (1,), "ab", (1, "x"), (1, 2, 3)):
        with pytest.raises(tarry.BadArgument, match="range"):
            tarry.examine([], range=bad)


def test_bounds_take_arms_and_theta_in_place_of_an_instance():
    for parts in (dict(arms=np.eye(2)),
                  dict(arms=np.eye(2), theta=[0, 0], instance="sphere")):
        with pytest.raises(tarry.BadArgument, match="arms: with theta"):
            tarry.bound(**parts)
    for what in ("delay", "loss", "instance"):
        with pytest.raises(tarry.BadArgument, match=what):
            tarry.bound(**{what: 5})
    one, two = (tarry.bound(arms=np.eye(2), theta=[0.5, -gap], horizon=1e6)
                for gap in (0.5, 0.1))
    assert one != two


def test_a_paper_is_found_by_its_rows():
    rows = [{"id": "a", "claim": "x < y & z" + "." * 60, "verdict": "<no>"},
            {"id": "b", "claim": "short", "verdict": "yes"}]
    p = tarry.Paper({"rows": rows}, "page")
    assert p["a"] is rows[0] and p["b"] is rows[1] and p.rows == rows
    with pytest.raises(KeyError, match="c"):
        p["c"]
    p.rows.clear()
    assert len(p.rows) == 2
    lines = repr(p).splitlines()
    assert lines[0].startswith("x < y & z...") and lines[0].endswith(" <no>")
    assert lines[1].split() == ["short", "yes"]
    shown = p._repr_html_()
    assert "x &lt; y &amp; z" in shown and "&lt;no&gt;" in shown
    assert shown.count("<tr>") == 2


def test_names_are_utf8_wherever_the_program_is_asked():
    """Also where the locale is another."""
    pytest.importorskip("pandas")
    script = """
import pandas, tarry
names = ["\\u00e9\\U0001f642", "b"]
rows = [{"arm": names[i % 2], "decided": i, "reported": i + 1, "loss": 0.5}
        for i in range(50)]
answer = tarry.examine(rows, pandas.DataFrame([[1, 0], [0, 1]], names), runs=0)
print(sorted(names) == sorted(arm["arm"] for arm in answer["arms"]))
"""
    done = subprocess.run(
        [sys.executable, "-c", script], text=True, capture_output=True,
        env=dict(os.environ, LC_ALL="C", PYTHONUTF8="0",
                 PYTHONCOERCECLOCALE="0"))
    assert (done.stdout, done.stderr) == ("True\n", "")


def test_what_the_program_says_need_not_be_utf8(tmp_path, monkeypatch):
    monkeypatch.setenv("TARRY", a_program(
        tmp_path / "p", "import sys; sys.stderr.buffer.write("
        "b'tarry: \\xff.csv: no'); sys.exit(2)"))
    with pytest.raises(tarry.BadInput, match="^\ufffd.csv: no$"):
        tarry.catalogue()


def test_the_program_does_not_read_what_is_for_the_script(tmp_path):
    reads = a_program(tmp_path / "p", "import json, sys\n"
                      "print(json.dumps(sys.stdin.read()))")
    done = subprocess.run(
        [sys.executable, "-c", "import tarry; print([tarry.catalogue(), "
         "input()])"], input="mine\n", text=True, stdout=subprocess.PIPE,
        env=dict(os.environ, TARRY=reads))
    assert done.stdout == "['', 'mine']\n"
