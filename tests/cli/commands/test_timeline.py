"""`pipimem timeline`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call, snapshot


def test_a_timeline_follows_the_thread(call: Call, bot: Path, conversation: Path) -> None:
    """What a person has with the bot, nothing of the others between, so many before and after as
    asked for: where the thread ends, what was said beside it. The message is marked.
    """
    call("replay", "room", str(conversation), "--kind", "group")
    before = snapshot(bot)
    told = call("timeline", "room", "r4", "--json").object
    assert [one["id"] for one in told["messages"]] == ["r2", "r3", "r4", "r5"]  # type: ignore[attr-defined]
    assert told["tokens"] > 10  # type: ignore[operator]
    shown = call("timeline", "room", "r4", "--around", "1")
    assert [line[:4] for line in shown.out.splitlines()] == ["· r3", "> r4", "· r5"]
    assert shown.out.splitlines()[1].startswith("> r4  2026-03-02 09:04 林晓: 上线窗口")
    assert "tokens" in shown.err
    assert snapshot(bot) == before


def test_what_others_said_between_two_messages_of_a_thread_is_left_out(
    call: Call, tmp_path: Path
) -> None:
    """Dana's talk with the bot goes on after Bob's."""
    path = tmp_path / "talk.jsonl"
    said = (("user", "Dana"), ("assistant", ""), ("user", "Bob"), ("assistant", ""))
    rows = [
        f'{{"id": "t{n}", "ts": "2026-03-02T09:0{n}:00+08:00", "role": "{role}", "name": "{name}",'
        f' "content": "step {n}"}}\n'
        for n, (role, name) in enumerate((*said, *said[:2]))
    ]
    path.write_text("".join(rows))
    call("replay", "talk", str(path), "--kind", "group")
    told = call("timeline", "talk", "t1", "--json").object
    assert [one["id"] for one in told["messages"]] == ["t0", "t1", "t4", "t5"]  # type: ignore[attr-defined]


def test_an_id_may_be_as_the_fence_names_it(call: Call, conversation: Path) -> None:
    """A message of the backlog is `log:r4` where memory injects it, and `r4` in the transcript."""
    call("replay", "room", str(conversation))
    assert call("detail", "room", "log:r4").out == call("detail", "room", "r4").out
    assert "There is no message 'log:r99'" in call("timeline", "room", "log:r99").err


def test_a_timeline_is_as_long_as_asked(call: Call, tmp_path: Path) -> None:
    """So many before and after."""
    path = tmp_path / "talk.jsonl"
    path.write_text(
        "".join(
            f'{{"id": "t{n}", "ts": "2026-03-02T09:0{n}:00+08:00", "role": "user", "name": "Ana", "content": "step {n}"}}\n'
            for n in range(9)
        )
    )
    call("replay", "talk", str(path))
    told = call("timeline", "talk", "t4", "--around", "1", "--json").object
    assert [one["content"] for one in told["messages"]] == ["step 3", "step 4", "step 5"]  # type: ignore[attr-defined]


def test_an_unknown_id_says_where_ids_come_from(call: Call, conversation: Path) -> None:
    """Of timeline and detail alike."""
    call("replay", "room", str(conversation))
    for command in ("timeline", "detail"):
        told = call(command, "room", "nonesuch")
        assert (told.code, "pipimem search" in told.err) == (1, True)


def test_the_id_of_an_entry_is_told_from_that_of_a_message(call: Call, conversation: Path) -> None:
    """Recall gives such ids; where an entry came from is what blame tells."""
    call("replay", "room", str(conversation))
    for command in ("timeline", "detail"):
        told = call(command, "room", "memory:abcd2345")
        assert (told.code, "is an entry" in told.err, "pipimem blame" in told.err) == (
            1,
            True,
            True,
        )
