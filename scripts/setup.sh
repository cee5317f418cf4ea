#!/bin/sh
# setup.sh talk|cluster|test: installs what is missing on Debian.
# talk: Go and the package that speaks, and pip unless MODELS is none. Without the package the server works with text, so the script only reports
# that it is missing.
# cluster: also a NATS server and a reverse proxy, which scripts/cluster.sh asks for itself.
# test: also two browsers, Node with npm, a C compiler (for the race detector), a checker of shell scripts, a sound server, a
# TURN server (coturn), two telephones (sip-tester, baresip), two reverse proxies, a NATS server, the tools that make networks, systemd, which checks the unit; gRPC for Python, for
# the example of a back end; libopus, beside which our codec is tested; pip, which fetches models; and sentences that a person speaks. There, anything missing is an error.
set -eu
cd "$(dirname "$0")/.."
. scripts/apt.sh

mode=${1:-talk}
speech=flite
case $mode in
talk) if [ "${MODELS:-none}" = none ]; then wanted=$speech; else wanted="$speech python3-pip"; fi ;;
cluster) wanted="$speech nats-server caddy" ;;
test) wanted="$speech chromium fonts-dejavu-core nodejs npm gcc libc6-dev git shellcheck pulseaudio firefox-esr coturn sip-tester baresip-core iproute2 nftables nginx caddy nats-server systemd python3-pip python3-grpcio python3-protobuf libopus0 asterisk-core-sounds-en asterisk-core-sounds-en-g722" ;;
*)
	echo "usage: $0 talk|cluster|test" >&2
	exit 2
	;;
esac

# go_is_new_enough: the go command, in this module, is at least 1.26 (it may fetch that version by itself).
go_is_new_enough() {
	version=$(go env GOVERSION 2>/dev/null) || return 1
	version=${version#go1.}
	version=${version%%[!0-9]*}
	[ "${version:-0}" -ge 26 ]
}

# Debian's own Go serves when it is 1.21 or newer: from then on it fetches the version that go.mod asks for.
debian_go_serves() {
	can_install || return 1
	refresh
	candidate=$(apt-cache policy golang-go | sed -n 's/^ *Candidate: *\([0-9]*:\)\{0,1\}1\.\([0-9]*\).*/\2/p')
	[ "${candidate:-0}" -ge 21 ]
}

if ! command -v go >/dev/null && debian_go_serves; then
	install_packages golang-go ca-certificates || true
fi
if ! go_is_new_enough; then
	cat >&2 <<'EOF'
setup: Go 1.26 or newer is needed, and this machine has none that will do.
  1. Download Go for Linux from https://go.dev/dl/
  2. sudo rm -rf /usr/local/go && sudo tar -C /usr/local -xzf go1.*.linux-*.tar.gz
  3. Run make again; /usr/local/go/bin is looked in by itself.
EOF
	exit 1
fi

# shellcheck disable=SC2086 # a list of words
wanted=$(missing $wanted)
if [ -n "$wanted" ]; then
	# shellcheck disable=SC2086
	install_packages $wanted || true
	# shellcheck disable=SC2086
	wanted=$(missing $wanted)
fi
if [ -z "$wanted" ]; then
	[ "$mode" != test ] || scripts/models.sh
	exit 0
fi

echo "setup: could not install: $wanted" >&2
echo "setup: to install it by hand: sudo apt-get install $wanted" >&2
if [ "$mode" = test ]; then
	exit 1
fi
echo "setup: going on without; the page says what does not work, and writing does." >&2
