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

demo: build fetch-starter ## fetch what is missing, build, and talk to the bundled documents
	@"$(ragonite)" demo

# The unit tests with the feature `hub`, so that the room that fetches is among them; no test leaves this machine. The
# integration tests run the program as it is shipped, without it. Random events for the screen are few here;
# RAGONITE_MONKEY_EVENTS=200000 is the full run.
test: build fetch-tiny ## run every test, those on real (tiny) models included
	RAGONITE_REQUIRE_MODELS=1 $(CARGO) test --release --features hub --lib
	RAGONITE_REQUIRE_MODELS=1 $(CARGO) test --release --test it

# On real weights answers and explanations are cancelled at random moments; then random events for the screen, so many at
# each of two sizes.
soak: build fetch-tiny ## cancel 1,000 times and handle 200,000 random events, with memory watched
	RAGONITE_CANCELS=1000 RAGONITE_REQUIRE_MODELS=1 $(CARGO) test --release --lib -- attribution::soak_tests --nocapture
	RAGONITE_MONKEY_EVENTS=200000 $(CARGO) test --release --test it -- monkey:: --nocapture

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
	RAGONITE_REQUIRE_MODELS=1 sh assets/build/cuda.sh test --release --features cuda --lib -- inference::device \
		inference::encoder inference::llama::survival_tests inference::llama::reuse_tests \
		--skip ten_answers_that_fill --skip drafts_at_the_borders --skip a_smaller_state_answers
	sh assets/build/cuda.sh bench --features cuda --bench cuda

pictures: tools ## draw the pictures of the README from the screen
	RAGONITE_PICTURES=write $(CARGO) test --release --test it -- pictures::

lint: tools ## check the format and the lints
	$(CARGO) fmt --check
	$(CARGO) clippy --release --all-targets -- -D warnings

clean: ## remove what was built; models and your data stay
	$(CARGO) clean

# System packages, the Rust toolchain, and a target folder that fits this processor.
tools:
	@sh assets/build/packages.sh $(FEATURES)
	@sh assets/build/toolchain.sh
	@sh assets/build/processor.sh

# Only a program built with the feature `hub` can fetch, so it is built just for that, and replaced by the one
# without network code afterwards. Both share everything but our own crate.
fetch-%: build
	@if "$(ragonite)" models verify --profile $* --json >/dev/null 2>&1; then :; else \
		echo "ragonite: fetching the models of the profile $* into $(RAGONITE_MODELS)" >&2; \
		$(CARGO) build --release --features hub $(features) && \
		"$(ragonite)" models pull --profile $*; status=$$?; \
		$(CARGO) build --release $(features) && exit $$status; \
	fi
