# The front door. Meson builds (meson.build), scripts/ does the rest; this only knows the words.
# SPDX-License-Identifier: Apache-2.0

PREFIX ?= /usr/local
FUZZ_SECONDS ?= 600
ATTACK_SECONDS ?= 240

.DEFAULT_GOAL := build
.PHONY: build demo check accept asan lint fmt fuzz qemu bench simpoint deb site damage attack callgrind mutate install clean help deps

deps:
	@scripts/install-deps

build: ## compile the library and the tool into build/
	@scripts/install-deps build
	@scripts/build gcc

demo: ## record a small program, with gcc or clang, and look at the log
	@scripts/install-deps build
	@scripts/build gcc
	@scripts/demo

check: deps ## all tests; the last line counts them
	@scripts/run-tests $(if $(TALLY),--tally "$(TALLY)") gcc

accept: deps build ## take what the command line prints as what is expected; then read `git diff tests/cli`
	@ACCEPT=1 tests/cli/run

asan: deps ## all tests under the address and undefined-behaviour sanitizers
	@scripts/run-tests asan

lint: deps ## clang-format and clang-tidy
	@scripts/run-tests format tidy

fmt: deps ## lay out all sources with clang-format
	@scripts/lint fmt

fuzz: deps ## libFuzzer on every target, FUZZ_SECONDS (600) each, two at once
	@scripts/fuzz $(FUZZ_SECONDS)

qemu: deps ## the collector's tests under a newer QEMU, which is built from Debian's source the first time
	@scripts/test-qemu

bench: deps build ## speed as ratios: to a plain loop over the same bytes, and to other tools
	@bench/run

simpoint: deps build ## cycles of a program of 10^10 instructions, out of a dozen intervals of it, against the whole
	@python3 tests/truth/simpoint_tests.py --tool build/src/trackway --rounds 116

callgrind: deps build ## the flight recorder's counts in six of Debian's programs, whose sources it fetches, against callgrind's
	@python3 tests/truth/flight_real.py --tool build/src/trackway --sources build/sources --fetch

damage: deps build ## what 225 damages to a trace of each format cost: records lost, records invented
	@python3 tests/truth/damage.py --tool build/src/trackway --rounds 25

attack: deps build ## damaged and hostile traces and statements against every command, under limits, ATTACK_SECONDS (240)
	@python3 tests/attack/attack.py --tool build/src/trackway --seconds $(ATTACK_SECONDS)

mutate: deps ## one-line changes to a copy of the sources, each of which a quick test must catch
	@scripts/mutate

deb: ## Debian's packages into build/deb, from what is committed; lintian looks at them (debhelper, lintian)
	@scripts/make-deb

site: deps build ## the documents and the manual as static pages, into build/site
	@scripts/make-site --manual "$$(scripts/build gcc --dir)/doc"

install: ## install under PREFIX (/usr/local)
	@scripts/install-deps build
	@scripts/build gcc -Dprefix="$(PREFIX)"
	@meson install -C "$$(scripts/build gcc --dir)" --no-rebuild

clean: ## remove all that was built
	rm -rf build build-clang build-asan build-fuzz build-qemu

help: ## this list
	@sed -n 's/^\([a-z]*\):.*## \(.*\)/  make \1\t\2/p' Makefile | expand -t 20
