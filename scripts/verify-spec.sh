#!/bin/sh
# verify-spec.sh [FILE]: hold all specs to the gate, or check FILE alone and say in one line what holds.
set -eu
cd "$(dirname "$0")/.."

bin=$PWD/.cache/bin
mkdir -p "$bin"

if [ -z "${1:-}" ]; then
	cd formal-verification
	go build -o "$bin/gate" ./cmd/gate
	exec "$bin/gate"
fi
spec=$(realpath "$1")
cd formal-verification
go build -o "$bin/fizzcheck" ./cmd/fizzcheck
exec "$bin/fizzcheck" "$spec"
