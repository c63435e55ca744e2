from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("torch")

import torch

from device.worlds import DEVICES, LIKE_A_DEVICE, World, adult, numbers, own_answers
from macex import (
    ConstraintError,
    Constraints,
    Explainer,
    GoalError,
    ModelError,
    OptionError,
    SchemaError,
    any_of,
    at_least,
)
from macex.ask.compilation import build_space
from macex.device import CodeAnswers, DeviceExplainer, TorchScores, arrays
from macex.device import explainer as under_test
from macex.device.arrays import on_host


def answered(world: World, device=None, want=None, **options) -> CodeAnswers:
    found = world.fast(device, **options).explain(world.codes, want)
    return CodeAnswers(*map(on_host, found))


def agrees(world: World, answers: CodeAnswers, equal: float, **call) -> None:
    """Found wherever the explainer finds, with as few changes, and mostly the same."""
    codes, changes = own_answers(world, **call)
    assert (answers.found | (changes < 0)).all()
    both = answers.found & (changes >= 0)
    assert np.mean(answers.changed[both] <= changes[both]) >= 0.99
    assert np.mean((answers.codes == codes).all(axis=1)[both]) >= equal


@pytest.mark.parametrize("device", DEVICES)
def test_answers_are_those_of_the_explainer(device):
    agrees(adult(), answered(adult(), device), equal=0.9)


@pytest.mark.parametrize("device", DEVICES)
def test_answers_about_numbers_are_those_of_the_explainer(device):
    agrees(numbers(), answered(numbers(), device), equal=0.75)


def test_numpy_and_torch_agree():
    for world in (adult(), numbers()):
        one, other = (answered(world, device) for device in DEVICES)
        for left, right in zip(one, other, strict=True):
            np.testing.assert_allclose(left, right, atol=1e-9)


@pytest.mark.parametrize("world", [adult, numbers])
def test_every_answer_reaches_its_goal_by_the_explainers_own_model(world):
    answers = answered(world(), "cpu", confirm=False)
    schema = world().explainer.schema
    before, after = (
        world().explainer.engine.fitted.oracle(schema.frame(codes), len(codes)).decision
        for codes in (world().codes, answers.codes)
    )
    assert (before != after)[answers.found].all()


@pytest.mark.parametrize("world", [adult, numbers])
def test_an_answer_says_how_many_columns_it_changes_and_how_it_scores(world):
    answers = answered(world(), "cpu")
    np.testing.assert_array_equal(answers.changed, (answers.codes != world().codes).sum(axis=1))
    frame = world().explainer.schema.frame(answers.codes)
    own = world().explainer.score(world().queries)
    assert answers.score.min() > 0.33
    assert (answers.score[answers.found] > own[answers.found]).all()
    assert len(frame) == len(answers.score)


@pytest.mark.parametrize("want", ["y", any_of("y", "z"), ["x", "y", "z", None] * 15])
def test_a_class_can_be_wanted(want):
    agrees(numbers(), answered(numbers(), "cpu", want=want), equal=0.7, want=want)


def test_a_row_that_is_there_already_stays():
    answers = answered(adult(), "cpu", want="low")
    there = adult().explainer.score(adult().queries, want="low") > 0.5
    assert there.sum() > 20
    assert answers.found[there].all()
    np.testing.assert_array_equal(answers.codes[there], adult().codes[there])


RULES = {
    "fixed": Constraints(fixed=["marital_status", "age"]),
    "only": Constraints(only=["education", "hours_per_week", "occupation"]),
    "ranges": Constraints(ranges={"age": (30, 50), "hours_per_week": (None, 45)}),
    "increase": Constraints(increase=["age"], decrease=["hours_per_week"]),
    "allowed": Constraints(
        allowed={"education": ["Masters", "Doctorate"], "hours_per_week": [20, 35, 50]}
    ),
    "moves": Constraints(
        allowed={"marital_status": {"Single": ["Married"], "Married": ["Separated"]}}
    ),
    "max_changes": Constraints(max_changes=1),
    "weights": Constraints(weights={"age": 5.0}),
    "min_support": Constraints(min_support=400),
}


