"""Designs from arrays of all kinds."""
import signal

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


# ---- every option, every figure --------------------------------------------


def test_every_option_reaches_the_solver():
    loose, tight = (tarry.design(ARMS, tol=tol) for tol in (0.5, 1e-7))
    assert tight.g <= 5 * (1 + 1e-7) < loose.g <= 7.5
    assert loose.passes < tight.passes and tight.seconds >= 0
    few = tarry.design(ARMS, tol=1e-6, max_support=7)
    assert 5 <= len(few.support) <= 7 < len(tight.support)
    assert not few.target_met and tight.target_met
    assert tarry.design(ARMS, max_support=2**32 + 1).target_met
    flat = np.column_stack([ARMS[:, :2], 1e-5 * ARMS[:, 2]])
    assert tarry.design(flat).rank == 3
    assert tarry.design(flat, rank_tol=1e-3).rank == 2
    again = tarry.design(ARMS, warm=loose.support)
    assert again.g <= 5 * 1.001
    for warm in ([300], [-1], [0.5], [[1]], ["a"]):
        with pytest.raises(tarry.BadArgument):
            tarry.design(ARMS, warm=warm)
    for bad in (dict(tol=-1), dict(tol=float("nan")), dict(rank_tol=-1),
                dict(rank_tol=float("nan")), dict(max_support=-1),
                dict(threads=-1), dict(rule="nearest"),
                dict(progress=5)):
        with pytest.raises(tarry.BadArgument):
            tarry.design(ARMS, **bad)


@pytest.mark.parametrize("threads", [0, 1, 2])
@pytest.mark.parametrize("rule", ["near", "paper"])
def test_the_figures_of_a_design_agree(rule, threads):
    d = tarry.design(ARMS, rule, threads=threads)
    assert (np.diff(d.support) > 0).all() and (d.support_weights > 0).all()
    assert d.min_weight == d.support_weights.min()
    assert abs(d.weights.sum() - 1) < 1e-12
    assert np.flatnonzero(d.weights).tolist() == d.support.tolist()
    assert abs(variances(ARMS, d.weights).max() - d.g) < 1e-9
    assert (d.weights == tarry.design(ARMS, rule, threads=1).weights).all()
    assert repr(d) == "Design(%d of 300 arms, rank=5, g=%.6g)" % (
        len(d.support), d.g)
    shown = d._repr_html_()
    assert shown.count("<tr>") == 1 + min(40, len(d.support))
    for arm, weight in zip(d.support[:40], d.support_weights):
        assert "<tr><td>%d</td><td>%.6f</td></tr>" % (arm, weight) in shown


def test_arms_of_less_than_full_rank_and_single_ones():
    low = ARMS[:, :2] @ np.random.default_rng(3).normal(size=(2, 4))
    d = tarry.design(low)
    assert d.rank == 2 and d.g <= 2 * 1.001
    one = tarry.design([[3.0, 4.0]])
    assert (one.rank, one.weights.tolist()) == (1, [1.0])
    assert one.g == pytest.approx(1) and one.min_weight == 1
    for bad in (np.empty((0, 3)), np.empty((3, 0)), [1.0, 2.0], [[[1.0]]],
                [["a"]], [[1, 2], [3]]):
        with pytest.raises(tarry.BadArgument):
            tarry.design(bad)


def test_progress_is_told_how_far_it_is():
    many, told = np.random.default_rng(1).normal(size=(20000, 20)), []
    d = tarry.design(many, tol=1e-4,
                     progress=lambda share, g: told.append((share, g)))
    assert len(told) > 1
    for share, g in told:
        assert 0 <= share <= 1 and g >= 1 - 1e-9
    assert told[-1][1] <= told[0][1]
    assert (d.weights == tarry.design(many, tol=1e-4).weights).all()


