#!/bin/sh
# opus.sh: installs the version of libopus that gopus follows into .cache/opus, as the Python package of e2e/opus/requirements.txt has it, if it is
# not there.
set -eu
cd "$(dirname "$0")/.."

exec scripts/pip-install.sh opus e2e/opus/requirements.txt .cache/opus
