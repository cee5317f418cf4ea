# shellcheck shell=bash
# For scripts to source: remembers for which content a step has passed, so that it need not run again for the same content. The memory is in the
# user's cache folder, so another clone with the same content has it, too. Only a step that has passed is remembered.

memory=${XDG_CACHE_HOME:-$HOME/.cache}/antiphon/passed

# programs describes what runs the steps: every version that may change a result.
programs() {
	uname -srm
	go version
	go env GOARCH GOAMD64 GOFLAGS GOEXPERIMENT CGO_ENABLED
	dpkg-query -W 2>/dev/null || true
	env | grep '^ANTIPHON_' || true
	for program in node npm python3 chromium firefox-esr; do
		"$program" --version 2>/dev/null || true
	done
}

# content_of PATH...: the content of each file under these git pathspecs that git knows or would add, and which of them are programs.
content_of() {
	git ls-files -s -- "$@" | cut -d ' ' -f 1
	git ls-files -z --cached --others --exclude-standard -- "$@" | sort -zu | xargs -0 sha256sum 2>/dev/null || true # a file may be deleted
}

# memory_of STEP DAY PATH...: prints the file that exists if STEP has passed with the content under these paths. DAY is part of the content
# of a step whose order or choice of tests changes daily. $programs has what programs prints.
memory_of() {
	echo "$memory/$1-$({ echo "$1 $2 ${programs:?}" && content_of "${@:3}"; } | sha256sum | cut -c -40)"
}

# remember FILE: the step has passed. What has not been asked for in 30 days is forgotten.
remember() {
	mkdir -p "$memory"
	: >"$1"
	find "$memory" -type f -mtime +30 -delete
	[ ! -d "$(kept explored)" ] || find "$(kept explored)" -type f -mtime +30 -delete
}

# kept KIND: the folder of what is kept for all clones of the user, beside the memory.
kept() { echo "${memory%/*}/$1"; }

# explored prints the folder of the specifications that this checker has explored (formal-verification/internal/check/share.go).
explored() {
	echo "$(kept explored)/$({ go version && content_of formal-verification/go.mod formal-verification/go.sum formal-verification/setup \
		formal-verification/internal/check formal-verification/internal/graph; } | sha256sum | cut -c -40)"
}
