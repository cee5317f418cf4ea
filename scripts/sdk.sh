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

# folder prints where the programs are kept that are made of the present files of this module and of these versions of others.
of() { GOOS=js GOARCH=wasm go list -deps -f "$1" ./wasm ./web/app; }
folder() {
	# shellcheck disable=SC2016 # Go's own variables
	files=$(of '{{if and .Module .Module.Main}}{{$d := .Dir}}{{range .GoFiles}}{{$d}}/{{.}} {{end}}{{range .EmbedFiles}}{{$d}}/{{.}} {{end}}{{end}}')
	# shellcheck disable=SC2086 # a list of words
	echo "$(kept compiled)/$({ programs && of '{{if and .Module (not .Module.Main)}}{{.Module}}{{end}}' &&
		content_of tools/tinygo scripts/sdk.sh scripts/tinygo.sh scripts/wasm-opt.sh $files; } | sha256sum | cut -c -40)"
}
out=$(folder)
if [ ! -d "$out" ]; then
	rm -rf "$out.$$"
	mkdir -p "$out.$$"
	compile "$out.$$"
	rm -f "$out.$$/first.wasm" "$out.$$/stress.wasm"
	[ "$(folder)" = "$out" ] || {
		rm -rf "$out.$$"
		echo "sdk: the sources have changed while they were compiled: run make sdk again" >&2
		exit 1
	}
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
