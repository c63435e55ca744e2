"""Who leads is decided on the queries that both solved, and a tie is no defeat."""

from __future__ import annotations

from bench.found import findings, record
from macex.bench.comparing import behind, nearer_if_plausible, overtaken, ranked_before
from macex.bench.experiments import own_claims, paper_claims
from macex.bench.findings import Findings
from macex.bench.plan import BenchPlan
from macex.bench.results import Results
from macex.bench.tasks import BenchTask, TaskOutcome

NONE = record()
TWO = record(("a", "b"))
ONE = record(("a",))
LOAN = ("loans", "MLP")


def test_only_what_both_solved_is_compared():
    found = findings({"default": [TWO, ONE, ONE], "Greedy": [NONE, TWO, TWO]})
    assert behind(found, "sparsity", "Greedy", ["default"], ["MLP"])[0][1] == 1.0


def test_a_method_that_changes_more_is_behind():
    found = findings({"default": [TWO] * 5, "Greedy": [ONE] * 5})
    assert behind(found, "sparsity", "default", ["Greedy"], ["MLP"]) == [
        ("loans / MLP by Greedy", 1.0)
    ]
    assert behind(found, "proximity", "default", ["Greedy"], ["MLP"])[0][1] == 1.0


def test_a_tie_is_not_behind():
    found = findings({"default": [ONE, TWO] * 5, "Greedy": [TWO, ONE] * 5})
    assert behind(found, "sparsity", "default", ["Greedy"], ["MLP"]) == [("loans / MLP", 0.0)]


def test_a_method_that_solved_nothing_is_no_rival():
    found = findings({"default": [TWO] * 3, "Greedy": [NONE] * 3, "CERTIFAI": [TWO] * 3})
    assert behind(found, "sparsity", "default", ["Greedy", "CERTIFAI"], ["MLP"]) == [
        ("loans / MLP", 0.0)
    ]


def test_a_query_is_lost_to_who_is_nearer_with_no_more_changes():
    near, far = record(("a",), proximity=-0.1), record(("a",), proximity=-0.2)
    nearer_by_more = record(("a", "b"), proximity=-0.1)
    found = findings({"default": [far, far, far, near], "Greedy": [near, nearer_by_more, far, far]})
    assert overtaken(found, "default", ["Greedy"], "MLP", "loans") == 0.25


def test_an_implausible_answer_is_no_better_than_a_plausible_one_where_that_is_asked():
    far = record(("a",), proximity=-0.2)
    odd = record(("a",), proximity=-0.1)
    odd["counterfactuals"][0]["plausibility"] = 0.01
    found = findings({"default": [far, odd], "Greedy": [odd, odd]})
    assert overtaken(found, "default", ["Greedy"], "MLP", "loans") == 0.5
    assert overtaken(found, "default", ["Greedy"], "MLP", "loans", nearer_if_plausible) == 0.0


def test_an_answer_ranks_before_another_by_changes_then_plausibility_then_distance():
    usual, odd, many = record(("a",)), record(("a",)), record(("a", "b"))
    odd["counterfactuals"][0].update(plausibility=0.01, distance=0.1)
    near = record(("a",))
    near["counterfactuals"][0]["distance"] = 0.5
    for better, worse in ((near, usual), (usual, odd), (odd, many)):
        found = findings({"default": [better, worse], "Greedy": [worse, better]})
        assert overtaken(found, "default", ["Greedy"], "MLP", "loans", ranked_before) == 0.5


def test_claims_name_the_cell_and_the_rival():
    found = findings({"default": [TWO] * 5, "nearest": [TWO] * 5, "Greedy": [ONE] * 5})
    fewest, nearest, lost, *_ = own_claims.one_counterfactual(found)
    assert fewest.held is False
    assert "loans / MLP by Greedy" in fewest.number
    assert nearest.held is False  # one cell is spared, but not the only one
    assert lost.held is False


def test_without_a_run_nothing_is_claimed():
    found = findings({})
    claims = [
        *own_claims.one_counterfactual(found),
        *own_claims.several(found),
        *own_claims.time(found),
        *paper_claims.one_counterfactual(found),
        *paper_claims.time(found),
        *paper_claims.several(found),
        *paper_claims.columns(found),
        *paper_claims.series(found),
    ]
    assert {claim.held for claim in claims} == {None}


def test_three_column_sets_are_wanted_where_any_method_finds_three():
    many = record(("a",), ("b",), ("a", "b"))
    few = record(("a",), ("b",), ("b",))
    held = own_claims.several(findings({"default": [many, few], "MACE-RL": [many, few]}, n=3))
    lost = own_claims.several(findings({"default": [many, few], "MACE-RL": [few, many]}, n=3))
    assert held[0].held
    assert lost[0].held is False


def test_a_set_with_a_change_that_is_not_needed_is_no_further_answer():
    two = record(("a",), ("b",))
    idle = record(("a", "c"), ("a", "d"), ("b", "c"), idle=1)
    sets, needless, *_ = own_claims.several(findings({"default": [two], "MACE-RL": [idle]}, n=3))
    assert sets.held
    assert needless.held
    _, needless, *_ = own_claims.several(findings({"default": [idle], "MACE-RL": [two]}, n=3))
    assert needless.held is False


def test_speed_is_a_ratio_of_seconds():
    slow = {"queries": 10.0, "seconds": 20.0, "cpu": 20.0}
    fast = {"queries": 10.0, "seconds": 9.0, "cpu": 1.0}
    costs = {"MACE-RL": fast, "CERTIFAI": slow}
    found = findings({"MACE-RL": [ONE], "CERTIFAI": [ONE]}, costs=costs)
    assert found.per_query("answers", *LOAN, "CERTIFAI")["cpu"] == 2.0
    assert found.per_query("answers", *LOAN, "MACE-RL")["cpu"] == 0.1


def timed(seconds, cpu, queries=100.0):
    return {"queries": queries, "seconds": seconds * queries, "cpu": cpu * queries}


def test_programs_are_compared_by_the_cpu_they_took_whatever_the_clock_says():
    busy = {"DiCE random": timed(90.0, 0.03), "default": timed(3.0, 0.01)}
    tasks, results = [], Results()
    for kind in ("alone", "answers"):
        for name, cost in busy.items():
            tasks.append(BenchTask(kind, *LOAN, name, stop=100))
            results.add(TaskOutcome(tasks[-1], [], cost))
    plan = BenchPlan(("3",), ["loans"], ["MLP"], list(busy), sizes={"loans": 100})
    alone, batch, *_ = own_claims.time(Findings(plan, tasks, results))
    assert alone.number.startswith("3x")
    assert batch.number.startswith("3x")
    assert alone.held is False


def test_a_few_rows_are_no_batch_of_a_hundred():
    few = {"DiCE random": timed(9.0, 9.0, 3.0), "default": timed(0.1, 0.1, 3.0)}
    tasks, results = [], Results()
    for kind in ("alone", "answers"):
        for name, cost in few.items():
            tasks.append(BenchTask(kind, *LOAN, name, stop=3))
            results.add(TaskOutcome(tasks[-1], [], cost))
    plan = BenchPlan(("3",), ["loans"], ["MLP"], list(few), sizes={"loans": 100})
    alone, batch, *_ = own_claims.time(Findings(plan, tasks, results))
    assert alone.held
    assert batch.held is None
