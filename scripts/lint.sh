#!/bin/sh
# lint.sh: runs the linter on each module natively, and also for js/wasm on what has files for the browser alone; and a checker of shell scripts.
#
# The linter looks at all dependencies of a package, which takes most of its time, and keeps what it finds. What it keeps belongs to the path and the
# content of go.mod. Outside of a module there is none: so the linter runs there, in a workspace of one module, and all modules and all clones of a user
# share what is known of their dependencies. The linter does not tell platforms apart: each has a folder of its own.
set -eu
cd "$(dirname "$0")/.."
here=$PWD
cache=${XDG_CACHE_HOME:-$HOME/.cache}/antiphon/lint

# What has files for the browser alone. The other packages of what a browser runs are the same files on every platform.
browser='sdk/browser wasm web'

# lint PLATFORM MODULE FOLDER...
lint() {
	export GOLANGCI_LINT_CACHE="$cache/$1" GOWORK="$here/.cache/lint/go.work"
	rm -rf .cache/lint
	mkdir -p .cache/lint "$GOLANGCI_LINT_CACHE"
	go work init "$2"
	shift 2
	for folder; do
		shift
		set -- "$@" "$here/$folder/..."
	done
	(cd "$GOLANGCI_LINT_CACHE" && "$here/.cache/bin/golangci-lint" run -c "$here/.golangci.yml" "$@")
}

for module in . e2e tools formal-verification formal-verification/setup; do
	lint native $module $module
done
export GOOS=js GOARCH=wasm
# shellcheck disable=SC2086 # a list of words
lint js . $browser
shellcheck scripts/*.sh .ci/run .githooks/*
