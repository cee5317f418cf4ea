#!/bin/sh
# Fails if internal/pagescript/dist was made of other sources than the present ones. Runs go generate, and fails if it changes, adds or removes a file: a generated file was then out of date.
set -eu
cd "$(dirname "$0")/.."
mkdir -p .cache

# The content of every file that git knows or would add, so that work in progress does not count as a change.
snapshot() {
	git ls-files -z --cached --others --exclude-standard | sort -zu | xargs -0 sha256sum 2>/dev/null || true
}

go run ./web/internal/build check
snapshot >.cache/before.sum
go generate ./...
snapshot >.cache/after.sum
if ! diff .cache/before.sum .cache/after.sum; then
	echo "generated: the files above were stale; they are new now: look at them and commit them" >&2
	exit 1
fi
