#!/bin/sh
# Builds TinyGo for `make sdk`, if it is not there: in the user's cache folder, to which .cache/tinygo is a link. With arguments, for example `scripts/tinygo.sh build ...`, it then runs TinyGo
# with these arguments, for the target antiphon (tools/tinygo/target.json).
#
# TinyGo's module has its compiler and its library, but neither LLVM nor the C library that its programs link: those are
# Debian's. What is put together here of them is
#   .cache/tinygo/bin/tinygo   the compiler, linked with LLVM 19
#   .cache/tinygo/root         its library and targets, with ours, and the two C libraries
#   .cache/tinygo/goroot       links to Go's library, with our own packages in the place of some: tools/tinygo/library
set -eu
cd "$(dirname "$0")/.."
. scripts/apt.sh

wanted="llvm-19-dev libclang-19-dev clang-19 lld-19 wasi-libc libclang-rt-19-dev-wasm32 binaryen g++"

packages() {
	# shellcheck disable=SC2086 # a list of words
	need=$(missing $wanted)
	[ -n "$need" ] || return 0
	# shellcheck disable=SC2086
	install_packages $need || true
	# shellcheck disable=SC2086
	need=$(missing $wanted)
	[ -z "$need" ] && return 0
	echo "tinygo: could not install: $need" >&2
	echo "tinygo: to install it by hand: sudo apt-get install $need (Debian 12 or newer; elsewhere LLVM 19 under these names)" >&2
	exit 1
}

# library puts together the library that programs are compiled with.
library() {
	root=$1
	module=$(cd tools/tinygo && go list -m -f '{{.Dir}}' github.com/tinygo-org/tinygo)
	mkdir -p "$root/lib"
	cp -r "$module/src" "$module/targets" "$root"
	chmod -R u+w "$root"
	mkdir -p "$root/src/net"
	cp tools/tinygo/target.json "$root/targets/antiphon.json"
	cp /usr/lib/wasm32-wasi/libc.a /usr/lib/llvm-19/lib/clang/19/lib/wasi/libclang_rt.builtins-wasm32.a "$root/lib"
	clang-19 --target=wasm32-unknown-wasi -Oz -ffreestanding -c -o "$root/lib/random.o" tools/tinygo/random.c
	# One thread runs the program, and nothing in it waits while it holds a lock. So a lock that is held is a mistake, and ends the
	# program instead of waiting: for a wait every function that takes a lock would have to be unwound (see wasm-opt.sh).
	sed -i '/^\t\t\/\/ Push self onto/,/^\t\treturn$/c\\t\tpanic("sync: a lock is held while its holder waits")' "$root/src/internal/task/mutex-cooperative.go"
	# Memory is collected between two events (library/runtime), and the stacks of goroutines that have ended are freed at once.
	cp tools/tinygo/library/runtime/*.go "$root/src/runtime"
	cp tools/tinygo/library/task/*.go "$root/src/internal/task"
	sed -i '/^func deadlock/,/^}/s/task.Pause/task.End/' "$root/src/runtime/scheduler_cooperative.go"
	sed -i 's/^\tscheduler(false)$/&\n\tidle()/' "$root/src/runtime/scheduler_cooperative.go" "$root/src/runtime/runtime_wasm_js_scheduler.go"
	sed -i 's/^\tcurrentTask = prevTask$/&\n\tt.stopped()/; s/^\tstack := runtime_alloc(.*$/&\n\tStacks++/' "$root/src/internal/task/task_asyncify.go"
	# Go's unicode without its maps: strings takes nothing of them, but TinyGo would fill them when the program starts, and with
	# them comes every table of every script.
	for file in "$(go env GOROOT)"/src/unicode/*.go; do
		case $file in
		*_test.go) ;;
		*) awk '/^var [A-Za-z]+ = map\[/ {skip = 1} !skip {print} /^}/ {skip = 0}' "$file" >"$root/src/unicode/$(basename "$file")" ;;
		esac
	done
}

# goroot puts together what TinyGo takes for Go's own library: links to it, but for the packages that are ours.
goroot() {
	made=$1
	from=$(go env GOROOT)
	rm -rf "$made"
	mkdir -p "$made/src/internal"
	for file in "$from"/* "$from"/src/* "$from"/src/internal/*; do
		case ${file#"$from/"} in
		src | src/internal | src/context | src/internal/godebug) ;;
		*) ln -s "$file" "$made/${file#"$from/"}" ;;
		esac
	done
	cp -r tools/tinygo/library/context "$made/src"
	cp -r tools/tinygo/library/godebug tools/tinygo/library/heap "$made/src/internal"
}

made_of=$({ cat "$0" tools/tinygo/go.mod tools/tinygo/target.json tools/tinygo/random.c tools/tinygo/library/*/*.go && go env GOVERSION GOROOT; } | sha256sum)
here=${XDG_CACHE_HOME:-$HOME/.cache}/antiphon/tinygo/${made_of%% *}
if [ ! -d "$here" ]; then
	packages
	echo "tinygo: building the compiler (a minute)" >&2
	mkdir -p "$here.$$/bin"
	(cd tools/tinygo && CGO_ENABLED=1 go build -tags llvm19 -o "$here.$$/bin/tinygo" github.com/tinygo-org/tinygo)
	library "$here.$$/root"
	goroot "$here.$$/goroot"
	mv -T "$here.$$" "$here" 2>/dev/null || rm -rf "$here.$$" # another clone was faster
fi
mkdir -p .cache
[ -L .cache/tinygo ] || rm -rf .cache/tinygo
ln -sfn "$here" .cache/tinygo
[ "$#" -gt 0 ] || exit 0

command=$1
shift
export TINYGOROOT="$here/root" GOROOT="$here/goroot"
exec "$here/bin/tinygo" "$command" -target antiphon "$@"
