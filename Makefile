# Every command a person or the continuous integration runs; `make` lists them.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help setup build wheel wheel-check train demo test nightly adversarial fuzz mutants check check-rust check-kernel kernel-versions semver-check deny publish-check check-python bench instructions docs site recomputed gallery schema packetdrill interop soak speed format clean tools

# uv manages Python and its packages; where it is missing, a copy is put under .cache.
UV := $(or $(shell command -v uv),$(CURDIR)/.cache/uv/bin/uv)
# maturin calls uv by name.
export PATH := $(PATH):$(CURDIR)/.cache/uv/bin
RUN := $(UV) run --frozen --no-sync
RUST_SOURCES := $(shell find crates -path crates/kernel -prune -o -name '*.rs' -print -o -name Cargo.toml -print) Cargo.toml Cargo.lock
# Where the tests note what they compared with the literature.
export EARLYBIRD_CONFORMANCE := $(CURDIR)/target/conformance
# What was done last; both are skipped while nothing they depend on has changed.
SYNCED := .venv/.synced
BUILT := python/earlybird/_core.abi3.so

help: ## List the commands
	@awk -F ':.*## ' '/^[a-z]+:.*## / { printf "  make %-11s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

setup: $(SYNCED) ## Install what everything else needs

build: $(BUILT) ## Compile the simulator and install the program `earlybird` into .venv (PGO=1: an eighth fewer instructions, in thrice the time)

# zig links against the glibc of 2014, so that the wheel installs on every Linux since (PEP 599).
wheel: $(SYNCED) ## Build the wheel and the source distribution into dist/
	rm -rf dist
	$(RUN) --with ziglang==0.13.0 maturin build --profile extension --locked --strip --zig --compatibility manylinux2014 --out dist
	$(RUN) maturin sdist --out dist

wheel-check: wheel ## Install what `wheel` built where the repository is not, and call the program: a quarter of an hour on two processors
	tools/wheel-check dist/earlybird-*.whl dist/earlybird-*.tar.gz $(UV)

demo: build ## Show with an example whether viewers can watch a video over TCP: an answer and a picture
	@$(RUN) earlybird demo

# The invariants of runs are checked in debug builds only, so that `nightly` draws scenarios in one.
# Property tests draw the same cases each time, so that the same tree gives the same answer; `nightly` draws others.
test: build ## Run all tests
	rm -rf $(EARLYBIRD_CONFORMANCE)
	PROPTEST_RNG_SEED=1 cargo test --workspace --locked
	$(RUN) pytest -n auto
	$(RUN) python tools/conformance.py --check

