#!/usr/bin/env bash
# cluster.sh PORT PIPELINE: starts three servers on one NATS server behind Caddy, all on this machine, and ends them at Ctrl-C. Caddy serves on PORT, the
# servers on the three ports after it, and NATS on the next one. A server that ends while the script runs starts again after 5 s.
set -euo pipefail
cd "$(dirname "$0")/.."

port=$1
pipeline=$2
# Three recognisers with neural models need more memory than most desks have.
[ "$pipeline" != best ] || pipeline=embedded
nats=$((port + 4))

for program in caddy nats-server; do
	if ! command -v "$program" >/dev/null; then
		echo "cluster: $program is not installed: sudo apt-get install caddy nats-server" >&2
		exit 1
	fi
done

# listens PORT: something accepts a connection on this port of this machine.
listens() {
	(exec 3<>"/dev/tcp/127.0.0.1/$1") 2>/dev/null
}

for ((p = port; p <= nats; p++)); do
	if listens "$p"; then
		echo "cluster: port $p is taken by another program (the cluster takes the ports $port to $nats)." >&2
		echo "cluster: stop that program, or choose other ports: make cluster PORT=$((port + 100))" >&2
		exit 1
	fi
done
scripts/build.sh

# The names of the processes that run, by their ids.
declare -A running=()
# The times at which servers start again, in seconds of this script, by their numbers.
declare -A due=()
folder=$(mktemp -d)

# end SIGNAL NAME: ends the processes whose names begin with NAME, within 10 s. It sends the signal again and again: at the second one a server ends its calls.
end() {
	local pid tries
	for ((tries = 0; tries < 50; tries++)); do
		local left=
		for pid in "${!running[@]}"; do
			[[ ${running[$pid]} = "$2"* ]] && kill "-$1" "$pid" 2>/dev/null && left=yes
		done
		[ -n "$left" ] || return 0
		sleep 0.2
	done
	[ "$1" = KILL ] || end KILL "$2"
}

stop() {
	trap '' INT TERM HUP
	end TERM caddy
	end TERM node
	end TERM nats
	rm -rf "$folder"
}
trap stop EXIT
trap 'exit 0' INT TERM HUP

# failed NAME WHAT: shows what a program has written, and gives up.
failed() {
	[ ! -e "$folder/$1.log" ] || sed "s/^/$1: /" "$folder/$1.log" >&2
	echo "cluster: $1 $2; its own words are above." >&2
	exit 1
}

# run NAME PORT COMMAND...: starts a program and waits until it listens. The lines of a server are printed with its name.
run() {
	local name=$1 at=$2 tries
	shift 2
	if [[ $name = node* ]]; then
		"$@" > >(sed -u "s/^/$name: /") 2>&1 &
	else
		"$@" >"$folder/$name.log" 2>&1 &
	fi
	local pid=$!
	disown # the shell itself says nothing when it ends
	running[$pid]=$name
	for ((tries = 0; tries < 600; tries++)); do
		if listens "$at"; then
			return 0
		fi
		if ! kill -0 "$pid" 2>/dev/null; then
			break
		fi
		sleep 0.1
	done
	failed "$name" "does not listen on port $at"
}

# node N: starts server N.
node() {
	local at=$((port + $1))
	run "node $1" "$at" bin/antiphon serve --listen "127.0.0.1:$at" --node-url "http://127.0.0.1:$at" --node-name "node $1" \
		--nats "nats://127.0.0.1:$nats" --pipeline "$pipeline"
}

# tell: prints how to end each server.
tell() {
	local pid
	echo
	echo "The Talk page: http://localhost:$port"
	for pid in "${!running[@]}"; do
		if [[ ${running[$pid]} = node* ]]; then
			printf '%s: kill -9 %s ends it at once, kill %s at the pauses of its calls\n' "${running[$pid]}" "$pid" "$pid"
		fi
	done | sort
	echo "Ctrl-C ends everything."
	echo
}

run nats "$nats" nats-server --addr 127.0.0.1 --port "$nats" --jetstream --store_dir "$folder/nats"
for n in 1 2 3; do node $n; done
{
	echo "{ admin off"
	echo "default_bind 127.0.0.1"
	echo "}"
	cat deploy/Caddyfile
} >"$folder/Caddyfile"
run caddy "$port" env "HOME=$folder" "XDG_CONFIG_HOME=$folder" "XDG_DATA_HOME=$folder" "ANTIPHON_SITE=http://localhost:$port" \
	"ANTIPHON_SERVER=127.0.0.1:$((port + 1)) 127.0.0.1:$((port + 2)) 127.0.0.1:$((port + 3))" \
	caddy run --adapter caddyfile --config "$folder/Caddyfile"
tell

while :; do
	sleep 1 &
	wait $!
	for pid in "${!running[@]}"; do
		! kill -0 "$pid" 2>/dev/null || continue
		name=${running[$pid]}
		unset "running[$pid]"
		[[ $name = node* ]] || failed "$name" "has ended, and the cluster does not work without it"
		echo "cluster: $name has ended, and starts again in 5 s."
		due[${name#node }]=$((SECONDS + 5))
	done
	for n in "${!due[@]}"; do
		[ "$SECONDS" -ge "${due[$n]}" ] || continue
		unset "due[$n]"
		node "$n"
		tell
	done
done
