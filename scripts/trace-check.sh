#!/bin/sh
# Holds what the servers of the last `make e2e` did, or the traces named, to the machines' tables and to their specs; and what they
# told their clients, where FILE.record lies beside FILE.jsonl, to what the machines were.
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
