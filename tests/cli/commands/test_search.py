"""`pipimem search`."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from tests.cli.conftest import Call, snapshot


def found(call: Call, *words: str) -> list[str]:
    """The ids a search gives."""
    return [one["id"] for one in call("search", "room", *words, "--json").object["candidates"]]  # type: ignore[attr-defined]


def test_search_finds_messages_by_their_ids(call: Call, conversation: Path) -> None:
    """English and Chinese, the most telling first."""
    call("replay", "room", str(conversation))
    assert found(call, "上线窗口")[0] == "r4"
    assert set(found(call, "lantern")[:2]) == {"r0", "r2"}
    assert found(call, "lantern", "-k", "1") != []
    assert call("search", "room", "lantern", "-k", "1", "--in", "log").out.count("\n") == 2


def test_search_filters_by_time_speaker_and_role(call: Call, conversation: Path) -> None:
    """From `--after` on, before `--before`, of one speaker, in one role."""
    call("replay", "room", str(conversation))
    assert found(call, "lantern", "--speaker", "Bob") == ["r2"]
    assert found(call, "lantern", "--before", "2026-03-02T09:01+08:00") == ["r0"]
    assert found(call, "lantern", "--after", "2026-03-02T09:01+08:00")[0] == "r2"
    assert "r0" not in found(call, "lantern", "--after", "2026-03-02T09:01+08:00")
    # One of them says 周四.
    assert sorted(found(call, "Thursday", "--role", "assistant")) == ["r3", "r5"]


def test_dates_may_be_words(call: Call, tmp_path: Path) -> None:
    """Counted from today, in both languages; a day without a year is one that has been."""
    now = datetime.now().astimezone().replace(hour=12, minute=0, second=0, microsecond=0)
    path = tmp_path / "days.jsonl"
    rows = [
        {
            "id": str(days),
            "ts": (now - timedelta(days=days)).isoformat(),
            "role": "user",
            "name": "",
            "content": "fog",
        }
        for days in (200, 40, 3, 1, 0)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call("replay", "room", str(path))

    def since(*words: str) -> list[str]:
        (one,) = call("search", "room", "fog", *words, "--json").object["candidates"]  # type: ignore[misc]
        return sorted([one["id"], *one["also"]], key=int)

    assert since("--after", "yesterday") == since("--after", "昨天") == ["0", "1"]
    assert (
        since("--after", "4 days ago", "--before", "today")
        == since("--after", "四天前", "--before", "今天")
        == ["1", "3"]
    )
    assert since("--before", "last month", "--after", "去年")[-1] == "200"
    day = now - timedelta(days=200)
    assert since("--before", f"{(day + timedelta(days=1)):%-m月%-d日}") == ["200"]


@pytest.mark.parametrize(
    "date", ["soon", "", "2026-13-45", "10:00", "99999999999 days ago", "yesterday or 2026-01-01"]
)
def test_what_is_no_date_is_told_how_to_write_one(
    call: Call, conversation: Path, date: str
) -> None:
    """Nothing is searched."""
    call("replay", "room", str(conversation))
    told = call("search", "room", "lantern", "--after", date)
    assert (told.code, told.out) == (2, "")
    assert f"{date!r} is not a date; write it as 2026-03-02, " in told.err


def test_a_day_at_the_edge_of_the_calendar_is_refused(call: Call, conversation: Path) -> None:
    """Its offset would lead into the year 0: a sentence, no traceback."""
    for words in (
        ("search", "room", "x", "--after", "0001-01-01"),
        ("diff", "room", "--since", "0001-01-01"),
    ):
        told = call(*words)
        assert (told.code, "is no time of our calendar" in told.err) == (2, True)


def test_filters_that_leave_nothing_say_so(call: Call, conversation: Path) -> None:
    """Which days there are, who speaks, and which way round the two dates go."""
    call("replay", "room", str(conversation))
    assert (
        "this channel has messages from 2026-03-02 to 2026-03-0"
        in call("search", "room", "lantern", "--before", "2025-01-01").err
    )
    told = call("search", "room", "lantern", "--speaker", "Bbo")
    assert (told.code, told.out) == (0, "")
    assert told.err.startswith("nobody is called 'Bbo' here; there are ")
    assert "bob, " in told.err
    assert call("search", "room", "xyzzyx", "--role", "tool").err.endswith("there may be more\n")
    assert call("search", "room", "xyzzyx").err == "nothing was found\n"
    round_ = call("search", "room", "lantern", "--after", "2026-03-05", "--before", "2026-03-02")
    assert (round_.code, "--after is the earlier one" in round_.err) == (2, True)
    empty = call("search", "room", "  ")
    assert (empty.code, "QUERY is empty" in empty.err) == (2, True)


def test_the_same_said_again_is_one_hit_with_the_ids_of_the_others(
    call: Call, tmp_path: Path
) -> None:
    """And makes room for other hits; a batch gives every message its own place."""
    path = tmp_path / "again.jsonl"
    texts = ["the ferry leaves at nine"] * 9 + [
        "which ferry is blue, and which one leaves from the old pier?"
    ]
    rows = [
        {
            "id": f"m{n}",
            "ts": f"2026-03-{n + 1:02}T09:00:00+08:00",
            "role": "user",
            "name": "Ana",
            "content": text,
        }
        for n, text in enumerate(texts)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call("replay", "room", str(path))
    first, second = call("search", "room", "ferry", "-k", "2", "--json").object["candidates"]  # type: ignore[misc]
    assert (first["rank"], first["id"], first["also"]) == (1, "m0", [f"m{n}" for n in range(1, 9)])
    assert (second["rank"], second["id"], second["also"]) == (2, "m9", [])
    shown = call("search", "room", "ferry", "-k", "2").out
    assert "the ferry leaves at nine (said in m0, m1, m2, m3, m4, …)" in shown
    shown = call("search", "room", "ferry", "-k", "2", "--in", "log").out
    assert "the ferry leaves at nine (also said 8 times: m1, m2, m3, m4, m5, …)" in shown
    (asked,) = call("search", "--batch", "-", typed='{"channel": "room", "query": "ferry"}\n').lines
    assert len(asked["candidates"]) == 10  # type: ignore[arg-type]


def test_search_looks_into_the_archive_but_a_batch_does_not(
    call: Call, bot: Path, conversation: Path
) -> None:
    """Folded history is still found; a batch is scored by ids of messages."""
    call("replay", "room", str(conversation))
    old = "## 2025-11-02 09:00–10:00 +08:00 · Old days\n\n- The brass sextant was sold to Ines\n"
    (bot / "channels" / "room" / "HISTORY.archive.md").write_text(old)
    (one,) = found(call, "sextant")
    assert one.startswith("archive:")
    batch = bot.parent / "q.jsonl"
    batch.write_text(
        '{"channel": "room", "query": "sextant"}\n{"channel": "room", "query": "上线窗口", "gold": [["r4"]]}\n'
    )
    before = snapshot(bot)
    first, second = call("search", "--batch", str(batch)).lines
    assert first["candidates"] == []
    assert second["candidates"][0]["id"] == "r4"  # type: ignore[index]
    assert (second["gold"], isinstance(second["elapsed_ms"], float)) == ([["r4"]], True)
    assert snapshot(bot) == before


def test_an_unknown_channel_fails_before_any_output(call: Call, conversation: Path) -> None:
    """In a batch as in a single search."""
    call("replay", "room", str(conversation))
    rows = [{"channel": name, "query": "lantern"} for name in ("room", "rome")]
    told = call("search", "--batch", "-", typed="".join(json.dumps(row) + "\n" for row in rows))
    assert (told.code, told.out, "'rome'" in told.err) == (1, "", True)
    assert call("search", "rome", "lantern").code == 1


def test_a_hit_is_short_and_says_what_all_of_it_costs(call: Call, tmp_path: Path) -> None:
    """The sentence that was asked for, of a message of a thousand words."""
    text = (
        "The weather is fine. " * 100
        + "The zanzibar ferry leaves at nine. "
        + "Nothing else. " * 100
    )
    path = tmp_path / "long.jsonl"
    row = {
        "id": "x",
        "ts": "2026-03-02T09:00:00+08:00",
        "role": "user",
        "name": "Ana",
        "content": text,
    }
    path.write_text(json.dumps(row) + "\n")
    call("replay", "room", str(path))
    told = call("search", "room", "zanzibar", "--json").object
    (hit,) = told["candidates"]  # type: ignore[misc]
    assert hit["excerpt"].startswith("2026-03-02 09:00 Ana: …")
    assert "The zanzibar ferry leaves at nine." in hit["excerpt"]
    assert "The zanzibar ferry leaves at nine." in hit["content"]
    assert (hit["speaker"], len(hit["content"]) < len(text) / 4) == ("Ana", True)
    assert told["tokens"] < 100 < hit["tokens"]  # type: ignore[operator]
    shown = call("search", "room", "zanzibar")
    assert len(shown.out) < 400
    assert "timeline" in shown.err


def test_smart_shows_what_was_said_around_a_clear_hit(call: Call, conversation: Path) -> None:
    """And says how to narrow hits that are about as good."""
    call("replay", "room", str(conversation))
    clear = call("search", "room", "上线窗口什么时候", "--smart", "--json").object
    assert (clear["clear"], clear["hint"]) == (True, "")
    assert [one["id"] for one in clear["timeline"]] == ["r4", "r5"]  # type: ignore[attr-defined]
    unclear = call("search", "room", "lantern release", "--smart", "--json").object
    assert (unclear["clear"], unclear["timeline"]) == (False, [])
    assert "--speaker" in str(unclear["hint"])
    assert "> r4" in call("search", "room", "上线窗口什么时候", "--smart").out


@pytest.mark.parametrize(
    "words", [("search", "room", "ferry 7"), ("timeline", "room", "m7"), ("detail", "room", "m7")]
)
def test_much_talk_is_indexed_once(
    call: Call, bot: Path, tmp_path: Path, words: tuple[str, ...]
) -> None:
    """The index is kept beside the channel, and the answer is the same with it; a batch writes
    nothing.
    """
    path, said = tmp_path / "long.jsonl", [f"the ferry number {n} leaves" for n in range(600)]
    rows = [
        {
            "id": f"m{n}",
            "ts": "2026-03-02T09:00:00+08:00",
            "role": "assistant",
            "name": "",
            "content": text,
        }
        for n, text in enumerate(said)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    call("replay", "room", str(path))
    kept = bot / "channels" / "room" / ".pipimem" / "search.idx"
    before = snapshot(bot)
    line = json.dumps({"channel": "room", "query": "ferry 7"}) + "\n"
    (asked,) = call("search", "--batch", "-", typed=line).lines
    assert snapshot(bot) == before
    first = call(*words, "--json").object
    written = kept.read_bytes()
    assert call(*words, "--json").object == first
    assert kept.read_bytes() == written
    (again,) = call("search", "--batch", "-", typed=line).lines
    assert again["candidates"] == asked["candidates"]


def test_a_question_without_a_word_to_look_for_says_so(call: Call, conversation: Path) -> None:
    """Greetings and thanks are said all the time, so that "nothing was found" alone would seem a
    lie.
    """
    call("replay", "room", str(conversation))
    for query in ("hello", "谢谢", "the", "???"):
        assert "QUERY has no word to look for" in call("search", "room", query).err
    assert "no word" not in call("search", "room", "xyzzyx").err


def test_search_looks_through_notes_and_transcript(call: Call, conversation: Path) -> None:
    """What `remember` wrote is found; `--in` takes one of both."""
    call("replay", "room", str(conversation))
    call("remember", "room", "the zephyr door is green")
    found = call("search", "room", "zephyr door", "--json").object
    assert [hit["content"] for hit in found["notes"]] == ["the zephyr door is green"]  # type: ignore[attr-defined]
    assert "the zephyr door is green" in call("search", "room", "zephyr", "--in", "notes").out
    assert "nothing was found" in call("search", "room", "zephyr", "--in", "log").err


def test_a_sentence_that_is_entry_and_message_is_shown_once(call: Call, tmp_path: Path) -> None:
    """Beside the entry stand the ids of its messages; `--json` has every message in its place."""
    said = '"role": "user", "name": "Ana", "content": "We never deploy on Fridays."'
    path = tmp_path / "rule.jsonl"
    path.write_text(f'{{"id": "d1", "ts": "2026-03-02T09:00:00+08:00", {said}}}\n')
    call("replay", "room", str(path))
    shown = call("search", "room", "deploy on Fridays").out
    assert shown.count("deploy on Fridays") == 1
    assert "(said in d1)" in shown
    found = call("search", "room", "deploy on Fridays", "--json").object
    assert [hit["id"] for hit in found["candidates"]] == ["d1"]  # type: ignore[attr-defined]
