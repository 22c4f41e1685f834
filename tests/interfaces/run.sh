#!/usr/bin/env bash
# The tests of MCP, bots and frameworks, against their real libraries, in an environment of their own.
set -euo pipefail
cd "$(dirname "$0")/../.."
export PIPIMEM_TEST_INTERFACES=1
. examples/environment.sh interfaces .venv-interfaces
# A client of the older protocol, which other processes drive.
if [ ! -x .venv-mcp1/bin/python ]; then
    python3 -m venv .venv-mcp1
    .venv-mcp1/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements/mcp1.txt
fi
mypy --config-file tests/interfaces/mypy.ini
if [ $# = 0 ]; then
    set -- tests/interfaces tests/journeys/test_astrbot_plugin.py
fi
pytest "$@"
