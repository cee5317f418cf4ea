#!/usr/bin/env bash
# Runs the campaigns, one after the other, and stops at the first failure: what takes too long for `make test`. Run it before a release and before
# an issue is closed. CAMPAIGNS="fuzz chaos" runs these alone. Each campaign is the make target with the same name, or:
#
#   same      1,000 calls with both real ends, each twice: both ends do the same at the same microseconds
#   random    the random conversations of a session in full, without the race detector: make race has a quarter of them
#   opus      100,000 mutated Opus packets, decoded beside libopus: make e2e has 5,000 (docs/opus.md)
#   writers   several writers at the machines' queues, with the race detector, five times on one, two and four processors
set -euo pipefail
cd "$(dirname "$0")/.."

for campaign in ${CAMPAIGNS:-simulate same random writers opus verify-official verify-long fuzz teardown faults chaos services}; do
	began=$SECONDS
	case $campaign in
	simulate) command=(make simulate N=200000) ;;
	same) command=(env ANTIPHON_CALLS=1000 go -C e2e test -count=1 -timeout 30m -run SameSeed ./world) ;;
	random) command=(go test -vet=off -timeout 30m -run Random ./internal/call/session) ;;
	writers) command=(env COUNT=5 scripts/native-test.sh writers) ;;
	opus) command=(env ANTIPHON_OPUS=100000 go -C e2e test -count=1 -timeout 30m -run Mutated -v ./opus) ;;
	fuzz) command=(make fuzz FUZZTIME=60s) ;;
	*) command=(make "$campaign") ;;
	esac
	echo "== ${command[*]}"
	"${command[@]}" || {
		echo "FAILED: $campaign. To run this campaign again: ${command[*]}"
		exit 1
	}
	echo "ok  $campaign, $((SECONDS - began)) s"
done
