#!/bin/sh
# bench-models.sh LETTERS COUNT: measures the recognisers and the synthesizers that run on this machine, with what scripts/setup.sh test installs.
# LETTERS, such as a-m, are the initial letters of the prompts. COUNT is how many prompts; 0 means all.
set -eu
cd "$(dirname "$0")/.."
scripts/models.sh
mkdir -p .cache
go -C e2e build -o ../.cache/enginebench ./enginebench
exec .cache/enginebench -models .cache/models -prompts "$1" -n "$2"
