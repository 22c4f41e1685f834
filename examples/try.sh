#!/usr/bin/env bash
# Set everything up from a bare clone and run the main job: a conversation of ten days becomes three Markdown files.
# No key, no network beyond the installation, no model.
set -euo pipefail
cd "$(dirname "$0")/.."
. examples/environment.sh run
workspace=${1:-workspace}
pipimem init "$workspace"
pipimem --workspace "$workspace" replay release-room examples/release-room.jsonl --kind group --compact-every 60 --maintain
for file in session memory history; do
    printf '\n──── %s.md ────\n' "${file^^}"
    pipimem --workspace "$workspace" show release-room "$file"
done
printf '\n──── recall: 2.4 什么时候发布？ ────\n'
pipimem --workspace "$workspace" recall release-room "2.4 什么时候发布？"
printf '\nGo on with:  . .venv/bin/activate;  pipimem --workspace %q chat release-room\n' "$workspace"
