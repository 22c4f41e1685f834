"""`pipimem maintain`."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Call, snapshot
from tests.cli.test_calendar import put


def jobs(call: Call, *words: str) -> dict[str, bool]:
    """Which jobs ran, or would."""
    return {
        job["job"]: job["ran"] for job in call("maintain", "room", "--json", *words).object["jobs"]
    }  # type: ignore[attr-defined]


def test_a_dry_run_tells_the_gates_and_writes_nothing(
    call: Call, bot: Path, conversation: Path
) -> None:
    """Talk that nobody consolidated yet opens its gate; the sheet comes with it, and a day
    that is over gets its block.
    """
    call("replay", "room", str(conversation), model="nosuch/model")
    before = snapshot(bot)
    told = jobs(call, "--dry-run")
    assert [job for job, ran in told.items() if ran] == ["consolidate", "history"]
    assert snapshot(bot) == before
    assert "room\ttidy\tno\tshort enough" in call("maintain", "--dry-run").out


def test_every_channel_is_maintained_when_none_is_named(call: Call, conversation: Path) -> None:
    """What a dry run promised is done; then nothing is left."""
    for name in ("room", "hall"):
        call("replay", name, str(conversation), model="nosuch/model")
    told = call("maintain", "--json").lines
    assert [(line["channel"], line["jobs"][0]["ran"]) for line in told] == [
        ("hall", True),
        ("room", True),
    ]  # type: ignore[index]
    assert not any(jobs(call).values())


def test_a_job_that_fails_is_exit_one(call: Call, conversation: Path) -> None:
    """The reason names what to do."""
    call("replay", "room", str(conversation), model="nosuch/model")
    told = call("maintain", model="nosuch/model")
    assert (told.code, "consolidate was not done: 'nosuch/model'" in told.err) == (1, True)


def test_no_channel_at_all_is_fine(call: Call) -> None:
    """A fresh workspace has nothing to do."""
    assert call("maintain").err == "there are no channels yet\n"


def test_a_dry_run_shows_the_texts_and_a_run_does_the_same(
    call: Call, bot: Path, conversation: Path
) -> None:
    """Before and after, per file; for scripts with the whole texts."""
    call("replay", "room", str(conversation), model="nosuch/model")
    before = snapshot(bot)
    told = call("maintain", "room", "--dry-run", "--json").object["jobs"]
    assert snapshot(bot) == before
    added = [change for job in told for change in job["changes"] if change["verb"] == "added"]  # type: ignore[attr-defined]
    assert any(
        "lantern release" in change["after"] and change["file"] == "MEMORY.md" for change in added
    )
    assert "MEMORY.md\tadded" in call("maintain", "room", "--dry-run").out
    done = call("maintain", "room", "--json").object["jobs"]
    assert [job["changes"] for job in done] == [job["changes"] for job in told]  # type: ignore[attr-defined]
    assert "lantern" in (bot / "channels/room/MEMORY.md").read_text()


def test_what_has_had_its_day_is_shown_with_its_reason_and_found_by_search(
    call: Call, bot: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`remember --until` gives the day; a person sees where the entry went."""
    with monkeypatch.context() as then:
        put(then, "2026-01-30T09:00:00+08:00")
        call("remember", "room", "the code freeze is on", "--until", "2026-01-31")
    assert (
        "MEMORY.md\tinvalidated · Facts · it held until 2026-01-31\tthe code freeze is on"
        in call("maintain").out
    )
    assert "freeze" not in (bot / "channels/room/MEMORY.md").read_text()
    assert "- the code freeze is on" in (bot / "channels/room/HISTORY.archive.md").read_text()
    assert "the code freeze is on" in call("search", "room", "code freeze").out


def test_it_keeps_the_index_of_much_talk_for_the_next_search(
    call: Call, bot: Path, tmp_path: Path
) -> None:
    """A dry run does not."""
    path = tmp_path / "long.jsonl"
    text = "the ferry leaves at nine from the northern pier, the tram at ten from the old market, and the bus never"
    rows = [
        {
            "id": f"m{n}",
            "ts": "2026-03-02T09:00:00+08:00",
            "role": "assistant",
            "name": "",
            "content": f"{n} {text}",
        }
        for n in range(600)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call("replay", "room", str(path))
    kept = bot / "channels" / "room" / ".pipimem" / "search.idx"
    call("maintain", "room", "--dry-run")
    assert not kept.exists()
    call("maintain", "room")
    assert kept.exists()
