#!/bin/sh
# fuzz.sh TIME: run every fuzz target of the module for TIME each.
set -eu
cd "$(dirname "$0")/.."

targets=$(git grep --untracked -h -o -E '^func Fuzz[A-Za-z0-9_]*' -- '*_test.go' | sed 's/^func //' | sort -u)
[ -n "$targets" ] || {
	echo "fuzz: no fuzz target found" >&2
	exit 1
}
for target in $targets; do
	for file in $(git grep --untracked -l -E "^func $target\(" -- '*_test.go'); do
		echo "fuzz: $target in $(dirname "$file") for $1"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "$1" "./$(dirname "$file")"
	done
done
