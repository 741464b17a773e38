# Two commands on a fresh machine: make demo, make test. The environment is made on the way.
.DEFAULT_GOAL := help
.PHONY: help demo test test-all lint fuzz faults matrix bench compare docs notebooks dist async clean

PYTHON ?= $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && { echo $$name; break; }; done)
BIN := .venv/bin
READY := .venv/ready
# Tests start Python a hundred times: compiled modules are kept, even where the environment says not to.
PYTEST := PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest
EQUIPPED := .venv/equipped
DOCUMENTED := .venv/documented
COMPARED := .venv-compare/ready
BENCHMARKS := tests/benchmarks -m bench -o addopts='--strict-markers --import-mode=importlib' -o python_files='bench_*.py' -o timeout=7200

help:  ## What can be made
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed 's/:.*##/\t/' | expand -t 12

$(READY): pyproject.toml
	@test -n "$(PYTHON)" || { echo "hmxgraph needs Python 3.11 or newer: install it, or say make PYTHON=/path/to/python3"; exit 1; }
	@echo "Installing hmxgraph into .venv: a minute or two"
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[local]'
	@touch $(READY)

$(EQUIPPED): $(READY)
	@echo "Installing what tests, notebooks and streams need: a minute or two"
	$(BIN)/python -m pip install --quiet --editable '.[local,test,formats-test,adapters-test,mcp,notebooks,server,streams,streams-test]'
	@touch $(EQUIPPED)

demo: $(READY)  ## Load the demo's events, compile them, print a context pack and the graph's digest
	$(BIN)/hmxgraph demo

test: $(EQUIPPED)  ## The main paths, every statement, conformance, isolation: minutes, two workers on a real Neo4j
	$(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder

test-all: $(EQUIPPED)  ## Every test but the long randomised ones: kills, streams, notebooks, browser, packaging too
	HYPOTHESIS_PROFILE=all $(PYTEST) -n 2 --dist loadfile --no-loadscope-reorder -m 'not fuzz and not bench'

lint: $(EQUIPPED)  ## ruff, mypy, pyright, imports of the benchmarks, and an audit of the dependencies where its database answers
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/pyright
	$(BIN)/python -m pytest $(BENCHMARKS) --collect-only -qq
	$(BIN)/python tools/audit.py

fuzz: $(EQUIPPED)  ## The long randomised tests
	HYPOTHESIS_PROFILE=fuzz $(BIN)/python -m pytest -m fuzz --timeout 7200

faults: $(EQUIPPED)  ## Plant faults: the conformance kit and the tests must find each; more than an hour
	$(BIN)/python -m tests.faults kit
	$(BIN)/python -m tests.faults suite

matrix: $(EQUIPPED)  ## Every write disturbed in every way at 25 random moments, ten minutes of races, bombs of 10 GB: many hours
	HMXGRAPH_FAULT_MOMENTS=25 HMXGRAPH_RACE_SECONDS=600 $(BIN)/python -m pytest -n 0 -m slow \
		tests/integration/test_faults.py tests/integration/test_everything_racing.py
	HMXGRAPH_BOMB_MEGABYTES=10240 $(BIN)/python -m pytest -n 0 -m slow -s --timeout 7200 \
		tests/integration/test_ingest_bounds.py -k bomb

bench: $(EQUIPPED)  ## Measurements: latency, throughput, quality, each beside a floor or a peer
	$(BIN)/python -m pytest $(BENCHMARKS) --timeout 7200 -s

$(COMPARED): $(READY) benchmarks/requirements.txt
	@echo "Installing the systems that are compared, apart from the project's own environment: some minutes"
	$(PYTHON) -m venv .venv-compare
	.venv-compare/bin/python -m pip install --quiet '.[local]' -r benchmarks/requirements.txt
	@touch $(COMPARED)

compare: $(COMPARED)  ## hmxgraph and other agent memories on the same data: DATA=folder, SAMPLE=--sample for a part of it
	nice .venv-compare/bin/python -m benchmarks --data $(DATA) $(SAMPLE)
	.venv-compare/bin/python -m benchmarks.report

$(DOCUMENTED): $(READY)
	@echo "Installing what builds the documentation: a minute"
	$(BIN)/python -m pip install --quiet --editable '.[local,docs]'
	@touch $(DOCUMENTED)

docs: $(DOCUMENTED)  ## The documentation as pages in build/docs; warnings are errors
	$(BIN)/sphinx-build --fail-on-warning --keep-going -q docs build/docs
	@echo "build/docs/index.html"

dist: $(EQUIPPED)  ## Build wheel and source distribution, and try them with every Python from 3.11 to 3.14 that is here
	rm -rf dist
	$(BIN)/python -m build --quiet
	$(BIN)/python tools/check_dist.py

notebooks: $(EQUIPPED)  ## Run the notebooks and keep their outputs
	$(BIN)/python tools/run_notebooks.py

async: $(EQUIPPED)  ## Generate the asynchronous face from the synchronous one
	$(BIN)/python tools/generate_async.py

clean:  ## Remove the environment and caches
	rm -rf .venv .venv-compare .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist
