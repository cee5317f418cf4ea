#!/bin/sh
# fuzz.sh TIME: run every fuzz target for TIME each, those of the nested modules too.
set -eu
cd "$(dirname "$0")/.."

targets=$(git grep --untracked -h -o -E '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | sed 's/^func //' | sort -u)
[ -n "$targets" ] || {
	echo "fuzz: no fuzz target found" >&2
	exit 1
}

# On a busy machine the fuzzing engine itself may miss its own end and say "context deadline exceeded" without an input that
# fails. That is no finding: the target is run again. A finding names its input, and is one at once.
# An input that reaches something new is made smaller in ten tries: the minute that is usual would be all the time there is.
run() {
	log=$(mktemp)
	for try in 1 2 3; do
		if go -C "$3" test -run '^$' -fuzz "^$1\$" -fuzztime "$2" -fuzzminimizetime 10x . >"$log" 2>&1; then
			cat "$log"
			rm -f "$log"
			return 0
		fi
		cat "$log"
		if grep -q 'Failing input' "$log" || ! grep -q 'context deadline exceeded' "$log"; then
			break
		fi
		echo "fuzz: $1 missed its end (try $try), once more"
	done
	rm -f "$log"
	return 1
}

for target in $targets; do
	for file in $(git grep --untracked -l -E "^func $target\(" -- '*_test.go'); do
		echo "fuzz: $target in $(dirname "$file") for $1"
		run "$target" "$1" "$(dirname "$file")"
	done
done
