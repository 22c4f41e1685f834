#!/usr/bin/env bash
# The nightly care of a workspace, beside a bot or without one. As the bot's user, in its crontab:
#
#   15 3 * * *  PATH=/srv/bot/venv/bin:$PATH  /srv/bot/cron.sh /srv/bot/workspace /srv/bot/backups
#
# It does the idle jobs, packs the workspace, deletes packs older than KEEP_DAYS (14), and says what
# models cost. cron mails what it prints. It ends with 1 where a job failed or something is wrong.
set -uo pipefail
workspace=${1:?the folder of the workspace}
backups=${2:?a folder for packed workspaces, outside of it}
keep_days=${KEEP_DAYS:-14}
failed=0
umask 077

# One question a channel at most; what has nothing to do costs nothing. `pipimem undo` takes a change back.
pipimem --workspace "$workspace" maintain || failed=1

# Not with tar or rsync: a copy of a database that is made while a bot writes to it may be none.
mkdir -p "$backups"
pack=$backups/memory-$(date +%F).zip
if pipimem --workspace "$workspace" export "$pack.part"; then
    mv "$pack.part" "$pack"
    find "$backups" -name 'memory-*.zip' -mtime +"$keep_days" -delete
else
    rm -f "$pack.part"
    echo "the workspace was not packed" >&2
    failed=1
fi

pipimem --workspace "$workspace" usage --since yesterday --by day || failed=1
pipimem --workspace "$workspace" doctor || failed=1
exit "$failed"
