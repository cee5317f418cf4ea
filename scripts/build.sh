#!/bin/sh
# Builds bin/antiphon, and the npm package in sdk/npm/dist. What browsers load is committed in internal/pagescript/dist: make sdk makes it.
set -eu
cd "$(dirname "$0")/.."

export CGO_ENABLED=0
go run ./web/internal/build npm sdk/npm/dist
mkdir -p bin
go build -ldflags "-s -w" -o bin/antiphon ./cmd/antiphon
