#!/bin/sh
# wasm-test.sh PACKAGES...: runs the tests of these packages as WebAssembly in Node.
# The faults that are planted into the machines' tables are the step mutate-code: who finds a fault does not depend on the platform.
set -eu
cd "$(dirname "$0")/.."

export GOOS=js GOARCH=wasm
packages=$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' "$@")

export PATH="$PWD/scripts:$PATH"
# shellcheck disable=SC2086 # a list of words
exec go test -vet=off -ldflags='-s -w' -timeout 30m -skip '^TestProve$/^no_mutant|^TestMutantsAreSeen$' -exec "shuffled.sh $(date +%Y%m%d)" $packages
