#!/bin/sh
# TinyGo calls this in place of wasm-opt. A goroutine that waits has its stack unwound by what --asyncify puts into every function
# that may be on it, and what may be is decided by the calls that the program can be seen to make. Without being told it takes too
# much for one that waits; what is told here is an eighth of the program. All of it is proved by the smoke run, of a program in
# which a wait that is not foreseen is a trap ($CHECKED names a file for it):
#   - No call of the browser waits: what the browser calls back runs on a stack of its own, above the call.
#   - No function value waits but two: what a session runs in the background (Session.background, in a goroutine of
#     system.Go), and an application's tool, which Session.startTools has called there.
#   - The answer to a tool's call goes into a channel that has room for it.
# Locks do not wait either: see tinygo.sh.
set -eu
case $1 in
--version) exec wasm-opt --version ;;
esac
sdk='github.com/antiphon-rt/antiphon/sdk'
page='github.com/antiphon-rt/antiphon/wasm/internal/page'
told="--pass-arg=asyncify-ignore-imports --pass-arg=asyncify-ignore-indirect
	--pass-arg=asyncify-addlist@$sdk/internal/system.Go*,*gowrapper*,(*$sdk.Session).background\$1,(*$sdk.Session).startTools\$1
	--pass-arg=asyncify-removelist@(*$page.call).command\$bound"
set -f # the stars are names
if [ -n "${CHECKED:-}" ]; then
	input=
	eval "input=\${$(($# - 2))}" # ... INPUT --output OUTPUT
	# shellcheck disable=SC2086 # a list of words
	wasm-opt $told --pass-arg=asyncify-asserts --asyncify -g "$input" -o "$CHECKED"
	# The functions that unwind and rewind are no surprise.
	wasm-dis "$CHECKED" | awk '/^ \(func /{allowed = /^ \(func \$tinygo_(unwind|launch|rewind)/} allowed {gsub(/\(unreachable\)/, "(nop)")} {print}' \
		>"$CHECKED.wat"
	wasm-as --enable-bulk-memory --enable-mutable-globals --enable-sign-ext --enable-nontrapping-float-to-int "$CHECKED.wat" -o "$CHECKED"
	rm "$CHECKED.wat"
fi
# shellcheck disable=SC2086 # a list of words
exec wasm-opt $told "$@"
