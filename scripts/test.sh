#!/usr/bin/env bash
# Runs all tests, and stops at the first failure. Each step is the make target with the same name.
#
# The first steps run one after the other, and always: they set up and build in this folder what all others need. Then two lanes run side by side:
#   - The real-time lane has the steps that play and record sound in real time. They wait most of the time.
#   - The computing lane has all other steps, at a lower priority, so that it takes only the time that the first lane leaves.
# When the real-time lane has no step left, it takes steps of the computing lane. The last steps measure what is heard, to the millisecond, and run
# one after the other when both lanes are done. The output of a step is printed in whole when the step ends; .cache/test has it, too.
#
# A step that has passed is not run again for the same content (remember.sh): reads_of says what a step reads. A step that runs
# shuffled tests or whole calls is run again every day. `make STEP` always runs the step.
#
# Each step has a budget of minutes in tools/house/budgets.txt. The seconds of a step are printed beside it, and nothing fails by time.
#
#   unit         packages without goroutines: natively, shuffled, without the race detector (native-test.sh says why)
#   race         all other packages but e2e, examples and tools: natively, shuffled, with the race detector
#   protocol     every event and field of the protocol by real sessions, as a figure
#   mutate-code  every fault in one place of the machines' tables
#   simulate     20,000 whole calls on virtual time, and 500 with both real ends, without the detector
#   wasm-test    what a browser runs (coord, wire, voice, sdk, web), all of its tests again under js/wasm
#   sdk          the npm package as it is released, compiled by TinyGo: its program runs, and its files keep to their budget
#   cross        bin/antiphon for Windows and macOS, without C
#   fuzz         every fuzz target for a second, from its corpus on; `make test-long` takes longer
#   e2e          whole calls in real time, without the race detector: twenty at once, and real browsers
#   sound        what a person hears who talks over the agent, in a real browser: on a machine that is full, a browser loses sound
#   trace-check  what the machines of these servers did, held to the tables and to the specs
set -euo pipefail
cd "$(dirname "$0")/.."
. scripts/remember.sh

first=(setup tidy fmt-check build generated)
realtime=(e2e trace-check examples)
computing=(house lint unit race verify-spec verify-test sdk wasm-test fuzz simulate mutate-code protocol types cross)
last=(sound)

# command_of STEP: the command that runs the step again.
command_of() {
	case $1 in
	setup) echo "scripts/setup.sh test" ;;
	fuzz) echo "make fuzz FUZZTIME=1s" ;;
	*) echo "make $1" ;;
	esac
}

# The machines with their tests, and what runs them.
machines="coord internal/coord internal/coordtest internal/projection go.mod go.sum scripts Makefile"

# reads_of STEP: the git pathspecs of what the step reads, beside its own script. Nothing: the step is always run.
reads_of() {
	case $1 in
	setup | tidy | fmt-check | build | generated) ;;
	lint) echo "*.go *go.mod *go.sum *.table .golangci.yml scripts .ci .githooks Makefile" ;;
	verify-spec | verify-test) echo "$machines formal-verification" ;;
	mutate-code) echo "$machines" ;;
	types) echo "e2e/page/types sdk/npm scripts Makefile" ;;
	sdk | cross) echo ". :!docs :!formal-verification :!e2e" ;;
	*) echo . ;;
	esac
}

# day_of STEP: today, if the step is run again every day.
day_of() {
	case $1 in
	unit | race | protocol | simulate | wasm-test | fuzz | e2e | sound | trace-check | examples) date +%F ;;
	esac
}

