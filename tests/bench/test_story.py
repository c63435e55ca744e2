"""The story in front: one line a question, and nothing that loses is left out."""

from __future__ import annotations

from macex.bench.claims import Claim
from macex.bench.story import QUESTIONS, story

FEWEST = "default: fewest changes or tied against every method, on the queries both solved"


def lines(section):
    return section.blocks[0].lines


def test_a_question_has_the_verdict_and_the_number_of_its_claim():
    came, lost = story([Claim(FEWEST, True, "10 of 10 cells")])
    assert lines(came) == [("Does it change the fewest columns?", "yes", "10 of 10 cells")]
    assert lost.blocks == ["Nothing that this run measured."]


def test_what_does_not_hold_is_listed_with_its_number_and_the_papers_apart():
    claims = [
        Claim(FEWEST, False, "9 of 10 cells; not in adult"),
        Claim("paper, table 1: MACE-RL has the lowest sparsity", False, "1 of 5 cells"),
        Claim("some other promise", False, "2, at most 1"),
        Claim("not measured here", None, "-"),
    ]
    came, lost = story(claims)
    assert lines(came)[0][1] == "NO"
    assert "0 of 2 of macex's own claims hold and 0 of 1 of the paper's sentences" in came.blocks[1]
    assert [line[0] for line in lines(lost)] == [FEWEST, "some other promise"]


def test_without_claims_there_is_no_story():
    assert story([]) == []
    assert story([Claim(FEWEST, None, "-")]) == []


def test_there_are_few_questions():
    assert len(QUESTIONS) <= 15
