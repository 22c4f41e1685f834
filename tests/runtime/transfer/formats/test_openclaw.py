"""A workspace of OpenClaw."""

from __future__ import annotations

from pathlib import Path

from pipimem.runtime.transfer.formats.openclaw import FORMAT

from tests.runtime.transfer.formats.fixtures import (
    CASES,
    days,
    entries,
    fixture,
    found_in,
    left_out,
)


def test_entries_of_memory_and_a_day_for_each_page() -> None:
    """Pages of no day are entries too; instructions to the agent are left out."""
    found = fixture(FORMAT)
    assert entries(found) == [
        ("preference", "likes short answers"),
        ("fact", "Projects: Zephyr uses pnpm"),
        ("identity", "Name: Ann"),
        ("fact", "call the bank"),
    ]
    assert days(found) == [("2026-03-02", ("fixed the build", "lunch with Bob"))]
    assert left_out(found) == [("AGENTS.md", "instructions to the agent")]


def test_to_dos_italics_and_brackets_are_taken_in() -> None:
    """An unticked box is an open loop; under the heading of to-dos a ticked one is a fact."""
    found = found_in(CASES / "openclaw-to-dos", FORMAT)
    assert entries(found) == [
        ("open_loop", "[ ] renew the lease of the lab by 30 November"),
        ("fact", "[x] order the blue paint"),
        ("fact", "*We never deploy on Fridays*"),
        ("fact", "(the spare key is at number 12)"),
        ("fact", "the shed is green"),
    ]
    lines = ("[ ] buy screws", "[x] sold the bike", "*met Zoë at nine*")
    assert days(found) == [("2026-11-02", lines)]
    assert left_out(found) == []


def test_of_user_md_only_what_somebody_wrote_is_taken_in(tmp_path: Path) -> None:
    """The fields of the template that nobody filled in are left out, and so are empty boxes."""
    template = "# USER.md\n\n_Learn about the person you're helping. Update this as you go._\n\n"
    fields = "- **Name:**\n- **Pronouns:** _(optional)_\n- **Timezone:** Porto\n- [ ]\n"
    own = "- _the blue paint_ (for the shed)\n- _(she cares about the shed)_\n"
    (tmp_path / "USER.md").write_text(template + fields + own, encoding="utf-8")
    (tmp_path / "MEMORY.md").write_text("- the shed is green\n", encoding="utf-8")
    (tmp_path / "SOUL.md").write_text("# Soul\n", encoding="utf-8")
    found = found_in(tmp_path, FORMAT)
    assert {text for _, text in entries(found)} == {
        "the shed is green",
        "**Timezone:** Porto",
        "_the blue paint_ (for the shed)",
        "_(she cares about the shed)_",
    }
    template_text = "a text of the program's template"
    assert [why for _, why in left_out(found) if why != "instructions to the agent"] == [
        template_text
    ] * 3
