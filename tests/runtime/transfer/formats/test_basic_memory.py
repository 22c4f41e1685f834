"""A folder of basic-memory."""

from __future__ import annotations

from pipimem.runtime.transfer.formats.basic_memory import FORMAT

from tests.runtime.transfer.formats.fixtures import entries, fixture


def test_observations_and_relations_behind_their_note() -> None:
    """The category says the kind, tags and contexts stay."""
    assert entries(fixture(FORMAT)) == [
        ("decision", "Database: We use PostgreSQL #db (after the outage)"),
        ("fact", "Database: Backups run at four"),
        ("fact", "Database depends on Storage Cluster"),
    ]
