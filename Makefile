# Needs python3.11, git, make and a C++ compiler; everything else is set up in .venv. The tests need a
# browser too: where there is none, `make browser` installs one, see there.
#
#   make guard              the main job; BUDGET=10m make guard gives it more time
#   make test               all tests but those below
#   make test-slow          the rest: libraries that compile for minutes, many starts of workers
#   make constraints        before a release: extract the constraints that come with ciguard anew

PYTHON ?= python3.11
BUDGET ?= 3m
JOBS ?= 2

VENV := .venv
BIN := $(VENV)/bin
# uv reads no configuration of pip; wheels that pip is told to find are found by uv too.
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python

.PHONY: guard test test-slow check readme constraints release-check format clean

guard: $(VENV)/.installed
	$(BIN)/ciguard run --budget $(BUDGET)

test: check browser
	$(BIN)/pytest -n $(JOBS) tests/unit tests/process tests/cli
	$(BIN)/pytest -n $(JOBS) tests/e2e

test-slow: $(VENV)/.installed-dev
	$(BIN)/pytest -n $(JOBS) -m slow

check: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	for file in tests/*/conftest.py tests/*/*/conftest.py benchmarks/planted.py; \
		do $(BIN)/mypy $$file || exit 1; done

# What the tests of report.html drive: Debian's, with sudo where this is not root, or Playwright's own.
.PHONY: browser
browser: $(VENV)/.installed-dev
	@for name in chromium chromium-browser google-chrome; do \
		if command -v $$name; then exit 0; fi; \
	done; \
	sudo=$$(test "$$(id -u)" = 0 || echo "sudo -n"); \
	if command -v apt-get && $$sudo apt-get update -qq && $$sudo apt-get install -y -qq chromium; \
	then exit 0; fi; \
	$(BIN)/playwright install chromium

# Write what README.md and docs/ quote from the program.
readme: $(VENV)/.installed-dev
	$(BIN)/python docs/generate.py

# Only before a release: at other times older files serve, see docs/knowledge.md.
constraints: $(VENV)/.installed
	mkdir -p seeds/constraints
	cd seeds/constraints && for target in "torch==2.13.0" "tensorflow-cpu==2.21.0" \
		"keras==3.15.1 + jax" "jax==0.10.2" "jittor==1.3.11.0"; \
		do $(CURDIR)/$(BIN)/ciguard extract --target "$$target" || exit 1; done

release-check: $(VENV)/.installed-dev
	$(BIN)/pytest -m release

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Results, baseline and issues in .ciguard/ stay.
clean:
	rm -rf $(VENV) build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(VENV)/.uv:
	$(PYTHON) -m venv --clear $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check "uv>=0.5"
	touch $@

$(VENV)/.installed: $(VENV)/.uv pyproject.toml
	$(INSTALL) --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed tests/planted/pyproject.toml $(wildcard tests/planted/*/*.py)
	$(INSTALL) --editable . --group dev --reinstall-package ciguard-planted
	touch $@
