#!/bin/sh
# Prints how much of the protocol occurs in a test with real sessions: which events and which of their fields. Fails if one is missing
# and not in the list of exceptions, or in this list and not missing. It also runs two tests of a session that compute for long: with the race
# detector they take ten times as long, and other tests take the same paths with it.
set -eu
cd "$(dirname "$0")/.."

log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! go test -vet=off -ldflags='-s -w' -v -run '^(TestCoverage|TestMonologue|TestGarbageInEveryField)$' ./internal/call/session >"$log" 2>&1; then
	cat "$log"
	exit 1
fi
sed -n -E 's/^[[:space:]]*([a-z_]*\.go:[0-9]+: )?((events|fields) covered .*|not seen, .*)/\2/p' "$log"
