#!/bin/sh
# Installs the clients that others wrote into .cache/clients, exactly as the lock of e2e/clients says; nothing to do when they are there.
set -eu
cd "$(dirname "$0")/.."

from=e2e/clients
to=.cache/clients
if cmp -s $from/package-lock.json $to/node_modules/.locked; then
	exit 0
fi
echo "clients: installing (npm ci)"
mkdir -p $to
cp $from/package.json $from/package-lock.json $from/.npmrc $to/
(cd $to && npm ci --cache ../npm --prefer-offline --loglevel error >/dev/null)
cp $from/package-lock.json $to/node_modules/.locked
