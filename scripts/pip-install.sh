#!/bin/sh
# pip-install.sh NAME REQUIREMENTS TO: installs the Python packages of the file REQUIREMENTS into the folder TO, if they are not there.
set -eu
cd "$(dirname "$0")/.."

name=$1 from=$2 to=$3
if cmp -s "$from" "$to/.installed"; then
	exit 0
fi
echo "$name: installing (pip install)"
rm -rf "$to"
mkdir -p "$to"
python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --no-compile --only-binary :all: \
	--cache-dir .cache/pip --target "$to" --requirement "$from"
cp "$from" "$to/.installed"
