#!/usr/bin/env bash
# The tests of several hosts, against PostgreSQL servers of their own, in an environment of their own.
# usage: tests/fleet/run.sh [--set-up | PYTEST_OPTIONS]
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! ls /usr/lib/postgresql/*/bin/initdb >/dev/null 2>&1 && ! command -v initdb >/dev/null; then
    echo "SKIPPED: the tests of several hosts need a PostgreSQL server (apt-get install postgresql)" >&2
    exit 0
fi
export PIPIMEM_TEST_FLEET=1
. examples/environment.sh fleet .venv-fleet
[ "${1:-}" != --set-up ] || exit 0
. tests/folders.sh
if [ $# = 0 ]; then
    set -- tests/fleet
fi
pytest -n auto --dist worksteal "$@"
