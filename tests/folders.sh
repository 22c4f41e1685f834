# Sourced: the tests' temporary folders are in memory where there is room for them, and gone at the end.
# A disk's fsync is what the suite would otherwise wait for. /dev/shm of a container may be small, or run no program.
tests_folder=
if [ -d /dev/shm ] && [ -w /dev/shm ] && [ "$(df -Pk /dev/shm | awk 'NR == 2 { print $4 }')" -gt 2000000 ]; then
    tests_folder=$(mktemp -d /dev/shm/pipimem-tests-XXXXXX)
    printf '#!/bin/sh\n' > "$tests_folder/runs" && chmod +x "$tests_folder/runs"
    if ! "$tests_folder/runs" 2>/dev/null; then
        rm -rf "$tests_folder"
        tests_folder=
    fi
fi
tests_folder=${tests_folder:-$(mktemp -d)}
chmod 711 "$tests_folder" # PostgreSQL runs as somebody else
export TMPDIR=$tests_folder
# The tests start pipimem some hundred times: it is compiled once.
unset PYTHONDONTWRITEBYTECODE
trap 'rm -rf "$tests_folder"' EXIT
trap 'exit 130' INT
trap 'exit 143' TERM
