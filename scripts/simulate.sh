#!/bin/sh
# simulate.sh N [SEED]: plays whole calls on virtual time, or the calls of one seed, and prints all of them.
# N calls have the machines, and small models of what is between them: a user, a client, a network with delay, loss and outages, and a server with its
# workers (coord/session/calls_test.go). N/40 calls have the session of the SDK and the session of the server as they are (e2e/world),
# in two processes, because each plays on one processor.
# The race detector is off, because a call runs one step at a time.
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
	ANTIPHON_SEED=$2 go test -count=1 -vet=off -v -run '^TestCalls$' ./coord/session
	ANTIPHON_SEED=$2 exec go -C e2e test -count=1 -vet=off -v -run '^TestCalls$' ./world
fi
number N "$1"
if [ "$1" -eq 0 ]; then
	echo "simulate: N=0 plays nothing, and so shows nothing" >&2
	exit 1
fi
log=$(mktemp)
trap 'rm -f "$log" "$log.world" "$log.1" "$log.2"' EXIT
if ! ANTIPHON_SCHEDULES=$1 go test -count=1 -vet=off -timeout 0 -v -run '^TestCalls$' ./coord/session >"$log" 2>&1; then
	cat "$log"
	echo "To play a call of these again: make simulate SEED=n"
	exit 1
fi
joint=$((($1 + 39) / 40))
go -C e2e test -c -vet=off -o "$log.world" ./world
part() { ANTIPHON_CALLS=$joint ANTIPHON_PART=$1 "$log.world" -test.v -test.run '^TestCalls$' >"$log.$1" 2>&1; }
part 1 &
other=$!
failed=0
part 2 || failed=1
wait $other || failed=1
if [ $failed -eq 1 ]; then
	cat "$log.1" "$log.2"
	echo "To play a call of these again: make simulate SEED=n"
	exit 1
fi
echo "$joint calls with both real ends"
# The figures are in the log of the test, its seconds in Go's own line after it.
awk '
	/schedules=/ { sub(/^.*: /, ""); figures = $0; split($1, n, "=") }
	/--- PASS: TestCalls / { gsub(/[()s]/, "", $NF); seconds = $NF + 0 }
	END { printf "%s: %.0f schedules a second\n", figures, n[2] / (seconds > 0 ? seconds : 0.01) }' "$log"
