# shellcheck shell=sh
# For scripts to source: finds out which Debian packages are missing, and installs packages. Messages begin with the script's name.

by=$(basename "$0" .sh)

# have PACKAGE: it is installed, or its program was installed in another way.
have() {
	case $1 in
	chromium) command -v chromium || command -v chromium-browser || command -v google-chrome ;;
	nodejs) command -v node ;;
	gcc | git | npm) command -v "$1" ;;
	python3-pip) python3 -m pip --version ;;
	*) dpkg-query -W -f '${Status}' "$1" | grep -q '^install ok installed$' ;;
	esac >/dev/null 2>&1
}

# missing PACKAGE...: prints those that this machine does not have.
missing() {
	found=
	for package in "$@"; do
		have "$package" || found="$found $package"
	done
	echo "${found# }"
}

as_root() {
	if [ "$(id -u)" = 0 ]; then
		"$@"
	else
		sudo "$@"
	fi
}

apt() {
	as_root env DEBIAN_FRONTEND=noninteractive apt-get -qq -o DPkg::Lock::Timeout=300 "$@"
}

# Package lists are fetched once a run, and only when something is missing.
refresh() {
	[ -z "${refreshed:-}" ] || return 0
	refreshed=yes
	apt update >&2 || echo "$by: apt-get update failed; trying with the package lists at hand" >&2
}

# can_install: apt-get is there, and so are the rights to use it.
can_install() {
	command -v apt-get >/dev/null || return 1
	[ "$(id -u)" = 0 ] || command -v sudo >/dev/null
}

install_packages() {
	can_install || return 1
	echo "$by: installing $* (apt-get)" >&2
	refresh
	apt install -y --no-install-recommends "$@" >/dev/null
}
