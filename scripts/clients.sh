#!/bin/sh
# Installs the clients that others wrote into .cache/clients, exactly as the lock of e2e/clients says; nothing to do when they are there.
set -eu
cd "$(dirname "$0")/.."

exec scripts/npm-ci.sh clients e2e/clients .cache/clients
