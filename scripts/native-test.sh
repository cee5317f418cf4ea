#!/bin/sh
# Unit tests on this machine. The linter has vetted already; e2e and the examples have their own steps.
set -eu
cd "$(dirname "$0")/.."

# The package that takes longest begins first, so that the others run beside it.
packages="./server/session $(go list ./... | grep -v -e '/e2e$' -e '/e2e/' -e '/examples/' -e '/examples$')"
export CGO_ENABLED=1 # the race detector is C
# shellcheck disable=SC2086 # a list of words
go test -race -shuffle=on -vet=off -timeout 10m $packages

# Several writers at the real Coordinators' queues, again and again on one, two and four processors.
exec go test -race -vet=off -timeout 10m -cpu=1,2,4 -count=5 -run '^(TestProve|TestRace|TestOneWriter)$/^several' ./coord/...
