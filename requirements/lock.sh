#!/usr/bin/env bash
# Make the lock files anew from pyproject.toml; needs uv.
set -euo pipefail
cd "$(dirname "$0")/.."
lock() { uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header --python-version 3.11 pyproject.toml "$@"; }
lock --group build -o requirements/run.txt
# What the wheel brings along, and what for: hatch_build.py makes the SBOM of it.
uv pip compile --quiet --universal --no-emit-index-url --no-emit-find-links --annotation-style split --no-header --python-version 3.11 --constraint requirements/run.txt pyproject.toml | grep -v -- '# *\(via\)\?$\|-c requirements' > requirements/wheel.txt
lock --group build --group dev -o requirements/dev.txt
lock --group build --group dev --group release -o requirements/release.txt
lock --group build --group dev --group recipes -o requirements/recipes.txt
lock --group build --group dev --group interfaces --extra mcp --extra ui --extra dingtalk --extra agentscope --extra langchain --extra openai-agents --extra pydantic-ai --extra anthropic -o requirements/interfaces.txt
lock --group build --group dev --extra fleet -o requirements/fleet.txt
echo 'mcp>=1.25,<2' | uv pip compile --quiet --universal --generate-hashes --no-emit-index-url --no-emit-find-links --no-annotate --no-header --python-version 3.11 - -o requirements/mcp1.txt
