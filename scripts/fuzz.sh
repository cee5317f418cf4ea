#!/bin/sh
# fuzz.sh TIME: run every fuzz target for TIME each, those of the nested modules too: as many at a time as there are
# processors, each with one worker.
# fuzz.sh TIME TARGET FOLDER: that one.
set -eu
cd "$(dirname "$0")/.."

if [ $# -eq 1 ]; then
	targets=$(git grep --untracked -o -E '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | sed -E 's#^(.*)/[^/]*:func (.*)$#\2 \1#' | sort -u)
	[ -n "$targets" ] || {
		echo "fuzz: no fuzz target found" >&2
		exit 1
	}
	echo "$targets" | xargs -L 1 -P "$(nproc)" scripts/fuzz.sh "$1"
	exit
fi

# On a busy machine the fuzzing engine itself may miss its own end and say "context deadline exceeded" without an input that
# fails. That is no finding: the target is run again. A finding names its input, and is one at once.
# An input that reaches something new is made smaller in ten tries: the minute that is usual would be all the time there is.
log=$(mktemp)
trap 'rm -f "$log"' EXIT
for try in 1 2 3; do
	echo "fuzz: $2 in $3 for $1" >"$log"
	if go -C "$3" test -run '^$' -fuzz "^$2\$" -fuzztime "$1" -fuzzminimizetime 10x -parallel 1 . >>"$log" 2>&1; then
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
