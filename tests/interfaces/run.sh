#!/usr/bin/env bash
# The tests of MCP, bots and frameworks, against their real libraries, in an environment of their own.
# usage: tests/interfaces/run.sh [--set-up | PYTEST_OPTIONS]   --set-up makes the environment, and runs nothing
set -euo pipefail
cd "$(dirname "$0")/../.."
export PIPIMEM_TEST_INTERFACES=1
. examples/environment.sh interfaces .venv-interfaces
# A client of the older protocol, which other processes drive.
if [ ! -x .venv-mcp1/bin/python ]; then
    python3 -m venv .venv-mcp1
    .venv-mcp1/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/mcp1.txt
fi
# The official inspector, and the Node that it needs: 40 s, once. Its tests are skipped where npm cannot install it.
inspector=$PWD/.cache/mcp-inspector
if [ ! -x "$inspector/node_modules/.bin/mcp-inspector" ] && command -v npm >/dev/null; then
    mkdir -p "$inspector" && npm install --silent --no-audit --no-fund --no-save --prefix "$inspector" node@22 @modelcontextprotocol/inspector@2.12.0 || true
fi
if [ -x "$inspector/node_modules/.bin/mcp-inspector" ]; then
    export PIPIMEM_MCP_INSPECTOR=${PIPIMEM_MCP_INSPECTOR:-$inspector/node_modules/.bin/mcp-inspector}
else
    echo "SKIPPED: the official MCP inspector. npm could not install it" >&2
fi
[ "${1:-}" != --set-up ] || exit 0
. tests/folders.sh
mypy --config-file tests/interfaces/mypy.ini > "$tests_folder/mypy" 2>&1 &
if [ $# = 0 ]; then
    set -- tests/interfaces tests/journeys/test_astrbot_plugin.py
fi
passed=0
pytest -n auto --dist worksteal "$@" || passed=$?
wait $! || passed=1
cat "$tests_folder/mypy"
exit "$passed"
