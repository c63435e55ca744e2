"""The house rules that no linter knows: sizes, names, and what the sources may not contain."""

from __future__ import annotations

import ast
import re
import tomllib
from pathlib import Path
from statistics import median

import pytest

import macex
from macex.engine.options import BUILT_IN

ROOT = Path(__file__).parents[1]
SOURCES = sorted((ROOT / "src" / "macex").rglob("*.py"))
TESTS = sorted((ROOT / "tests").rglob("*.py"))
TEXTS = sorted(
    path
    for pattern in (
        "*",
        ".ci/*",
        ".github/**/*",
        "src/**/*",
        "tests/**/*",
        "docs/**/*",
        "examples/**/*",
    )
    for path in ROOT.glob(pattern)
    if path.is_file() and path.suffix not in {".gz", ".pyc", ".png"}
)
NAMING_COLUMNS = {
    "what_if",
    "checked",
    "shared",
}  # each of their keywords is looked up before it is used
MAY_PRINT = {"bench", "cli", "demo.py"}
EMPTY_WORDS = {"util", "utils", "helper", "helpers", "base", "manager"}
ELSEWHERE = ["shared" + "/", "pypi" + ".org", "files.python" + "hosted", "deb." + "debian"]


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def nodes(path: Path, *kinds: type[ast.AST]):
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return [node for node in ast.walk(tree) if isinstance(node, kinds)]


def functions(path: Path):
    return nodes(path, ast.FunctionDef, ast.AsyncFunctionDef)


def body_length(function: ast.FunctionDef | ast.AsyncFunctionDef) -> int:
    """Lines of the body; the docstring is not counted."""
    documented = ast.get_docstring(function) is not None
    body = function.body[1:] if documented else function.body
    return body[-1].end_lineno - body[0].lineno + 1 if body else 0


def words(name: str) -> set[str]:
    """The words of a name: snake_case, CamelCase or a file's.

    >>> sorted(words("CacheManager")), sorted(words("row_utils"))
    (['cache', 'manager'], ['row', 'utils'])
    """
    return {word.lower() for word in re.findall(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])", name)}


source_file = pytest.mark.parametrize("path", SOURCES, ids=named)


@source_file
def test_a_file_has_at_most_400_lines(path):
    assert len(path.read_text(encoding="utf-8").splitlines()) <= 400


@source_file
def test_a_function_has_at_most_60_lines(path):
    long = {f.name: body_length(f) for f in functions(path) if body_length(f) > 60}
    assert long == {}


def test_half_of_the_functions_have_at_most_12_lines():
    assert median(body_length(f) for path in SOURCES for f in functions(path)) <= 12


@source_file
def test_a_module_says_what_it_is_for(path):
    assert ast.get_docstring(ast.parse(path.read_text(encoding="utf-8")))


@source_file
def test_input_is_not_checked_by_assert(path):
    assert [node.lineno for node in nodes(path, ast.Assert)] == []


@source_file
def test_only_programs_print(path):
    calls = [c for c in nodes(path, ast.Call) if isinstance(c.func, ast.Name)]
    printed = [call.lineno for call in calls if call.func.id == "print"]
    assert not printed or MAY_PRINT & set(path.parts)


@source_file
def test_no_parameter_swallows_a_misspelt_option(path):
    assert {f.name for f in functions(path) if f.args.kwarg is not None} <= NAMING_COLUMNS


@source_file
def test_imports_are_absolute(path):
    assert [node.lineno for node in nodes(path, ast.ImportFrom) if node.level] == []


@pytest.mark.parametrize("path", SOURCES + TESTS, ids=named)
def test_names_mean_something(path):
    defined = nodes(path, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)
    names = [path.stem, path.parent.name, *(node.name for node in defined)]
    assert [name for name in names if words(name) & EMPTY_WORDS] == []


@pytest.mark.parametrize("path", TEXTS, ids=named)
def test_no_text_points_outside_the_project(path):
    text = path.read_text(encoding="utf-8", errors="replace")
    assert [place for place in ELSEWHERE if place in text] == []


