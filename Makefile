# `make lab` sets everything up and opens the first lesson, `make test` sets everything up and runs the checks that
# every change has to pass, `make test-all` every check there is, which takes hours. What they do after setting up
# is in course_utils/authoring/testing.py. Without make: see docs/setup.md.

PYTHON ?= python3
VENV := .venv
COURSE := $(VENV)/bin/python -m course_utils
PIP := $(VENV)/bin/python -m pip
INSTALL := $(PIP) install --disable-pip-version-check -c constraints.txt -e
WANTED := pyproject.toml constraints.txt
PLACE := $(VENV)/.place

# An environment names its own folder in a hundred files: in a folder that was moved, it is made anew. Without its
# pyvenv.cfg, its Python is the system's and would install there; whatever removes an environment removes this file first.
REMOVE_VENV := rm -rf $(VENV)/pyvenv.cfg $(VENV)
useless = test -d $(VENV) && { ! test -f $(VENV)/pyvenv.cfg || { test -f $(PLACE) && test "$$(cat $(PLACE))" != "$(CURDIR)"; }; }
alone = { exec 9<Makefile; flock 9 2>/dev/null || true; }  # two calls at once wait for each other where flock is there

ifneq ($(shell $(useless) && echo useless),)
$(info This folder was moved or copied, or its environment was left half-made: the environment is made anew. Removing the old one may take minutes.)
$(shell $(alone) && $(useless) && $(REMOVE_VENV))
endif

.PHONY: lab test test-all build site clean

lab: $(VENV)/.lab
	@$(COURSE) lab $(if $(PORT),--port $(PORT))

test: $(VENV)/.test
	@$(COURSE) test

test-all: $(VENV)/.test
	@$(COURSE) test --all $(if $(NIGHT),--night $(NIGHT))

build: $(VENV)/.lab
	@$(COURSE) build

site: $(VENV)/.site
	@$(COURSE) site

clean:
	$(REMOVE_VENV) build dist site *.egg-info .pytest_cache .ruff_cache .hypothesis
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is written only after its installation ended well, so an interrupted one is taken up again.
$(VENV)/.lab: $(WANTED)
	@$(set_up) '.[lab]' && touch $@

$(VENV)/.test: $(WANTED)
	@$(set_up) '.[lab,test]' && touch $(VENV)/.lab $@

$(VENV)/.site: $(WANTED)
	@$(set_up) '.[lab,site]' && touch $(VENV)/.lab $@

set_up = $(say) && $(alone) && $(make_venv) && $(INSTALL)
say = echo "Installing what constraints.txt names: minutes the first time, seconds afterwards." && $(smaller)
CPU := PIP_EXTRA_INDEX_URL=https://download.pytorch.org/whl/cpu
smaller = if [ "$$(uname)" = Linux ] && [ -z "$$PIP_EXTRA_INDEX_URL" ] && ! command -v nvidia-smi >/dev/null; then echo \
	"No NVIDIA GPU was found. A build of PyTorch without the 4 GB for GPUs is enough: press Ctrl-C and run $(CPU) make $(MAKECMDGOALS)"; fi

# An environment that works is kept; a missing or half-made one is made anew.
make_venv = { $(PIP) --version >/dev/null 2>&1 || { $(check_python) && $(PYTHON) -m venv --clear $(VENV); }; } \
	&& echo "$(CURDIR)" > $(PLACE)

check_python = { $(PYTHON) -c 'import sys, venv, ensurepip; sys.exit(not (3, 10) <= sys.version_info[:2] <= (3, 13))' \
	>/dev/null 2>&1 || { echo "The course needs Python 3.10 to 3.13 with its venv module, and $(PYTHON) is not that" \
	"($$($(PYTHON) --version 2>&1)): name another one, as in 'make lab PYTHON=python3.12'." >&2; exit 1; }; }
