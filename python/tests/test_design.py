"""Designs from arrays of all kinds."""
import numpy as np
import pytest
import tarry

ARMS = np.random.default_rng(2385).normal(size=(300, 5))


def variances(arms, weights):
    return np.einsum("ij,jk,ik->i", arms,
                     np.linalg.pinv(arms.T @ np.diag(weights) @ arms), arms)


def test_weights_are_a_design_with_the_g_it_says():
    d = tarry.design(ARMS)
    assert d.weights.shape == (300,) and abs(d.weights.sum() - 1) < 1e-12
    assert d.rank == 5 and d.target_met
    assert abs(variances(ARMS, d.weights).max() - d.g) < 1e-9
    assert d.g <= 5 * 1.001
    assert (d.weights[d.support] == d.support_weights).all()


def test_layout_and_type_do_not_matter():
    d = tarry.design(ARMS)
    fortran = tarry.design(np.asfortranarray(ARMS))
    assert (fortran.weights == d.weights).all()
    strided = np.zeros((600, 10))
    strided[::2, ::2] = ARMS
    assert (tarry.design(strided[::2, ::2]).weights == d.weights).all()
    single = ARMS.astype(np.float32)
    assert (tarry.design(single).weights ==
            tarry.design(single.astype(float)).weights).all()
    assert tarry.design(ARMS.tolist()).g == d.g


def test_a_mapped_array_is_not_copied(tmp_path):
    path = str(tmp_path / "arms.npy")
    np.save(path, ARMS)
    mapped = np.load(path, mmap_mode="r")
    from tarry._arrays import numbers
    assert np.shares_memory(numbers(mapped, "arms", 2), mapped)
    assert np.shares_memory(numbers(ARMS, "arms", 2), ARMS)
    assert tarry.design(mapped).g == tarry.design(path).g == \
        tarry.design(ARMS).g


def test_paper_rule_raises_small_weights():
    d = tarry.design(ARMS, rule="paper")
    assert d.g <= 20 and d.min_weight >= 1 / (2 * len(d.support)) - 1e-12


def test_too_small_a_support_is_said():
    assert not tarry.design(ARMS, tol=1e-6, max_support=5).target_met


def test_progress_can_cancel_and_its_exception_comes_through():
    many = np.random.default_rng(1).normal(size=(20000, 20))
    with pytest.raises(tarry.Cancelled):
        tarry.design(many, progress=lambda share, g: True)

    def broken(share, g):
        raise ZeroDivisionError("mine")
    with pytest.raises(ZeroDivisionError, match="mine"):
        tarry.design(many, progress=broken)


def test_errors_are_those_of_the_program(tmp_path):
    path = tmp_path / "arms.csv"
    path.write_text("1,2\n3,abc\n")
    with pytest.raises(tarry.BadInput) as error:
        tarry.design(path)
    assert str(error.value) == "%s:2:2: not a number: 'abc'" % path
    with pytest.raises(tarry.NotFinite):
        tarry.design([[1, np.nan]])
    with pytest.raises(tarry.InputOutputError):
        tarry.read_arms(tmp_path / "none.csv")


def test_files_and_frames_name_the_arms(tmp_path):
    path = tmp_path / "arms.csv"
    path.write_text("route,hops,load\nnorth,0.3,0.1\nsouth,0.1,0.5\n")
    arms, names = tarry.read_arms(path)
    assert names == ["north", "south"] and arms.tolist() == [[.3, .1], [.1, .5]]
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(arms, index=names)
    p = tarry.Policy("uniform", frame, horizon=10)
    assert p.names == ("north", "south") and p.choose().name in names


def test_it_shows_itself():
    assert "rank=5" in repr(tarry.design(ARMS))
    assert "<table>" in tarry.design(ARMS)._repr_html_()


def test_complex_numbers_are_not_cut_short():
    with pytest.raises(tarry.BadArgument, match="complex"):
        tarry.design(np.array([[1 + 2j, 0], [0, 1]]))
