#!/bin/sh
# Installs bundlers of other projects into .cache/bundlers, in the versions of the lock file in e2e/bundlers, if they are not there.
set -eu
cd "$(dirname "$0")/.."

exec scripts/npm-ci.sh bundlers e2e/bundlers .cache/bundlers
