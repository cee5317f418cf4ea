#!/bin/sh
# Installs the clients of other projects into .cache/clients, in the versions of the lock file in e2e/clients, if they are not there.
set -eu
cd "$(dirname "$0")/.."

exec scripts/npm-ci.sh clients e2e/clients .cache/clients
