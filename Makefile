# make setup   a virtual environment in .venv with everything a developer needs, from the locked versions
# make demo    the whole story: two hosts, one git branch, one audited chain
# make test    lint, types, import rules and tests
# make bench   speed, as ratios in one run
# make simulate teams of replicas through bad networks, clocks and crashes (SEEDS=10000 for a day's run)
# make mutants small faults in the source, each of which a vector, a simulated team or a test must catch

PYTHON ?= python3
BIN := .venv/bin
SEEDS ?= 300

.PHONY: setup demo test lint bench simulate mutants lock

setup: .venv/.installed

.venv/.installed: requirements.lock pyproject.toml
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "dmp-replica needs Python 3.11 or newer (make PYTHON=python3.12 …)")'
	test -x $(BIN)/python || $(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements.lock
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation --editable .
	touch $@

demo: setup
	$(BIN)/python -m tests.e2e.demo

# Modules are compiled first: the tests start thousands of processes, which may not be allowed to keep what they compile.
test: lint
	$(BIN)/python -m compileall -q bindings core crypto transports replica vectors tests
	$(BIN)/python -m pytest -n 3 --dist worksteal

lint: setup
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: setup
	$(BIN)/python -m tests.bench

simulate: setup
	$(BIN)/python -m tests.simulation --seeds $(SEEDS)

mutants: setup
	$(BIN)/python -m vectors.mutants

# Rewrites the lock; needs pip-tools (pip install pip-tools).
lock:
	pip-compile --quiet --extra dev --generate-hashes --allow-unsafe --strip-extras \
		--no-emit-index-url --no-emit-trusted-host --no-emit-options --output-file requirements.lock pyproject.toml
	rm -rf dmp_replica.egg-info
