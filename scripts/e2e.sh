#!/bin/sh
# Runs the end-to-end tests: whole calls in real time. The packages that hold many calls at once run one after the other. The others wait for facts, and run three at a time. The race detector is off, because it is too slow for real time. The packages' own tests run whole calls with it.
set -eu
cd "$(dirname "$0")/.."

# What the machines of the tests' servers did is kept for trace-check.
rm -rf .cache/trace
mkdir -p .cache/trace
export ANTIPHON_TRACES="$PWD/.cache/trace"

# The servers of others that e2e/peers runs.
scripts/peers.sh

# The bundlers of others that e2e/bundlers runs.
scripts/bundlers.sh

# The libopus beside which e2e/opus holds our codec.
scripts/opus.sh

# What the clients of others did is told in the end.
scripts/clients.sh
export ANTIPHON_CLIENT_STEPS="$PWD/.cache/clients/steps.txt"

# The examples, the release and what measures sound are steps of their own. The campaign of faults needs a machine without other work: `make faults` runs it.
packages=$(go -C e2e list ./... | grep -v -e /e2e/examples$ -e /e2e/release$ -e /e2e/faults$ -e /e2e/bargein$)
passed=0
tests() { go -C e2e test -count=1 -vet=off -ldflags='-s -w' -timeout 30m "$@" || passed=1; }
# shellcheck disable=SC2046 # a list of words
tests -p 3 $(echo "$packages" | grep -v -e '/e2e$' -e '/e2e/browser$')
# These wait for sound most of the time: three for each processor.
tests -parallel $(($(nproc) * 3)) .
tests ./browser
cat "$ANTIPHON_CLIENT_STEPS"
exit $passed
