#!/bin/sh
# TinyGo calls this in place of wasm-opt. A goroutine that waits has its stack unwound by what --asyncify puts into every function
# that may be on it; without being told, it takes each call of the browser for one that may wait. In TinyGo none does: what the
# browser calls back runs on a stack of its own, above the call.
case $1 in
--version) exec wasm-opt --version ;;
esac
exec wasm-opt --pass-arg=asyncify-ignore-imports "$@"
