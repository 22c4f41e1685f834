"""What a session's first turn is shown."""

from __future__ import annotations

from pipimem.memory.snapshot import snapshot
from pipimem.recall.budget import size_of
from pipimem.recall.items import Source

from tests.notes.building import notes_of

FACTS = "## Facts\n\n" + "".join(
    f"- server {n} stands in row {n} of hall {n % 7}\n" for n in range(200)
)
CONSTRAINT = "\n## Constraints\n\n- 生产环境周五不发布\n"
SESSION = "# Session\n\n## Worklog\n\n- looked around\n\n## Current State\n\n- the release waits for Dana\n"


def test_the_one_constraint_is_kept_among_200_facts() -> None:
    """Facts take what room is left, in the order of the file, and the rest is counted."""
    shown = snapshot(notes_of(FACTS + CONSTRAINT), 3_000, 1_400)
    texts = [item.text for item in shown.items]
    assert texts[-1] == "生产环境周五不发布"
    assert texts[-2] == "server 199 stands in row 199 of hall 3"
    assert len(shown.items) + shown.left_out == 201


def test_it_stays_in_both_limits() -> None:
    """Characters and tokens, with the frame around each item, are each enough to stop it."""
    for chars, tokens in ((1_000, 100_000), (100_000, 300), (3_000, 1_400)):
        sizes = [size_of(item) for item in snapshot(notes_of(FACTS, SESSION), chars, tokens).items]
        assert 0 < sum(size for size, _ in sizes) <= chars
        assert 0 < sum(cost for _, cost in sizes) <= tokens


def test_the_same_bullet_in_many_blocks_takes_no_more_than_its_room() -> None:
    """A line that HISTORY.md tells again and again cannot break the limits."""
    history = "".join(
        f"## 2026-03-{d:02} 09:00–10:00 +08:00\n\n- the nightly build passed\n\n"
        for d in range(1, 31)
    )
    shown = snapshot(notes_of(history=history), 1_000, 400)
    assert sum(size_of(item)[0] for item in shown.items) <= 1_000
    assert len({item.id for item in shown.items}) == len(shown.items)


def test_where_things_stand_comes_first() -> None:
    """SESSION, then MEMORY, then HISTORY; of the session the current state comes before the
    worklog.
    """
    history = "## 2026-03-01 09:00–10:00 +08:00\n\n- Dana set up the gateway\n"
    shown = snapshot(notes_of("## Facts\n\n- the port is 8080\n", SESSION, history), 3_000, 1_400)
    assert [item.text for item in shown.items] == [
        "the release waits for Dana",
        "looked around",
        "the port is 8080",
        "Dana set up the gateway",
    ]
    assert shown.left_out == 0


def test_only_the_newest_of_a_long_history_are_shown() -> None:
    """Eight bullets say where things were left."""
    bullets = "".join(f"- step {n} of the move\n" for n in range(20))
    shown = snapshot(
        notes_of(history=f"## 2026-03-01 09:00–10:00 +08:00\n\n{bullets}"), 3_000, 1_400
    )
    assert [item.text for item in shown.items] == [f"step {n} of the move" for n in range(12, 20)]


def test_shared_memory_has_room_of_its_own() -> None:
    """A full channel cannot push the workspace out, and a full workspace stays within 500
    tokens.
    """
    full = snapshot(
        notes_of(FACTS, workspace="## Facts\n\n- the office is in Shenzhen\n"), 3_000, 1_400
    )
    assert [(i.source, i.text) for i in full.items][-1] == (
        Source.WORKSPACE,
        "the office is in Shenzhen",
    )
    shared = snapshot(notes_of(CONSTRAINT, workspace=FACTS), 3_000, 1_400).items
    costs = [size_of(item)[1] for item in shared if item.source is Source.WORKSPACE]
    assert 400 < sum(costs) <= 500
    assert shared[0].text == "生产环境周五不发布"


def test_an_empty_channel_shows_nothing() -> None:
    """Nothing known, nothing shown, nothing left out."""
    shown = snapshot(notes_of(), 3_000, 1_400)
    assert (shown.items, shown.left_out) == ((), 0)
