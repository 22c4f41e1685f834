"""The idle jobs of one channel, run for real."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest
from pipimem import Channel, Message, Text
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Asked
from pipimem.notes.usage import Usage
from pipimem.runtime.channel import upkeep_of
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import (
    Answer,
    Call,
    Consolidated,
    Folded,
    HistoryItem,
    Learned,
    Merge,
    Outdated,
    Refreshed,
    Task,
    Tidied,
    Tidy,
)
from pipimem.store.transcript.log import Transcript

from tests.changes import changes_of
from tests.cli.conftest import snapshot
from tests.runtime.building import MORNING, Hands, opened, read, say, workspace, write

pytestmark = pytest.mark.anyio

KEY = "sk-proj-a1B2c3D4e5F6g7H8i9J0k1L2m3N4o5P6"
# Long enough for the gate of a tidying.
FACTS = (
    "the gateway listens on port 8080",
    *(f"fact {n}: the {'very ' * 20}old barrel number {n} holds rain" for n in range(50)),
)
MEMORY = "# Memory\n\n## Facts\n\n" + "".join(f"- {fact}\n" for fact in FACTS)
QUESTION = "which port does the gateway listen on?"


def history() -> str:
    """Three days of January that are to be folded, and three of February that stay."""
    talk = "".join(f"- a short talk about the {it}\n" for it in ("cat", "sea", "car", "sun", "tea"))
    return "# History\n\n" + "\n".join(
        f"## 2026-0{month}-{n:02} 09:00–10:00 +08:00\n\n- lunch {n}\n- a walk in the rain {n}\n{talk}"
        for month in (1, 2)
        for n in range(1, 4)
    )


async def taught(channel: Channel, script: Scripted, *facts: str) -> None:
    """Facts that a thought concluded, as consolidation writes them."""
    learned = tuple(Learned(Kind.FACT, fact, ("m1",)) for fact in facts)
    told = (HistoryItem("much was told", ("m1",)),)
    script.then("consolidate", Consolidated(learned, history=told, sheet={}))
    said = [Message.user(fact) for fact in facts]
    await channel.after_turn(None, [*said, Message.assistant("ok")])
    await channel.before_compaction()


class Meddled(Scripted):
    """A script whose tidying happens while a person types."""

    def __init__(self, root: Path, answers: dict[str, list[object]]) -> None:
        super().__init__(answers)  # type: ignore[arg-type]
        self.root = root

    async def answer(self, task: Task, call: Call) -> Answer:
        answer = await Scripted.answer(self, task, call)
        if not isinstance(task, Tidy):
            return answer
        text = read(self.root)
        write(
            self.root,
            "MEMORY.md",
            text.replace("port 8080", "port 8080, for Dana only").replace("2 holds", "2 hid"),
        )
        return answer


async def test_a_second_run_does_nothing_and_reads_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No model call, no line of transcript, no byte written, whatever is long, many or old."""
    root, hands = workspace(tmp_path), Hands()
    fold = Folded("January", (HistoryItem("they had lunch three times"),))
    script = Scripted({"refresh": [], "consolidate": [], "tidy": [Tidied()], "fold": [fold]})
    async with opened(root, script, hands=hands) as channel:
        await taught(channel, script, *FACTS)
        write(root, "HISTORY.md", history() + read(root, "HISTORY.md").removeprefix("# History\n"))
        hands.pass_by(minutes=30)
        script.then("refresh", Refreshed({"Current State": ("lunch",)}))
        script.then("consolidate", Consolidated(history=(HistoryItem("they talked"),)))
        await channel.after_turn(
            None, [Message.user("lunch?"), Message.assistant("yes"), Message.user("good")]
        )
        ran = await upkeep_of(channel).maintain()
        assert [job.task for job in ran if job.ran] == ["consolidate", "refresh", "tidy", "fold"]
        before, calls = snapshot(root), len(script.asked)

        def unread(*_: object) -> None:
            raise AssertionError("a closed gate read the transcript")

        monkeypatch.setattr(Transcript, "window", unread)
        hands.pass_by(hours=3)
        assert [job.task for job in await upkeep_of(channel).maintain() if job.ran] == []
        assert (snapshot(root), len(script.asked)) == (before, calls)
        # Somebody says one thing: still too little for a refresh, and counted without a look.
        await channel.talk.append([Message.assistant("by the way")])
        gate = await channel._jobs.gate("refresh")
        assert (gate.open, gate.reason) == (False, "too little new")
        monkeypatch.undo()
        channel._log.has_new_messages = False


