#!/bin/sh
# verify-spec.sh [FILE]: runs the gate on all specifications, or checks FILE alone and prints the result on one line.
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