@pytest.mark.parametrize("rule", RULES)
def test_constraints_are_kept_and_answers_under_them_are_those_of_the_explainer(rule):
    some = adult()._replace(queries=adult().queries.head(50))
    answers = answered(some, "cpu", constraints=RULES[rule])
    space = build_space(
        some.explainer.engine.fitted.ground,
        some.explainer.schema.read(some.queries),
        [RULES[rule]] * len(some.queries),
    )
    at = np.flatnonzero(answers.found)
    assert len(at) > 10
    places = [unit.members[0] for unit in space.units]
    assert space.allows(answers.codes[at][:, places], at).all()
    codes, changes = own_answers(some, constraints=RULES[rule])
    both = answers.found & (changes >= 0)
    assert np.mean(answers.found == (changes >= 0)) >= 0.95
    assert np.mean(answers.changed[both] <= changes[both]) >= 0.98
    assert np.mean((answers.codes == codes).all(axis=1)[both]) >= 0.8


def test_directions_and_ranges_bind_numbers_with_many_values():
    bound = Constraints(increase=["a"], decrease=["b"], ranges={"c": (-0.5, 0.7312)})
    answers = answered(numbers(), "cpu", constraints=bound)
    own, made = numbers().codes[answers.found], answers.codes[answers.found]
    assert (made[:, 0] >= own[:, 0]).all()
    assert (made[:, 1] <= own[:, 1]).all()
    moved = made[:, 2] != own[:, 2]
    assert moved.any()
    assert ((made[moved, 2] >= -0.5) & (made[moved, 2] <= 0.7312)).all()


def test_numbers_stay_on_their_grid_and_in_their_dtype():
    made, own = answered(numbers(), "cpu").codes, numbers().codes
    assert (made != own).sum(axis=0)[:4].all()
    for at, column in enumerate(numbers().explainer.schema.columns):
        new = made[made[:, at] != own[:, at], at]
        np.testing.assert_array_equal(new, column.snap(new))


@pytest.mark.parametrize(
    "constraints",
    [
        Constraints(groups=[("age", "education")]),
        Constraints(rules=["age >= 20"]),
        Constraints(derived={"hours_per_week": "age"}),
        Constraints(strict=True, ranges={"age": (20, 60)}),
        Constraints(allowed={"age": {30: [40]}}),
    ],
)
def test_a_constraint_that_is_not_known_is_refused(constraints):
    with pytest.raises(ConstraintError, match=r"cannot be kept on a device.*explainer\.explain"):
        adult().fast(constraints=constraints)


def test_a_constraint_that_names_nothing_is_refused():
    with pytest.raises(ConstraintError, match="did you mean 'education'"):
        adult().fast(constraints={"fixed": ["educatoin"]})


def test_a_score_goal_is_refused():
    with pytest.raises(GoalError, match=r"at least 0\.7 is a goal that a device cannot search for"):
        adult().fast().explain(adult().codes, at_least(0.7))


@pytest.mark.parametrize(
    "option",
    [
        {"candidates": "neighbors"},
        {"method": "reinforce"},
        {"selection": "printed"},
        {"prefer": "nearest"},
        {"distance": "percentile"},
        {"finetune": "gradientless"},
    ],
)
def test_an_explainer_with_another_search_is_refused(option):
    frame = pd.DataFrame({"a": range(10)})
    other = Explainer(lambda rows: rows["a"] / 10, frame, classes=(0, 1), **option)
    with pytest.raises(OptionError, match=f"{next(iter(option))}=.* has no twin on a device"):
        DeviceExplainer(other, lambda codes: codes[:, 0])


def test_a_model_without_classes_is_refused():
    bare = Explainer(lambda rows: rows["a"] * 1.5, pd.DataFrame({"a": range(10)}))
    with pytest.raises(OptionError, match="a bare score"):
        DeviceExplainer(bare, lambda codes: codes[:, 0])


def line(data: pd.DataFrame, bound: float) -> tuple[Explainer, object]:
    """A model that says yes above a bound of the first column."""
    name = data.columns[0]
    explainer = Explainer(
        lambda rows: 1 / (1 + np.exp(bound - rows[name].fillna(-50.0))), data, classes=("no", "yes")
    )
    blank = -50.0
    return (
        explainer,
        lambda codes: 1 / (1 + np.exp(bound - np.where(codes[:, 0] < -1e20, blank, codes[:, 0]))),
    )