BROAD = {  # where any exception is taken, beside those that are raised again
    "baselines/peers/worker.py": "what a peer raises is an answer of its process",
    "bench/arena/asking.py": "what a stranger raises is an answer of its process",
    "bench/arena/runner.py": "the other methods go on",
    "bench/experiments/answers.py": "a method that fails on a query is counted",
    "bench/runner.py": "the other methods go on",
    "cli/doctor.py": "a library may be broken in any way",
    "cohort/recourse.py": "what cannot be read as trees is asked as any other model",
    "device/proposals.py": "whoever asked is told",
    "device/tree_scores.py": "torch does without a compiler",
    "models/acceleration.py": "a model that cannot be converted is asked itself",
    "models/asker.py": "the model's own fault is found by halving, and told",
    "models/consultation.py": "only a warning and the estimate of a threshold rest on it",
    "models/files/trial.py": "a bad file is told in a sentence",
    "models/prepared.py": "the step itself makes what cannot be made from codes",
    "models/quick.py": "the model itself is asked",
    "scale/intake.py": "a bad file is told in a sentence",
    "scale/workers.py": "a model that cannot travel runs in threads",
    "series/shortlist.py": "the model's own fault is found row by row, and told",
    "server/projects/case_intake.py": "a bad file is told in a sentence",
    "server/turns.py": "whoever waits is told",
    "server/workers/worker.py": "what a file or a model raises is an answer of its process",
}


def test_a_broad_except_is_listed_with_its_reason_and_decides_nothing():
    found = {
        str(path.relative_to(ROOT / "src" / "macex"))
        for path in SOURCES
        if "BLE001" in path.read_text(encoding="utf-8")
    }
    assert found == set(BROAD)


ONE_NAME = {  # of several classes
    "Program": "each file of another environment has the class that the worker there looks for",
}


def test_a_class_has_a_name_of_its_own():
    found: dict[str, list[str]] = {}
    for path in SOURCES:
        for one in nodes(path, ast.ClassDef):
            found.setdefault(one.name, []).append(named(path))
    twice = {name: paths for name, paths in found.items() if len(paths) > 1}
    assert {name: twice[name] for name in twice.keys() - ONE_NAME.keys()} == {}


def classes_asked_for(path: Path) -> set[str]:
    """The classes that `isinstance` asks for in a file."""
    calls = [c for c in nodes(path, ast.Call) if isinstance(c.func, ast.Name)]
    asked = [call.args[1] for call in calls if call.func.id == "isinstance"]
    return {one.id for kinds in asked for one in ast.walk(kinds) if isinstance(one, ast.Name)}


def test_no_room_asks_for_the_class_of_a_search():
    own, kinds = ROOT / "src/macex/stages/search", {type(one).__name__ for one in BUILT_IN.values()}
    others = [path for path in SOURCES if own not in path.parents and path.name != "options.py"]
    found = {named(path): classes_asked_for(path) & kinds for path in others}
    assert {path: names for path, names in found.items() if names} == {}


PLAIN_TUPLES = {"_replace", "_asdict", "_fields"}  # of named tuples, which document them


def private_parts(path: Path) -> set[str]:
    """Private attributes that are used in a file and defined elsewhere, those of modules aside.

    A private name that is imported counts, too.
    """
    own = {one.name for one in nodes(path, ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)}
    names = [*nodes(path, ast.Name), *nodes(path, ast.AnnAssign)]
    own |= {one.id for one in names if isinstance(one, ast.Name)}
    own |= {one.target.id for one in names if isinstance(getattr(one, "target", None), ast.Name)}
    attributes = nodes(path, ast.Attribute)
    own |= {a.attr for a in attributes if isinstance(a.value, ast.Name) and a.value.id == "self"}
    used = {one.attr for one in attributes}
    for one in nodes(path, ast.ImportFrom):
        if (one.module or "").startswith("macex"):
            used |= {alias.name for alias in one.names}
    return {name for name in used - own - PLAIN_TUPLES if re.match(r"_[^_]", name)}


OTHERS_PRIVATE = {  # attributes of other libraries, which have no public way to what is needed
    "cli/serve.py": {"_exit"},
    "device/tree_readers.py": {"_baseline_prediction", "_predictors"},
    "models/first_steps.py": {"_transformer_to_input_indices"},
    "models/kinds/onnx.py": {"_model_path"},
    "models/trees/readers.py": {"_predictors"},
    "models/trees/trace.py": {"_transformer_to_input_indices"},
    "scale/dask.py": {"_meta"},
    "scale/workers.py": {"_current_frames", "_exit"},
    "schema/pandas_frames.py": {"_from_arrays"},
    "server/workers/worker.py": {"_exit"},
}


def test_nothing_private_is_used_elsewhere():
    found = {str(path.relative_to(ROOT / "src" / "macex")): private_parts(path) for path in SOURCES}
    assert {path: names for path, names in found.items() if names} == OTHERS_PRIVATE


def glossary(heading: str) -> list[str]:
    """The words in the first cells of the tables under a heading of the glossary."""
    page = (ROOT / "docs" / "explanation" / "glossary.md").read_text(encoding="utf-8")
    parts = re.split(r"^## (.+)$", page, flags=re.MULTILINE)
    rows = dict(zip(parts[1::2], parts[2::2], strict=True))[heading]
    return re.findall(r"^\| \*([\w -]+)\*", rows, re.MULTILINE)


