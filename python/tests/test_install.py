"""The wheel, and pip without a network."""
import os
import subprocess
import sys
import zipfile

import pytest

HERE = os.path.dirname(os.path.abspath(__file__))
SANITIZED = bool(os.environ.get("TARRY_SANITIZE"))
pytestmark = pytest.mark.skipif(
    SANITIZED, reason="a sanitized module is not for installing")


def run(*command, **more):
    environment = {key: value for key, value in os.environ.items()
                   if key not in ("PYTHONPATH", "TARRY")}
    environment.update(PIP_NO_INDEX="1", PIP_DISABLE_PIP_VERSION_CHECK="1")
    done = subprocess.run(command, stdout=subprocess.PIPE, env=environment,
                          stderr=subprocess.STDOUT, text=True, **more)
    assert done.returncode == 0, done.stdout
    return done.stdout


TRY = """
import os, tarry
assert "site-packages" in tarry.__file__, tarry.__file__
r = tarry.run(["lints", "uniform"], horizon=1000, runs=2)
assert r["lints"].mean < r["uniform"].mean
assert "site-packages" in tarry.program(), tarry.program()
print(tarry.__version__, tarry.bound()["policy"])
"""


def test_pip_installs_it_without_a_network(tmp_path):
    place = str(tmp_path / "place")
    run(sys.executable, "-m", "venv", "--system-site-packages", place)
    python = os.path.join(place, "bin", "python")
    run(python, "-m", "pip", "install", os.path.join(HERE, ".."))
    assert "phased-stochastic" in run(python, "-c", TRY, cwd=tmp_path)
    run(python, "-m", "pip", "uninstall", "-y", "tarry")
    with pytest.raises(AssertionError):
        run(python, "-c", "import tarry", cwd=tmp_path)


def test_the_wheel_carries_the_library_and_the_program(tmp_path):
    run(sys.executable, os.path.join(HERE, "..", "build-backend",
                                     "tarry_wheel.py"), str(tmp_path))
    (wheel,) = tmp_path.glob("*.whl")
    names = zipfile.ZipFile(wheel).namelist()
    for name in ("tarry/__init__.py", "tarry/_tarry.pyi", "tarry/py.typed",
                 "tarry/bin/tarry"):
        assert name in names
    module = [name for name in names if name.endswith(".so")]
    assert len(module) == 1
    zipfile.ZipFile(wheel).extract(module[0], tmp_path)
    needed = run("ldd", str(tmp_path / module[0]))
    assert "libtarry" not in needed and "not found" not in needed
