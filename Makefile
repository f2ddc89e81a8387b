# `make demo` and `make test` are all a newcomer needs; both install what they use into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin

.PHONY: help demo test lint rigs lock bench bench-judges clean

help: ## Show what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 24

demo: $(VENV)/runtime ## Run the whole pipeline on the bundled sample edition
	$(BIN)/evergreen demo

test: $(VENV)/dev ## Run the tests
	$(BIN)/python -m pytest

lint: $(VENV)/dev ## Ruff and mypy
	$(BIN)/python -m pip check --disable-pip-version-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

rigs: ## Install the Debian packages that some tests need (as root)
	apt-get update -q
	apt-get install -y -q --no-install-recommends chromium chromium-driver fonts-dejavu-core

lock: $(VENV)/dev ## Resolve the dependencies anew: versions and hashes, no index addresses
	$(BIN)/python -m uv pip compile pyproject.toml --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-header --no-annotate -q -o requirements.lock
	$(BIN)/python -m uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	  --upgrade --generate-hashes --no-header --no-annotate -q \
	  -c requirements.lock -o requirements-dev.lock

bench: $(VENV)/dev ## Time the parts that compute
	$(BIN)/python -m tests.bench.bench_pipeline

bench-judges: $(VENV)/dev ## Time an LLM judge on generated editions of 10, 100 and 1,000 reports
	$(BIN)/python -m tests.bench.bench_judges

clean: ## Remove the environment and everything made by runs (not the sample)
	rm -rf $(VENV) build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find data -mindepth 1 -maxdepth 1 ! -name sample -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Evergreen needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The lock is complete, so nothing is resolved again (--no-deps); `pip check` says if it is not.
$(VENV)/runtime: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/dev: requirements-dev.lock $(VENV)/runtime
	$(BIN)/python -m pip install -q --disable-pip-version-check --require-hashes --no-deps -r requirements-dev.lock
	@touch $@
