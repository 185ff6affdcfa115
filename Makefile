# Frontierboard: `make run` serves it, `make test` tests it. Nothing else is needed
# than Python 3.11 or newer, make, and a package index.

PYTHON ?= python3
# Without bytecode every process compiles pandas and Django again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help run test lint install install-dev
.DEFAULT_GOAL := help

help:
	@echo "make run    start Frontierboard with a demo and print its address"
	@echo "make test   run all tests on a PostgreSQL and a Redis of their own"
	@echo "make lint   check style, types, layers, templates, migrations and spelling"

run: install
	@.venv/bin/python -m launcher run

test: install-dev
	@.venv/bin/python -m pytest $(ARGS)

lint: install-dev
	@.ci/lint

install:
	@$(PYTHON) -m launcher.install

install-dev:
	@$(PYTHON) -m launcher.install --dev
	@.venv/bin/python -m launcher scripts
