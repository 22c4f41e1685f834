"""`pipimem status`."""

from __future__ import annotations

import json
import re
import sqlite3
from contextlib import closing
from datetime import datetime, timedelta
from pathlib import Path

from pipimem.clock import Clock
from pipimem.notes.usage import Usage
from pipimem.store.workspace import WorkspaceStore

from tests.cli.conftest import Call, snapshot


def test_status_tells_how_each_channel_stands(call: Call, bot: Path, conversation: Path) -> None:
    """Entries, messages, backlog, the last consolidation, and what is due; by their true ids."""
    call("replay", "cid6KeBB/AZ==", str(conversation), "--kind", "group")
    call("replay", "room", str(conversation), model="nosuch/model")
    before = snapshot(bot)
    done, behind = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert (done["channel"], done["kind"], done["messages"], done["backlog"]) == (
        "cid6KeBB/AZ==",
        "group",
        6,
        0,
    )
    assert done["consolidated"].startswith("2026-03-02T09:05")
    assert (behind["backlog"], behind["consolidated"], behind["waiting"]) == (
        6,
        "",
        ["consolidate", "refresh"],
    )
    assert done["jobs"] == {
        "consolidate": "nothing new",
        "refresh": "nothing new",
        "history": "no history waits",
        "expire": done["jobs"]["expire"],
        "tidy": "short enough",
        "fold": "no month to fold",
    }
    assert re.fullmatch(
        r"nothing to expire(, until \d{4}-\d\d-\d\d \d\d:\d\d)?", done["jobs"]["expire"]
    )
    assert done["recall"]["turns"] == 3
    assert 0 < done["recall"]["p50_ms"] <= done["recall"]["p95_ms"]
    head, _, row = call("status").out.splitlines()
    assert head.endswith("\trecall p50 / p95")
    *_, consolidated, due, recall = row.split("\t")
    assert (consolidated, due) == ("never", "consolidate, refresh")
    assert re.fullmatch(r"[\d.]+ / [\d.]+ ms", recall)
    assert snapshot(bot) == before


def test_a_job_that_failed_is_told(call: Call, bot: Path, conversation: Path) -> None:
    """As in `--json`; of jobs that merely have nothing to do the text tells nothing."""
    call("replay", "room", str(conversation), model="nosuch/model")
    call("maintain", "room", "--force", model="nosuch/model")
    (room,) = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert room["failing"] == ["consolidate"]
    assert room["jobs"]["consolidate"] == "due; failed 2 times in a row"
    told = call("status").err.splitlines()
    assert "room: consolidate: due; failed 2 times in a row" in told
    assert not any("room: tidy" in line for line in told)


def test_one_broken_channel_does_not_hide_the_others(call: Call, bot: Path) -> None:
    """Its line says what is wrong with it."""
    call("remember", "good", "The port is 8080")
    call("remember", "bad", "The port is 8080")
    with closing(sqlite3.connect(bot / "channels/bad/.pipimem/state.db")) as db:
        db.execute("pragma user_version = 99")
    bad, good = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert ("newer pipimem" in bad["problem"], good["entries"]) == (True, 1)
    assert "newer pipimem" in call("status").out


def test_a_note_that_is_no_text_is_told_with_what_waits(call: Call, bot: Path) -> None:
    """What it had before serves; what is remembered meanwhile is counted until the file has it."""
    call("remember", "room", "The port is 8080")
    path = bot / "channels/room/MEMORY.md"
    whole = path.read_bytes()
    path.write_bytes(b"\x00\x01")
    for text in ("The door is green", "The roof is red"):
        assert call("remember", "room", text).code == 0
    (room,) = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert (room["problem"], room["entries"]) == ("", 3)
    (sentence,) = room["unreadable"]
    assert ("NUL bytes" in sentence, "2 changes wait" in sentence) == (True, True)
    assert "NUL bytes" in call("status").err
    path.write_bytes(whole)
    call("remember", "room", "The cat is black")
    (room,) = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert (room["unreadable"], room["entries"]) == ([], 4)
    assert path.read_text().count("\n- ") == 4


