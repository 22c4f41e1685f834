"""A workspace of ReMe."""

from __future__ import annotations

from pipimem.runtime.transfer.formats.reme import FORMAT

from tests.runtime.transfer.formats.fixtures import days, entries, fixture, left_out, said


def test_digest_days_and_dialogs() -> None:
    """Sources are no memory, and a daily card is what it says in short."""
    found = fixture(FORMAT)
    assert entries(found) == [
        ("preference", "Ann prefers direct explanations"),
        ("preference", "Documentation style: She asks for examples, never for slogans."),
        ("lesson", "Release: Run the smoke test before the switch."),
    ]
    assert days(found) == [("2026-03-02", ("Ann corrected the wording of the guide",))]
    assert said(found) == [
        ("user", "Ann", "Keep it short.", "s1"),
        ("assistant", "", "I will.", "s1"),
    ]
    assert left_out(found) == [("session/dialog/s1.jsonl:3", "a message without role or text")]
