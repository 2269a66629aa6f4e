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
# What else the program is built with: vulkan or metal. CUDA has a target of its own.
FEATURES =
# More arguments of `bundle create`.
BUNDLE =

target := $(or $(CARGO_TARGET_DIR),target)
ragonite := $(target)/release/ragonite
features := $(if $(FEATURES),--features "$(FEATURES)")

.PHONY: help demo test soak build models portable bundle cuda check-cuda pictures lint clean tools

help: ## show this list
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/  make \1|\2/p' Makefile | awk -F'|' '{ printf "%-16s %s\n", $$1, $$2 }'

demo models bundle: fetch_profile = --release
demo: build fetch-starter ## fetch what is missing, build, and talk to the bundled documents
	@"$(ragonite)" demo

# The profile of development, in which crates that are not ours are optimised: nothing waits for a release build. No test
# leaves this machine. Random events for the screen are few here; RAGONITE_MONKEY_EVENTS=200000 is the full run.
test: tools fetch-tiny ## run every test, those on real (tiny) models included
	RAGONITE_REQUIRE_MODELS=1 $(CARGO) test --workspace --lib --test it

# On real weights answers and explanations are cancelled at random moments; then random events for the screen, so many at
# each of two sizes.
soak: tools fetch-tiny ## cancel 1,000 times and handle 200,000 random events, with memory watched
	RAGONITE_CANCELS=1000 RAGONITE_REQUIRE_MODELS=1 $(CARGO) test --test it -- real_models::soak --nocapture
	RAGONITE_MONKEY_EVENTS=200000 $(CARGO) test --test it -- monkey:: --nocapture

build: tools ## build the program, which has no network code; FEATURES=vulkan or metal for a GPU
	$(CARGO) build --release $(features)

models: build fetch-$(PROFILE) ## fetch the models of PROFILE (starter) that are missing

portable: tools ## build the program for other machines too: processors since 2013 or 2015, in target/portable
	@sh assets/build/portable.sh

# What is carried to a machine without network; BUNDLE="--domain notes -o notes.tar" is more for `bundle create`.
bundle: portable fetch-$(PROFILE) ## pack the portable program and the models of PROFILE into one file
	"$(target)/portable/release/ragonite" bundle create --profile $(PROFILE) $(BUNDLE)

# CUDA_ARCHITECTURES names the GPUs it is for, 86;89;90 for example; CUDA_PATH a toolkit that is here already.
cuda: build ## build ragonite-cuda beside the program, for NVIDIA GPUs; the compiler comes from PyPI
	@sh assets/build/cuda.sh

# What holds without a bit-for-bit equality: the tests of the engine on the tiny model that are not about it, then a
# benchmark, which also counts how often the answers differ.
check-cuda: tools ## try and measure the build for NVIDIA GPUs on this machine's GPU
	@sh assets/build/gpu.sh
	@$(MAKE) --no-print-directory cuda fetch-tiny
	RAGONITE_REQUIRE_MODELS=1 sh assets/build/cuda.sh test --release --features cuda --lib -p ragonite-inference \
		-p ragonite-encoder
	RAGONITE_REQUIRE_MODELS=1 sh assets/build/cuda.sh test --release --features cuda --lib -p ragonite-llama -- gpu:: \
		survival_tests reuse_tests --skip ten_answers_that_fill --skip drafts_at_the_borders \
		--skip a_smaller_state_answers
	sh assets/build/cuda.sh bench --features cuda --bench cuda

pictures: tools ## draw the pictures of README and guide from the screen
	RAGONITE_PICTURES=write $(CARGO) test --test it -- pictures::

lint: tools ## check the format, the lints and the features of the crates
	@sh assets/build/features.sh
	$(CARGO) fmt --check
	$(CARGO) clippy --workspace --all-targets -- -D warnings
	$(CARGO) clippy --workspace --all-targets --features hub -- -D warnings

clean: ## remove what was built; models and your data stay
	$(CARGO) clean

# System packages, the Rust toolchain, and a target folder that fits this processor.
tools:
	@sh assets/build/packages.sh $(FEATURES)
	@sh assets/build/toolchain.sh
	@sh assets/build/processor.sh

# A program of its own fetches weights, so that ragonite itself is built once and without network code. It shares its crates
# with the profile that is built anyway.
fetch-%: tools
	@$(CARGO) run --quiet $(fetch_profile) -p ragonite-download -- $* "$(RAGONITE_MODELS)"
