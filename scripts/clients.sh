#!/bin/sh
# Installs the clients of other projects into .cache/clients, in the versions of the lock file and of requirements.txt in e2e/clients, if
# they are not there.
set -eu
cd "$(dirname "$0")/.."

scripts/npm-ci.sh clients e2e/clients .cache/clients
scripts/pip-install.sh clients e2e/clients/requirements.txt .cache/clients/python
