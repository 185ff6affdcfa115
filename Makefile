# Frontierboard: `make run` serves it, `make test` tests it. Nothing else is needed
# than Python 3.11 or newer, make, and a package index.

PYTHON ?= python3
# Files are shared out to the cores; each part has a database of its own.
CORES = -n auto --dist loadfile
# Without bytecode every process compiles pandas and Django again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test lint openapi install install-dev
.DEFAULT_GOAL := help

help:
	@echo "make run    start Frontierboard with a demo and print its address"
	@echo "make test   run all tests on a PostgreSQL and a Redis of their own"
	@echo "make openapi  write docs/openapi.json from the code"
	@echo "make lint   check style, types, layers, templates, migrations and spelling"

run: install
	@.venv/bin/python -m launcher run

test: install-dev
	@.venv/bin/python -m pytest $(or $(ARGS),$(CORES))

lint: install-dev
	@.ci/lint

# Renews docs/openapi.json; needs no running application.
openapi: install-dev
	@.venv/bin/python manage.py write_openapi

install:
	@$(PYTHON) -m launcher.install

install-dev:
	@$(PYTHON) -m launcher.install --dev
	@.venv/bin/python -m launcher scripts
