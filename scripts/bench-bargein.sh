#!/bin/sh
# bench-bargein.sh ROWS CLIENTS COUNT: measures what a user hears who talks over the agent, with our clients and with clients of others. It installs
# the clients of others into .cache/bargein, in the versions of the lock file, if they are not there. ROWS are names of benchmarks, such as
# silence,coughs.
set -eu
cd "$(dirname "$0")/.."

scripts/npm-ci.sh bench-bargein e2e/bargein/npm .cache/bargein

printf 'commit %s, %s, load %s\n' "$(git describe --always --dirty --abbrev=12)" "$(chromium --version)" "$(cut -d ' ' -f 1 /proc/loadavg)"
go -C e2e test -count=1 -vet=off -timeout 3h -run '^$' -bench "(?i)^Benchmark($(echo "$1" | tr , '|'))" -benchtime 1x ./bargein -args \
	-clients "$2" ${3:+-interruptions "$3"}
