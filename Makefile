# make demo   train on Python's own documentation, and look at the result
# make test   everything that must hold
# make lint   formats, types, lints, and the stub of the core
# make bench  the figures of the README (needs SUPRATOK_DATA)
# make sanitize   the core's tests under the address and undefined-behaviour sanitizers
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
SOURCES = pyproject.toml CMakeLists.txt README.md $(wildcard core/*) \
          $(shell find src -name '*.py' -o -name '*.pyi' -o -name '*.typed')

.PHONY: demo test lint bench sanitize clean
.DELETE_ON_ERROR:

demo: $(VENV)/installed
	$(BIN)/python -m supratok.cli.demo

test: $(VENV)/dev
	$(BIN)/python -m pytest

lint: $(VENV)/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/clang-format --dry-run --Werror core/*.cpp core/*.hpp
	$(BIN)/mypy
	$(BIN)/python -m mypy.stubtest supratok.common._core --allowlist tests/stubtest-allowlist.txt

bench: $(VENV)/dev
	$(BIN)/python benches/bench.py

sanitize: $(VENV)/dev
	tools/sanitize.sh $(BIN)/python

clean:
	rm -rf $(VENV) build

# The build tools live in the environment, so that a change to the core rebuilds only what changed.
$(VENV)/python: 
	$(PYTHON) -m venv $(VENV)
	$(BIN)/pip install --quiet --upgrade pip
	$(BIN)/pip install --quiet "scikit-build-core>=0.10" "nanobind>=2.4" "cmake>=3.18" "ninja>=1.11"
	touch $@

$(VENV)/installed: $(VENV)/python $(SOURCES)
	$(BIN)/pip install --quiet --no-build-isolation .
	touch $@

$(VENV)/dev: $(VENV)/python $(SOURCES)
	$(BIN)/pip install --quiet --no-build-isolation ".[dev]"
	touch $@ $(VENV)/installed
