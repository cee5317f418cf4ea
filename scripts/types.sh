#!/bin/sh
# Reads the types of the page's script as a strict user's compiler does. The compiler is installed into .cache/types, as the lock says.
set -eu
cd "$(dirname "$0")/.."

from=e2e/page/types
to=.cache/types
if ! cmp -s $from/package-lock.json $to/node_modules/.locked; then
	echo "types: installing the compiler (npm ci)"
	mkdir -p $to
	cp $from/package.json $from/package-lock.json $from/.npmrc $to/
	(cd $to && npm ci --cache ../npm --prefer-offline --loglevel error >/dev/null)
	cp $from/package-lock.json $to/node_modules/.locked
fi
exec node $to/node_modules/typescript/bin/tsc -p $from/tsconfig.json
