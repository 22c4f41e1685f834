#!/usr/bin/env bash
# Make the lock files anew from pyproject.toml; needs uv.
set -euo pipefail
cd "$(dirname "$0")/.."
lock() { uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header --python-version 3.11 pyproject.toml "$@"; }
lock --group build -o requirements/run.txt
lock --group build --group dev -o requirements/dev.txt
