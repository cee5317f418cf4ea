#!/bin/sh
# bench-models.sh LETTERS COUNT: measures the recogniser and the synthesizers that run on this machine, with what scripts/setup.sh test installs.
# LETTERS, such as a-m, are the initial letters of the prompts. COUNT is how many prompts; 0 means all.
set -eu
cd "$(dirname "$0")/.."
scripts/models.sh
go -C e2e test -count=1 -timeout 3h -run '^$' -bench . -benchtime 1x ./enginebench -args -prompts "$1" -sentences "$2"
