"""The arena as a whole: a small run, a stranger's method and data, going on, and the pages."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
import typer
from typer.testing import CliRunner

from macex.ask.goals import at_least, at_most
from macex.bench.arena import factories
from macex.bench.arena.cells import ArenaCells
from macex.bench.arena.command import arena
from macex.bench.arena.entries import FIELD, suited
from macex.bench.arena.layout import COLUMNS, MEASURES, NO_CELL
from macex.bench.arena.referee import ArenaReferee
from macex.bench.arena.scores import duels, means, trusted
from macex.bench.arena.tables import table, table_names, table_of
from macex.bench.command import bench, command_of
from macex.errors import DataError

MINE = '''
class Mine:
    """The first training row of the other class; it knows of no budget and no constraints."""

    def __init__(self, model, data, seed):
        self.model, self.data = model, data
        self.decisions = model.predict(data)

    def explain(self, rows, n=1):
        own = self.model.predict(rows)
        return [self.data[self.decisions != label].head(n) for label in own]


class Broken(Mine):
    def explain(self, rows):
        raise ValueError("not today")
'''

app = typer.Typer()
app.command()(arena)


def run(*arguments):
    return CliRunner().invoke(app, ["--arena", *map(str, arguments)])


@pytest.fixture(scope="module")
def small(tmp_path_factory):
    """A small run: two methods on a table whose every answer can be checked."""
    out = tmp_path_factory.mktemp("arena")
    asked = ["--datasets", "tiles", "--models", "logistic", "--methods", "default,Greedy"]
    limits = ["--budgets", "50,400", "--queries", 4, "--seeds", 2, "--answers", 2]
    done = run(*asked, *limits, "--out", out, "--page", out / "page.md")
    assert done.exit_code == 0, done.output
    return out, done.output


def test_results_have_exactly_the_documented_columns(small):
    lines = pd.read_parquet(small[0] / "results.parquet")
    assert list(lines) == list(COLUMNS)
    assert set(MEASURES) <= set(COLUMNS)
    assert lines.groupby(["method", "budget", "seed"]).size().shape == (8,)


def test_no_query_costs_more_than_its_budget(small):
    lines = pd.read_parquet(small[0] / "results.parquet")
    assert (lines["rows"] <= lines["budget"]).all()


def test_measures_are_those_of_the_answers_themselves(small):
    """Changes, validity and the fewest changes there are, worked out again from the JSON."""
    lines = pd.read_parquet(small[0] / "results.parquet")
    cell = ArenaCells().get("tiles", "logistic", 0)
    for line in lines[lines["rank"] > 0].itertuples():
        changes = json.loads(line.changes)
        query = cell.cell.queries(4).iloc[[line.query]]
        answer = query.assign(**{name: after for name, (_, after) in changes.items()})
        assert {name: before for name, (before, _) in changes.items()} == {
            name: query[name].iloc[0] for name in changes
        }
        assert line.changed == len(changes) == line.distance
        assert line.valid == (cell.model.predict(answer) != cell.model.predict(query))[0]
        assert np.isnan(line.excess) if not line.valid else line.excess >= 0
    found = lines[(lines["method"] == "default") & (lines["budget"] == 400) & (lines["rank"] == 1)]
    assert found["excess"].eq(0).all()


def test_it_says_first_where_baselines_beat_the_default(small):
    text = small[1]
    assert text.index("Where baselines beat the default") < text.index("Budget: 400 rows")
    assert "| rows " in text  # Greedy asks about fewer


def test_the_same_command_does_nothing_twice(small):
    out = small[0]
    before = {path: path.stat().st_mtime_ns for path in (out / "parts").iterdir()}
    asked = ["--datasets", "tiles", "--models", "logistic", "--methods", "default,Greedy"]
    limits = ["--budgets", "50,400", "--queries", 4, "--seeds", 2, "--answers", 2]
    assert run(*asked, *limits, "--out", out).exit_code == 0
    assert {path: path.stat().st_mtime_ns for path in (out / "parts").iterdir()} == before


def scripts(folder):
    """What the scripts of answers hand to the page, by file."""
    found = {}
    for path in (folder / "leaderboard").iterdir():
        name, lines = re.fullmatch(r'arena\("(.*?)",(.*)\);\n', path.read_text()).groups()
        assert name == path.name
        found[name] = json.loads(lines)
    return found


def test_the_board_of_results_of_several_machines_is_written_without_measuring(small, tmp_path):
    out, printed = small
    lines = pd.read_parquet(out / "results.parquet")
    for name, part in (("one", lines.head(20)), ("two", lines.tail(len(lines) - 10))):
        part.to_parquet(tmp_path / f"{name}.parquet")
    files = ["--results", tmp_path / "one.parquet", "--results", tmp_path / "two.parquet"]
    done = run(*files, "--out", tmp_path / "both")
    assert done.exit_code == 0, done.output
    assert printed.endswith(done.output)
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "both" / "results.parquet"), lines)


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda path: None, "there is no file"),
        (lambda path: path.write_text("a,b"), "is no Parquet file"),
        (lambda path: pd.DataFrame({"a": [1]}).to_parquet(path), "lacks the columns"),
    ],
)
def test_a_file_that_holds_no_results_is_named(make, said, tmp_path):
    make(tmp_path / "some.parquet")
    done = run("--results", tmp_path / "some.parquet", "--out", tmp_path)
    assert done.exit_code == 2
    assert said in done.output


def test_the_page_with_filters_loads_the_answers_of_a_cell_alone(small):
    text = (small[0] / "page" / "leaderboard.html").read_text()
    held = json.loads(re.search(r'id="held">(.*?)</script>', text, re.DOTALL).group(1))
    assert held["files"] == {"tiles / logistic": "0.js"}
    assert len(scripts(small[0] / "page")["0.js"]) == 2 * 2 * 4  # methods, budgets, queries
    assert len(held["cells"]) == 4
    assert [one[:4] for one in held["fronts"]] == [["tiles", "logistic", 0, b] for b in (50, 400)]
    assert "http" not in text


def test_the_page_of_the_docs_is_written_between_its_marks(small):
    text = (small[0] / "page.md").read_text()
    pictures = re.findall(r"\]\((page/[\w-]+\.svg)\)", text)
    assert len(pictures) >= 5
    assert all((small[0] / name).exists() for name in pictures)


def test_a_strangers_method_and_table_meet_the_others(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=120).round(2), "home": ["own", "rent"] * 60})
    frame.assign(y=np.where(frame["x"] > 0, "yes", "no")).to_csv(tmp_path / "mine.csv", index=False)
    asked = ["--method", f"{tmp_path / 'mine.py'}:Mine", "--data", tmp_path / "mine.csv"]
    more = ["--label", "y", "--models", "logistic", "--methods", "Greedy", "--queries", 3]
    done = run(*asked, *more, "--budgets", "100", "--out", tmp_path / "out")
    assert done.exit_code == 0, done.output
    lines = pd.read_parquet(tmp_path / "out" / "results.parquet")
    assert set(lines["method"]) == {"Greedy", "Mine"}
    assert lines[lines["method"] == "Mine"]["valid"].all()
    assert set(lines["label"]) <= {"yes", "no"}


def test_another_label_or_another_file_of_the_name_is_asked_again(tmp_path):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"x": rng.normal(size=90).round(2), "z": rng.normal(size=90).round(2)})
    frame = frame.assign(y=frame["x"] > 0, w=frame["z"] > 0)
    held = []
    for label, rows in (("y", frame), ("w", frame), ("y", frame.assign(z=0.5))):
        rows.to_csv(tmp_path / "mine.csv", index=False)
        asked = ["--data", tmp_path / "mine.csv", "--label", label, "--models", "logistic"]
        limits = ["--methods", "Greedy", "--queries", 2, "--budgets", "50"]
        assert run(*asked, *limits, "--out", tmp_path / "out").exit_code == 0
        held.append(pd.read_parquet(tmp_path / "out" / "results.parquet")["row"].iloc[0])
    assert "w" in json.loads(held[0])
    assert "y" in json.loads(held[1])
    assert json.loads(held[2])["z"] == 0.5


def test_a_comment_in_a_strangers_file_asks_nobody_else_again(tmp_path):
    mine = tmp_path / "mine.py"
    mine.write_text(MINE)
    asked = ["--method", f"{mine}:Mine", "--methods", "Greedy", "--datasets", "totals"]
    limits = ["--models", "logistic", "--queries", 1, "--budgets", "50", "--out", tmp_path / "out"]
    written = []
    for comment in ("", "# as before"):
        mine.write_text(f"{MINE}{comment}\n")
        assert run(*asked, *limits).exit_code == 0
        parts = (tmp_path / "out" / "parts").iterdir()
        written.append(
            {pd.read_parquet(part)["method"].iloc[0]: part.stat().st_mtime_ns for part in parts}
        )
    assert written[0]["Greedy"] == written[1]["Greedy"]
    assert written[0]["Mine"] < written[1]["Mine"]


def test_what_a_method_raises_is_told_and_tried_again(tmp_path):
    (tmp_path / "mine.py").write_text(MINE)
    asked = ["--method", f"{tmp_path / 'mine.py'}:Broken", "--methods", "Greedy", "--queries", 2]
    cell = ["--datasets", "totals", "--models", "logistic", "--budgets", "50"]
    for _ in range(2):
        done = run(*asked, *cell, "--out", tmp_path / "out")
        assert done.exit_code == 0, done.output
        assert "ValueError: not today" in done.output
        assert done.stderr.splitlines()[-1].endswith(
            "Broken failed 1 times of 1: ValueError: not today"
        )


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--datasets", "wein"], "did you mean 'wine'?"),
        (["--models", "XGBost"], "did you mean 'XGBoost'?"),
        (["--methods", "Gredy"], "did you mean 'Greedy'?"),
        (["--budgets", "many"], "numbers of rows"),
        (["--label", "y"], "--data FILE"),
        (["--method", "mine.py"], "FILE.py:NAME"),
    ],
)
def test_wrong_options_are_named(arguments, said, tmp_path):
    done = run(*arguments, "--out", tmp_path)
    assert done.exit_code == 2
    assert said in done.output


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,y\n" + "1,no\n2,yes\n" * 5, "10 rows"),
        ("x,y\n" + "1,no\n2,no\n" * 20, "one value alone"),
        ("y\n" + "no\nyes\n" * 20, "the only column"),
        ("x,z\n" + "1,2\n" * 40, "there is no column 'y'"),
        ("x;y\n" + "1;2\n" * 40, "is it separated by commas?"),
        ("x,y\n" + "1.5,no\ninf,yes\n" * 20, "the columns ['x'] hold infinite numbers"),
        (
            "x,y\n" + "".join(f"{n},name {n}\n" for n in range(40)),
            "a label is one of a few classes",
        ),
        ('x,y\n"1,2\n3', "no CSV file"),
        ("", "no CSV file"),
    ],
)
def test_a_file_that_nothing_can_be_learnt_from_is_named(text, said, tmp_path):
    (tmp_path / "mine.csv").write_text(text)
    done = run("--data", tmp_path / "mine.csv", "--label", "y", "--out", tmp_path / "out")
    assert done.exit_code == 2
    assert said in done.output


def test_a_strangers_method_has_a_name_of_its_own(tmp_path):
    (tmp_path / "mine.py").write_text(MINE.replace("Mine", "Greedy"))
    done = run("--method", f"{tmp_path / 'mine.py'}:Greedy", "--out", tmp_path)
    assert done.exit_code == 2
    assert "give yours another name" in done.output


def test_every_method_of_the_field_answers_where_it_is_suited(tmp_path):
    """On a table of numbers and a category."""
    some = {
        "logistic": set(FIELD),
        "forest": {"FeatureTweak", "exact trees"},
        "torch": {"Wachter", "Wachter autograd"},
    }
    for kind, asked in some.items():
        wanted = [name for name in FIELD if name in asked and suited(name, kind)]
        cell = ["--datasets", "totals", "--models", kind, "--methods", ",".join(wanted)]
        limits = ["--queries", 1, "--budgets", "200", "--out", tmp_path / kind]
        assert run(*cell, *limits).exit_code == 0
        lines = pd.read_parquet(tmp_path / kind / "results.parquet")
        assert set(lines["method"]) == set(wanted)
        assert lines["error"].isna().all()
        assert (lines["rows"] <= 200).all()


def test_one_query_is_no_loss_and_few_answers_are_not_ranked():
    first = pd.DataFrame(
        {
            "dataset": "d", "model": "m", "split": 0, "budget": 9, "seed": 0,
            "query": [*range(6), *range(6)],
            "method": ["default"] * 6 + ["other"] * 6,
            "changed": [2.0] * 6 + [1.0, *[np.nan] * 5],
            "valid": [1.0] * 6 + [1.0, *[0.0] * 5],
        }
    )  # fmt: skip
    (duel,) = duels(first, "default", ["changed"])
    assert (duel.gap.mean, duel.gap.pairs, duel.lost) == (1.0, 1, False)
    table = trusted(means(first))
    assert np.isnan(table.loc[("other", 9), "changed"])
    assert table.loc[("other", 9), "valid"] == pytest.approx(1 / 6)


def test_a_cell_without_a_model_is_told_and_the_others_go_on(tmp_path, monkeypatch):
    def missing(regression):
        raise ImportError("catboost is not installed")

    monkeypatch.setitem(factories.LAST, "CatBoost", missing)
    cells = ["--datasets", "totals", "--models", "CatBoost,logistic", "--methods", "Greedy"]
    limits = ["--budgets", "50", "--queries", 2, "--out", tmp_path / "out"]
    done = run(*cells, *limits)
    assert done.exit_code == 0, done.output
    assert "| totals / CatBoost | ImportError: catboost is not installed |" in done.output
    lines = pd.read_parquet(tmp_path / "out" / "results.parquet")
    assert lines[lines["model"] == "CatBoost"]["query"].tolist() == [NO_CELL]
    alone = run(*cells[:3], "CatBoost", *cells[4:], *limits[:4], "--out", tmp_path / "alone")
    assert alone.exit_code == 2
    assert "no model could be fitted: ImportError" in alone.output


def test_the_answers_of_a_cell_tell_every_row_once(small):
    lines = scripts(small[0])["0.js"]
    assert [line[1] for line in lines if line[6]] == [0, 1, 2, 3]


def test_the_options_of_the_arena_lead_to_it():
    assert command_of(["--quick"]) is arena
    assert command_of(["--tables", "1"]) is bench


def test_every_table_that_needs_no_file_is_there():
    for name in set(table_names()) - {"compas", "credit", "titanic", "german", "loans7"}:
        if name != "adult-full":
            assert len(table(name).dataset.frame) >= 150


def test_tables_that_come_with_scikit_learn_are_whole():
    """Rows, columns, categories, gaps and labels, as OpenML has them."""
    known = {
        "chess": (3196, 36, 36, 0, 2),
        "glass": (163, 9, 0, 0, 2),
        "cpu": (209, 7, 1, 0, 0),
        "penguins": (344, 6, 2, 18, 3),
    }
    for name, figures in known.items():
        made = table(name).dataset
        gaps = int(made.frame.isna().sum().sum())
        assert (*made.frame.shape, len(made.categorical), gaps, len(made.labels)) == figures
    assert table("cpu").regression


def test_a_model_whose_library_is_missing_is_left_out_by_name(tmp_path, monkeypatch):
    monkeypatch.setitem(factories.NEEDS, "CatBoost", ("a_library_nobody_has", "bench"))
    cells = ["--datasets", "totals", "--models", "CatBoost,logistic", "--methods", "Greedy"]
    done = run(*cells, "--budgets", "50", "--queries", 1, "--out", tmp_path / "out")
    assert done.exit_code == 0
    assert "left out: CatBoost models: a_library_nobody_has is not installed" in done.output
    assert "pip install macex[bench]" in done.output
    lines = pd.read_parquet(tmp_path / "out" / "results.parquet")
    assert set(lines["model"]) == {"logistic"}


def test_another_seed_is_another_subset(tmp_path):
    cell = ["--datasets", "iris", "--models", "logistic", "--methods", "random", "--queries", 3]
    held = []
    for seed in (0, 7):
        done = run(*cell, "--budgets", "50", "--seed", seed, "--out", tmp_path / str(seed))
        assert done.exit_code == 0
        lines = pd.read_parquet(tmp_path / str(seed) / "results.parquet")
        assert set(lines["seed"]) == set(lines["split"]) == {seed}
        assert len(scripts(tmp_path / str(seed))["0.js"]) == 3
        held.append(lines["row"].tolist())
    assert held[0] != held[1]


def test_a_file_that_is_missing_is_named(tmp_path):
    with pytest.raises(DataError, match=r"german_credit\.csv"):
        table("german", tmp_path)


def test_a_label_of_many_numbers_makes_regression():
    frame = pd.DataFrame({"x": range(50), "y": np.linspace(0, 1, 50)})
    assert table_of(frame, "y", "mine").regression


def test_regression_asks_for_the_far_quarter():
    cell = ArenaCells().get("diabetes", "logistic", 0)
    rows = cell.cell.queries(5)
    low, middle, high = cell.edges
    for goal, said in zip(cell.wants(rows), cell.model.predict(rows), strict=True):
        own, wanted = np.array([said]), high if said < middle else low
        assert goal == (at_least(wanted) if said < middle else at_most(wanted))
        assert cell.reached(own, np.array([wanted])).all()
        assert not cell.reached(own, np.array([middle])).any()


@pytest.mark.parametrize("name", ["totals", "effects"])
def test_what_is_known_of_a_made_table_holds_for_its_own_rows(name):
    made = table(name)
    frame = made.dataset.frame
    assert made.known(frame, frame).all()
    column = {"totals": "net", "effects": "years"}[name]
    assert not made.known(frame, frame.assign(**{column: frame[column] + 5})).any()


def test_answers_of_all_methods_are_measured_together_as_alone():
    referee = ArenaReferee(ArenaCells().get("iris", "logistic", 0))
    rows = referee.cell.cell.queries(4)
    near = [referee.train.iloc[[place, place + 50]] for place in (0, 20, 40, 60)]
    none = [rows.head(0)] * 4
    moved = [rows.iloc[[place]] + 0.7 for place in range(4)]
    together = referee.together(rows, [near, none, moved])
    for lines, alone in zip(together, (near, none, moved), strict=True):
        pd.testing.assert_frame_equal(pd.DataFrame(lines), pd.DataFrame(referee(rows, alone)))
    assert [line["rank"] for line in together[0]] == [1, 2] * 4


def test_one_answer_without_a_number_takes_no_measure_from_the_others():
    referee = ArenaReferee(ArenaCells().get("iris", "logistic", 0))
    rows = referee.cell.cell.queries(2)
    whole = [referee.train.iloc[[0]], referee.train.iloc[[60]]]
    gaps = [whole[0], whole[1].assign(**{referee.train.columns[0]: np.nan})]
    first, second = referee(rows, gaps)
    pd.testing.assert_series_equal(pd.Series(first), pd.Series(referee(rows, whole)[0]))
    assert np.isnan(second["lof"])
    assert not second["valid"]