def test_names_avoid_the_words_that_the_glossary_does_not_use():
    avoided = set(glossary("Words that are not used"))
    assert len(avoided) > 3
    stems = tuple(sorted(avoided))
    found = {}
    for path in SOURCES:
        named_here = [path.stem, *(one.arg for one in nodes(path, ast.arg))]
        named_here += [one.id for one in nodes(path, ast.Name)]
        named_here += [one.attr for one in nodes(path, ast.Attribute)]
        named_here += [one.name for one in functions(path)]
        named_here += [one.name for one in nodes(path, ast.ClassDef)]
        bad = {one for one in named_here if any(word.startswith(stems) for word in words(one))}
        if bad:
            found[named(path)] = sorted(bad)
    assert found == {}


def test_the_glossary_has_each_word_once():
    page = (ROOT / "docs" / "explanation" / "glossary.md").read_text(encoding="utf-8")
    terms = re.findall(r"^\| \*([\w -]+)\*", page, re.MULTILINE)
    assert len(terms) > 40
    assert [term for term in set(terms) if terms.count(term) > 1] == []


def listed(text: str, kind: str) -> list[str]:
    """The first cells of the tables of a page, those in code."""
    return re.findall(rf"^\| `({kind})` \|", text, re.MULTILINE)


def test_the_rooms_of_the_guide_are_the_layers():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    layers = settings["tool"]["importlinter"]["contracts"][0]["layers"]
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    assert listed(guide, r"\w+") == [layer.strip("()") for layer in reversed(layers)]


def mirrored(path: Path) -> bool:
    """Whether a test file has the module or the room that it is named after."""
    beside = ROOT / "src" / "macex" / path.relative_to(ROOT / "tests").parent
    name = path.stem.removeprefix("test_")
    return (beside / f"{name}.py").exists() or (beside / name).is_dir()


def test_a_test_without_a_module_says_where_it_lives():
    page = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    folders = {ROOT / "tests" / folder for folder in listed(page, r"\w+/")}
    apart = {
        str(path.relative_to(ROOT / "tests"))
        for path in TESTS
        if path.name.startswith("test_") and not mirrored(path) and not folders & set(path.parents)
    }
    assert set(listed(page, r"[\w/]+\.py")) == apart, "list the file in tests/README.md"


def test_the_page_of_tests_names_what_there_is():
    page = (ROOT / "tests" / "README.md").read_text(encoding="utf-8")
    named = re.findall(r"`((?:src/macex|tests|examples)[\w/.]*)`", page)
    assert [path for path in named if not (ROOT / path).exists()] == []


def test_the_oldest_versions_are_those_that_are_asked_for():
    settings = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    oldest = (ROOT / "requirements-oldest.txt").read_text(encoding="utf-8").splitlines()
    least = dict(one.split(">=") for one in settings["project"]["dependencies"])
    tested = dict(one.split("==") for one in oldest if not one.startswith("#"))
    assert least.keys() == tested.keys()
    assert [name for name in least if not tested[name].startswith(least[name])] == []


def test_the_citation_is_of_this_version():
    cited = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    assert f"\nversion: {macex.__version__}\n" in cited


NOUNS = {
    "decoding",
    "embedding",
    "encoding",
    "opening",
    "ranking",
    "testing",
    "training",
}  # modules that end in -ing
VERB_ROOMS = {"baselines", "bench"}  # whose modules still have verbs for names


def test_modules_are_named_by_nouns():
    doing = [
        named(path)
        for path in SOURCES
        if path.stem.endswith("ing")
        and path.stem not in NOUNS
        and not VERB_ROOMS & set(path.relative_to(ROOT / "src" / "macex").parts)
    ]
    assert doing == []


SEARCHES_NAMED = {"engine/options.py"}  # where fine-tuning has a name in common with a search


def test_searches_are_named_in_one_place():
    found = {
        str(path.relative_to(ROOT / "src" / "macex"))
        for path in SOURCES
        if "bench" not in path.parts and path.name != "protocol.py"
        for one in nodes(path, ast.Constant)
        if one.value in {search.name for search in BUILT_IN.values()}
    }
    assert found == SEARCHES_NAMED


def test_the_guide_names_what_there_is():
    guide = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    paths = re.findall(r"`((?:src/macex|tests|docs)[\w/.-]*)`", guide)
    assert len(paths) > 20
    assert [path for path in paths if not (ROOT / path).exists()] == []