nightly: build ## Run the property tests with other cases, and more, compute more results a second time, adversarial segments, the fuzzers and some mutants, then all tests
	PROPTEST_CASES=10000 cargo test --release --workspace --locked --test properties --test worlds
	PROPTEST_CASES=5000 cargo test --locked -p earlybird-experiment --test invariants
	$(RUN) pytest -n auto --hypothesis-profile=nightly $$(grep -rl @given tests/python)
	KILLS=20 FLOOD=10 $(RUN) pytest tests/python/test_killed.py tests/python/test_faults.py
	PYTHONPATH=tests/python $(RUN) python -m recomputation $$((10#$$(date +%j) * 100)) $$((10#$$(date +%j) * 100 + 100))
	$(MAKE) adversarial fuzz
	$(MAKE) mutants PART=$$((10#$$(date +%j) % 40))/40
	$(MAKE) test

adversarial: ## Try 10,000,000 adversarial segments, all checks on (PACKETS=… for another number)
	cargo run --profile adversarial --locked -p earlybird-adversarial -- $(or $(PACKETS),10000000)

fuzz: ## Run each fuzzer for a minute (SECONDS_EACH=… for longer); needs a nightly toolchain and cargo-fuzz
	tools/fuzz $(or $(SECONDS_EACH),60)

mutants: $(SYNCED) ## Change the endpoint's rules one by one and see whether its tests notice: takes hours (PART=3/40: every 40th)
	$(RUN) python tools/mutants.py --part $(or $(PART),0/1)

check: check-rust check-python ## Check format, lints, types, stubs, and that the endpoint needs no standard library

check-rust: tools
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked -- -D warnings
	tools/check-no-std earlybird-units earlybird-wire earlybird-tcp
	$(MAKE) publish-check check-kernel

# A workspace of its own, as it needs clang and libelf.
check-kernel: ## Check format and lints of `earlybird-kernel`
	cargo fmt --manifest-path crates/kernel/Cargo.toml --check
	@if missing=$$(tools/kernel-needs); then cargo clippy --manifest-path crates/kernel/Cargo.toml --all-targets --locked -- -D warnings; \
	else echo "skipped: clippy of crates/kernel: apt-get install$$missing"; fi

# The crates that others may take: units, wire and tcp, each built from what would be uploaded.
publish-check: ## Check that units, wire and tcp could be published
	@rm -rf target/publish  # cargo would take what it unpacked of the same version before
	cargo publish --workspace --dry-run --allow-dirty --locked --target-dir target/publish/$$(date +%s)

# Compares with the newest release on crates.io; without any there is nothing to compare with.
semver-check: ## Check that units, wire and tcp keep what their newest release promised; needs cargo-semver-checks
	@for crate in units wire tcp; do \
	  if cargo info --quiet earlybird-$$crate --registry crates-io > /dev/null 2>&1; then cargo semver-checks --package earlybird-$$crate; \
	  else echo "skipped: earlybird-$$crate has no release to compare with"; fi; done

deny: ## Check licences, advisories and sources of the dependencies; needs cargo-deny
	cargo deny --locked check

check-python: build
	$(RUN) ruff check
	$(RUN) ruff format --check
	$(RUN) mypy
	$(RUN) python -m mypy.stubtest earlybird._core
	$(RUN) python tools/prose.py --check

bench: build ## Measure the simulator's speed, then count instructions (FULL=1: all transports, many flows and studies, beside ns-2 where `ns` is installed)
	@$(RUN) earlybird bench $(if $(FULL),--full)
	@$(MAKE) --no-print-directory instructions

instructions: build ## Count instructions, cache misses and mispredictions per packet; fails at 3 % more (UPDATE=1 writes the table)
	@$(RUN) python tools/instructions.py $(if $(UPDATE),--update)

interop: ## Send a gigabyte each way between our stack and the kernel's programs, over links of all kinds (root; MEGABYTES=1000)
	cargo run --release --locked -p earlybird-interop-and-soak --bin interop -- $(or $(MEGABYTES),1000)

soak: ## Let connections come and go for a simulated day, send a stream for ten hours, then half an hour over namespaces; watch the memory
	cargo run --release --locked -p earlybird-interop-and-soak --bin soak -- sim
	cargo run --release --locked -p earlybird-interop-and-soak --bin soak -- stream
	cargo run --release --locked -p earlybird-interop-and-soak --bin soak -- real

speed: ## Measure bulk transfers of our stack beside the kernel's TCP and QUIC (root; fetches quinn)
	cargo run --release --locked --manifest-path bench/speed/Cargo.toml

docs: build ## Write the reference of scenarios, transports and results, and the Rust documentation
	$(RUN) python tools/scenario_reference.py
	$(RUN) python tools/transports.py
	$(RUN) python tools/results_reference.py
	RUSTDOCFLAGS="-D warnings" cargo doc --workspace --no-deps --locked

recomputed: build ## Compute the results of drawn scenarios a second time and write docs/recomputed.md
	$(RUN) python tools/recomputed.py

gallery: build ## Run the notebooks of docs/notebooks and write the gallery anew, pictures included
	$(RUN) python tools/gallery.py

# In an environment of its own: nothing else needs mkdocs.
site: export UV_PROJECT_ENVIRONMENT := $(CURDIR)/.cache/site
site: $(UV) ## Build the documentation's site into target/site (python3 -m http.server -d target/site shows it); any dead link fails
	$(UV) run --frozen --only-group docs mkdocs build --strict

# Beside this Python's programs, where `earlybird kernel` looks first. It carries its eBPF, so that a copy is all another
# machine of the same kind needs (and libelf).
kernel: $(SYNCED) ## Compile `earlybird-kernel`, with which PERT is loaded into the kernel (clang, libelf), and test it where it may
	@missing=$$(tools/kernel-needs) || { echo "something is missing: apt-get install$$missing" >&2; exit 1; }
	cargo build --release --locked --manifest-path crates/kernel/Cargo.toml
	install crates/kernel/target/release/earlybird-kernel .venv/bin/
	cargo test --release --locked --manifest-path crates/kernel/Cargo.toml

kernel-versions: ## Load PERT into the kernels of Debian 12 (6.1 and 6.12) in virtual machines: two minutes (QEMU, busybox; after `kernel`)
	@$(RUN) python tools/kernel_versions.py

packetdrill: $(SYNCED) ## Run packetdrill's suite against the endpoint: make packetdrill PACKETDRILL=<built checkout>
	cargo build --package earlybird-packetdrill --locked
	$(RUN) python tools/packetdrill.py --checkout "$(PACKETDRILL)"

schema: build ## Write the typed scenario objects anew from the Rust model
	$(RUN) python tools/typed_scenario.py

format: $(SYNCED) ## Format all code
	cargo fmt --all
	$(RUN) ruff check --fix
	$(RUN) ruff format

clean: ## Delete what was built (results and reports stay)
	rm -rf target crates/kernel/target .venv .cache python/earlybird/_core.*.so

# With PGO=1 always: what was built before was perhaps not trained.
$(BUILT): $(SYNCED) $(RUST_SOURCES) $(if $(PGO),train)
	$(RUN) maturin develop --profile extension --uv --locked $(if $(PGO),--pgo)
	@touch $@

$(SYNCED): pyproject.toml uv.lock | tools $(UV)
	$(UV) sync --frozen --no-install-project --inexact --extra all
	@touch $@

$(CURDIR)/.cache/uv/bin/uv:
	@python3 -m venv .cache/uv || { echo "uv is missing and a virtual environment for it cannot be made: apt-get install python3-venv" >&2; exit 1; }
	.cache/uv/bin/python -m pip install --quiet uv

# One line about each tool that cannot be installed from here.
tools:
	@command -v cargo > /dev/null || { echo "cargo is missing: install Rust by rustup, see https://rustup.rs" >&2; exit 1; }
	@python3 -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "python3 3.11 or later is missing" >&2; exit 1; }
