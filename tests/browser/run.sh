#!/usr/bin/env bash
# The tests of the web view in a real browser: Debian's chromium, installed if this may install packages.
# usage: tests/browser/run.sh [--set-up | PYTEST_OPTIONS]
set -euo pipefail
cd "$(dirname "$0")/../.."
if ! command -v chromium >/dev/null && command -v apt-get >/dev/null && [ "$(id -u)" = 0 ]; then
    apt-get update -qq && DEBIAN_FRONTEND=noninteractive apt-get install -y -qq --no-install-recommends chromium fonts-noto-cjk >/dev/null || true
fi
if ! command -v chromium >/dev/null; then
    echo "SKIPPED: the tests in a browser. There is no chromium on the path; apt-get install chromium fonts-noto-cjk" >&2
    exit 0
fi
. examples/environment.sh interfaces .venv-interfaces
# The checker of accessibility; MPL-2.0, for tests alone.
axe=.cache/axe-core/node_modules/axe-core/axe.min.js
if [ ! -f "$axe" ] && command -v npm >/dev/null; then
    mkdir -p .cache/axe-core && (cd .cache/axe-core && npm install --silent --no-save --ignore-scripts --prefix . axe-core@4.14.1) || true
fi
[ -f "$axe" ] || echo "SKIPPED: the checks of accessibility. npm could not install axe-core" >&2
[ "${1:-}" != --set-up ] || exit 0
. tests/folders.sh
export PIPIMEM_TEST_BROWSER=1
if [ $# = 0 ]; then
    set -- tests/browser
fi
pytest -n auto --dist worksteal "$@"
