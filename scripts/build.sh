#!/bin/sh
# Builds bin/antiphon with the Talk page and the page's script inside, and the npm package in sdk/npm/dist. Each part finds out itself
# whether there is anything to do.
set -eu
cd "$(dirname "$0")/.."

[ -x bin/antiphon ] || echo "build: the first time takes a few minutes"
CGO_ENABLED=0 go run ./web/internal/build

version=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)
mkdir -p bin
CGO_ENABLED=0 go build -ldflags "-s -w -X main.version=$version" -o bin/antiphon ./cmd/antiphon