def test_a_shrink_by_hand_is_told_until_it_is_taken_back(call: Call, bot: Path) -> None:
    """Applied at once, and said with the way back; a small deletion is nobody's business."""
    for text in (
        "The port is 8080",
        "上线窗口是周五晚上",
        "The database is called heron and lives in the cellar",
        "Ines keeps the key",
    ):
        call("remember", "room", text)
    memory = bot / "channels/room/MEMORY.md"
    whole = memory.read_text()
    memory.write_text(
        "".join(line for line in whole.splitlines(keepends=True) if "8080" not in line)
    )
    call("remember", "room", "Omar has the other one")
    assert "lost more than half" not in call("status").err
    memory.write_text("## Facts\n\n- Ines keeps the key\n")
    call("remember", "room", "The door is green")
    assert "8080" not in memory.read_text()
    told = call("status").err
    found = re.search(
        r"room: MEMORY\.md lost more than half .* `pipimem undo 'room' (\d+)` brings it back", told
    )
    assert found is not None, told
    (standing,) = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert len(standing["shrunk"]) == 1
    assert call("undo", "room", found[1]).code == 0
    assert "heron" in memory.read_text()
    assert "上线窗口" in memory.read_text()
    assert "lost more than half" not in call("status").err


def called(now: datetime, tokens: int, outcome: str = "ok", **other: object) -> Usage:
    time = now.isoformat(timespec="seconds")
    fields = {"cost": 0.5, "reason": "", **other}
    return Usage(
        time,
        "room",
        "refresh",
        "openai/m",
        tokens,
        0,
        0,
        fields["cost"],
        1.0,
        outcome,
        "c",
        fields["reason"],
    )  # type: ignore[arg-type]


def test_status_shows_what_today_has_used(call: Call, bot: Path) -> None:
    """The workspace always, a channel above 80 %; yesterday is another budget."""
    (bot / "pipimem.toml").write_text(
        "[budget]\ntokens_per_day = 10000\nchannel_tokens_per_day = 5000\n"
    )
    now, store = Clock().now(), WorkspaceStore.open(bot)
    store.usage_store.append(called(now - timedelta(days=1), 9999))
    store.usage_store.append(called(now, 4500))
    budget = call("status", "--json").object["budget"]
    assert (budget["workspace"]["tokens"], budget["workspace"]["share"]) == (4500, 0.45)  # type: ignore[index]
    assert [(one["whose"], one["share"]) for one in budget["channels"]] == [("channel room", 0.9)]  # type: ignore[index]
    told = call("status", model="openai/m").err
    assert "today the workspace: 4,500 of 10,000 tokens, $0.5000 of $10.00 (45%)" in told
    assert "channel room: 4,500 of 5,000 tokens, $0.5000 of $5.00 (90%, above 80 %)" in told


def test_a_spent_budget_a_resting_model_and_unpriced_calls_are_told(call: Call, bot: Path) -> None:
    """In `status`, and in `doctor` what needs a hand."""
    (bot / "pipimem.toml").write_text("[budget]\ntokens_per_day = 4000\n")
    now, store = Clock().now(), WorkspaceStore.open(bot)
    store.usage_store.append(called(now, 4500, cost=None))
    store.usage_store.append(called(now, 0, "denied", cost=None, reason="No key for openai/m."))
    told = call("status", model="openai/m").err
    assert (
        "4,500 of 4,000 tokens, $0.0000 of $10.00 (used up: the offline rules take over until midnight)"
        in told
    )
    assert "openai/m has no key that is taken and is left alone until" in told
    assert "1 call today without a known price" in told
    assert [
        one["wrong"]
        for one in call("doctor", "--json").object["findings"]
        if "No key" in one["what"]
    ] == [False]  # type: ignore[attr-defined]
    found = call("doctor", "--json", model="openai/m").object["findings"]
    # The missing key is told once.
    assert [one["wrong"] for one in found if "No key for openai/m." in one["what"]] == []  # type: ignore[attr-defined]
    assert [one["wrong"] for one in found if "OPENAI_API_KEY is not set" in one["what"]] == [True]  # type: ignore[attr-defined]
    assert any("112% of today's budget" in one["what"] for one in found)  # type: ignore[attr-defined]
    assert any("no known price" in one["what"] for one in found)  # type: ignore[attr-defined]


