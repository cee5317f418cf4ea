#!/bin/sh
# Compiles code against the TypeScript types of the page's script, with strict settings. The compiler is installed into .cache/types, as the lock says.
set -eu
cd "$(dirname "$0")/.."

scripts/npm-ci.sh types e2e/page/types .cache/types
exec node .cache/types/node_modules/typescript/bin/tsc -p e2e/page/types/tsconfig.json
