"""Faults between hosts, and what a fleet costs.

python -m benchmarks.fleet freezes [--sample N] [--seed S]   suspended at each file call, woken later
python -m benchmarks.fleet storm [--faults N] [--seed S] [--namespaces]
                                                            kills, freezes, cuts and restarts by lot
python -m benchmarks.fleet figures [--rows N]

With `--namespaces` each host has a network of its own, whose link goes down where it is cut off; that needs root.
Starts a PostgreSQL server of its own. Ends with 1 where anything was lost, doubled or stale.
"""

from __future__ import annotations

import argparse
import os
import random
import sys
import tempfile
import time
from contextlib import nullcontext
from pathlib import Path

from pipimem.state.channel_state import SCHEMA
from pipimem.state.postgres import FleetDatabase
from pipimem.store.workspace_state import WORKSPACE

from benchmarks.fleet.figures import figures
from benchmarks.fleet.freezes import FROZEN, Freezer
from benchmarks.fleet.postgres import running
from benchmarks.fleet.storm import HOSTS, Storm
from benchmarks.fleet.ways import Namespaces, Sockets


def main() -> int:
    """One part of the benchmark."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.fleet")
    parser.add_argument("part", choices=("freezes", "storm", "figures"))
    parser.add_argument("--seed", type=int, default=19)
    parser.add_argument("--sample", type=int, default=0, help="calls of each work; 0 for all")
    parser.add_argument("--faults", type=int, default=200)
    parser.add_argument("--namespaces", action="store_true", help="hosts in networks of their own")
    parser.add_argument("--rows", type=int, default=1_000_000)
    options = parser.parse_args()
    if options.namespaces:
        os.environ["PIPIMEM_TEST_POSTGRES"] = Namespaces.options
    with running() as server, tempfile.TemporaryDirectory() as folder:
        database, root = FleetDatabase(server.address), Path(folder) / "bot"
        database.create(SCHEMA, WORKSPACE)
        if options.part == "freezes":
            wrong = _freezes(Freezer(root, database), options.sample, options.seed)
        elif options.part == "storm":
            sockets = Sockets(server, Path(folder))
            with Namespaces(server, HOSTS) if options.namespaces else nullcontext(sockets) as ways:
                wrong = _storm(Storm(root, server, options.seed, ways), options.faults)
        else:
            wrong = []
            for name, value in figures(root, server, options.rows):
                print(f"{name}: {value}", flush=True)
    print(f"wrong: {len(wrong)}", *wrong, sep="\n")
    return bool(wrong)


def _storm(storm: Storm, faults: int) -> list[str]:
    wrong = storm.run(faults)
    print("faults", dict(storm.faults))
    print("acknowledged", dict(storm.acknowledged()))
    return wrong


def _freezes(freezer: Freezer, sample: int, seed: int) -> list[str]:
    wrong: list[str] = []
    for journey in FROZEN:
        began, tree = time.monotonic(), freezer.prepared(journey)
        calls = list(range(1, len(freezer.calls(journey, tree)) + 1))
        chosen = sorted(random.Random(seed).sample(calls, sample)) if sample else calls
        found = [each for at in chosen for each in freezer.frozen(journey, tree, at)]
        wrong += found
        took = time.monotonic() - began
        line = f"{journey.name}: {len(chosen)} of {len(calls)} calls, {len(found)} wrong"
        print(f"{line}, {took:.0f} s", *found, sep="\n", flush=True)
    return wrong


if __name__ == "__main__":
    sys.exit(main())
