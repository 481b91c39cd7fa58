# Two commands do everything on a fresh Debian machine with Rust and Node:
#   make run    opens the app        make test   runs every check and test
# Each target is idempotent and calls `setup` itself.

.DEFAULT_GOAL := help
SECONDS ?= 60
HISTORIES ?= 4000
.PHONY: help setup run test demo sim sim-link sim-membership soak bench bench-engine bench-relay bench-app bench-idle bench-link bench-membership bench-wormhole fuzz wormhole screenshots bindings clean

help: ## list the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

setup: ## install what this machine lacks: Debian packages, node modules, cargo-deny
	@scripts/setup

run: setup ## build and open the app (in a virtual display where there is none)
	@scripts/run

test: setup ## run every check and every test, and print a summary
	@scripts/test

demo: setup ## two devices, one relay, 400 messages, everything killed on the way
	@cargo build --quiet --package sealpost-relay --package sealpost-cli --package sealpost-tests --bins
	@cargo run --quiet --package sealpost-tests --bin demo

soak: setup ## load and SIGKILL for SECONDS=60, nothing may be lost; SEED= repeats a plan
	@cargo build --quiet --package sealpost-relay --package sealpost-tests --bins
	@SEALPOST_PROGRAMS_BUILT=1 SECONDS=$(SECONDS) SEED=$(SEED) cargo run --quiet --package sealpost-tests --bin soak

sim: setup ## simulated histories for SECONDS seconds (SECONDS=600)
	@cargo run --quiet --package sealpost-tests --bin sim -- --seconds $(SECONDS)

# The machine as optimised as its libraries are, and the dice; nothing else is built anew.
MEMBERSHIP_RUN = cargo run --quiet --package sealpost-tests \
	--config profile.dev.package.ppv-lite86.opt-level=3 \
	--config profile.dev.package.rand_chacha.opt-level=3 \
	--config profile.dev.package.sealpost-engine.opt-level=3 \
	--config profile.dev.package.sealpost-tests.opt-level=3

sim-membership: setup ## stress of membership for SECONDS seconds; ONLY=s4 one scenario, SEED=s4-17 one history
	@$(MEMBERSHIP_RUN) --bin sim-membership -- --seconds $(SECONDS) --only "$(ONLY)" --seed "$(SEED)"

sim-link: setup ## faults of links, HISTORIES=4000 for each row of the table; FIRST= begins at another seed
	@$(MEMBERSHIP_RUN) --bin sim-link -- --histories $(HISTORIES) --first $(or $(FIRST),1)

bench: setup ## measure the relay against this disk
	@cargo bench --package sealpost-relay --bench push

bench-engine: setup ## measure what a device promises: catch-up, send, outbox, log; about two minutes
	@cargo bench --package sealpost-engine --bench engine

bench-relay: setup ## measure the relay beside NATS, Redis, PostgreSQL and RabbitMQ; see docs/performance.md
	@scripts/bench-peers
	@cargo build --quiet --release --package sealpost-relay --package sealpost-bench --bins
	@cargo run --quiet --release --package sealpost-bench --bin bench-relay

bench-idle: setup ## 10,000 idle devices and 1,000,000 waiting blobs; about three minutes
	@cargo build --quiet --release --package sealpost-relay --package sealpost-bench --bins
	@cargo run --quiet --release --package sealpost-bench --bin bench-idle

bench-link: setup ## measure the mailboxes for phones beside etcd; about four minutes
	@scripts/bench-peers
	@cargo build --quiet --release --package sealpost-relay --package sealpost-bench --bin sealpost-relay --bin bench-link
	@target/release/bench-link

bench-wormhole: setup ## measure the wormhole door beside the Python mailbox server; about two minutes
	@scripts/wormhole-peers
	@cargo build --quiet --release --package sealpost-relay --bin sealpost-relay
	@ulimit -n 16384 2>/dev/null || true; PATH="$(CURDIR)/target/wormhole-peers/python/bin:$$PATH" PYTHONDONTWRITEBYTECODE=1 \
		SEALPOST_RELAY_PROGRAM="$${CARGO_TARGET_DIR:-$(CURDIR)/target}/release/sealpost-relay" python tests/wormhole/bench.py

bench-membership: setup ## count what one admission sends, beside the published rule
	@$(MEMBERSHIP_RUN) --bin bench-membership

bench-app: setup ## measure start, memory, idle work and 50,000 messages of the app; about ten minutes
	@npm run --silent build
	@cargo build --quiet --release --package sealpost --bin sealpost-app
	@cargo build --quiet --release --package sealpost-relay --package sealpost-tests --bin sealpost-relay --bin bench-app
	@SEALPOST_PROGRAMS_BUILT=1 target/release/bench-app

fuzz: setup ## search for bytes that break the relay, SECONDS=60 for each TARGET=
	@SECONDS_EACH=$(or $(SECONDS),60) scripts/fuzz $(TARGET)

wormhole: setup ## the tests of Magic Wormhole's client and server, Python and Rust clients, against the relay
	@cargo build --quiet --package sealpost-relay --bin sealpost-relay
	@scripts/wormhole-peers --rust
	@scripts/wormhole-tests

screenshots: setup ## a picture of every screen in target/screenshots; ONLY=name, or ONLY=--docs for docs/pictures
	@scripts/screenshots $(ONLY)

bindings: ## write the TypeScript types of the app's view anew
	@SEALPOST_WRITE_BINDINGS=1 cargo test --quiet --package sealpost --lib -- bindings qr_code

clean: ## remove everything that was built
	@cargo clean
	@rm -rf node_modules ui/dist .tools
