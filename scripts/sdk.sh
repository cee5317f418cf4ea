#!/bin/sh
# sdk.sh [-write]: compiles the two programs for browsers with TinyGo: the one behind the page's script (wasm), and the Talk page's (web/app).
# It makes the files that the server sends in internal/pagescript/dist, which are committed, and the npm package in sdk/npm/dist. It runs the first
# program with a simulated page, and the package in a real Chromium, and checks the sizes of the files against their budget
# (tools/sdksize/budget.txt). With -write it writes the present sizes into the budget.
set -eu
cd "$(dirname "$0")/.."

out=.cache/sdk
mkdir -p $out
(cd tools/tinygo && go test ./library/...)
scripts/tinygo.sh
# A panic ends the program: the script says so, and the next call gets a new one. The texts of panics would be a fifth of the program.
build() { WASMOPT=$PWD/scripts/wasm-opt.sh scripts/tinygo.sh build -opt z -no-debug -panic trap "$@"; }
small() { wasm-opt -Oz --converge --strip-producers --strip-target-features "$@"; }
# One for the test is built beside it, in which a wait that is not foreseen is a trap (wasm-opt.sh), and which collects whenever it
# may and writes over what it frees (library/heap).
(export CHECKED="$PWD/$out/checked.wasm" && build -tags stress -o $out/stress.wasm ./wasm) &
build -o $out/first.wasm ./wasm
wait $!
small $out/first.wasm -o $out/antiphon.wasm
build -o $out/first.wasm ./web/app
small $out/first.wasm -o $out/talk-page.wasm

export CGO_ENABLED=0
go run ./web/internal/build generate $out/antiphon.wasm $out/talk-page.wasm .cache/tinygo/root/targets/wasm_exec.js
go run ./web/internal/build npm sdk/npm/dist

node tools/tinygo/smoke.mjs sdk/npm/dist $out/checked.wasm
node tools/tinygo/smoke.mjs sdk/npm/dist
go -C e2e test -count=1 -vet=off -ldflags='-s -w' ./release
cd tools
exec go run ./sdksize "$@" sdksize/budget.txt tinygo=../sdk/npm/dist/antiphon.wasm page=../.cache/sdk/talk-page.wasm \
	loader=../sdk/npm/dist/antiphon.js exec=../sdk/npm/dist/antiphon-exec.js talk=../sdk/npm/dist/antiphon-talk.js
