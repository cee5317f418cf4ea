#!/bin/sh
# bench-listening.sh LETTERS DRAWS [FLAG...]: measures how well the server finds the end of a turn, with what scripts/setup.sh test installs.
# LETTERS, such as n-z, are the initial letters of the prompts. DRAWS is how many lengths each pause has.
set -eu
cd "$(dirname "$0")/.."
scripts/models.sh
mkdir -p .cache
go build -o .cache/listenbench ./e2e/listenbench
letters=$1 draws=$2
shift 2
exec .cache/listenbench -models .cache/models -prompts "$letters" -draws "$draws" "$@"
