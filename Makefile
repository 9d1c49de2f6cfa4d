# Two commands do everything on a fresh machine: `make demo` and `make test`.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test poisoned coverage docs dist lint types format clean

demo: .venv/demo
	$(BIN)/dbpcfg demo

# Kernels first: otherwise each process would compile them.
test: lint types .venv/browser
	$(BIN)/dbpcfg warm
	$(BIN)/pytest -n 2 --dist worksteal

# The same with all new memory full of signalling NaNs (glibc): for changes of kernels.
poisoned: .venv/browser
	cc -O2 -shared -fPIC tests/poison.c -o .venv/poison.so
	$(BIN)/dbpcfg warm
	LD_PRELOAD=$(CURDIR)/.venv/poison.so $(BIN)/pytest -n 2 --dist worksteal

# Not part of `make test`: measuring takes its time. For a floor, set fail_under in pyproject.toml.
coverage: .venv/browser
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow" --cov --cov-report=term

dist: .venv/ready-for-release
	rm -rf dist
	$(BIN)/python -m build
	$(BIN)/twine check --strict dist/*

docs: .venv/ready-for-docs
	$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs docs/_build/html

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/codespell src docs examples benchmarks *.md
	$(BIN)/lint-imports --no-logo

types: .venv/ready
	$(BIN)/mypy

format: .venv/ready
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# The package alone; the other tools come on top of it in the same environment.
.venv/demo: pyproject.toml
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/ready: .venv/demo
	$(BIN)/python -m pip install --quiet --upgrade pip
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@

# Chromium for the tests of the report: the system's, or one from its packages, or Playwright's own.
.venv/browser: .venv/ready
	@command -v chromium > /dev/null || command -v chromium-browser > /dev/null \
	  || command -v google-chrome > /dev/null \
	  || { test "$$(id -u)" = 0 && apt-get update && apt-get install -y chromium; } > /dev/null 2>&1 \
	  || timeout 300 $(BIN)/playwright install chromium > /dev/null 2>&1 \
	  || echo "no Chromium to be had: the tests that need a browser will be skipped"
	touch $@

.venv/ready-for-docs: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[docs]'
	touch $@

.venv/ready-for-release: .venv/ready
	$(BIN)/python -m pip install --quiet --editable '.[release]'
	touch $@

clean:
	rm -rf .venv dist docs/_build .mypy_cache .pytest_cache .ruff_cache .hypothesis
	rm -rf .import_linter_cache .coverage .coverage.* htmlcov
	find src tests -name __pycache__ -prune -exec rm -rf {} +