async def test_a_day_that_is_over_gets_its_history_without_a_model(tmp_path: Path) -> None:
    """A channel that never compacts has a history; what is said today waits for tonight."""
    root, hands = workspace(tmp_path), Hands()
    told = [Consolidated(history=(HistoryItem(f"they spoke of {it}"),)) for it in ("tea", "rain")]
    script = Scripted({"refresh": [Refreshed()] * 2, "consolidate": list(told)})
    async with opened(root, script, hands=hands) as channel:
        await channel.after_turn(None, [Message.user("tea?"), Message.assistant("yes")])
        await upkeep_of(channel).maintain(forced=True)
        assert read(root, "HISTORY.md") == ""
        hands.pass_by(days=1)
        await channel.after_turn(None, [Message.user("rain?"), Message.assistant("no")])
        ran = await upkeep_of(channel).maintain(forced=True)
        assert ("history", "a day is over") in [(job.task, job.reason) for job in ran if job.ran]
        assert (await upkeep_of(channel).notes()).ledger.boundary == 0
        first = "# History\n\n## 2026-03-02 09:00–09:00 +08:00\n\n- they spoke of tea\n"
        assert read(root, "HISTORY.md") == first
        hands.pass_by(days=1)
        ran = await upkeep_of(channel).maintain()
        assert [job.task for job in ran if job.ran] == ["history"]
        ledger = (await upkeep_of(channel).notes()).ledger
        assert (ledger.boundary, ledger.pending) == (4, ())
        channel._log.has_new_messages = False
    second = "\n## 2026-03-03 09:00–09:00 +08:00\n\n- they spoke of rain\n"
    assert read(root, "HISTORY.md") == first + second
    assert len(script.asked) == 4


class Paid(Scripted):
    """Two attempts at a model a tidying, 700 tokens in all."""

    channel: Channel

    async def answer(self, task: Task, call: Call) -> Answer:
        for outcome, count in (("timeout", 200), ("ok", 400)) if isinstance(task, Tidy) else ():
            when = MORNING.isoformat(timespec="seconds")
            one = Usage(
                when, call.channel, "tidy", "m", count, 50, 0, None, 1.0, outcome, call.correlation
            )
            upkeep_of(self.channel).store.workspace.usage_store.append(one)
        return await Scripted.answer(self, task, call)


async def test_each_run_leaves_one_line_of_what_it_did(tmp_path: Path) -> None:
    """Author, correlation, tokens and changes; one that changed nothing leaves how its job
    stands, and no Markdown.
    """
    root = workspace(tmp_path)
    script = Paid({"tidy": [Tidied()]})
    async with opened(root, script) as channel:
        script.channel = channel
        await taught(channel, script, *FACTS)
        await upkeep_of(channel).maintain()
    [line] = [one for one in changes_of(root) if one["task"] == "tidy"]
    assert line["author"] == "model"
    assert line["actor"] == "scripted"
    assert line["why"] == "MEMORY.md grew"
    assert len(str(line["correlation"])) == 12
    assert line["tokens"] == {"run": 700, "today": 700}
    assert not line.keys() & {"changes", "files", "refused"}
    assert list(line["delta"]["jobs"]) == ["tidy"]  # type: ignore[call-overload, index]
    assert read(root) == MEMORY


