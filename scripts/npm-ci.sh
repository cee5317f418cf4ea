#!/bin/sh
# npm-ci.sh NAME FROM TO: installs the npm packages of the lock file in FROM into TO, if they are not there.
set -eu
cd "$(dirname "$0")/.."

name=$1 from=$2 to=$3
if cmp -s "$from/package-lock.json" "$to/node_modules/.locked"; then
	exit 0
fi
echo "$name: installing (npm ci)"
mkdir -p "$to"
cp "$from/package.json" "$from/package-lock.json" "$from/.npmrc" "$to/"
(cd "$to" && npm ci --cache ../npm --prefer-offline --loglevel error >/dev/null)
cp "$from/package-lock.json" "$to/node_modules/.locked"
