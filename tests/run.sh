#!/usr/bin/env bash
# Set everything up from a bare clone and pass every check: lint, types, floors, tests.
# With --browser the tests of the web view in a real browser, and nothing else.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --browser ]; then
    shift
    exec bash tests/browser/run.sh "$@"
fi
. examples/environment.sh dev
ruff check .
ruff format --check . 
mypy
lint-imports
pytest "$@"
