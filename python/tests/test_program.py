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
