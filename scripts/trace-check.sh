#!/bin/sh
# Compares the traces of the servers of the last `make e2e`, or the named traces, with the machines' tables and specifications. If there is a
# FILE.record next to FILE.jsonl, it also compares the events that the server sent with the states of its machines.
set -eu
here=$(pwd)
cd "$(dirname "$0")/.."

if [ $# -gt 0 ]; then
	for file in "$@"; do
		shift
		case "$file" in
		/*) set -- "$@" "$file" ;;
		*) set -- "$@" "$here/$file" ;;
		esac
	done
else
	for file in .cache/trace/*.jsonl; do
		# A server that nobody called has written nothing.
		[ ! -s "$file" ] || set -- "$@" "$PWD/$file"
	done
	[ $# -gt 0 ] || {
		echo "trace-check: there is no trace in .cache/trace: make e2e writes them" >&2
		exit 1
	}
fi
cd formal-verification
exec go run ./cmd/tracecheck "$@"
