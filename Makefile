# Needs Linux, python3.11 or newer, git, make and a C++ compiler; everything else is set up in .venv.
#
#   make guard              the main job; BUDGET=10m make guard gives it more time
#   make test               checks and all tests but the slow ones
#   make test-quick         checks and unit tests but the lengthy ones, for the inner loop
#   make test-properties    property-based tests with many more examples each
#   make test-slow          the rest: libraries that compile for minutes, many starts of workers
#   make docs              the documentation as a site
#   make coverage           branch coverage of `make test`, a table per package
#   make constraints        before a release: extract the constraints that come with ciguard anew

ifeq ($(wildcard ciguard/__main__.py),)
$(error run make in the folder of the checkout: make -C FOLDER)
endif

PYTHON ?= python3.11
BUDGET ?= 3m
# More than two cores: the slow tests often wait for time limits and for each other.
SLOW_JOBS := $(or $(SLOW_JOBS),$(JOBS),3)
JOBS ?= 2

# In this locale Python 3.11 does not start in a folder whose name is not ASCII: it reads .pth files as such.
ifneq ($(filter C POSIX,$(LC_ALL)),)
export LC_ALL := C.UTF-8
endif

VENV := .venv
BIN := $(VENV)/bin
# uv reads no configuration of pip; wheels that pip is told to find are found by uv too.
export UV_FIND_LINKS ?= $(PIP_FIND_LINKS)
# What only the tests need, and keep from run to run: see tests/examples/surroundings.py.
TEST_CACHE := .cache
SLOW_PASSED := $(TEST_CACHE)/slow-tests-passed
export PLAYWRIGHT_BROWSERS_PATH := $(CURDIR)/$(TEST_CACHE)/browsers
INSTALL := $(BIN)/uv pip install --quiet --python $(BIN)/python
PYTEST = $(BIN)/pytest -n $(JOBS) --dist worksteal --durations 10

.PHONY: guard test test-quick test-properties test-slow coverage test-tools preflight check pages docs screenshots \
	constraints action-lock release-check format clean

guard: $(VENV)/.installed
	$(BIN)/ciguard run --budget $(BUDGET)

test: check test-tools
	$(PYTEST)

test-quick: check test-tools
	$(PYTEST) tests/unit -m 'not slow and not release and not lengthy'

# A release needs it to have passed at the same commit.
test-properties: test-tools
	$(PYTEST) tests/unit -m hypothesis --hypothesis-profile exploring

test-slow: JOBS = $(SLOW_JOBS)
test-slow: test-tools
	@rm -f $(SLOW_PASSED)
	$(PYTEST) -m slow
	@if git diff --quiet HEAD; then git rev-parse HEAD > $(SLOW_PASSED); fi

# Processes that are started count too, see [tool.coverage] in pyproject.toml, and so do workers, see
# tests/examples/measured.
coverage: test-tools
	rm -rf $(TEST_CACHE)/coverage
	COVERAGE_FOLDER="$(CURDIR)/$(TEST_CACHE)/coverage" $(BIN)/coverage run -m pytest -n $(JOBS) --dist worksteal --durations 10
	$(BIN)/coverage combine --quiet
	$(BIN)/coverage json --quiet
	$(BIN)/python setup/coverage_table.py $(TEST_CACHE)/coverage/coverage.json \
		> $(TEST_CACHE)/coverage/summary.md
	@cat $(TEST_CACHE)/coverage/summary.md

# Nothing else is on the tests' PATH. What is missing is installed, see setup/programs.py.
test-tools: $(VENV)/.installed-dev tests/actions/node_modules/.package-lock.json
	$(BIN)/python setup/programs.py $(TEST_CACHE)/programs

tests/actions/node_modules/.package-lock.json: tests/actions/package-lock.json | $(VENV)/.installed-dev
	cd tests/actions && PATH="$(CURDIR)/$(BIN):$$PATH" npm ci --silent

check: $(VENV)/.installed-dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	for file in tests/*/conftest.py tests/*/*/conftest.py benchmarks/planted.py; \
		do $(BIN)/mypy $$file || exit 1; done

# Write what docs/ quotes from the program.
pages: $(VENV)/.installed-dev
	$(BIN)/python docs/generate.py

# The documentation as a site, in .cache/site. A link that leads nowhere fails.
docs: $(VENV)/.installed-dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict

# After texts of checks, comments or issues changed: play the example's life and draw what it shows.
screenshots: test-tools
	$(BIN)/python docs/screenshots.py

# Only before a release: at other times older files serve, see docs/knowledge.md.
constraints: $(VENV)/.installed
	mkdir -p seeds/constraints
	cd seeds/constraints && for target in "torch==2.13.0" "tensorflow-cpu==2.21.0" \
		"keras==3.15.1 + jax" "jax==0.10.2" "jittor==1.3.11.0"; \
		do "$(CURDIR)/$(BIN)/ciguard" api extract --target "$$target" || exit 1; done

# After a dependency changed: what the action installs, with hashes and without the index's name.
LOCK := $(BIN)/uv pip compile --quiet --universal --generate-hashes --no-header --no-annotate --no-emit-index-url
action-lock: $(VENV)/.uv
	echo hatchling | $(LOCK) --python-version 3.11 pyproject.toml - > action/requirements.txt
	grep -o '^uv==[^ ]*' action/requirements.txt | $(LOCK) --python-version 3.8 - > action/uv.txt

release-check: test-tools
	@test "$$(cat $(SLOW_PASSED) 2> /dev/null)" = "$$(git rev-parse HEAD)" || { \
		echo "make: before a release, make test-slow must pass at this very commit." >&2; exit 2; }
	$(PYTEST) -m release

format: $(VENV)/.installed-dev
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

# Results, baseline and issues in .ciguard/ stay.
clean:
	rm -rf $(VENV) $(TEST_CACHE) tests/actions/node_modules build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

preflight:
	@sh setup/preflight.sh "$(PYTHON)" "$${CIGUARD_CACHE:-$${XDG_CACHE_HOME:-$$HOME/.cache}/ciguard}"

$(VENV)/.uv: | preflight
	$(PYTHON) -m venv --clear $(VENV)
	@$(BIN)/python -m pip install --quiet --quiet --disable-pip-version-check "uv>=0.5" || { \
		echo "make: uv cannot be installed: is the package index out of reach? pip reads" \
		"PIP_INDEX_URL, PIP_FIND_LINKS and HTTPS_PROXY." >&2; exit 2; }
	touch $@

$(VENV)/.installed: $(VENV)/.uv pyproject.toml | preflight
	$(INSTALL) --editable .
	touch $@

$(VENV)/.installed-dev: $(VENV)/.installed tests/planted/pyproject.toml $(wildcard tests/planted/*/*.py)
	$(INSTALL) --editable . --group dev --reinstall-package ciguard-planted
	touch $@
