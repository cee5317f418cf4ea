#!/bin/sh
# Prints how much of the protocol real sessions have sent and taken in a test: events, and fields of them and of their objects.
# Fails when one is missing that is not excluded with a reason, or the other way round.
set -eu
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! go test -count=1 -vet=off -v -run '^TestCoverage$' ./server/session >"$log" 2>&1; then
	cat "$log"
	exit 1
fi
sed -n -E 's/^[[:space:]]*([a-z_]*\.go:[0-9]+: )?((events|fields) covered .*|not seen, .*)/\2/p' "$log"