def test_a_model_that_always_says_yes_cannot_be_made_to_say_no():
    data = pd.DataFrame({"a": range(300), "b": list("xy") * 150})
    explainer, score = line(data, -1e6)
    answers = DeviceExplainer(explainer, score).explain(np.array([[5.0, 1.0]]))
    assert answers.found.tolist() == [False]
    assert answers.codes.tolist() == [[5.0, 1.0]]
    assert answers.changed.tolist() == [0]


def test_where_nothing_may_change_nothing_is_found():
    data = pd.DataFrame({"a": range(300), "b": list("xy") * 150})
    explainer, score = line(data, 100.5)
    fast = DeviceExplainer(explainer, score, constraints={"fixed": ["a", "b"]})
    assert not fast.explain(np.array([[5.0, 1.0]])).found.any()


def test_a_missing_value_may_be_changed():
    data = pd.DataFrame({"a": [float("nan"), *range(60)], "b": [None, *list("xy") * 30]})
    explainer, score = line(data, 44.5)
    codes = explainer.schema.read(data.iloc[:3]).codes
    answers = DeviceExplainer(explainer, score).explain(codes)
    assert answers.found.all()
    assert answers.codes[0, 0] >= 45
    assert answers.codes[1:, 0].tolist() == [45, 45]
    assert (answers.codes[:, 1] == codes[:, 1]).all()


def test_an_answer_that_the_own_model_does_not_confirm_is_dropped():
    data = pd.DataFrame({"a": range(60)})
    explainer, _ = line(data, 44.5)
    wrong = DeviceExplainer(explainer, lambda codes: 1 / (1 + np.exp(30.5 - codes[:, 0])))
    answers = wrong.explain(np.array([[20.0], [40.0]]), want="yes")
    assert answers.found.tolist() == [False, False]
    assert answers.codes.tolist() == [[20.0], [40.0]]


def test_an_answer_does_not_depend_on_what_shares_its_batch(monkeypatch):
    together = answered(adult(), "cpu")
    alone = [adult().fast().explain(adult().codes[at : at + 1]).codes for at in range(3)]
    np.testing.assert_array_equal(torch.concat(alone).numpy(), together.codes[:3])
    monkeypatch.setattr(arrays, "ON_HOST", 1)
    monkeypatch.setattr(under_test, "PAIR_BYTES", 1)
    in_parts = answered(adult(), "cpu", most_rows=1000)
    np.testing.assert_array_equal(in_parts.codes, together.codes)


@pytest.mark.parametrize("device", DEVICES)
def test_no_rows_give_no_answers(device):
    answers = adult().fast(device).explain(adult().codes[:0])
    assert [tuple(part.shape) for part in answers] == [(0, 8), (0,), (0,), (0,)]


def test_codes_are_left_as_they_were():
    codes = torch.as_tensor(adult().codes)
    kept = codes.clone()
    adult().fast().explain(codes)
    assert (codes == kept).all()


@pytest.mark.parametrize(
    ("codes", "said"),
    [
        (np.zeros((2, 3)), r"shape \(2, 3\).*\(rows, 8\)"),
        (np.zeros(8), r"shape \(8,\)"),
        (np.where(np.arange(8) == 2, -(2.0**101), 0.0)[None], "row 0 .* column 'education'"),
        (np.where(np.arange(8) == 0, np.nan, 0.0)[None], "column 'age'"),
        (np.where(np.arange(8) == 0, np.inf, 0.0)[None], "column 'age'"),
        (np.where(np.arange(8) == 2, 99.0, 0.0)[None], "column 'education'"),
        (np.where(np.arange(8) == 2, 0.5, 0.0)[None], "column 'education'"),
        (np.where(np.arange(8) == 2, -1.0, 0.0)[None], "column 'education'"),
        (np.where(np.arange(8) == 0, 30.5, 0.0)[None], "column 'age'"),
        (np.array([["a"] * 8]), "holds no codes"),
        (None, "NoneType that holds no codes"),
        (pd.DataFrame(np.zeros((1, 8))), "DataFrame that holds no codes"),
    ],
)
def test_codes_that_are_none_are_refused(codes, said):
    with pytest.raises(SchemaError, match=said):
        adult().fast().explain(codes)


