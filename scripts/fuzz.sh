#!/bin/sh
# fuzz.sh TIME: runs every fuzz target for TIME, also those of the nested modules. As many targets run at a time as there are
# processors, each with one worker. Each package is built once, with instrumentation, before its targets run.
# fuzz.sh TIME TARGET FOLDER: runs one target.
set -eu
cd "$(dirname "$0")/.."

# built FOLDER: the test program of a package, instrumented for fuzzing.
built() { echo "$PWD/.cache/fuzz/$(echo "$1" | tr / _).test"; }
build() { go -C "$1" test -vet=off -ldflags='-s -w' -c -fuzz . -o "$(built "$1")" .; }

if [ $# -eq 1 ]; then
	targets=$(git grep --untracked -o -E '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | sed -E 's#^(.*)/[^/]*:func (.*)$#\2 \1#' | sort -u)
	[ -n "$targets" ] || {
		echo "fuzz: no fuzz target found" >&2
		exit 1
	}
	rm -rf .cache/fuzz
	mkdir -p .cache/fuzz
	for folder in $(echo "$targets" | cut -d ' ' -f 2 | sort -u); do
		build "$folder"
	done
	echo "$targets" | FUZZ_BUILT=yes xargs -L 1 -P "$(nproc)" scripts/fuzz.sh "$1"
	exit
fi

[ -n "${FUZZ_BUILT:-}" ] || build "$3"
program=$(built "$3")
# Where `go test -fuzz` keeps the inputs that reached something new, too.
found=$(go env GOCACHE)/fuzz/$(go -C "$3" list .)

# On a busy machine the fuzzing engine itself may miss its own end and say "context deadline exceeded" without an input that
# fails. That is no finding: the target is run again. A finding names its input, and is one at once.
# An input that reaches something new is made smaller in ten tries: the minute that is usual would be all the time there is.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for try in 1 2 3; do
	echo "fuzz: $2 in $3 for $1" >"$log"
	if (cd "$3" && "$program" -test.run '^$' -test.fuzz "^$2\$" -test.fuzztime "$1" -test.fuzzminimizetime 10x -test.parallel 1 \
		-test.fuzzcachedir "$found" -test.paniconexit0 -test.timeout 0) >>"$log" 2>&1; then
		cat "$log"
		exit
	fi
	cat "$log"
	if grep -q 'Failing input' "$log" || ! grep -q 'context deadline exceeded' "$log"; then
		break
	fi
	echo "fuzz: $2 missed its end (try $try), once more"
done
exit 1