async def test_a_persons_edit_during_a_tidying_wins(tmp_path: Path) -> None:
    """What was reworded while the model thought is neither merged nor dropped; the rest is."""
    root = workspace(tmp_path)
    script = Meddled(root, {"tidy": []})
    async with opened(root, script) as channel:
        await taught(channel, script, *FACTS)
        entries = (await upkeep_of(channel).notes()).memory.entries
        script.then(
            "tidy",
            Tidied(
                merge=(Merge((entries[2].id, entries[3].id), entries[3].text),),
                drop=(Outdated(entries[0].id, "wrong"), Outdated(entries[10].id, "wrong")),
            ),
        )
        [*_, tidied, _] = await upkeep_of(channel).maintain()
    [done] = tidied.done
    assert "port 8080, for Dana only" in read(root)
    assert "number 2 hid rain" in read(root)
    assert [change.verb for change in done.outcome.changes] == ["invalidated"]
    assert sorted(refusal.reason for refusal in done.outcome.refused) == [
        "an entry it replaces stands there no more",
        "the entry stands there no more",
    ]
    assert "fact 9:" not in read(root)


async def test_what_was_kept_beside_an_older_save_stands_in_the_file_again(tmp_path: Path) -> None:
    """The person sees it there after the next quiet minute, and `log` says why; once."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.notes.remember("Anna likes tea")
        older = read(root)
        await channel.notes.remember("Carl likes water")
        write(root, "MEMORY.md", older.replace("tea", "green tea"))
        await upkeep_of(channel).maintain(dry_run=True)
        assert "Carl" not in read(root)
        await upkeep_of(channel).maintain()
        assert "green tea" in read(root)
        assert "Carl likes water" in read(root)
        newest = (await channel.history.log())[0]
        assert (newest.author, "were kept" in newest.changes[0].reason) == ("editor", True)
        before = snapshot(root)
        await upkeep_of(channel).maintain()
        assert snapshot(root) == before


async def test_a_note_that_is_no_text_stops_no_job(tmp_path: Path) -> None:
    """A day that is over gets its history beside a MEMORY.md in another encoding, which stays."""
    root, hands = workspace(tmp_path), Hands()
    async with opened(root, hands=hands) as channel:
        await channel.notes.remember("Anna likes tea")
        await say(channel, "We decided to paint the roof red.")
        path = root / "channels" / "room" / "MEMORY.md"
        path.write_bytes(b"caf\xe9")
        hands.pass_by(days=1)
        ran = await upkeep_of(channel).maintain(forced=True)
        assert "history" in [job.task for job in ran if job.ran]
        assert "paint the roof red" in read(root, "HISTORY.md")
        assert path.read_bytes() == b"caf\xe9"


async def test_an_edit_is_recorded_after_a_quiet_minute(tmp_path: Path) -> None:
    """So an older buffer of another editor, saved later, is merged with it; the note stays."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.notes.remember("Anna likes tea")
        older = read(root)
        edited = older.replace("tea", "green tea")
        write(root, "MEMORY.md", edited)
        await upkeep_of(channel).maintain()
        assert read(root) == edited
        assert (await channel.history.log())[0].author == "editor"
        before = snapshot(root)
        await upkeep_of(channel).maintain()
        assert snapshot(root) == before
        write(root, "MEMORY.md", older + "- Carl likes water\n")
        await upkeep_of(channel).maintain()
        assert "green tea" in read(root)
        assert "Carl likes water" in read(root)


async def test_a_tidying_does_not_drop_what_was_asked_for(tmp_path: Path) -> None:
    """The question of an earlier turn is in the ledger; the drop is left out, with its reason in
    the state.
    """
    root = workspace(tmp_path)
    script = Scripted({"tidy": [], "consolidate": []})
    async with opened(root, script) as channel:
        await taught(channel, script, *FACTS)
        assert "8080" in await say(channel, QUESTION)
        entries = (await upkeep_of(channel).notes()).memory.entries
        script.then(
            "tidy", Tidied(drop=(Outdated(entries[0].id, "over"), Outdated(entries[5].id, "over")))
        )
        await upkeep_of(channel).maintain()
        assert (await upkeep_of(channel).notes()).ledger.asked[0].text == QUESTION
    assert "port 8080" in read(root)
    assert "fact 4:" not in read(root)
    [line] = [one for one in changes_of(root) if one["task"] == "tidy"]
    assert line["notes"] == [
        "invalidate 'the gateway listens on port 8080': left as it is, a recent question finds it"
    ]


