#!/usr/bin/env bash
# The recipes of docs/guide/frameworks.md, run with their libraries in an environment of their own.
set -euo pipefail
cd "$(dirname "$0")/../.."
. examples/environment.sh recipes .venv-recipes
. tests/folders.sh
pytest tests/journeys/test_framework_recipes.py
