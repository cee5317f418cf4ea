#!/bin/sh
# wasm-test.sh PACKAGES...: runs the tests of these packages as WebAssembly in Node.
# The faults that are planted into the machines' tables are the step mutate-code: who finds a fault does not depend on the platform.
set -eu
cd "$(dirname "$0")/.."

export GOOS=js GOARCH=wasm
packages=$(go list -f '{{if or .TestGoFiles .XTestGoFiles}}{{.ImportPath}}{{end}}' "$@")

# Go's wasm runtime refuses to start when the environment is large: pass on only what is needed.
runner="$PWD/scripts/shuffled.sh $(date +%Y%m%d) env -i PATH=$PATH HOME=$HOME GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT=${GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT:-20s} $(go env GOROOT)/lib/wasm/go_js_wasm_exec"
# shellcheck disable=SC2086 # a list of words
exec go test -vet=off -ldflags='-s -w' -timeout 30m -skip '^TestProve$/^no_mutant|^TestMutantsAreSeen$' -exec "$runner" $packages
