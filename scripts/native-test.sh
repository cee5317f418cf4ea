#!/bin/sh
# native-test.sh unit|race: runs unit tests on this machine. It runs no vet, because the linter does. e2e and the examples have their own steps.
#
# unit: the packages that start no goroutine, without the race detector: it would find nothing there, and it makes the exploration of
#       the machines three times slower. tools/house holds that these packages start none, but for the tests that "several" names.
#       Then internal/call/session with all its random runs: with the race detector it has a quarter of them.
# race: all other packages, and the tests that "several" names, with the race detector.
set -eu
cd "$(dirname "$0")/.."

pure='coord internal/coord internal/coordtest internal/projection wire internal/voice internal/engine/assistant web/internal'
for folder in badserver confine dynlib fit latency ownprocess pipetest remote spell; do
	pure="$pure internal/engine/$folder"
done

several='^(TestProve|TestRace|TestOneWriter|TestCalls|TestEventsAreEncodedAtOnceByMany)$/^several'

patterns=
for folder in $pure; do
	patterns="$patterns ./$folder/..."
done
# shellcheck disable=SC2086 # lists of words, here and below
case $1 in
unit)
	exec go test -shuffle=on -vet=off -timeout 30m $patterns ./internal/call/session
	;;
race)
	export CGO_ENABLED=1 # the race detector is C
	mkdir -p .cache
	go list $patterns >.cache/pure.txt
	# The package that takes longest begins first, so that the others run beside it.
	packages="./internal/call/session $(go list ./... | grep -v -e '/examples/' -e '/examples$' | grep -vxF -f .cache/pure.txt)"
	go test -race -shuffle=on -vet=off -timeout 30m $packages

	# Tests of the packages without goroutines that start some: several writers at the real Coordinators' queues, again and again on
	# one, two and four processors, calls that are played on all processors, and an event that several connections encode at once.
	exec go test -race -vet=off -timeout 30m -cpu=1,2,4 -count=5 -run "$several" ./coord/... ./internal/coord/... ./internal/coordtest/... ./wire
	;;
*)
	echo "usage: $0 unit|race" >&2
	exit 2
	;;
esac
