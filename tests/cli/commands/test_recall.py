"""`pipimem recall`."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from tests.cli.conftest import Call, snapshot


def test_recall_finds_what_was_remembered(call: Call) -> None:
    """The rank has a star where the entry would be injected; the columns are tab-separated in a
    pipe.
    """
    call("remember", "room", "上线窗口定在周四晚上九点", "--kind", "decision")
    told = call("recall", "room", "上线窗口是什么时候？")
    head, row = told.out.splitlines()
    assert head.split("\t") == ["#", "score", "id", "what"]
    rank, _, name, what = row.split("\t")
    assert (rank, name.partition(":")[0], what) == (
        "1*",
        "memory",
        "决定: 上线窗口定在周四晚上九点",
    )
    assert told.err == "* would be injected: 1\n"


def test_explained_parts_add_up_to_the_score(call: Call) -> None:
    """Every score can be taken apart, in the table and for scripts."""
    call("remember", "room", "The lantern release is on Thursday")
    (found,) = call("recall", "room", "When is the lantern release?", "--explain", "--json").object[
        "candidates"
    ]  # type: ignore[misc]
    assert abs(sum(part["value"] for part in found["parts"]) - found["score"]) < 1e-5
    line = call("recall", "room", "When is the lantern release?", "--explain").out.splitlines()[2]
    assert line.endswith(f"= {found['score']:.3f}")


def test_json_holds_the_context_as_it_would_be_injected(call: Call) -> None:
    """One object: candidates, and the fenced block."""
    call("remember", "room", "The lantern release is on Thursday")
    told = call("recall", "room", "lantern release", "--json").object
    assert [one["content"] for one in told["candidates"]] == ["The lantern release is on Thursday"]  # type: ignore[attr-defined]
    context = str(told["context"])
    assert context.startswith("<pipimem-memory-")
    heading, text = context.splitlines()[2:4]
    assert heading == "[MEMORY: Facts]"
    assert re.fullmatch(r"- \(\d{4}-\d\d-\d\d\) The lantern release is on Thursday", text)


def test_the_whole_turn_holds_the_snapshot_too(call: Call, tmp_path: Path) -> None:
    """With --turn the context is that of a new session's first turn, each question in its own."""
    call("remember", "room", "The lantern release is on Thursday")
    call("remember", "room", "Never deploy on Fridays", "--kind", "constraint")
    told = call("recall", "room", "lantern release", "--turn")
    assert "- Never deploy on Fridays" in told.out
    batch = tmp_path / "q.jsonl"
    batch.write_text('{"channel": "room", "query": "lantern release"}\n' * 2)
    first, second = call("recall", "--batch", str(batch), "--turn").lines
    assert first["context"] == second["context"]
    assert str(first["context"]) in told.out
    assert str(first["context"]).count("lantern release is on Thursday") == 1


def test_nothing_found_says_why(call: Call) -> None:
    """Silence is an answer, exit 0; the reason goes to standard error."""
    call("remember", "room", "The lantern release is on Thursday")
    told = call("recall", "room", "你好")
    assert (told.code, told.out) == (0, "")
    assert told.err.startswith("nothing is recalled: ")


RAIN = (
    {"id": "r1", "role": "user", "name": "Ann", "content": "The train leaves at nine"},
    {"id": "r2", "role": "user", "name": "Tom", "content": "if it rains, I'd rather see a museum"},
    {"id": "r3", "role": "user", "name": "Ann", "content": "lunch is on me"},
)


def test_what_was_said_is_shown_as_a_turn_would_show_it(call: Call, tmp_path: Path) -> None:
    """Excerpts of the talk stand below the entries, with ids that `timeline` takes, also where no
    entry is recalled; for scripts they stand in `excerpts` and in the context.
    """
    talk = tmp_path / "talk.jsonl"
    talk.write_text("".join(json.dumps({**line, "session": "s1"}) + "\n" for line in RAIN))
    call("replay", "room", str(talk))
    told = call("recall", "room", "What do we do if it rains?")
    (row,) = (line for line in told.out.splitlines() if "museum" in line)
    assert row.split()[0] == "r2"
    assert "nothing is recalled" not in told.err
    assert "of the talk would be shown: " in told.err
    found = call("recall", "room", "What do we do if it rains?", "--json").object
    assert "r2" in [one["id"] for one in found["excerpts"]]  # type: ignore[attr-defined]
    assert "rather see a museum" in str(found["context"])


def test_a_secret_in_a_file_is_masked(call: Call, bot: Path) -> None:
    """What a person typed stays theirs, and never leaves through recall."""
    (bot / "channels" / "room").mkdir()
    key = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
    (bot / "channels" / "room" / "MEMORY.md").write_text(f"- The lantern key is {key}\n")
    told = call("recall", "room", "lantern key", "--json")
    assert (key in told.out, "[secret:" in told.out) == (False, True)


