#!/bin/sh
# bench-bargein.sh ROWS CLIENTS COUNT: measures what a user hears who talks over the agent, with our clients and with clients of others. It installs
# the clients of others into .cache/bargein, in the versions of the lock file, if they are not there.
set -eu
cd "$(dirname "$0")/.."

scripts/npm-ci.sh bench-bargein e2e/bargein/npm .cache/bargein

# The small build is made when it is not there, or older than the other; its compiler takes a while to build the first time.
case ",$1," in
,, | *,sizes,*) [ -n "$(find sdk/npm/dist/antiphon.tiny.wasm -newer sdk/npm/dist/antiphon.wasm 2>/dev/null)" ] || scripts/sdk.sh || echo "bench-bargein: no build by TinyGo" >&2 ;;
esac

go -C e2e build -o ../.cache/bargein/bargein ./bargein
exec .cache/bargein/bargein -rows "$1" -clients "$2" ${3:+-n "$3"} -out .cache/bargein/report.md
