#!/bin/sh
# native-test.sh unit|race|writers: runs unit tests on this machine. It runs no vet, because the linter does. e2e and the examples have their own steps.
#
# unit: the packages that start no goroutine, without the race detector: it would find nothing there, and it makes the exploration of
#       the machines three times slower. tools/house holds that these packages start none, but for the tests that "several" names.
#       Without the tests that are the steps mutate-code and simulate. And a test of the configuration that computes prints of voices with it: it
#       starts no goroutine either.
# race: all other packages, three at a time because they also wait, and the tests that "several" names, with the race detector. Without the tests
#       of the step protocol.
# writers: the tests that "several" names alone, COUNT times.
#
# The order of the tests changes daily: so Go takes the result of a package that has not changed since its last run of the day from its cache.
# The test programs have no tables for debuggers (-s -w): linking them takes half as long, and the traces of stacks are the same.
set -eu
cd "$(dirname "$0")/.."
export PATH="$PWD/scripts:$PATH"
shuffled="shuffled.sh $(date +%Y%m%d)"

pure='coord internal/coord internal/coordtest internal/projection wire internal/voice internal/protocolcheck web/internal
	internal/apikey internal/machinegen internal/script internal/call/ratelimit internal/call/room internal/call/rtc/opus
	internal/call/incoming internal/call/rtc/internal/offer internal/call/rtc/internal/queue internal/call/rtc/internal/shared
	internal/engine/assistant internal/engine/badserver internal/engine/dynlib internal/engine/endofturn
	internal/engine/fit internal/engine/latency internal/engine/ownprocess internal/engine/pipetest internal/engine/remote
	internal/engine/rnnoise internal/engine/sounds internal/engine/speakable internal/engine/spell
	internal/engine/voiceprint
	sdk/internal/bargein sdk/internal/outgoing sdk/internal/playback sdk/internal/reconciliation sdk/internal/reconnect
	sdk/internal/runs sdk/internal/tools sdk/internal/transcript sdk/internal/words'

several='^(TestProve|TestRace|TestOneWriter|TestCalls|TestEventsAreEncodedAtOnceByMany)$/^several'

patterns=
for folder in $pure; do
	patterns="$patterns ./$folder/..."
done
# shellcheck disable=SC2086 # lists of words, here and below
case $1 in
unit)
	go test -exec "$shuffled" -vet=off -ldflags='-s -w' -timeout 30m -skip '^(TestProve|TestMutantsAreSeen|TestCalls)$' $patterns
	exec go test -exec "$shuffled" -vet=off -ldflags='-s -w' -run '^TestTheSectionVoices$' ./server/pipeline/config
	;;
race | writers)
	export CGO_ENABLED=1 # the race detector is C
	if [ "$1" = race ]; then
		mkdir -p .cache
		go list $patterns >.cache/pure.txt
		# The package that takes longest begins first, so that the others run beside it.
		packages="./internal/call/session $(go list ./... | grep -v -e '/examples/' -e '/examples$' | grep -vxF -f .cache/pure.txt)"
		go test -race -p 3 -exec "$shuffled" -vet=off -ldflags='-s -w' -timeout 30m \
			-skip '^(TestCoverage|TestMonologue|TestGarbageInEveryField|TestTheSectionVoices)$' $packages
	fi

	# Tests of the packages without goroutines that start some: several writers at the real Coordinators' queues, on
	# one, two and four processors, calls that are played on all processors, and an event that several connections encode at once.
	exec go test -race -vet=off -ldflags='-s -w' -timeout 30m -cpu=1,2,4 ${COUNT:+-count="$COUNT"} -run "$several" ./coord/... ./internal/coord/... ./internal/coordtest/... ./wire
	;;
*)
	echo "usage: $0 unit|race|writers" >&2
	exit 2
	;;
esac
