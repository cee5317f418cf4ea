#!/bin/sh
# npm-ci.sh NAME FROM TO: installs the npm packages of the lock file in FROM into TO, if they are not there. What was installed stays in the user's
# cache folder. TO has hard links to it, so a test may add files and delete files.
set -eu
cd "$(dirname "$0")/.."
. scripts/remember.sh

name=$1 from=$2 to=$3
if cmp -s "$from/package-lock.json" "$to/node_modules/.locked"; then
	exit 0
fi
set -- "$from/package.json" "$from/package-lock.json" "$from/.npmrc"
kept=$(kept installed)/$name-$({ node --version && cat "$@"; } | sha256sum | cut -c -40)
if [ ! -d "$kept" ]; then
	echo "$name: installing (npm ci)"
	mkdir -p "$kept.$$"
	cp "$@" "$kept.$$"
	(cache=$PWD/.cache/npm && cd "$kept.$$" && npm ci --cache "$cache" --prefer-offline --loglevel error >/dev/null)
	cp "$from/package-lock.json" "$kept.$$/node_modules/.locked"
	mv -T "$kept.$$" "$kept" 2>/dev/null || rm -rf "$kept.$$" # another clone was faster
fi
mkdir -p "$to"
rm -rf "$to/node_modules"
cp "$@" "$to"
cp -al "$kept/node_modules" "$to" 2>/dev/null || cp -a "$kept/node_modules" "$to" # a link does not lead to another disk
