#!/bin/sh
# Runs FizzBee's own parser and its own program on every specification. `make verify-spec` uses the same model checker with another parser, and decides
# by itself. FizzBee's verdict and its numbers of nodes and states must be those of golden.txt. The parser is a Python program in FizzBee's Go
# module; the program is that module's. It is an error if one of them does not run.
set -eu
cd "$(dirname "$0")/.."

home=$PWD/.cache/fizzbee
scripts/pip-install.sh verify-official formal-verification/setup/requirements.txt "$home/python"
export PYTHONPATH="$home/python:$home"

module=$(go -C formal-verification list -m -f '{{.Dir}}' github.com/fizzbee-io/fizzbee)
rm -rf "$home/parser" "$home/proto"
mkdir -p "$home/parser" "$home/proto"
cp "$module"/parser/*.py "$home/parser"
python3 -m grpc_tools.protoc -I "$module" --python_out="$home" "$module/proto/fizz_ast.proto"
go -C formal-verification build -o "$home/fizz" github.com/fizzbee-io/fizzbee

# Both write beside the specs.
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cp -r formal-verification/specs/. "$work"

failed=0
{
	read -r _
	while read -r spec verdict nodes states _; do
		# The program's exit code is 0 on FAILED.
		(cd "$work" && python3 -m parser.main "$spec.fizz" >"$work/log" 2>&1 && "$home/fizz" "$spec.json" >"$work/log" 2>&1) </dev/null || true
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
} <formal-verification/specs/golden.txt
exit "$failed"