def test_a_model_that_returns_no_scores_is_refused():
    wide = DeviceExplainer(adult().explainer, lambda codes: np.zeros((len(codes), 3)))
    with pytest.raises(ModelError, match=r"returned shape \(80, 3\).*\(80, 2\)"):
        wide.explain(adult().codes)
    lost = DeviceExplainer(adult().explainer, lambda codes: np.full(len(codes), np.nan))
    with pytest.raises(ModelError, match="not a number"):
        lost.explain(adult().codes)
    for given in (None, [0.5] * 80, torch.zeros(80)):
        elsewhere = DeviceExplainer(adult().explainer, lambda _, given=given: given)
        with pytest.raises(ModelError, match="where the codes lie"):
            elsewhere.explain(adult().codes)


def test_what_is_no_model_no_device_and_no_constraint_is_refused():
    explainer = adult().explainer
    with pytest.raises(OptionError, match="a function of codes, not a int"):
        DeviceExplainer(explainer, 3)
    with pytest.raises(OptionError, match="no torch device 'gpu'"):
        DeviceExplainer(explainer, len, device="gpu")
    with pytest.raises(ConstraintError, match="takes Constraints"):
        DeviceExplainer(explainer, len, constraints=3)


@pytest.mark.parametrize("option", [{"margin": 2}, {"most_rows": 0}])
def test_a_wrong_option_is_named(option):
    with pytest.raises(OptionError, match=next(iter(option))):
        adult().fast(**option)


def test_trees_can_be_asked_by_codes():
    xgboost = pytest.importorskip("xgboost")
    frame = numbers().explainer.schema.frame(numbers().explainer.engine.fitted.ground.codes)
    label = (frame["a"] * frame["b"] > frame["c"]).astype(int)
    trees = xgboost.XGBClassifier(n_estimators=20, max_depth=4, n_jobs=1).fit(frame, label)
    explainer = Explainer(trees, frame, **LIKE_A_DEVICE)
    booster = trees.get_booster()
    score = lambda codes: booster.inplace_predict(codes, validate_features=False)  # noqa: E731
    world = World(explainer, None, numbers().queries)
    answers = DeviceExplainer(explainer, score).explain(world.codes)
    agrees(world, answers, equal=0.6)


@pytest.mark.slow
def test_compiled_steps_give_the_same_answers():
    world = adult()
    told, made = (world.fast(compiled=on).explain(world.codes[:60]) for on in (False, True))
    for one, other in zip(told[:3], made[:3], strict=True):
        assert torch.equal(one, other)
    torch.testing.assert_close(told.score, made.score, atol=2e-6, rtol=0)


@pytest.mark.gpu
def test_a_gpu_answers_as_a_cpu_does():
    if not torch.cuda.is_available():
        pytest.skip("needs a GPU")
    world = adult()
    module = world.scores.module.to("cuda")
    try:
        scores = TorchScores(world.explainer, module, world.prepare, logits=True)
        found = DeviceExplainer(world.explainer, scores, device="cuda").explain(world.codes)
    finally:
        module.to("cpu")
    agrees(world, CodeAnswers(*map(on_host, found)), equal=0.9)


def test_codes_may_be_in_any_order_of_memory():
    codes = adult().codes[:20]
    told = answered(adult(), "cpu")
    found = adult().fast("cpu").explain(codes[::-1])
    np.testing.assert_array_equal(on_host(found.codes)[::-1], told.codes[:20])


def test_the_device_is_that_of_the_scores():
    fast = DeviceExplainer(numbers().explainer, numbers().scores)
    assert isinstance(fast.explain(numbers().codes[:3]).codes, torch.Tensor)


@pytest.mark.parametrize("device", DEVICES)
def test_the_score_of_a_row_whose_answer_is_dropped_is_its_own(device):
    world = adult()

    def other(codes):  # not what the model says
        old = codes[:, 0] > 40
        return 0.01 + 0.98 * (old.astype(float) if device is None else old.double())

    fast = DeviceExplainer(world.explainer, other, device=device)
    found = fast.explain(world.codes, want="high")
    dropped = ~on_host(found.found)
    assert dropped.any()
    np.testing.assert_array_equal(on_host(found.codes)[dropped], world.codes[dropped])
    np.testing.assert_allclose(on_host(found.score), on_host(other(found.codes)), atol=1e-6)