def test_a_limit_that_cannot_hold_every_model_is_told(call: Call, bot: Path) -> None:
    """Dollars alone, with no limit in tokens."""
    (bot / "pipimem.toml").write_text(
        "[budget]\ntokens_per_day = inf\nchannel_tokens_per_day = inf\n"
    )
    assert any(
        "a limit in dollars alone" in one["what"]
        for one in call("doctor", "--json").object["findings"]
    )  # type: ignore[attr-defined]


def test_what_is_private_is_counted(call: Call) -> None:
    """Over sessions and processes; a message that is written once counts once."""
    typed = "a <private>b</private>\nc [private]d[/private] e <private>f\n/new\ng <private>h</private>\n"
    call("chat", "tea", typed=typed)
    call("chat", "tea", typed="<private>i</private>\nnothing\n")
    (one,) = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert one["private_sessions"] == 3
    assert one["private"] == {
        "messages": 4,
        "stretches": 5,
        "chars_before": 22 + 35 + 22 + 20,
        "chars_after": 11 + 23 + 11 + 9,
        "unclosed": 1,
    }
    told = call("status").err
    assert (
        "tea: 5 private stretches hidden in 4 messages of 3 sessions: of 99 characters 54 are kept, 1 tag never closed"
        in told
    )


def test_rules_that_wait_for_a_second_voice_are_told(call: Call, bot: Path) -> None:
    """Status by who said them, doctor by their lines; neither repeats their words."""
    said = [
        ("Ann", "2026-09-01", "I bring the cake to the office."),
        ("Bob", "2026-09-02", "I bring the tea to the office."),
        ("Eve", "2026-11-10", "no deploys on Fridays"),
    ]
    talk = bot / "talk.jsonl"
    lines = [
        {"role": "user", "content": text, "name": name, "ts": f"{day}T09:00:00+08:00"}
        for name, day, text in said
    ]
    talk.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    settings = bot / "pipimem.toml"
    text = settings.read_text("utf-8").replace('# rules = "anyone"', 'rules = "two"')
    settings.write_text(text, "utf-8")
    call("replay", "team", str(talk), "--kind", "group")
    (team,) = call("status", "--json").object["channels"]  # type: ignore[misc]
    assert team["awaiting"] == ["one member alone said it (Eve, 2026-11-10)"]
    told = "1 rule kept as a quote until another member agrees: one member alone said it (Eve, "
    assert told in call("status").err
    findings = call("doctor", "--json").object["findings"]
    (found,) = [one for one in findings if "binds nobody" in one["what"]]  # type: ignore[attr-defined]
    assert "MEMORY.md, line " in found["where"]
    assert not found["wrong"]
    assert found["what"] == (
        "a rule that binds nobody yet: one member alone said it (Eve, 2026-11-10). It does once "
        "another member agrees in the talk, or a person rewords the line; else take it out"
    )


def test_a_direct_chat_with_a_second_speaker_is_told(call: Call, bot: Path) -> None:
    """From then on one person is the bot's principal no more."""
    for name, speakers in (("one", ("Ann", "Ann")), ("two", ("Ann", "Bob"))):
        lines = [
            {"role": "user", "content": f"I bring the tea, {n}.", "name": who,
             "ts": f"2026-09-0{n}T09:00:00+08:00"}
            for n, who in enumerate(speakers, 1)
        ]  # fmt: skip
        talk = bot / f"{name}.jsonl"
        talk.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        call("replay", name, str(talk), "--kind", "dm")
    channels = call("status", "--json").object["channels"]
    shared = {one["channel"]: one["counts_as_group"] for one in channels}  # type: ignore[attr-defined]
    assert (shared["one"], shared["two"]) == (False, True)
    told = call("status").err
    assert "two: a second person has spoken: this direct chat counts as a group now" in told
    assert "one: a second person" not in told
