#!/bin/sh
# sdk.sh [-write]: compiles the two programs for browsers with TinyGo: the one behind the page's script (wasm), and the Talk page's (web/app).
# It makes the files that the server sends in internal/pagescript/dist, which are committed, and the npm package in sdk/npm/dist. It runs the first
# program with a simulated page, and checks the sizes of the files against their budget (tools/sdksize/budget.txt). With -write it writes the present
# sizes into the budget. What TinyGo has made stays in the user's cache folder, for the same sources and versions. e2e/release runs the package in a
# real Chromium.
set -eu
cd "$(dirname "$0")/.."

. scripts/remember.sh
(cd tools/tinygo && go test ./library/...)

# A panic ends the program: the script says so, and the next call gets a new one. The texts of panics would be a fifth of the program.
build() { WASMOPT=$PWD/scripts/wasm-opt.sh scripts/tinygo.sh build -opt z -no-debug -panic trap "$@"; }
small() { wasm-opt -Oz --converge --strip-producers --strip-target-features "$@"; }
# compile FOLDER: compiles the programs into it. One for the test is built beside them, in which a wait that is not foreseen is a trap
# (wasm-opt.sh), and which collects whenever it may and writes over what it frees (library/heap).
compile() {
	scripts/tinygo.sh
	(export CHECKED="$1/checked.wasm" && build -tags stress -o "$1/stress.wasm" ./wasm) &
	build -o "$1/first.wasm" ./wasm
	wait $!
	small "$1/first.wasm" -o "$1/antiphon.wasm"
	build -o "$1/first.wasm" ./web/app
	small "$1/first.wasm" -o "$1/talk-page.wasm"
	cp .cache/tinygo/root/targets/wasm_exec.js "$1"
}

folders=$(GOOS=js GOARCH=wasm go list -deps -f '{{if and .Module .Module.Main}}{{.Dir}}{{end}}' ./wasm ./web/app)
# shellcheck disable=SC2086 # a list of words
out=$(kept compiled)/$({ programs && content_of go.mod go.sum tools/tinygo scripts/sdk.sh scripts/tinygo.sh scripts/wasm-opt.sh $folders; } | sha256sum | cut -c -40)
if [ ! -d "$out" ]; then
	mkdir -p "$out.$$"
	compile "$out.$$"
	rm -f "$out.$$/first.wasm" "$out.$$/stress.wasm"
	mv -T "$out.$$" "$out" 2>/dev/null || rm -rf "$out.$$" # another clone was faster
fi

export CGO_ENABLED=0
go run ./web/internal/build generate "$out/antiphon.wasm" "$out/talk-page.wasm" "$out/wasm_exec.js"
# Tests of other steps read the package: it is only written if it changes.
go run ./web/internal/build npm .cache/sdk
diff -r .cache/sdk sdk/npm/dist >/dev/null 2>&1 || go run ./web/internal/build npm sdk/npm/dist

node tools/tinygo/smoke.mjs sdk/npm/dist "$out/checked.wasm"
node tools/tinygo/smoke.mjs sdk/npm/dist
cd tools
exec go run ./sdksize "$@" sdksize/budget.txt tinygo=../sdk/npm/dist/antiphon.wasm page="$out/talk-page.wasm" \
	loader=../sdk/npm/dist/antiphon.js exec=../sdk/npm/dist/antiphon-exec.js talk=../sdk/npm/dist/antiphon-talk.js
