"""The OpenAPI document holds: what it allows is answered as it says, and never with a 5xx."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

schemathesis = pytest.importorskip("schemathesis")

from hypothesis import HealthCheck, given, settings  # noqa: E402
from hypothesis.errors import Unsatisfiable  # noqa: E402
from schemathesis import checks  # noqa: E402

EXAMPLES = int(os.environ.get("MACEX_CONTRACT", "8"))
HELD = [
    checks.not_a_server_error,
    checks.status_code_conformance,
    checks.content_type_conformance,
    checks.response_headers_conformance,
    checks.response_schema_conformance,
]
UPLOADS = {("post", "/api/v1/inspect"), ("post", "/api/v1/projects")}  # each starts a process


@pytest.fixture(scope="module")
def contract(served):
    return schemathesis.openapi.from_url(f"{served.url}/api/v1/openapi.json")


def held(case):
    """Most questions are about a project that there is."""
    if "name" in (case.path_parameters or {}) and len(str(case.body)) % 4:
        case.path_parameters["name"] = "loans"
    case.call_and_validate(checks=HELD, timeout=120)


@pytest.mark.slow
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_whatever_is_sent_is_answered_as_documented(contract, mode):
    tried = 0
    for operation in (found.ok() for found in contract.get_all_operations()):
        few = (operation.method, operation.path) in UPLOADS
        bounds = settings(
            max_examples=max(2, EXAMPLES // 4) if few else EXAMPLES,
            deadline=None,
            suppress_health_check=list(HealthCheck),
        )
        try:
            bounds(given(operation.as_strategy(generation_mode=mode))(held))()
            tried += 1
        except Unsatisfiable:
            continue  # nothing can be wrong with a request that has no parts
    assert tried > 10


def test_every_question_has_an_example_and_every_answer_a_shape(http):
    document = http.get("/openapi.json").json()
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            assert one.get("description"), (method, path)
            assert "422" in one["responses"], (method, path)
            if method == "post" and "requestBody" in one:
                assert next(iter(one["requestBody"]["content"].values()))["schema"]
    shapes = document["components"]["schemas"]
    assert shapes["ExplainRequest"]["properties"]["rows"]
    assert shapes["ProblemDetail"]["properties"]["detail"]["examples"]


def test_the_reference_names_every_route(http):
    page = (Path(__file__).parents[3] / "docs" / "reference" / "http.md").read_text()
    for path, methods in http.get("/openapi.json").json()["paths"].items():
        for method in methods:
            assert f"`{method.upper()} {path.removeprefix('/api/v1')}`" in page
