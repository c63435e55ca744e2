"""Every way in asks the whole question: a field that one lacks is listed here, with the reason."""

from __future__ import annotations

import inspect

import pytest

import macex as mx
from macex.ask.question import FIELDS, Question
from macex.cli.explain import explain as command
from macex.client import Client
from macex.scale import dask, ray, spark
from macex.server.api import shapes

CHUNKS = "chunks are answered one by one; a run is stopped and resumed instead"
HTTP = "a row that the model fails on is always kept, with a reason"
SERIES = "time series have no causes"
LACKING = {
    "SeriesExplainer.explain": {"reach": SERIES},
    "explain_frames": {"timeout_s": CHUNKS},
    "explain_file": {"timeout_s": CHUNKS},
    "spark.explain": {"timeout_s": CHUNKS},
    "dask.explain": {"timeout_s": CHUNKS},
    "ray.explain": {"timeout_s": CHUNKS},
    "macex explain": {"timeout_s": CHUNKS, "on_error": "a run over a file always goes on"},
    "POST explain": {"on_error": HTTP},
    "Client.explain": {"on_error": HTTP},
    "Client.submit": {"on_error": HTTP},
}


def arguments(function) -> set[str]:
    return set(inspect.signature(function).parameters)


def entrances() -> dict[str, set[str]]:
    return {
        "Explainer.explain": arguments(mx.Explainer.explain),
        "SeriesExplainer.explain": arguments(mx.SeriesExplainer.explain),
        "explain_frames": arguments(mx.explain_frames),
        "explain_file": arguments(mx.explain_file),
        "spark.explain": arguments(spark.explain),
        "dask.explain": arguments(dask.explain),
        "ray.explain": arguments(ray.explain),
        "macex explain": arguments(command),
        "POST explain": set(shapes.QuestionBody.model_fields),
        "Client.explain": arguments(Client.explain),
        "Client.submit": arguments(Client.submit),
    }


@pytest.mark.parametrize("name", entrances())
def test_an_entrance_lacks_no_field_without_a_reason(name):
    assert set(FIELDS) - entrances()[name] == set(LACKING.get(name, {}))


@pytest.mark.parametrize("name", entrances())
def test_the_defaults_are_those_of_the_question(name):
    where = {
        "Explainer.explain": mx.Explainer.explain,
        "SeriesExplainer.explain": mx.SeriesExplainer.explain,
        "explain_frames": mx.explain_frames,
        "explain_file": mx.explain_file,
        "spark.explain": spark.explain,
        "dask.explain": dask.explain,
        "ray.explain": ray.explain,
        "Client.explain": Client.explain,
        "Client.submit": Client.submit,
    }
    if name not in where:
        found = {part: one.default for part, one in shapes.QuestionBody.model_fields.items()}
    else:
        signature = inspect.signature(where[name]).parameters
        found = {part: one.default for part, one in signature.items()}
    asked = Question()
    many = {"explain_frames", "explain_file", "spark.explain", "dask.explain", "ray.explain"}
    for part in set(FIELDS) & set(found):
        expected = "keep" if part == "on_error" and name in many else getattr(asked, part)
        assert found[part] == expected, part
