# `make demo` and `make test` set up all they need in .venv: nothing but Python 3.11 to 3.13 has to be here.

PYTHON ?= $(firstword $(foreach p,python3 python3.13 python3.12 python3.11 python,$(if $(shell $(p) -c 'import sys, venv; print(int((3, 11) <= sys.version_info < (3, 14)))' 2>/dev/null | grep 1),$(p))))
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
LOCK := .ci/requirements.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-transformers check test-editors vsix model lock clean

help:  ## what can be made
	@grep -hE '^[a-z%-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 16

demo: model  ## see real suggestions, in a terminal
	@$(BIN)/lsp-complete demo

test: model  ## run the tests
	@$(BIN)/python -m pytest

test-transformers: $(READY)  ## run the tests of the engine `transformers`, which need PyTorch (1 GB)
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet -c $(LOCK) -r .ci/transformers.txt
	@$(BIN)/python -m pytest -k transformers tests/backend

check: $(READY)  ## lint, format, types, architecture
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/python -m pytest tests/test_architecture.py

bench-cancel: model
bench-%: $(READY)  ## run a benchmark: make bench-cancel
	@$(BIN)/python -m bench $*

test-editors: $(READY) vsix  ## run the tests in real editors, which are fetched once
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --editable '.[editors]'
	@$(BIN)/python -m tests.editors.programs
	@$(BIN)/python -m tests.editors.code_server
	@$(BIN)/python -m pytest -m editors tests/editors

vsix: $(READY)  ## build the extension for VS Code: vscode-shim/dist/lsp-complete.vsix (needs Node.js 20 or later)
	@$(BIN)/python vscode-shim/settings.py
	@cp LICENSE vscode-shim/
	@cd vscode-shim && npm ci --silent && rm -rf dist && npm run -s check && npm run -s test && npm run -s build
	@$(BIN)/python -m pip wheel --quiet --no-deps --wheel-dir vscode-shim/dist .
	@cd vscode-shim && npm run -s package

model: $(READY)
	@$(BIN)/lsp-complete model pull auto >/dev/null

$(READY): $(LOCK) pyproject.toml
	@test -n "$(PYTHON)" || { echo "Python 3.11, 3.12 or 3.13 with venv is needed and not found; name one: make PYTHON=/path/to/python"; exit 1; }
	@echo "setting up $(VENV) with $$($(PYTHON) --version): about a minute, once"
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV) || { echo "python cannot make a virtual environment; on Debian and Ubuntu: apt install python3-venv"; exit 1; }
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --progress-bar on -r $(LOCK)
	@$(BIN)/python -m pip install --disable-pip-version-check --quiet --no-deps --editable .
	@touch $@

lock: $(READY)  ## renew the locked versions
	@$(BIN)/python -m pip install --quiet uv
	@$(BIN)/uv pip compile pyproject.toml --extra dev --universal --python-version 3.11 --no-header --upgrade -o $(LOCK)

clean:  ## remove the environment
	rm -rf $(VENV) .mypy_cache .pytest_cache .ruff_cache .hypothesis
