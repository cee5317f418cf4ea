#!/bin/sh
# wasm-test.sh PACKAGES...: runs the tests of these packages as WebAssembly in Node.
# Tests that plant faults do not run here: who finds a fault does not depend on the platform. The step mutate-code plants those of the machines' tables, and
# the step unit those of the composition.
set -eu
cd "$(dirname "$0")/.."

export GOOS=js GOARCH=wasm
packages=$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' "$@")

export PATH="$PWD/scripts:$PATH"
# shellcheck disable=SC2086 # a list of words
exec go test -vet=off -ldflags='-s -w' -timeout 30m -skip '^TestProve$/^no_mutant|^(TestMutantsAreSeen|TestInvariantsBite|TestCallsFind|TestCallsFindRows|TestCallsShrink)$' -exec "shuffled.sh $(date +%Y%m%d)" $packages
