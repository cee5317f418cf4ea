#!/bin/sh
# Runs FizzBee's own program on every specification. `make verify-spec` uses the same model checker with another parser. FIZZBEE names the program;
# otherwise the script looks for it on the PATH. It is not needed for the proof: if it is not installed, the script says so. Its verdict and its
# numbers of nodes and states must be those of golden.txt.
set -eu

fizz=${FIZZBEE:-$(command -v fizz || true)}
if [ -z "$fizz" ]; then
	echo "verify-official: no fizz program on the PATH and none named by FIZZBEE, so nothing was run; make verify-spec needs none"
	exit 0
fi
if [ ! -f "$fizz" ] || [ ! -x "$fizz" ]; then
	echo "verify-official: FIZZBEE is $fizz, which is not a program" >&2
	exit 1
fi
fizz=$(realpath "$fizz")
cd "$(dirname "$0")/../formal-verification/specs"

# It writes beside the specs.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r . "$work"

failed=0
{
	read -r _
	while read -r spec verdict nodes states _; do
		(cd "$work" && "$fizz" "$spec.fizz") >"$work/log" 2>&1 </dev/null || true # its exit code is 0 on FAILED
		# What it says, and how much it has seen where it has seen everything.
		case $verdict in
		PASSED) said="^PASSED:" seen="^Valid Nodes: $nodes Unique states: $states\$" ;;
		*) said="^FAILED:" seen= ;;
		esac
		if grep -q "$said" "$work/log" && grep -q "$seen" "$work/log"; then
			echo "verify-official: $spec $verdict nodes=$nodes states=$states, as in golden.txt"
		else
			failed=1
			echo "verify-official: $spec is not $verdict with $nodes nodes and $states states:" >&2
			tail -n 20 "$work/log" >&2
		fi
	done
} <golden.txt
exit "$failed"
