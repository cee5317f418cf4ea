#!/bin/sh
# Passes everything, cheap steps first, and stops at the first failure. Each step is a make target of the same name.
set -eu
cd "$(dirname "$0")/.."

report=
passed=0
began=$(date +%s)

step() {
	started=$(date +%s)
	echo "== $1"
	shift_name=$1
	shift
	if ! "$@"; then
		echo "$report"
		echo "FAILED: $shift_name. To run this step again: $*"
		echo "steps: $passed passed, 1 failed"
		exit 1
	fi
	passed=$((passed + 1))
	report="$report
$(printf 'ok  %-10s %4d s' "$shift_name" $(($(date +%s) - started)))"
}

target() {
	name=$1
	shift
	step "$name" make --no-print-directory "$name" "$@"
}

step setup scripts/setup.sh test
target tidy
target fmt-check
target build
target generated
target lint
target house
target race
target wasm-test
target examples
target fuzz FUZZTIME=5s
target e2e

echo "$report"
echo "all in $(($(date +%s) - began)) s"
echo "steps: $passed passed, 0 failed"
