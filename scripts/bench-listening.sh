#!/bin/sh
# bench-listening.sh LETTERS DRAWS [FLAG...]: measures how well Antiphon listens, with what scripts/setup.sh test installs. PARTS in the environment
# chooses some of: ends (how well the server finds the end of a turn), voices (talk in the background), noise (wrong words with and without noise
# reduction), calls (calls in noise, with a bad microphone and over a bad network; it needs asterisk-moh-opsound-g722), over (words and sentences over the agent), sounds (speech, music, tones, noise and clicks) and people (the errors of the voice gate); these two need the packages that e2e/voicebench names. LETTERS, such as n-z, DRAWS and the FLAGs are for ends: the initial letters of the prompts, and how many lengths each pause has.
# SILERO=1 measures the ends also with Silero's detector.
set -eu
cd "$(dirname "$0")/.."
scripts/models.sh
letters=$1 draws=$2
shift 2

# measure PACKAGE BENCHMARKS [FLAG...]
measure() {
	package=$1 benchmarks=$2
	shift 2
	go -C e2e test -count=1 -timeout 5h -run '^$' -bench "(?i)^Benchmark($benchmarks)\$" -benchtime 1x "./$package" -args "$@"
}

for part in $(echo "${PARTS:-ends,voices,noise}" | tr , ' '); do
	case $part in
	sounds | people) measure voicebench "$part" ;;
	noise | calls | over) measure noisebench "$part" ;;
	voices) measure noisebench 'voices|onsets|softer|pauses' ;;
	ends)
		go run ./cmd/antiphon models get --dir .cache/models smart-turn >/dev/null # 12 MB, once
		silero=
		if [ -n "${SILERO:-}" ]; then # Silero's detector beside ours: its model, and onnxruntime, in a folder of their own
			silero=python3
			export PYTHONPATH="$PWD/.cache/silero"
			if [ ! -d .cache/silero/silero_vad ] || [ ! -d .cache/silero/onnxruntime ]; then
				python3 -m pip install --quiet --no-deps --target .cache/silero silero-vad==6.2.3
				python3 -m pip install --quiet --target .cache/silero onnxruntime==1.23.2 numpy
			fi
		fi
		measure listenbench ends -prompts "$letters" -draws "$draws" -silero "$silero" "$@"
		;;
	*)
		echo "PARTS: there is no part $part" >&2
		exit 1
		;;
	esac
done