def test_files_have_names_in_any_alphabet(tmp_path):
    path = tmp_path / "\u00e9.csv"
    path.write_text("\u00e9t\u00e9,0.1,1e-300\n\"a,b\",2,-3\n",
                    encoding="utf-8")
    arms, names = tarry.read_arms(path)
    assert names == ["\u00e9t\u00e9", "a,b"]
    assert arms.tolist() == [[0.1, 1e-300], [2, -3]]
    np.save(tmp_path / "arms.npy", ARMS)
    arms, names = tarry.read_arms(str(tmp_path / "arms.npy"))
    assert names is None and (arms == ARMS).all()


@pytest.mark.parametrize("value, told", [
    (0, 0), (7, 7), (7.0, 7), (np.int8(7), 7), (np.float64(9), 9), (9, 9),
    (10, None), (-1, None), (2.5, None), ("7", None), (b"7", None),
    (None, None), (float("nan"), None), (float("inf"), None), ([7], None)])
def test_counts_are_whole_and_have_a_limit(value, told):
    from tarry._arrays import whole
    if told is None:
        with pytest.raises(tarry.BadArgument, match="n: not a whole number "
                           "from 0 to 9: "):
            whole(value, "n", 9)
    else:
        assert whole(value, "n", 9) == told
        assert type(whole(value, "n", 9)) is int


def test_weights_may_be_written_to_and_arms_that_are_in_use_may_not():
    d = tarry.design(np.eye(2))
    d.weights[0] = d.support_weights[0] = d.support[0] = 1
    assert d.support_weights.tolist() == [1, 0.5]
    for arms in (tarry.Policy("lints", np.eye(2), horizon=9).arms,
                 tarry.World().look().arms):
        with pytest.raises(ValueError, match="read-only"):
            arms[0, 0] = 1


def unaligned(array):
    """The same numbers, a byte behind where numbers of their size begin."""
    array = np.ascontiguousarray(array)
    place = np.zeros(array.nbytes + 1, np.uint8)[1:].view(array.dtype)
    place = place.reshape(array.shape)
    place[...] = array
    assert not place.flags.aligned
    return place


def test_numbers_may_lie_anywhere():
    arms = np.random.default_rng(5).normal(size=(9, 3))
    d = tarry.design(unaligned(arms), warm=unaligned(np.array([0, 1])))
    assert d.g == tarry.design(arms, warm=[0, 1]).g
    p = tarry.Policy("lints", unaligned(arms), horizon=9)
    ids, _ = p.choose_many(3)
    for kind in (np.int64, np.uint64, np.float64):
        p.observe_many(unaligned(ids.astype(kind)), unaligned(np.ones(3)))
    assert p.status()["pending"] == 0


def test_a_page_lists_forty_arms_of_a_design():
    shown = tarry.design(np.eye(60))._repr_html_()
    assert "60 of 60 arms, span of rank 60" in shown
    assert shown.count("<tr>") == 41
    assert "<tr><td>39</td><td>%.6f</td></tr></table>" % (1 / 60) in shown


@pytest.mark.parametrize("answer, stops", [
    (None, False), (0, False), ("", False), ([], False), (1, True),
    ("x", True), ([0], True), (np.True_, True), (np.False_, False)])
def test_what_is_true_cancels(answer, stops):
    many = np.random.default_rng(1).normal(size=(2000, 10))
    if stops:
        with pytest.raises(tarry.Cancelled):
            tarry.design(many, progress=lambda *unused: answer)
    else:
        assert tarry.design(many, progress=lambda *unused: answer).target_met


def test_signals_are_heeded_while_a_design_is_solved():
    """More than the one that would be heeded when it is done."""
    heeded = []
    before = signal.signal(signal.SIGALRM, lambda _, frame: heeded.append(
        frame.f_code.co_name))
    signal.setitimer(signal.ITIMER_REAL, 0.001, 0.001)
    try:
        tarry.design(np.random.default_rng(1).normal(size=(20000, 40)),
                     tol=1e-6)
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
        signal.signal(signal.SIGALRM, before)
    assert heeded.count("design") >= 3
