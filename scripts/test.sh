#!/bin/sh
# Passes everything, cheap steps first, and stops at the first failure. Each step is a make target of the same name.
#
#   race       all packages but e2e, examples and tools: natively, shuffled, with the race detector. The exploration of the
#              machines is part of it; there is no run without the detector, since it finds all that one would.
#   protocol   every event and field of the protocol by real sessions, as a figure
#   simulate   20,000 whole calls on virtual time, without the detector
#   wasm-test  what a browser runs (coord, wire, voice, sdk, web), all of its tests again under js/wasm
#   sdk        the npm package as it is released, compiled by TinyGo: its program runs, and its files keep to their budget
#   fuzz       every fuzz target for 20 seconds, from its corpus on; FUZZTIME makes `make fuzz` take longer
#   e2e        whole calls in real time, without the race detector: twenty at once, and a real Chromium
#   trace-check  what the machines of these servers did, held to the tables and to the specs
set -eu
cd "$(dirname "$0")/.."

export MAKEFLAGS="${MAKEFLAGS:-} --no-print-directory"
report=
passed=0
began=$(date +%s)

# step NAME COMMAND...
step() {
	name=$1
	shift
	started=$(date +%s)
	echo "== $name"
	if ! "$@"; then
		echo "$report"
		echo "FAILED: $name. To run this step again: $*"
		echo "steps: $passed passed, 1 failed"
		exit 1
	fi
	passed=$((passed + 1))
	report="$report
$(printf 'ok  %-10s %4d s' "$name" $(($(date +%s) - started)))"
}

target() {
	step "$1" make "$@"
}

step setup scripts/setup.sh test
target tidy
target fmt-check
target build
target generated
target lint
target house
target verify-spec
target verify-test
target verify-official
target race
target protocol
target mutate-code
target simulate
target wasm-test
target sdk
target types
target examples
target fuzz FUZZTIME=20s
target e2e
target trace-check

echo "$report"
echo "all in $(($(date +%s) - began)) s"
echo "steps: $passed passed, 0 failed"
