# ragonite: `make demo` is all it takes. Everything here can be interrupted and started again.
SHELL = /bin/sh
.DEFAULT_GOAL := help
# One step after the other: cargo uses all processors by itself.
.NOTPARALLEL:

# rustup puts cargo here, and a fresh shell may not know it yet.
export PATH := $(PATH):$(HOME)/.cargo/bin
# Models lie in the checkout unless told otherwise.
RAGONITE_MODELS ?= $(CURDIR)/models
export RAGONITE_MODELS
CARGO ?= cargo
# The models `make models` fetches: starter, tiny or full.
PROFILE = starter

target := $(or $(CARGO_TARGET_DIR),target)
ragonite := $(target)/release/ragonite

.PHONY: help demo test build models pictures lint clean tools

help: ## show this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

demo: build fetch-starter ## fetch what is missing, build, and talk to the bundled documents
	@"$(ragonite)" demo

# The unit tests with the feature `hub`, so that the room that fetches is among them; no test leaves this machine. The
# integration tests run the program as it is shipped, without it. Random events for the screen are few here;
# RAGONITE_MONKEY_EVENTS=200000 is the full run.
test: build fetch-tiny ## run every test, those on real (tiny) models included
	RAGONITE_REQUIRE_MODELS=1 $(CARGO) test --release --features hub --lib
	RAGONITE_REQUIRE_MODELS=1 $(CARGO) test --release --test it

build: tools ## build the program, which has no network code
	$(CARGO) build --release

models: build fetch-$(PROFILE) ## fetch the models of PROFILE (starter) that are missing

pictures: tools ## draw the pictures of the README from the screen
	RAGONITE_PICTURES=write $(CARGO) test --release --test it -- pictures::

lint: tools ## check the format and the lints
	$(CARGO) fmt --check
	$(CARGO) clippy --release --all-targets -- -D warnings

clean: ## remove what was built; models and your data stay
	$(CARGO) clean

# System packages, the Rust toolchain, and a target folder that fits this processor.
tools:
	@sh assets/build/packages.sh
	@sh assets/build/toolchain.sh
	@sh assets/build/processor.sh

# Only a program built with the feature `hub` can fetch, so it is built just for that, and replaced by the one
# without network code afterwards. Both share everything but our own crate.
fetch-%: build
	@if "$(ragonite)" models verify --profile $* --json >/dev/null 2>&1; then :; else \
		echo "ragonite: fetching the models of the profile $* into $(RAGONITE_MODELS)" >&2; \
		$(CARGO) build --release --features hub && \
		"$(ragonite)" models pull --profile $*; status=$$?; \
		$(CARGO) build --release && exit $$status; \
	fi
