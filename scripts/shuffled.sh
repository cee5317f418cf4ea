#!/bin/sh
# shuffled.sh DAY PROGRAM…: what `go test -exec` runs: a test program with its tests in the order of the number DAY. Go never keeps the results
# of `go test -shuffle`. It keeps these, because DAY is a part of its key, and because the program writes which files it has read (testlog.txt)
# to the place where Go looks for it. If Go looks elsewhere one day, it keeps nothing.
set -eu
day=$1
shift
case $1 in
*.test) set -- "$@" -test.testlogfile="$(dirname "$1")/testlog.txt" ;;
esac
exec "$@" -test.shuffle="$day"
