#!/usr/bin/env bash
# Set everything up from a bare clone and pass every check: lint, types, floors, tests.
# usage: tests/run.sh [--python VERSION] [PYTEST_OPTIONS]   on that Python, in .venv-VERSION (PYTHON=… says where it is)
#        tests/run.sh loop [PATH…]          for one change: lint, types, the tests of the floors that changed
#        tests/run.sh --browser [PYTEST_OPTIONS]   the tests of the web view in a real browser, and nothing else
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
. tests/folders.sh
if [ "${1:-}" = loop ]; then
    shift
    if [ $# = 0 ]; then
        chosen=$(python tests/changed.py) # a failure in `set` itself would be lost
        set -- $chosen
    fi
    set -- --asyncio -m "not slow" "$@"
fi
# mypy computes while the tests wait, and the other way round.
checks() { ruff check . && ruff format --check . && lint-imports && mypy; }
checks > "$tests_folder/checks" 2>&1 &
passed=0
pytest -n auto --dist worksteal "$@" || passed=$?
if wait $!; then
    echo "lint, types and layers: passed"
else
    cat "$tests_folder/checks"
    passed=1
fi
exit "$passed"
