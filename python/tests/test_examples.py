"""The examples run, as scripts and as notebooks."""
import os
import runpy
import subprocess
import sys

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
EXAMPLES = os.path.join(HERE, "..", "examples")
NAMES = ["first", "own_policy", "conversions", "paper_figure", "bandit_log"]
pytestmark = pytest.mark.skipif(
    bool(os.environ.get("TARRY_SANITIZE")), reason="takes too long")


@pytest.mark.parametrize("name", NAMES)
def test_the_script_runs(name, tmp_path):
    done = subprocess.run([sys.executable,
                           os.path.join(EXAMPLES, name + ".py")],
                          cwd=tmp_path, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, text=True)
    assert done.returncode == 0, done.stdout


def test_notebooks_are_those_of_the_scripts(tmp_path):
    make = runpy.run_path(os.path.join(EXAMPLES, "make_notebooks.py"))
    make["main"](str(tmp_path))
    assert sorted(make["SCRIPTS"]) == sorted(NAMES)
    for name in NAMES:
        kept = os.path.join(EXAMPLES, "notebooks", name + ".ipynb")
        with open(kept) as a, open(tmp_path / (name + ".ipynb")) as b:
            assert a.read() == b.read(), name


def test_a_new_notebook_shows_the_figure(tmp_path, monkeypatch):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    pytest.importorskip("matplotlib")
    monkeypatch.delenv("MPLBACKEND", raising=False)
    cells = ["import tarry\n"
             "r = tarry.run('uniform', horizon=100, runs=2,\n"
             "              worlds=[{'name': 'a'}, {'name': 'b'}])",
             "r.plot()", "r.plot(world='a');",
             "tarry.World().sample(50).plot()"]
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}}).execute()
    shown = [sum("image/png" in output.get("data", {})
                 for output in cell.outputs) for cell in notebook.cells]
    assert shown == [0, 1, 1, 1]


@pytest.mark.parametrize("name", NAMES)
def test_the_notebook_runs_without_a_screen(name, tmp_path):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("ipykernel")
    notebook = nbformat.read(
        os.path.join(EXAMPLES, "notebooks", name + ".ipynb"), as_version=4)
    nbclient.NotebookClient(
        notebook, timeout=300, kernel_name="python3",
        resources={"metadata": {"path": str(tmp_path)}}).execute()
