# Every target works in a fresh clone: what it needs is installed into .venv once.
PYTHON ?= python3
JOBS ?= 2
SEEDS ?= 5
TORCH ?= torch==2.13.0
# OCEAN needs Python 3.12 or later: the first one found.
NEWER := $(PYTHON) python3.14 python3.13 python3.12 $(wildcard $(HOME)/.pyenv/versions/3.1[2-9]*/bin/python)
OCEAN_PYTHON ?= $(shell for one in $(NEWER); do $$one -c 'import sys; sys.exit(sys.version_info < (3, 12))' 2>/dev/null && echo $$one && break; done)

VENV := .venv
PEERS := .venv-peers
BIN := $(VENV)/bin
PYTEST := $(BIN)/pytest -n $(JOBS)

# The first tier: seconds each, and most mistakes show here.
QUICK := tests/ask tests/schema tests/stages tests/explanation tests/test_errors.py \
    tests/test_house_rules.py tests/test_metrics.py tests/test_public_names.py
# What runs with the core install and the extra `test`.
CORE := $(QUICK) tests/checks tests/cohort tests/datasets tests/engine tests/series

# Compiled bytecode is kept, but outside the tree.
unexport PYTHONDONTWRITEBYTECODE
export PYTHONPYCACHEPREFIX := $(CURDIR)/$(VENV)/cache/bytecode

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help demo test test-quick test-rest test-core test-slow test-all coverage walk digests check docs wheel bench bench-docs bench-gpu bench-scale bench-server bench-cold peers format clean

help:  ## say what there is
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/make \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{printf "%-15s %s\n", $$1, $$2}'

demo: $(VENV)/.installed-core  ## explain a few real rows; needs the core install only
	$(BIN)/python examples/demo.py

test: check  ## check, then run the tests that are not slow
	$(PYTEST) -m "not slow"

test-quick: $(VENV)/.installed-dev  ## the first tier of the tests: a minute or two
	$(PYTEST) -m "not slow" $(QUICK)

test-rest: $(VENV)/.installed-dev  ## the tests that are neither slow nor in the first tier
	$(PYTEST) -m "not slow" $(addprefix --ignore=,$(QUICK))

test-core: $(VENV)/.installed-test  ## the tests that need no optional library but polars and pyarrow
	$(PYTEST) -m "not slow" $(CORE)

test-slow: $(VENV)/.installed-dev  ## run the slow tests alone
	$(PYTEST) -m slow || [ $$? -eq 5 ]  # 5: there are none

test-all: $(VENV)/.installed-dev  ## run all tests, slow ones included
	$(PYTEST)

coverage: $(VENV)/.installed-dev  ## run the tests that are not slow and print which lines they leave out
	COVERAGE_CORE=$(shell $(BIN)/python -c 'import sys; print("sysmon" if sys.version_info >= (3, 12) else "ctrace")') \
	    $(PYTEST) -m "not slow" --cov --cov-report=term:skip-covered

walk: $(VENV)/.installed-dev  ## print the walk of one row through the package: files, functions, switches, depth
	$(BIN)/python tests/walk.py

digests: $(VENV)/.installed-dev  ## write the digests of the fixed questions again, after answers changed on purpose
	$(BIN)/python tests/checks/test_digests.py

check: $(VENV)/.installed-dev  ## format, lint, types and layers, changing nothing
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/.installed-bench $(PEERS)/.installed  ## rerun the paper's tables into bench-results; an interrupted run goes on
	$(BIN)/python -m macex.bench --tables all --seeds $(SEEDS) --jobs $(JOBS) --out bench-results --resume

bench-docs: $(VENV)/.installed-bench $(PEERS)/.installed  ## the same run, written into docs/benchmarks.md, the pages behind it, and README.md
	$(BIN)/python -m macex.bench --tables all --seeds $(SEEDS) --jobs $(JOBS) --out bench-results --resume --markdown docs/benchmarks.md --summary README.md

bench-gpu: $(VENV)/.installed-torch  ## print how many queries a second torch answers, on the CPU and on a GPU if there is one
	$(BIN)/python -m macex.bench.gpu

bench-scale: $(VENV)/.installed-bench  ## rows by the million, on a quiet machine; ROWS=1000000 is the largest run
	$(BIN)/python -m macex.bench --tables scale --datasets adult $(if $(ROWS),--rows $(ROWS)) $(if $(QUERIES),--queries $(QUERIES)) --out bench-scale-results --resume

bench-server: $(VENV)/.installed-bench $(VENV)/.installed-server $(VENV)/.installed-onnx  ## 50, then 200 clients ask a server for a minute, with shared calls, one by one, and beside models that hang
	$(BIN)/python -m macex.bench.serving --clients 50 --clients 200 --seconds 60

bench-cold: $(VENV)/.installed-server  ## how long a cold `macex serve` takes to its first page and its first answer
	$(BIN)/python -m macex.bench.cold

peers: $(PEERS)/.installed  ## make .venv-peers: other people's programs, which need versions of their own

docs: $(VENV)/.installed-docs  ## build the documentation into build/site, refusing broken links
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "build/site/index.html"

wheel:  ## build the wheel into dist, install it into a fresh environment and explain a row with it
	rm -rf build/wheel dist
	$(PYTHON) -m pip wheel --quiet --no-deps --wheel-dir dist .
	$(PYTHON) -m venv build/wheel
	build/wheel/bin/python -m pip install --quiet dist/*.whl
	cd build/wheel && bin/python -I ../../tests/smoke.py && bin/macex --version && bin/macex doctor

format: $(VENV)/.installed-dev  ## format the code and fix what can be fixed safely
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

clean:  ## remove caches and builds; .venv stays
	rm -rf build dist .hypothesis .import_linter_cache .mypy_cache .pytest_cache .ruff_cache
	rm -rf $(VENV)/cache
	find src tests -name __pycache__ -type d -prune -exec rm -rf {} +

$(BIN)/python:
	$(PYTHON) -m venv $(VENV)

$(VENV)/.installed-core: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable .
	@touch $@

$(VENV)/.installed-%: pyproject.toml | $(BIN)/python
	$(BIN)/python -m pip install --quiet --editable ".[$*]"
	@touch $@

# dice-ml takes half as long again with pandas 3. NICEx pins versions older than those and runs with them all the
# same. Of systole only the recordings are read. OmniXAI, OCEAN and DoWhy have rooms of their own.
$(PEERS)/.installed:
	$(PYTHON) -m venv $(PEERS)
	$(PEERS)/bin/python -m pip install --quiet dice-ml==0.12 "pandas<3" treecf==0.3.2 aeon==1.6.0 $(TORCH)
	$(PEERS)/bin/python -m pip install --quiet --no-deps NICEx==0.2.3 systole==0.3.1
	$(PYTHON) -m venv $(PEERS)/omnixai
	$(PEERS)/omnixai/bin/python -m pip install --quiet omnixai==1.3.1 "setuptools<81" $(TORCH)
	$(PYTHON) -m venv $(PEERS)/dowhy
	$(PEERS)/dowhy/bin/python -m pip install --quiet dowhy==0.14 array-api-compat rich Jinja2 tomli-w typer
ifneq ($(OCEAN_PYTHON),)
	$(OCEAN_PYTHON) -m venv $(PEERS)/ocean
	$(PEERS)/ocean/bin/python -m pip install --quiet oceanpy==2.0.7
else
	@echo "OCEAN was left out: it needs Python 3.12 or later (OCEAN_PYTHON=...)"
endif
	@touch $@
