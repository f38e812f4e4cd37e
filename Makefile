# The two commands are `make run` and `make test`; everything else is for those who work on it.

VENV := .venv
BIN := $(VENV)/bin
# The first interpreter of a version that the lock file covers; empty if there is none.
PYTHON ?= $(shell for p in python3.13 python3.12 python3.11 python3; do \
	"$$p" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null \
	&& command -v "$$p" && break; done)
PIP := $(BIN)/python -m pip install --quiet --disable-pip-version-check
# BLAS threads beside those of the trainer fight for the cores: one makes training 20 times quicker.
export OPENBLAS_NUM_THREADS := 1

.PHONY: run test check bench lock clean

run: $(VENV)/installed
	@exec $(BIN)/papershelf run

test: $(VENV)/installed-for-tests
	$(BIN)/pytest

check: $(VENV)/installed-for-tests
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

bench: $(VENV)/installed-for-tests
	$(BIN)/python -m benchmarks.quality
	$(BIN)/python -m benchmarks.quality --lists a --ease --only warm
	$(BIN)/python -m benchmarks.diversity
	$(BIN)/python -m benchmarks.first_run

# Needs uv; the lock files then hold for Python 3.11 to 3.13 on every platform.
lock:
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-annotate --custom-compile-command 'make lock' pyproject.toml \
		--extra redis --group build -o requirements.lock
	uv pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
		--no-annotate --custom-compile-command 'make lock' pyproject.toml \
		--extra redis --group build --group dev -o requirements-dev.lock

clean:
	rm -rf $(VENV)

$(VENV)/bin/python:
	@if [ -z "$(PYTHON)" ]; then \
		echo "Papershelf needs Python 3.11, 3.12 or 3.13; install one, or name it: make run PYTHON=/path/to/python3.12" >&2; \
		exit 1; fi
	@"$(PYTHON)" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' || { \
		echo "Papershelf needs Python 3.11, 3.12 or 3.13, and $(PYTHON) is another; name one: make run PYTHON=/path/to/python3.12" >&2; \
		exit 1; }
	@"$(PYTHON)" -m venv $(VENV) || { rm -rf $(VENV); \
		echo "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv" >&2; exit 1; }

$(VENV)/installed: requirements.lock pyproject.toml | $(VENV)/bin/python
	@echo "Installing what Papershelf needs (once, about a minute) ..."
	@$(PIP) --require-hashes -r requirements.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

$(VENV)/installed-for-tests: requirements-dev.lock pyproject.toml | $(VENV)/bin/python
	@echo "Installing what the tests need (once, about a minute) ..."
	@$(PIP) --require-hashes -r requirements-dev.lock
	@$(PIP) --no-deps --no-build-isolation --editable .
	@touch $@ $(VENV)/installed
