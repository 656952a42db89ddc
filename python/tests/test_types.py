"""Types, docstrings, and that nothing public goes without either."""
import doctest
import importlib
import inspect
import os
import subprocess
import sys

import pytest
import tarry

SANITIZED = bool(os.environ.get("TARRY_SANITIZE"))
HERE = os.path.dirname(os.path.abspath(__file__))
MODULES = ["_arrays", "_design", "_errors", "_lab", "_policy", "_program",
           "_results", "_world", "client"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_in_docstrings_run(name):
    module = importlib.import_module("tarry." + name)
    failed, tried = doctest.testmod(module)
    assert failed == 0


def test_there_are_examples():
    assert sum(doctest.testmod(importlib.import_module("tarry." + name))[1]
               for name in MODULES) >= 30


@pytest.mark.skipif(SANITIZED, reason="not about memory")
def test_types_are_right(tmp_path):
    user = tmp_path / "user.py"
    user.write_text("""
import tarry
p = tarry.Policy("lints", [[1.0]], horizon=10)
id, arm = p.choose()[:2]
answer: str = p.observe(id, 0.5)
r: tarry.Results = tarry.run("lints")
mean: float = r["lints"].mean
""")
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir",
         str(tmp_path / "cache"), "-p", "tarry"],
        cwd=os.path.join(HERE, ".."), stdout=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stdout
    done = subprocess.run(
        [sys.executable, "-m", "mypy", "--strict", "--cache-dir",
         str(tmp_path / "cache"), str(user)], stdout=subprocess.PIPE,
        text=True, env=dict(os.environ, MYPYPATH=os.path.join(HERE, "..")))
    assert done.returncode == 0, done.stdout


def test_everything_public_says_what_it_is():
    for name in tarry.__all__:
        thing = getattr(tarry, name)
        if inspect.isclass(thing) or inspect.isfunction(thing):
            assert inspect.getdoc(thing), name
            members = inspect.getmembers(thing, inspect.isfunction) \
                if inspect.isclass(thing) else []
            for member, function in members:
                if not member.startswith("_"):
                    assert inspect.getdoc(function), name + "." + member


def test_every_status_has_an_exception():
    from tarry import _errors, _tarry
    silent = {"OK", "LATE", "EXPIRED", "CORRECTED"}
    for _, status, _ in _tarry.statuses:
        assert status in silent or status in _errors._BY_STATUS, status