async def test_the_list_of_people_is_asked_as_well(tmp_path: Path) -> None:
    """`recall.must` at the root of the workspace."""
    root = workspace(tmp_path)
    (root / "recall.must").write_text(f"{QUESTION} => 8080\n", encoding="utf-8")
    script = Scripted({"tidy": []})
    async with opened(root, script) as channel:
        await taught(channel, script, *FACTS)
        script.then(
            "tidy",
            Tidied(
                drop=(Outdated((await upkeep_of(channel).notes()).memory.entries[0].id, "over"),)
            ),
        )
        await upkeep_of(channel).maintain()
    assert "port 8080" in read(root)


async def test_questions_are_kept_without_secrets_and_forgotten_with_a_forgetting(
    tmp_path: Path,
) -> None:
    """Private stretches and keys never reach the ledger; `forget` drops every question, also in
    the changes.
    """
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "- the gateway listens on port 8080\n- the vault is green\n")
    async with opened(root, Scripted()) as channel:
        await say(channel, f"<private>I am ill.</private> which port has the gateway? {KEY}")
        await channel.notes.remember("tea is at ten")
        [asked] = (await upkeep_of(channel).notes()).ledger.asked
        assert (asked.when, [name.partition(":")[0] for name in asked.found]) == (
            MORNING.isoformat(),
            ["memory"],
        )
        assert "which port has the gateway?" in asked.text
        assert not any(word in str(changes_of(root)) for word in ("I am ill", KEY))
        await say(channel, "and the vault of the gateway?")
        await channel.notes.forget(Text("the vault is green"))
        assert (await upkeep_of(channel).notes()).ledger.asked == ()
        channel._log.has_new_messages = False
    assert "gateway?" not in str(changes_of(root))
    assert b"gateway?" not in (root / "channels/room/.pipimem/state.db").read_bytes()


async def test_the_newest_fifty_questions_are_kept_each_once(tmp_path: Path) -> None:
    """Also over a restart without any other commit."""
    root = workspace(tmp_path)
    write(root, "MEMORY.md", "- the gateway listens on port 8080\n")
    for _ in range(2):
        async with opened(root, Scripted()) as channel:
            for n in range(60):
                channel._shown.clear()
                turn = await channel.before_turn(f"which port has the gateway number {n % 55}?")
                await channel.after_turn(turn, [])
    async with opened(root, Scripted()) as channel:
        asked = (await upkeep_of(channel).notes()).ledger.asked
    assert len(asked) == len({one.text for one in asked}) == 50
    assert asked[-1] == Asked(
        "which port has the gateway number 4?", MORNING.isoformat(), asked[0].found
    )


async def test_what_expires_is_in_the_archive_and_nobody_is_asked(tmp_path: Path) -> None:
    """Stale after half a year without a question; one that was recalled in time stays."""
    root, hands, script = workspace(tmp_path), Hands(), Scripted({})
    async with opened(root, script, hands=hands) as channel:
        await taught(channel, script, FACTS[0], "the vault is green")
        calls = len(script.asked)
        hands.pass_by(days=179)
        assert [job.ran for job in await upkeep_of(channel).maintain()] == [False] * 6
        turn = await channel.before_turn(QUESTION)
        await channel.after_turn(turn, [])
        hands.pass_by(days=2)
        ran = await upkeep_of(channel).maintain()
        assert [(job.task, job.reason) for job in ran if job.ran] == [("expire", "time is over")]
        assert [job.task for job in await upkeep_of(channel).maintain() if job.ran] == []
        assert len(script.asked) == calls
    assert read(root) == "# Memory\n\n## Facts\n\n- the gateway listens on port 8080\n"
    day = MORNING + timedelta(days=181)
    assert (
        read(root, "HISTORY.archive.md")
        == f"\n## Expired {day:%Y-%m-%d} · Facts\n\n- the vault is green\n"
    )
    [line] = [one for one in changes_of(root) if one["task"] == "expire"]
    assert (line["author"], line["why"]) == ("rule", "stale")


