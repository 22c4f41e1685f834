#!/usr/bin/env bash
# The tests of a release, in an environment of their own (.venv-release). They need the network.
# Dashboard and alerts are tried in a real Prometheus where it is installed (Debian's package `prometheus`).
# usage: bash tests/release/run.sh [--set-up | --all | --gigabyte] [PYTEST_OPTIONS]
#   without: build, SBOM, types seen from outside, the documentation's site
#   --all:   also each extra alone and together, and the main job on each Python that is here
#   --gigabyte:  imports of 1 GB alone, half an hour and 3 GB of disk
set -euo pipefail
cd "$(dirname "$0")/../.."
export PIPIMEM_TEST_RELEASE=1
. examples/environment.sh release .venv-release
[ "${1:-}" != --set-up ] || exit 0
. tests/folders.sh
outside=tests/release/outside
if [ "${1:-}" = --gigabyte ]; then
    shift
    export PIPIMEM_TEST_GIGABYTE=1
    pytest -rs $outside/test_gigabyte.py "$@"
    exit
fi
if [ "${1:-}" = --all ]; then
    shift
else
    set -- --ignore=$outside/test_extras.py --ignore=$outside/test_pythons.py "$@"
fi
# -rs says which Pythons are not here, and whether there is no Prometheus.
pytest -n auto --dist loadfile -rs tests/release "$@"
