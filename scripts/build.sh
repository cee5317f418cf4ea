#!/bin/sh
# Builds bin/antiphon with the Talk page inside. Both go builds look for themselves whether there is anything to do.
set -eu
cd "$(dirname "$0")/.."

made=.cache/build
mkdir -p bin $made web/dist

GOOS=js GOARCH=wasm go build -trimpath -ldflags '-s -w' -o $made/app.wasm ./web/app

# The page's program is embedded compressed: gzip, because browsers take it over plain HTTP too.
if ! cmp -s $made/app.wasm $made/packed.wasm || [ ! -s web/dist/app.wasm.gz ]; then
	gzip -9 -n -c $made/app.wasm >$made/app.wasm.gz
	mv $made/app.wasm.gz web/dist/app.wasm.gz
	cp $made/app.wasm $made/packed.wasm
fi

version=$(git describe --tags --always --dirty 2>/dev/null || echo unknown)
CGO_ENABLED=0 go build -trimpath -ldflags "-s -w -X main.version=$version" -o bin/antiphon ./cmd/antiphon
