#!/usr/bin/env bash
# talk.sh PORT PIPELINE MODELS: builds the server if something has changed, and starts it for a user on this machine.
# With the pipeline "best" it fetches the MODELS that are not on this machine. MODELS "none" fetches nothing.
set -euo pipefail
cd "$(dirname "$0")/.."

port=$1
pipeline=$2
models=${3:-}

# The port is taken when something accepts a connection on it.
if (exec 3<>"/dev/tcp/127.0.0.1/$port") 2>/dev/null; then
	echo "talk: port $port is taken by another program (perhaps a server that still runs)." >&2
	echo "talk: stop that program, or choose another port: make talk PORT=$((port + 1))" >&2
	exit 1
fi
scripts/build.sh

if [ "$pipeline" = best ]; then
	case $models-$(uname -s)-$(uname -m) in
	none-*) ;;
	*-Linux-x86_64 | *-Linux-aarch64)
		if ! bin/antiphon models get "$models" >/dev/null; then
			echo "talk: no neural models: the server answers what you type. The page shows the command that fetches them. MODELS=none does not try." >&2
		fi
		;;
	*) echo "talk: no neural engine for this platform: the server answers what you type. antiphon setup attaches a recogniser that is a server." >&2 ;;
	esac
fi
exec bin/antiphon serve --listen "127.0.0.1:$port" --pipeline "$pipeline"
