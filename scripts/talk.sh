#!/usr/bin/env bash
# talk.sh PORT PIPELINE: builds the server if something has changed, and starts it for a user on this machine.
set -euo pipefail
cd "$(dirname "$0")/.."

port=$1
pipeline=$2

# The port is taken when something accepts a connection on it.
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
	echo "talk: port $port is taken by another program (perhaps a server that still runs)." >&2
	echo "talk: stop that program, or choose another port: make talk PORT=$((port + 1))" >&2
	exit 1
fi
scripts/build.sh
exec bin/antiphon serve --listen "127.0.0.1:$port" --pipeline "$pipeline"
