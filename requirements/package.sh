#!/usr/bin/env bash
# Build wheel and sdist of the commit that is checked out, with its time and locked tools: the same bytes everywhere.
# usage: bash requirements/package.sh FOLDER [vVERSION]   with a version: refuses if it is not that of pyproject.toml
set -euo pipefail
root=$(cd "$(dirname "$0")/.." && pwd)
version=$(sed -n 's/^version = "\(.*\)"$/\1/p' "$root/pyproject.toml")
if [ "${2:-v$version}" != "v$version" ]; then
    echo "the tag is $2, pyproject.toml has $version" >&2
    exit 1
fi
folder=$(mkdir -p "$1" && cd "$1" && pwd)
cd "$root"
. examples/environment.sh run .venv-build
export SOURCE_DATE_EPOCH="${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct)}"
python -m hatchling build -d "$folder"
(cd "$folder" && sha256sum -- *)
