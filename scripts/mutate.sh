#!/bin/sh
# Plants every fault of one place into every machine's table: a row deleted, its guard negated, its state unchanged, an effect
# dropped, doubled or swapped with its neighbour, and every value changed and left out. Prints what finds each fault: an
# invariant, the check of the table, or the explored graph (with which the fingerprint and the specification are compared).
# Fails when one survives, or when an invariant sees none.
set -eu
cd "$(dirname "$0")/.."

log=$(mktemp)
figures=$(mktemp)
trap 'rm -f "$log" "$figures"' EXIT
if ! go test -vet=off -ldflags='-s -w' -v -run '^(TestProve|TestMutantsAreSeen)$' ./coord/... ./internal/coord/... >"$log" 2>&1; then
	cat "$log"
	exit 1
fi
# The figures are in the logs of the tests; how long each took is Go's own line after it.
awk '
	/: mutants=/ { sub(/^ *[a-z_]*\.go:[0-9]*: /, ""); gsub(/[a-z]+=|:/, ""); figures = $0 }
	figures && /--- PASS: Test(Prove\/no_mutant|MutantsAreSeen)/ {
		gsub(/[()s]/, "", $NF)
		print figures, $NF
		figures = ""
	}' "$log" | sort >"$figures"
# A machine whose test is gone has no survivors either.
for machine in coord/*/fingerprint_gen.go internal/coord/*/fingerprint_gen.go; do
	machine=$(basename "$(dirname "$machine")")
	if ! grep -q "^$machine " "$figures"; then
		echo "mutate-code: no figures of $machine: its tests must prove its table (coordtest.Prove)" >&2
		exit 1
	fi
done
awk '
	BEGIN { printf "%-14s %7s %9s %6s %6s %9s %8s\n", "machine", "mutants", "invariant", "shape", "graph", "survivors", "seconds" }
	{
		printf "%-14s %7d %9d %6d %6d %9d %8.2f\n", $1, $2, $3, $4, $5, $6, $7
		for (i = 2; i <= 7; i++) sum[i] += $i
	}
	END {
		printf "%-14s %7d %9d %6d %6d %9d %8.2f\n", "all", sum[2], sum[3], sum[4], sum[5], sum[6], sum[7]
		if (NR == 0 || sum[6] > 0) exit 1
	}' "$figures"