def test_recall_writes_nothing(call: Call, bot: Path, conversation: Path, tmp_path: Path) -> None:
    """Not a byte and not a time changes, in one call and in a batch, also in a folder that
    people made by hand.
    """
    call("replay", "room", str(conversation))
    (bot / "channels" / "byhand").mkdir()
    (bot / "channels" / "byhand" / "MEMORY.md").write_text("- The lantern release is on Thursday\n")
    batch = tmp_path / "q.jsonl"
    batch.write_text(
        '{"channel": "room", "query": "lantern"}\n{"channel": "byhand", "query": "lantern release"}\n'
    )
    before = snapshot(bot)
    assert call("recall", "byhand", "lantern release").out.count("Thursday") == 1
    assert call("recall", "--batch", str(batch)).code == 0
    assert snapshot(bot) == before


def test_an_unknown_channel_is_told_with_those_there_are(call: Call) -> None:
    """Reading makes no channel."""
    call("remember", "room", "x is y")
    told = call("recall", "rome", "x")
    assert (told.code, told.out) == (1, "")
    assert "There is no channel 'rome'" in told.err
    assert "room" in told.err


def test_it_takes_a_channel_and_a_query_or_a_batch(call: Call, tmp_path: Path) -> None:
    """Anything else is misuse."""
    assert call("recall", "room").code == 2
    assert call("recall", "room", "x", "--batch", "q.jsonl").code == 2
    assert call("recall", "room", "x", "-k", "0").code == 2


def test_a_batch_keeps_order_and_fields(call: Call, tmp_path: Path) -> None:
    """Each line comes back with its own fields, at most `k` candidates, the context and the time
    it took.
    """
    for number in range(15):
        call("remember", "room", f"The lantern number {number} hangs in hall {number * 7}")
    rows = [
        {"qid": 2, "channel": "room", "query": "lantern hall", "gold_text": ["x"]},
        {"qid": 1, "channel": "room", "query": "你好", "extra": {"deep": None}},
    ]
    batch = tmp_path / "q.jsonl"
    batch.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n\n" for row in rows), encoding="utf-8"
    )
    first, second = call("recall", "--batch", str(batch)).lines
    assert {name: first[name] for name in rows[0]} == rows[0]
    assert {name: second[name] for name in rows[1]} == rows[1]
    assert [one["rank"] for one in first["candidates"]] == list(range(1, 11))  # type: ignore[attr-defined]
    assert set(first["candidates"][0]) == {
        "rank",
        "id",
        "source",
        "section",
        "speaker",
        "score",
        "content",
        "when",
    }  # type: ignore[index]
    assert str(first["context"]).count("\n- ") == 8
    assert (second["candidates"], second["context"]) == ([], "")
    assert isinstance(first["elapsed_ms"], float)
    (wide,) = call("recall", "--batch", "-", "-k", "14", typed=json.dumps(rows[0])).lines
    assert len(wide["candidates"]) == 14  # type: ignore[arg-type]


def test_a_batch_with_anything_wrong_asks_nothing(call: Call, tmp_path: Path) -> None:
    """An unknown channel in the last line, a broken line, a line without a query: no output at
    all, exit 1.
    """
    call("remember", "room", "x is y")
    good = '{"channel": "room", "query": "x"}\n'
    batch = tmp_path / "q.jsonl"
    for bad, sentence in {
        '{"channel": "rome", "query": "x"}': "There is no channel 'rome'",
        '{"channel": "room"}': "line 2: must be an object with the strings channel and query; nothing was asked",
        "{": "line 2: not JSON",
    }.items():
        batch.write_text(good + bad)
        told = call("recall", "--batch", str(batch))
        assert (told.code, told.out, sentence in told.err) == (1, "", True), told.err


def test_recall_raw_asks_without_refinement(call: Call) -> None:
    """A turn would be silent; the words are looked for all the same."""
    call("remember", "room", "run the tests with just check")
    assert call("recall", "room", "run the tests", "--json").object["candidates"] == []
    (found,) = call("recall", "room", "run the tests", "--raw", "--json").object["candidates"]  # type: ignore[misc]
    assert found["content"] == "run the tests with just check"


@pytest.mark.slow
def test_the_newest_word_on_the_release_comes_first(call: Call) -> None:
    """As README asks the example's room: announced in Chinese, moved in English later."""
    talk = Path(__file__).parents[3] / "examples" / "release-room.jsonl"
    call("replay", "release-room", str(talk), "--kind", "group")
    told = call("recall", "release-room", "2.4 什么时候发布？").out.splitlines()
    places = {day: [place for place, row in enumerate(told) if day in row] for day in DAYS}
    assert places["12 March"][0] < places["下周二晚上九点"][0]


DAYS = ("12 March", "下周二晚上九点")
