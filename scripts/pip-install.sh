#!/bin/sh
# pip-install.sh NAME REQUIREMENTS TO: installs the Python packages of the file REQUIREMENTS into the folder TO, if they are not there. What was
# installed stays in the user's cache folder. TO has hard links to it, so a test may add files and delete files.
set -eu
cd "$(dirname "$0")/.."
. scripts/remember.sh

name=$1 from=$2 to=$3
if cmp -s "$from" "$to/.installed"; then
	exit 0
fi
kept=$(kept installed)/$name-$({ python3 --version && cat "$from"; } | sha256sum | cut -c -40)
if [ ! -d "$kept" ]; then
	echo "$name: installing (pip install)"
	mkdir -p "$kept.$$"
	python3 -m pip install --quiet --disable-pip-version-check --root-user-action ignore --no-deps --no-compile --only-binary :all: \
		--cache-dir .cache/pip --target "$kept.$$" --requirement "$from"
	cp "$from" "$kept.$$/.installed"
	mv -T "$kept.$$" "$kept" 2>/dev/null || rm -rf "$kept.$$" # another clone was faster
fi
rm -rf "$to"
mkdir -p "$to"
cp -al "$kept/." "$to" 2>/dev/null || cp -a "$kept/." "$to" # a link does not lead to another disk
