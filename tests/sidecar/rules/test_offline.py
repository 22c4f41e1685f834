"""The assistant without a model: the four tasks end to end, by rules."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta
from pathlib import Path

import pytest
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.sidecar.rules import Offline
from pipimem.sidecar.tasks import (
    Call,
    Consolidate,
    Consolidated,
    Fold,
    KnownEntry,
    Merge,
    Outdated,
    Refile,
    Refresh,
    Tidy,
)
from pipimem.text.quotes import words_said
from pipimem.text.secrets import redacted
from pipimem.text.talk.sentences import split

from tests.sidecar.conftest import NOW, answered, said

pytestmark = pytest.mark.anyio
CALL = Call("room", "c-1", 20)
# The marks around what somebody else said, and what stands between two messages of one person.
_BETWEEN = r"^[「“]|(?<=[?？。])[」”]| … "
ROOM = Path(__file__).parents[3] / "examples" / "release-room.jsonl"


def window(*messages: Message, memory: tuple[KnownEntry, ...] = ()) -> Consolidate:
    """A task of a group."""
    people = tuple(dict.fromkeys(m.speaker for m in messages if m.role == "user"))
    return Consolidate(NOW, people, memory, messages)


def room() -> list[Message]:
    """The sample conversation, as intake hands it on."""
    lines = [json.loads(line) for line in ROOM.read_text(encoding="utf-8").splitlines()]
    return [
        Message(
            line["role"],
            redacted(line["content"]),
            line["id"],
            datetime.fromisoformat(line["ts"]),
            line["name"],
            number=n,
        )
        for n, line in enumerate(lines, 1)
    ]


async def test_it_costs_nothing_and_says_who_it_is() -> None:
    """Name and price."""
    assert (Offline().name, Offline().paid) == ("offline", False)


async def test_a_newer_value_replaces_the_older_entry() -> None:
    """Same subject, another day, a word of change: the old id is replaced; what is about
    something else stays.
    """
    memory = (
        KnownEntry(
            "k1", "Decisions", "林晓（2026-03-02）：发布窗口定在周二晚上九点到十点", Trust.INFERRED
        ),
        KnownEntry("k2", "Preferences", "林晓（2026-03-02）：我喜欢简短的回答", Trust.INFERRED),
        KnownEntry("k3", "Decisions", "老周（2026-03-02）：备份改到凌晨两点", Trust.INFERRED),
    )
    got = await Offline().answer(
        window(said(1, "发布窗口改到下周三晚上八点。", "林晓"), memory=memory), CALL
    )
    (learned,) = got.learned
    assert learned.text == "林晓（2026-03-04）：发布窗口改到下周三晚上八点"
    assert learned.replaces == ("k1",)


async def test_one_persons_liking_does_not_replace_anothers() -> None:
    """Two people may disagree."""
    memory = (
        KnownEntry("k1", "Preferences", "老周 (2026-03-02): I like squash merges", Trust.INFERRED),
    )
    told = said(1, "I no longer like squash merges.", "Priya")
    got = await Offline().answer(window(told, memory=memory), CALL)
    assert [item.replaces for item in got.learned] == [()]


async def test_within_a_window_the_last_word_counts() -> None:
    """A date that moved is learnt once."""
    got = await Offline().answer(
        window(
            said(1, "The release is on Tuesday 10 March, 21:00 to 22:00."),
            said(2, "The release moves to Wednesday 11 March, 20:00 to 21:00."),
            said(3, "Fine."),
        ),
        CALL,
    )
    assert [item.text for item in got.learned] == [
        "Dana (2026-03-04): The release moves to Wednesday 11 March, 20:00 to 21:00"
    ]


async def test_a_promise_kept_is_over() -> None:
    """Its owner says that it is done, in its words, or another one who speaks of the very thing."""
    promise = "老周（2026-03-03）：回滚脚本 ops/rollback.sh 我来写，下周一之前要能跑"
    memory = (KnownEntry("k1", "Open Loops", promise, Trust.INFERRED),)
    done = said(1, "回滚脚本写完了，ops/rollback.sh，演练过。", "老周")
    assert (await Offline().answer(window(done, memory=memory), CALL)).over[0].id == "k1"
    other = said(1, "我的回滚脚本写完了。", "林晓")
    task = Consolidate(NOW, ("林晓", "老周"), memory, (other,))
    assert (await Offline().answer(task, CALL)).over == ()


async def test_nothing_said_leaves_nothing() -> None:
    """The bot alone is no exchange."""
    assert await Offline().answer(window(answered(1, "Anyone?")), CALL) == Consolidated()


def _bare(text: str) -> str:
    return "".join(text.split()).strip("。.;；")


async def test_the_sample_conversation_is_quoted() -> None:
    """In windows of sixty: what must be remembered is, what must not is not, and every word of
    it was said.
    """
    messages = room()
    offline = Offline()
    texts: list[str] = []
    for start in range(0, len(messages), 60):
        part = tuple(messages[start : start + 60])
        got = await offline.answer(window(*part), CALL)
        users = sum(message.role == "user" for message in part)
        assert got.title == ""
        assert 1 <= len(got.history) <= 8
        assert len([item for item in got.learned if not item.explicit]) <= users / 2
        for item in (*got.learned, *got.history):
            whole = _bare(" ".join(m.content for m in part if m.id in item.sources))
            for sentence in split(re.sub(_BETWEEN, "\n", words_said(item.text))):
                assert _bare(sentence) in whole
        texts += [item.text for item in got.learned]
    whole = "\n".join(texts)
    for kept in (
        "never deploy on Fridays",
        "花生过敏",
        "Redis",
        "Thursday 12 March",
        "CREATE INDEX CONCURRENTLY",
    ):
        assert kept in whole
    for kept_out in ("sk-proj", "Hb7#", "自动通过", "hospital", "dumplings", "Postgres 14"):
        assert kept_out not in whole


async def test_a_session_is_brought_up_to_date() -> None:
    """Quotes, the newest first, six a list; what is done leaves the next steps; sections without
    news are left out.
    """
    old = (
        "## Next Steps\n- 老周（2026-03-03）：我来写回滚脚本 ops/rollback.sh\n"
        "- Dana (2026-03-03): I'll test the iPad by Friday\n"
    )
    new = (
        said(1, "回滚脚本写完了，见 ops/rollback.sh。", "老周"),
        said(2, "We decided to keep Redis for this release."),
        said(3, "Lesson: the deploy crashed because CartView was empty."),
        said(4, "Can we look at a morning?"),
    )
    got = (await Offline().answer(Refresh(NOW, old, new), CALL)).sections
    assert got["Next Steps"] == ("Dana (2026-03-03): I'll test the iPad by Friday",)
    assert got["Decisions"] == ("Dana (2026-03-04): We decided to keep Redis for this release",)
    assert got["Errors & Corrections"] == (
        "Dana (2026-03-04): Lesson: the deploy crashed because CartView was empty",
    )
    assert got["Worklog"] == ("老周（2026-03-04）：回滚脚本写完了，见 ops/rollback.sh",)
    assert got["User Intent"] == ("Dana (2026-03-04): Can we look at a morning?",)
    assert got["Current State"][-1] == got["Worklog"][0]
    assert not {"Session Title", "Active Files", "Constraints"} & got.keys()
    many = tuple(said(n, f"We agreed on hall {n} for the fair of year {n}.") for n in range(1, 10))
    sheet = (await Offline().answer(Refresh(NOW, "", many), CALL)).sections
    assert {len(items) for items in sheet.values()} == {6}
    assert sheet["Decisions"][0] == "Dana (2026-03-04): We agreed on hall 9 for the fair of year 9"


async def test_tidying_merges_moves_and_drops_only_what_was_inferred() -> None:
    """Repetitions are merged whenever they were said, and misfiled rules moved.

    What history has as well is left to `memory/tidy`.
    """

    def ours(name: str, section: str, text: str) -> KnownEntry:
        return KnownEntry(name, section, text, Trust.INFERRED, 9)

    task = Tidy(
        NOW + timedelta(days=9),
        (
            ours("k1", "Preferences", "Dana (2026-03-01): I prefer short answers in bullets"),
            ours("k2", "Preferences", "Dana (2026-03-04): I prefer short answers, in bullets."),
            ours("k8", "Preferences", "Priya (2026-03-04): I prefer short answers in bullets"),
            ours("k3", "Facts", "林晓（2026-03-03）：生产库不许直接改，任何改动都走 migration"),
            ours("k4", "Facts", "Build 1187 is in review since 2026-03-09"),
            ours("k9", "Facts", "Dana (2026-03-09): build 1190 is in review"),
            KnownEntry("k5", "Facts", "Priya (2026-03-08): build 1188 is in review"),
            ours("k10", "Facts", "Priya (2026-03-08): build 1188 is in review."),
            ours("k6", "Decisions", "Dana (2026-03-04): The release is on 10 March"),
            ours("k7", "Decisions", "Dana (2026-03-05): The release is on 12 March"),
        ),
        ("Build 1187 is in review since 2026-03-09", "Dana (2026-03-09): build 1190 is in review"),
    )
    got = await Offline().answer(task, CALL)
    assert got.merge == (
        Merge(("k1", "k2"), "Dana (2026-03-04): I prefer short answers, in bullets."),
    )
    assert got.move == (Refile("k3", Kind.CONSTRAINT),)
    assert got.drop == (Outdated("k10", "duplicate"),)


async def test_a_fold_keeps_what_weighs_as_it_stands_and_says_nothing_twice() -> None:
    """Twins become one bullet with both sources, the order of time stays, there is no title."""
    bullets = (
        ("h1", "老周（2026-03-09）：回滚脚本写完了，四分钟回到 2.3.7"),
        ("h2", "Dana (2026-03-10): the release moves to 12 March, 10:00"),
        ("h3", "Dana (2026-03-11): the release moves to 12 March 10:00"),
        ("h4", "Dana (2026-03-11): Lunch"),
    )
    got = await Offline().answer(Fold("2026-03", bullets), CALL)
    assert [bullet.sources for bullet in got.bullets][:2] == [("h1",), ("h2", "h3")]
    assert got.bullets[0].text == bullets[0][1]
    assert got.title == ""


async def test_a_fold_of_one_bullet_is_that_bullet() -> None:
    """Nothing is lost."""
    got = await Offline().answer(Fold("2026-03", (("h1", "x"),)), CALL)
    assert [bullet.text for bullet in got.bullets] == ["x"]


async def test_a_wish_is_on_the_sheet_until_somebody_answers_it() -> None:
    """Whoever answers, and whatever; a wish of older talk is not kept either."""
    old = "## User Intent\n- Dana (2026-03-03): Can you book the hall?\n"
    asked = said(1, "Can you send me the invoice of Lantern Ltd?")
    got = (await Offline().answer(Refresh(NOW, old, (asked,)), CALL)).sections
    assert got["User Intent"] == ("Dana (2026-03-04): Can you send me the invoice of Lantern Ltd?",)
    answered = (asked, said(2, "It is in the folder already.", "Priya"))
    got = (await Offline().answer(Refresh(NOW, old, answered), CALL)).sections
    assert got["User Intent"] == ()
