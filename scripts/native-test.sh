#!/bin/sh
# native-test.sh unit|race: runs unit tests on this machine. It runs no vet, because the linter does. e2e and the examples have their own steps.
#
# unit: the packages that start no goroutine, without the race detector: it would find nothing there, and it makes the exploration of
#       the machines three times slower. tools/house holds that these packages start none, but for the tests that "several" names.
#       Then server/session with all its random runs: with the race detector it has a quarter of them.
# race: all other packages, and the tests that "several" names, with the race detector.
set -eu
cd "$(dirname "$0")/.."

pure='coord wire voice server/pipeline/internal server/pipeline/embedded/assistant web/internal'

several='^(TestProve|TestRace|TestOneWriter|TestCalls|TestEventsAreEncodedAtOnceByMany)$/^several'

patterns=
for folder in $pure; do
	patterns="$patterns ./$folder/..."
done
# shellcheck disable=SC2086 # lists of words, here and below
case $1 in
unit)
	exec go test -shuffle=on -vet=off -timeout 30m $patterns ./server/session
	;;
race)
	export CGO_ENABLED=1 # the race detector is C
	mkdir -p .cache
	go list $patterns >.cache/pure.txt
	# The package that takes longest begins first, so that the others run beside it.
	packages="./server/session $(go list ./... | grep -v -e '/e2e$' -e '/e2e/' -e '/examples/' -e '/examples$' | grep -vxF -f .cache/pure.txt)"
	go test -race -shuffle=on -vet=off -timeout 30m $packages

	# Tests of the packages without goroutines that start some: several writers at the real Coordinators' queues, again and again on
	# one, two and four processors, calls that are played on all processors, and an event that several connections encode at once.
	exec go test -race -vet=off -timeout 30m -cpu=1,2,4 -count=5 -run "$several" ./coord/... ./wire
	;;
*)
	echo "usage: $0 unit|race" >&2
	exit 2
	;;
esac
