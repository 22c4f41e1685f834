# Sourced: a virtual environment in .venv with what the lock file says, and pipimem itself from this checkout.
# usage: . examples/environment.sh [run|dev]
python=${PYTHON:-python3}
"$python" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "pipimem needs Python 3.11 or newer; set PYTHON" >&2; exit 1; }
[ -x .venv/bin/python ] || "$python" -m venv .venv
stamp=$(cat "requirements/$1.txt" pyproject.toml | cksum)
if [ "$(cat ".venv/.pipimem-$1" 2>/dev/null)" != "$stamp" ]; then
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r "requirements/$1.txt"
    .venv/bin/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation -e .
    echo "$stamp" > ".venv/.pipimem-$1"
fi
PATH=$PWD/.venv/bin:$PATH