export MAKEFLAGS="${MAKEFLAGS:-} --no-print-directory"
logs=.cache/test
rm -rf $logs
# Each specification and each of its mutants is explored once by this checker: later steps and runs find what it gave.
EXPLORED_SPECS=$(explored)
export EXPLORED_SPECS
# The models of the user who runs the tests change no test.
export XDG_DATA_HOME=$PWD/$logs/data
mkdir -p $logs "$EXPLORED_SPECS"
report=
passed=0
began=$SECONDS
total=$((${#first[@]} + ${#realtime[@]} + ${#computing[@]} + ${#last[@]}))

# The step that each lane runs: its name, its process (which leads a process group), the second when it began. "" is none.
declare -A step=() process=() since=()

# What the first steps have made and installed is there when this is asked for.
programs=
declare -A passes=()

# passed_before STEP: the step reads what it read when it passed.
passed_before() {
	local paths
	set -f # the stars are git's
	read -ra paths <<<"$(reads_of "$1")"
	set +f
	passes[$1]=
	[ ${#paths[@]} -gt 0 ] || return 1
	[ -n "$programs" ] || programs=$(programs)
	passes[$1]=$(memory_of "$1" "$(day_of "$1")" "${paths[@]}")
	# The traces that trace-check reads are made by e2e.
	if [ "$1" = e2e ] && ! passed_before trace-check; then
		return 1
	fi
	[ -e "${passes[$1]}" ]
}

# budget_of STEP: the minutes that tools/house/budgets.txt gives the step.
budget_of() { awk -v step="$1" '$1 == "step" && $2 == step { print $3 }' tools/house/budgets.txt; }

# tell WORD STEP SECONDS: a line of the report.
tell() { printf '%-6s %-15s %4s s of %s min' "$1" "$2" "$3" "$(budget_of "$2")"; }

# start LANE STEP: run a step in the background. What the first steps have built, a later step does not build again (-o).
start() {
	local lane=$1 name=$2 priority=10 words
	[ "$lane" = computing ] || priority=0
	read -ra words <<<"$(command_of "$name")"
	if [ "$lane" != first ] && [ "${words[0]}" = make ]; then
		words+=(-o build -o lint-tool -o verify-setup)
	fi
	step[$lane]=$name
	since[$lane]=$SECONDS
	set -m # the step gets a process group of its own
	nice -n $priority "${words[@]}" >"$logs/$name.log" 2>&1 </dev/null &
	process[$lane]=$!
	set +m
}

# stop_all ends the steps that run, and all that they have started.
stop_all() {
	local lane
	for lane in "${!process[@]}"; do
		if [ -n "${step[$lane]}" ]; then
			kill -TERM -- "-${process[$lane]}" 2>/dev/null || true
			wait "${process[$lane]}" 2>/dev/null || true
			step[$lane]=
		fi
	done
}
trap stop_all EXIT
trap 'exit 130' INT TERM

# ended LANE STATUS: print what the lane's step has said, and stop everything when it has failed.
ended() {
	local name=${step[$1]} took=$((SECONDS - since[$1])) line
	step[$1]=
	line=$(tell ok "$name" "$took")
	echo "== $name, $took s"
	cat "$logs/$name.log"
	if [ "$2" -ne 0 ]; then
		kill -TERM -- "-${process[$1]}" 2>/dev/null || true # what it has left running
		stop_all
		echo "$report"
		echo "FAILED: $name. To run this step again: $(command_of "$name")"
		echo "steps: $passed passed, 1 failed, $((total - passed - 1)) not run"
		exit 1
	fi
	passed=$((passed + 1))
	report+=$'\n'$line
	# What a step has read must be what there was when it began.
	if [ -n "${passes[$name]:-}" ]; then
		local before=${passes[$name]}
		passed_before "$name" || true
		[ "${passes[$name]}" != "$before" ] || remember "$before"
	fi
}

# await waits for the next step that ends.
await() {
	local pid status=0 lane
	wait -n -p pid || status=$?
	for lane in "${!process[@]}"; do
		if [ -n "${step[$lane]}" ] && [ "${process[$lane]}" = "${pid:-}" ]; then
			ended "$lane" $status
			return
		fi
	done
}

# next LANE: the lane takes its next step that must be run, if there is one.
next() {
	local name
	while take "$1"; do
		if ! passed_before "$name"; then
			start "$1" "$name"
			return
		fi
		passed=$((passed + 1))
		report+=$'\n'$(tell same "$name" 0)
	done
}

# take LANE: name is the lane's next step.
take() {
	if [ "$1" = first ]; then
		[ ${#first[@]} -gt 0 ] || return 1
		name=${first[0]}
		first=("${first[@]:1}")
	elif [ "$1" = realtime ] && [ ${#realtime[@]} -gt 0 ]; then
		name=${realtime[0]}
		realtime=("${realtime[@]:1}")
	elif [ "$1" = last ]; then
		[ ${#last[@]} -gt 0 ] || return 1
		name=${last[0]}
		last=("${last[@]:1}")
	elif [ ${#computing[@]} -gt 0 ]; then
		name=${computing[0]}
		computing=("${computing[@]:1}")
	else
		return 1
	fi
}

while [ ${#first[@]} -gt 0 ]; do
	next first
	[ -z "${step[first]:-}" ] || await
done
next realtime
next computing
while [ -n "${step[realtime]:-}${step[computing]:-}" ]; do
	await
	for lane in realtime computing; do
		[ -n "${step[$lane]:-}" ] || next $lane
	done
done
while [ ${#last[@]} -gt 0 ]; do
	next last
	[ -z "${step[last]:-}" ] || await
done

echo "$report"
echo "ok: it has passed in this run. same: it has passed before with the same content."
echo "all in $((SECONDS - began)) s"
echo "steps: $passed passed, 0 failed"
