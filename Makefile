PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test lint docs

demo: .venv/.base  ## Check the demonstration snapshot, offline
	@$(BIN)/invoke experiment --snapshot snapshots/demo --judges none

test: .venv/.dev  ## Run the tests
	$(BIN)/pytest -n auto --dist loadfile

lint: .venv/.dev  ## Format, lint and type-check
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy

docs: .venv/.dev  ## Build the documentation into site/
	$(BIN)/python -m ancrage.cli.reference docs
	$(BIN)/mkdocs build --quiet

.venv/.base .venv/.dev: .venv/.%: pyproject.toml | .venv
	$(BIN)/pip install --quiet --disable-pip-version-check --editable .$(if $(filter dev,$*),[dev])
	@touch $@

.venv:
	$(PYTHON) -m venv .venv
