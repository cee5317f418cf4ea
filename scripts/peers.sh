#!/bin/sh
# peers.sh: installs the servers of others that e2e/peers runs into .cache/peers, in the versions of its requirements.txt, if they are not
# there.
set -eu
cd "$(dirname "$0")/.."

exec scripts/pip-install.sh peers e2e/peers/requirements.txt .cache/peers
