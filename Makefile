# Everything sets itself up: a virtual environment in .venv, filled when the requirements change.

PYTHON ?= $(shell for v in 3.13 3.12 3.11 3.10; do p=python$$v; \
	$$p -c 'import ensurepip, venv' >/dev/null 2>&1 && echo $$p && exit; done; echo python3)
BIN := .venv/bin
PIP := $(BIN)/python -m pip -qq --disable-pip-version-check --no-input

.PHONY: help crawl test lint bench clean
.DEFAULT_GOAL := help

help:  ## this list
	@grep -E '^[a-z]+:.*## ' Makefile | sed -E 's/:.*## /\t/' | expand -t 12

crawl: .venv/run  ## make crawl ORIGIN=https://example.com [ARGS="-a since=7d"]; without ORIGIN, the sample site
ifdef ORIGIN
	$(BIN)/scrapy crawl sitemaps -a origin=$(ORIGIN) -O urls.jsonl $(ARGS)
else
	$(BIN)/python -m sitemap_discovery.sample $(ARGS)
endif

test: .venv/dev lint  ## format, lint, types, every test
	$(BIN)/python -m pytest

lint: .venv/dev
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: .venv/dev  ## every benchmark, each against what else one would use
	@failed=; for name in reader repair main_job second_run memory early_rows store; do \
		echo; echo "$(BIN)/python -m benchmarks.$$name"; \
		$(BIN)/python -m benchmarks.$$name || failed="$$failed $$name"; done; \
		[ -z "$$failed" ] || { echo "bound missed or failed:$$failed"; exit 1; }

clean:  ## remove the environment and caches
	rm -rf .venv .mypy_cache .ruff_cache .pytest_cache build *.egg-info

.venv/bin/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 10))' \
		|| { echo "Python 3.10 or newer is needed; set PYTHON=/path/to/python3"; exit 1; }
	@$(PYTHON) -m venv .venv || { rm -rf .venv; exit 1; }

.venv/run: requirements.txt .venv/bin/python
	@$(PIP) install -r requirements.txt
	@touch $@

.venv/dev: requirements-dev.txt requirements.txt .venv/bin/python
	@$(PIP) install -r requirements-dev.txt
	@touch .venv/run $@
