#!/bin/sh
# sdk.sh [-write]: builds the npm package for a release into sdk/npm/release, with the program compiled by TinyGo. It runs this program,
# and the one compiled by Go, with a simulated page, and TinyGo's in a real Chromium. It checks the sizes of the files against
# their budget (tools/sdksize/budget.txt). With -write it writes the present sizes into the budget.
set -eu
cd "$(dirname "$0")/.."

out=.cache/sdk
mkdir -p $out
(cd tools/tinygo && go test ./library/...)
scripts/tinygo.sh
# A panic ends the program in both builds: the script says so, and the next call gets a new one. The texts of panics would be a
# fifth of the program.
build() { WASMOPT=$PWD/scripts/wasm-opt.sh scripts/tinygo.sh build -opt z -no-debug -panic trap "$@" ./wasm; }
# One for the test is built beside it, in which a wait that is not foreseen is a trap (wasm-opt.sh), and which collects whenever it
# may and writes over what it frees (library/heap).
(export CHECKED="$PWD/$out/checked.wasm" && build -tags stress -o $out/stress.wasm) &
build -o $out/first.wasm
wait $!
wasm-opt -Oz --converge --strip-producers --strip-target-features $out/first.wasm -o $out/antiphon.wasm

CGO_ENABLED=0 go run ./web/internal/build script
CGO_ENABLED=0 go run ./web/internal/build script -npm sdk/npm/release -embed "" \
	-wasm $out/antiphon.wasm -exec .cache/tinygo/root/targets/wasm_exec.js
cp sdk/npm/release/antiphon.wasm sdk/npm/dist/antiphon.tiny.wasm

node tools/tinygo/smoke.mjs sdk/npm/release $out/checked.wasm
for package in release dist; do
	node tools/tinygo/smoke.mjs sdk/npm/$package
done
go -C e2e test -count=1 -vet=off ./release
cd tools
exec go run ./sdksize "$@" sdksize/budget.txt tinygo=../sdk/npm/release/antiphon.wasm go=../sdk/npm/dist/antiphon.wasm \
	loader=../sdk/npm/release/antiphon.js exec=../sdk/npm/release/antiphon-exec.js talk=../sdk/npm/release/antiphon-talk.js
