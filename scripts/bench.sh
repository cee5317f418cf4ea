#!/bin/sh
# bench.sh REGEXP: runs the benchmarks of all packages, and then the load generator. It prints each figure next to a reference.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .cache

dirs=$(git grep --untracked -l -E '^func Benchmark' -- '*_test.go' ':!tools' ':!formal-verification' ':!e2e' | xargs -n1 dirname | sort -u | sed 's#^#./#')
# shellcheck disable=SC2086 # a list of words
go test -run '^$' -bench "$1" -benchmem $dirs | tee .cache/bench.txt
echo
(cd tools && go run ./benchref ../docs/benchmarks.txt ../.cache/bench.txt)
bin/antiphon bench
