#!/usr/bin/env bash
# Set everything up from a bare clone and pass every check: lint, types, floors, tests.
set -euo pipefail
cd "$(dirname "$0")/.."
. examples/environment.sh dev
ruff check .
ruff format --check . 
mypy
lint-imports
pytest "$@"
