"""Ray answers as one process does, however the rows lie."""

from __future__ import annotations

import sys

import pytest

from macex.errors import DataError, OptionError
from macex.scale.ray import explain, population
from scale.town import applicants, bank, deadly_bank, expected, ordered, same_findings

ray = pytest.importorskip("ray")
pytest.importorskip("ray.data")


@pytest.fixture(scope="module")
def cluster():
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTHONPATH", ":".join(sys.path))
        ray.init(
            num_cpus=4,
            include_dashboard=False,
            log_to_driver=False,
            logging_level="ERROR",
            object_store_memory=100_000_000,
        )
        ray.data.DataContext.get_current().enable_progress_bars = False
        yield
        ray.shutdown()


def blocks(rows, count=4):
    return ray.data.from_pandas([rows.iloc[at::count] for at in range(count)])


def test_two_actors_answer_as_one_process(cluster):
    rows, explainer = applicants(500), bank()
    made = explain(blocks(rows), explainer, n=2, workers=2)
    assert ordered(made.to_pandas()) == ordered(expected(explainer, rows, n=2))


@pytest.mark.slow
def test_twenty_thousand_rows(cluster):
    rows, explainer = applicants(20_000), bank()
    made = explain(blocks(rows), explainer, workers=2)
    assert ordered(made.to_pandas()) == ordered(expected(explainer, rows))


def test_parquet_in_parquet_out(cluster, tmp_path):
    rows = applicants(60)
    rows.to_parquet(tmp_path / "rows.parquet")
    found = explain(ray.data.read_parquet(str(tmp_path / "rows.parquet")), bank(), workers=1)
    assert ordered(found.to_pandas()) == ordered(expected(bank(), rows))


def test_an_actor_that_dies_is_replaced_and_nothing_is_there_twice(cluster, tmp_path):
    rows = applicants(60)
    deadly = deadly_bank(tmp_path / "died", income=int(rows["income"].iloc[30]))
    made = explain(blocks(rows), deadly, workers=2)
    assert ordered(made.to_pandas()) == ordered(expected(bank(), rows))
    assert (tmp_path / "died").exists()


def test_blocks_may_be_without_rows(cluster):
    rows = applicants(40)
    one = ray.data.from_pandas([rows.head(0), rows[rows["key"] == 7], rows.head(0)])
    made = explain(one, bank(), workers=1).to_pandas()
    assert ordered(made) == ordered(expected(bank(), rows[rows["key"] == 7]))
    assert explain(ray.data.from_pandas(rows.head(0)), bank(), workers=1).count() == 0
    with pytest.raises(DataError, match="no columns"):
        explain(ray.data.from_items([]), bank())


@pytest.mark.parametrize("workers", [0, -1, 1.5, "2", True])
def test_wrong_workers_are_refused_at_once(cluster, workers):
    with pytest.raises(OptionError, match="workers must be a whole number"):
        explain(blocks(applicants(4)), bank(), workers=workers)


def test_a_frame_in_memory_is_no_dataset_of_ray():
    with pytest.raises(OptionError, match="Ray dataset is expected, not a DataFrame"):
        explain(applicants(3), bank())


def test_questions_about_a_population_are_answered_as_in_memory(cluster):
    rows = applicants(160)
    same_findings(population(blocks(rows), bank(), index="key"), rows)
