#!/bin/sh
# verify-spec.sh [FILE]: hold all specs to the gate, or check FILE alone and say in one line what holds.
set -eu

spec=
if [ -n "${1:-}" ]; then
	spec=$(realpath -- "$1")
fi
cd "$(dirname "$0")/.."
bin=$PWD/.cache/bin
mkdir -p "$bin"
cd formal-verification

if [ -z "$spec" ]; then
	go build -o "$bin/gate" ./cmd/gate
	exec "$bin/gate"
fi
go build -o "$bin/fizzcheck" ./cmd/fizzcheck
exec "$bin/fizzcheck" "$spec"
