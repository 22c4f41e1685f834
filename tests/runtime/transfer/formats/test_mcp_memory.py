"""The knowledge graph of MCP's reference memory server."""

from __future__ import annotations

from pipimem.runtime.transfer.formats.mcp_memory import FORMAT

from tests.runtime.transfer.formats.fixtures import entries, fixture, left_out


def test_observations_behind_their_entity_and_relations_as_sentences() -> None:
    """The name stands once."""
    found = fixture(FORMAT)
    assert entries(found) == [
        ("fact", "Ann: speaks Portuguese"),
        ("fact", "Ann prefers mornings"),
        ("fact", "Ann works at Acme"),
    ]
    assert left_out(found) == [("memory.jsonl:2", "an entity without name or observations")]
