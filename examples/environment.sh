# Sourced: a virtual environment with what a lock file says, and pipimem itself from this checkout.
# usage: . examples/environment.sh [run|dev|interfaces] [FOLDER, by default .venv]
environment=${2:-.venv}
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "pipimem needs Python 3.11 or newer; set PYTHON" >&2; exit 1; }
[ -x "$environment/bin/python" ] || "$python" -m venv "$environment"
stamp=$(cat "requirements/$1.txt" pyproject.toml | cksum)
if [ "$(cat "$environment/.pipimem-$1" 2>/dev/null)" != "$stamp" ]; then
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --require-hashes -r "requirements/$1.txt"
    "$environment/bin/python" -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
    echo "$stamp" > "$environment/.pipimem-$1"
fi
PATH=$PWD/$environment/bin:$PATH
