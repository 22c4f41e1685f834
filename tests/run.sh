#!/usr/bin/env bash
# Set everything up from a bare clone and pass every check: lint, types, floors, tests.
# With --browser the tests of the web view in a real browser, and nothing else. With --python VERSION all of it on that Python, in
# an environment of its own (.venv-VERSION); PYTHON=… says where it is, if it is not on the path.
set -euo pipefail
cd "$(dirname "$0")/.."
if [ "${1:-}" = --browser ]; then
    shift
    exec bash tests/browser/run.sh "$@"
fi
environment=.venv
if [ "${1:-}" = --python ]; then
    environment=.venv-$2 PYTHON=${PYTHON:-python$2}
    shift 2
fi
. examples/environment.sh dev "$environment"
ruff check .
ruff format --check . 
mypy
lint-imports
pytest "$@"
