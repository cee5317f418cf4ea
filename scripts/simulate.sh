#!/bin/sh
# simulate.sh N [SEED]: plays N whole calls on virtual time, or the call of one seed, and prints all of it. A call has a user, a client,
# a network with delay, loss and outages, and a server with its workers: see coord/session/calls_test.go. The race detector is off,
# because one call is one goroutine.
set -eu
cd "$(dirname "$0")/.."

# number NAME VALUE: what is no number plays nothing.
number() {
	case $2 in
	'' | *[!0-9]*)
		echo "simulate: $1=$2: expected a number" >&2
		exit 1
		;;
	esac
}

if [ -n "${2-}" ]; then
	number SEED "$2"
	ANTIPHON_SEED=$2 exec go test -count=1 -vet=off -v -run '^TestCalls$' ./coord/session
fi
number N "$1"
if [ "$1" -eq 0 ]; then
	echo "simulate: N=0 plays nothing, and so shows nothing" >&2
	exit 1
fi
log=$(mktemp)
trap 'rm -f "$log"' EXIT
if ! ANTIPHON_SCHEDULES=$1 go test -count=1 -vet=off -timeout 0 -v -run '^TestCalls$' ./coord/session >"$log" 2>&1; then
	cat "$log"
	echo "To play a call of these again: make simulate SEED=n"
	exit 1
fi
# The figures are in the log of the test, its seconds in Go's own line after it.
awk '
	/schedules=/ { sub(/^.*: /, ""); figures = $0; split($1, n, "=") }
	/--- PASS: TestCalls / { gsub(/[()s]/, "", $NF); seconds = $NF + 0 }
	END { printf "%s: %.0f schedules a second\n", figures, n[2] / (seconds > 0 ? seconds : 0.01) }' "$log"