async def test_a_rehearsal_thinks_and_leaves_every_byte(tmp_path: Path) -> None:
    """Each job sees what the one before would have changed; then the real run does the same."""
    root, hands = workspace(tmp_path), Hands()
    write(root, "MEMORY.md", MEMORY)
    write(root, "HISTORY.md", history())
    answers = {
        "refresh": [Refreshed({"Current State": ("lunch",)})] * 2,
        "consolidate": [Consolidated(history=(HistoryItem("they talked"),))] * 2,
        "tidy": [Tidied()] * 2,
        "fold": [Folded("January", (HistoryItem("they had lunch three times"),))] * 2,
    }
    async with opened(root, Scripted(answers), hands=hands) as channel:
        await channel.after_turn(None, [Message.user("lunch?"), Message.assistant("yes")])
        before = snapshot(root)
        told = await upkeep_of(channel).maintain(forced=True, dry_run=True)
        assert snapshot(root) == before
        done = await upkeep_of(channel).maintain(forced=True)
        channel._log.has_new_messages = False
    assert [(job.task, job.ran, job.reason) for job in told] == [
        (job.task, job.ran, job.reason) for job in done
    ]
    changes = [[change for one in job.done for change in one.outcome.changes] for job in told]
    assert changes == [
        [change for one in job.done for change in one.outcome.changes] for job in done
    ]
    assert [change.verb for of_job in changes for change in of_job] == ["section", "folded"]


async def test_a_long_backlog_takes_out_no_more_than_one_window_may(tmp_path: Path) -> None:
    """Three windows, two entries said to be over in each: of twelve entries three go, the rest
    is refused.
    """
    root, script = workspace(tmp_path), Scripted({})
    async with opened(root, script) as channel:
        await taught(channel, script, *(f"the barrel number {n} holds rain" for n in range(12)))
        entries = [entry.id for entry in (await upkeep_of(channel).notes()).memory.entries]
        for first in (0, 2, 4):
            over = (Outdated(entries[first], "over"), Outdated(entries[first + 1], "over"))
            script.then(
                "consolidate", Consolidated(over=over, history=(HistoryItem(f"talk {first}"),))
            )
        await channel.talk.append([Message.user(f"{n} " + "word " * 780) for n in range(16)])
        done = await channel._jobs.consolidate(120, boundary=False)
    assert len(done) == 3
    assert read(root).count("holds rain") == 9
    assert [len(one.outcome.refused) for one in done] == [0, 1, 2]


async def test_nothing_is_taken_out_while_the_list_of_people_cannot_be_read(tmp_path: Path) -> None:
    """No model is asked either, and the other jobs go on."""
    root = workspace(tmp_path)
    script = Scripted({"tidy": []})
    async with opened(root, script) as channel:
        await taught(channel, script, *FACTS)
        (root / "recall.must").write_bytes(b"\x00 binary")
        script.then(
            "tidy",
            Tidied(
                drop=(Outdated((await upkeep_of(channel).notes()).memory.entries[0].id, "over"),)
            ),
        )
        before, asked = read(root), len(script.asked)
        jobs = {job.task: job for job in await upkeep_of(channel).maintain()}
        assert (jobs["tidy"].ran, "recall.must is not a text" in jobs["tidy"].reason) == (
            False,
            True,
        )
        assert (read(root), len(script.asked)) == (before, asked)
        (root / "recall.must").unlink()
        assert {job.task: job.ran for job in await upkeep_of(channel).maintain()}["tidy"]
