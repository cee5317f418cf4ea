#!/bin/sh
# bench-bargein.sh ROWS CLIENTS COUNT: measures what a user hears who talks over the agent, with our clients and with clients of others. It installs
# the clients of others into .cache/bargein, in the versions of the lock file, if they are not there.
set -eu
cd "$(dirname "$0")/.."

scripts/npm-ci.sh bench-bargein e2e/bargein/npm .cache/bargein

go -C e2e build -o ../.cache/bargein/bargein ./bargein
exec .cache/bargein/bargein -rows "$1" -clients "$2" ${3:+-n "$3"} -out .cache/bargein/report.md
