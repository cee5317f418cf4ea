#!/bin/sh
# The quick check while you work: it finds most mistakes within 90 seconds, when the caches are warm. `make test` runs all tests.
#
# Go keeps the results of tests: a package whose code and whose dependencies have not changed is not tested again. That is why these
# runs have no -shuffle, no -race and no -count.
set -eu
cd "$(dirname "$0")/.."

# step NAME FUNCTION: run the function and print its seconds. (In an `if` the shell does not stop at a failure: hence the &&.)
step() {
	name=$1
	shift
	started=$(date +%s)
	if ! "$@"; then
		echo "FAILED: $name"
		exit 1
	fi
	printf 'ok  %-8s %3d s\n' "$name" $(($(date +%s) - started))
}

formatted() {
	.cache/bin/golangci-lint fmt --diff
}

vetted() {
	go vet ./... &&
		GOOS=js GOARCH=wasm go vet ./coord/... ./wire/... ./internal/voice/... ./sdk/... ./wasm/... ./web/... &&
		go -C e2e vet ./... &&
		go -C tools vet ./... &&
		go -C formal-verification vet ./...
}

unit() {
	packages=$(go list ./... | grep -v -e '/examples/' -e '/examples$')
	# The package that takes longest begins first.
	# shellcheck disable=SC2086 # a list of words
	go test -vet=off -timeout 30m ./internal/call/session $packages >"$log" 2>&1
	passed=$?
	grep -v -e '(cached)' -e 'no test files' "$log" # what was tested anew
	return $passed
}

# The specs of single machines, their mutants, and the code compared with them: of the machines that have changed since they were
# green here. The composition's take minutes: make verify-spec.
specs() {
	sums=.cache/specs
	mkdir -p $sums
	all=$(git ls-files -z coord/machine formal-verification ':!*.fizz' | xargs -0 cat | sha256sum)
	machines=
	for folder in coord/*/fingerprint_gen.go internal/coord/*/fingerprint_gen.go; do
		folder=$(dirname "$folder")
		machine=$(basename "$folder")
		case $machine in
		session | view) continue ;;
		esac
		{ echo "$all" && cat "$folder"/*.go formal-verification/specs/"$machine".fizz | sha256sum; } >"$sums/$machine.new"
		cmp -s "$sums/$machine.new" "$sums/$machine" || machines="$machines $machine"
	done
	[ -n "$machines" ] || return 0
	# shellcheck disable=SC2086 # a list of words
	go -C formal-verification build -o ../.cache/bin/gate ./cmd/gate && (cd formal-verification && ../.cache/bin/gate $machines) || return 1
	for machine in $machines; do
		mv "$sums/$machine.new" "$sums/$machine"
	done
}

house() {
	go -C tools test -count=1 ./house
}

log=$(mktemp)
trap 'rm -f "$log"' EXIT
began=$(date +%s)
step fmt formatted
step vet vetted
step house house
step unit unit
step specs specs
echo "all in $(($(date +%s) - began)) s; make test is the whole"
