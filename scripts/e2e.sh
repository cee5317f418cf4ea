#!/bin/sh
# Runs the end-to-end tests: whole calls in real time. Packages that wait for facts run four at a time. Beside them, and at a lower priority, run those
# that only compute. The twenty calls at once have the machine for themselves. All other native calls then run beside the Talk page in a browser: both
# wait for sound most of the time. The race detector is off, because it is too slow for real time. The packages' own tests run whole calls with it.
set -eu
cd "$(dirname "$0")/.."

# What the machines of the tests' servers did is kept for trace-check.
rm -rf .cache/trace
mkdir -p .cache/trace
export ANTIPHON_TRACES="$PWD/.cache/trace"

# What others wrote, side by side: the servers that e2e/peers runs, the bundlers of e2e/bundlers, the libopus of e2e/opus, and clients.
scripts/npm-ci.sh axe e2e/browser/npm .cache/axe
waited=
for part in peers bundlers opus clients; do
	"scripts/$part.sh" &
	waited="$waited $!"
done
for part in $waited; do
	wait "$part" || exit 1
done

# What the clients of others did is told in the end.
export ANTIPHON_CLIENT_STEPS="$PWD/.cache/clients/steps.txt"

# The sessions that played again from their logbooks are counted in the end.
export ANTIPHON_REPLAYED="$PWD/.cache/replayed.txt"
rm -f "$ANTIPHON_REPLAYED"

tests() { nice -n "${slower:-0}" go -C e2e test -count=1 -vet=off -ldflags='-s -w' -timeout 30m "$@"; }

# The examples and what measures sound are steps of their own. The campaign of faults needs a machine without other work: `make faults` runs it.
computing='/e2e/\(enginebench\|internal/.*\|listenbench\|noisebench\|opus\|storebench\|voicebench\|world\)$'
packages=$(go -C e2e list ./... | grep -v -e '/e2e$' -e /e2e/browser$ -e /e2e/examples$ -e /e2e/faults$ -e /e2e/bargein$)
crowd='^TestTwentyCallsAtOnce$'
failed=0
# shellcheck disable=SC2046 # a list of words
slower=10 tests -p 2 $(echo "$packages" | grep "$computing") &
# shellcheck disable=SC2046
tests -p 4 ./reach $(echo "$packages" | grep -v -e "$computing" -e /e2e/reach$) || failed=1
wait $! || failed=1
tests -run "$crowd" . || failed=1
# These wait for sound most of the time: three for each processor.
tests -parallel $(($(nproc) * 3)) -skip "$crowd" . &
tests ./browser || failed=1
wait $! || failed=1
cat "$ANTIPHON_CLIENT_STEPS"
echo "e2e: sessions that played again from their logbooks: $(sort "$ANTIPHON_REPLAYED" | uniq -c | sed 's/^ *\([0-9]*\) \(.*\)\.test$/\1 of \2/' | paste -sd, | sed 's/,/, /g')"
exit $failed
