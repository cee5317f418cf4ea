#!/bin/sh
# shuffled.sh DAY PROGRAM…: what `go test -exec` runs: a test program with its tests in the order of the number DAY. Go never keeps the results
# of `go test -shuffle`. It keeps these, because DAY is a part of its key, and because the program writes which files it has read (testlog.txt)
# to the place where Go looks for it. If Go looks elsewhere one day, it keeps nothing. The command is a part of the key, too: it is found by its
# name alone, so that all clones of a user share the results of tests that read no file of the clone.
set -eu
day=$1
shift
log=$(dirname "$1")/testlog.txt
if [ "${GOOS:-}" = js ]; then
	# Go's wasm runtime refuses to start when the environment is large: pass on only what is needed.
	set -- env -i PATH="$PATH" HOME="$HOME" GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT="${GOMEGA_DEFAULT_EVENTUALLY_TIMEOUT:-20s}" "$(go env GOROOT)/lib/wasm/go_js_wasm_exec" "$@"
fi
exec "$@" -test.testlogfile="$log" -test.shuffle="$day"
