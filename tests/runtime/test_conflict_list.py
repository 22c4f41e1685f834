"""Contradictions and due days of a conversation, as its host and its people see them."""

from __future__ import annotations

from datetime import date
from pathlib import Path

import pytest
from pipimem import ArgumentError, ById, Channel, File, Kind, NothingFound
from pipimem.results import EntryPlace

from tests.runtime.building import MORNING, Hands, opened, read, workspace, write

pytestmark = pytest.mark.anyio

MEMORY = "## Facts\n\n- the gate opens at 8:00\n\n## Decisions\n\n- the gate opens at 9:00\n"
KEY = "ghp_" + "a1B2" * 9
SECRETS = f"- {KEY} ends at 8:00\n- {KEY} ends at 9:00\n\n## Open Loops\n\n- change {KEY}\n"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = workspace(tmp_path)
    write(root, "MEMORY.md", MEMORY)
    return root


async def pair_of(channel: Channel) -> tuple[str, str]:
    (pair,) = await channel.notes.conflicts()
    return pair.older.id, pair.newer.id


async def test_one_of_two_entries_is_kept(root: Path) -> None:
    """The other one goes, though a person typed it; an undo brings both back."""
    async with opened(root) as channel:
        older, newer = await pair_of(channel)
        (change,) = await channel.notes.settle(newer, older)
        assert (change.verb, change.before) == ("invalidated", "the gate opens at 8:00")
        assert "8:00" not in read(root)
        assert await channel.notes.conflicts() == ()
        await channel.history.undo()
        assert await pair_of(channel) == (older, newer)


async def test_both_are_kept_for_good(root: Path) -> None:
    """Also after a restart, with the file as it was; an undo opens the question again."""
    async with opened(root) as channel:
        await channel.notes.settle(*await pair_of(channel), both=True)
    async with opened(root) as channel:
        assert await channel.notes.conflicts() == ()
        assert read(root) == MEMORY
        await channel.notes.remember("the yard has a lamp")
        await channel.history.undo()
        assert await channel.notes.conflicts() == ()
        taken_back = await channel.history.undo()
        assert [change.verb for change in taken_back.changes] == ["taken back"]
        await pair_of(channel)


async def test_what_is_settled_stays_so_in_restored_notes(root: Path) -> None:
    """The entries go back to their words; that both hold was said of these words."""
    async with opened(root) as channel:
        await channel.notes.remember("the yard is swept")
        (change,) = await channel.history.log(1)
        await channel.notes.remember("the yard has a lamp")
        await channel.notes.settle(*await pair_of(channel), both=True)
        await channel.history.restore(change.number)
        assert "lamp" not in read(root)
        assert await channel.notes.conflicts() == ()


async def test_a_forgotten_entry_leaves_no_settled_pair(root: Path) -> None:
    """Nothing of the state names it."""
    async with opened(root) as channel:
        older, newer = await pair_of(channel)
        await channel.notes.settle(older, newer, both=True)
        await channel.notes.forget(ById(newer))
        await channel.notes.remember("the gate opens at 9:00")
        assert await channel.notes.conflicts() != ()


async def test_secrets_are_masked(root: Path) -> None:
    """A person may have typed one."""
    write(root, "MEMORY.md", SECRETS)
    async with opened(root) as channel:
        assert len(await channel.notes.conflicts()) == len(await channel.notes.agenda()) == 1
        shown = [str(await channel.notes.conflicts()), str(await channel.notes.agenda())]
    assert all("a1B2" not in text for text in shown)


async def test_ids_are_checked_with_a_sentence(root: Path) -> None:
    """Nothing is written."""
    async with opened(root) as channel:
        older, _ = await pair_of(channel)
        with pytest.raises(NothingFound):
            await channel.notes.settle(older, "nothing")
        with pytest.raises(ArgumentError, match="entry must be str"):
            await channel.notes.settle(older, None)  # type: ignore[arg-type]
        with pytest.raises(ArgumentError, match="both must be bool"):
            await channel.notes.settle(older, older, both="yes")  # type: ignore[arg-type]
    assert read(root) == MEMORY


async def test_the_agenda_goes_by_the_day_that_was_given(root: Path) -> None:
    """Overdue, due today, later, and without a day."""
    hands, days = Hands(), (date(2026, 3, 1), MORNING.date(), date(2026, 3, 9))
    async with opened(root, hands=hands) as channel:
        for day, text in zip(days, ("buy cake", "pay the rent", "call Bo"), strict=True):
            await channel.notes.remember(text, due=day, speaker="Dana")
        await channel.notes.remember("water the plants", kind=Kind.OPEN_LOOP)
        items = await channel.notes.agenda()
        assert [(each.entry.text, each.is_overdue, each.is_today) for each in items] == [
            ("buy cake", True, False),
            ("pay the rent", False, True),
            ("call Bo", False, False),
            ("water the plants", False, False),
        ]
        assert items[0].person == "Dana"
        assert items[0].entry.kind is Kind.OPEN_LOOP
        hands.pass_by(days=1)
        assert [each.is_overdue for each in await channel.notes.agenda()][:2] == [True, True]


async def test_a_day_stays_with_an_entry_that_is_reworded(root: Path) -> None:
    """By its id, and by hand; and it may be given to what stands there already."""
    async with opened(root) as channel:
        await channel.notes.remember("buy cake", kind=Kind.OPEN_LOOP)
        done = await channel.notes.remember("buy cake", due=date(2026, 3, 9))
        assert [(change.verb, change.reason) for change in done.changes] == [
            ("dated", "due 2026-03-09")
        ]
        (item,) = await channel.notes.agenda()
        await channel.notes.update(item.entry.id, "buy a cake")
        (item,) = await channel.notes.agenda()
        assert (item.entry.text, item.due) == ("buy a cake", date(2026, 3, 9))
        blocks = (await channel.notes.view(File.MEMORY, words="cake")).blocks
        place = EntryPlace(File.MEMORY, "Open Loops", item.entry.id, blocks[-1].source)
        await channel.notes.save_entry(place, "bake a cake")
        (item,) = await channel.notes.agenda()
        assert (item.entry.text, item.due) == ("bake a cake", date(2026, 3, 9))
        with pytest.raises(ArgumentError, match="due must be a day"):
            await channel.notes.remember("buy tea", due=MORNING)
