"""Runs one measure on the pipimem of `PYTHONPATH`: arguments and result are JSON.

usage: python child MEASURE < ARGUMENTS.json      (the last line printed is the result)
"""

from __future__ import annotations

import json
import sys

import anyio
from labelled import masked, poisoned
from timing import beside_commits, commits, edits, many_channels, recall, storm, turns

from journeys import journeys

MEASURES = {
    function.__name__: function
    for function in (
        beside_commits,
        commits,
        edits,
        journeys,
        many_channels,
        masked,
        poisoned,
        recall,
        storm,
        turns,
    )
}


def main() -> None:
    """Run the measure that the command line names."""
    given = json.load(sys.stdin)

    async def run() -> object:
        return await MEASURES[sys.argv[1]](**given)

    result = anyio.run(run)
    print(json.dumps(result, ensure_ascii=False))


main()
