"""The assistant without a model: the four tasks end to end, by rules."""

from __future__ import annotations

import json
from datetime import datetime, timedelta
from difflib import SequenceMatcher
from pathlib import Path

import pytest
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.sidecar.contracts import Call, Consolidate, Consolidated, Fold, Known, Merge, Over, Refile, Refresh, Tidy
from pipimem.sidecar.offline import Offline
from pipimem.sidecar.offline.replacing import Statement, takes_the_place
from pipimem.sidecar.offline.weights import Weights
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words
from tests.sidecar.conftest import NOW, answered, said

pytestmark = pytest.mark.anyio
CALL = Call("room", "c-1", 20)
ROOM = Path(__file__).parents[3] / "examples" / "release-room.jsonl"


def window(*messages: Message, memory: tuple[Known, ...] = ()) -> Consolidate:
    """A task of a group."""
    people = tuple(dict.fromkeys(m.speaker for m in messages if m.role == "user"))
    return Consolidate(NOW, people, memory, messages, group=True)


def room() -> list[Message]:
    """The sample conversation."""
    lines = [json.loads(line) for line in ROOM.read_text(encoding="utf-8").splitlines()]
    return [
        Message(line["role"], line["content"], line["id"], datetime.fromisoformat(line["ts"]), line["name"], number=n)
        for n, line in enumerate(lines, 1)
    ]


async def test_it_costs_nothing_and_says_who_it_is() -> None:
    """Name and price."""
    assert (Offline().name, Offline().paid) == ("offline", False)


async def test_a_newer_value_replaces_the_older_entry() -> None:
    """Same subject, another date, a word of change: the old id is replaced; what is about something else stays."""
    memory = (
        Known("k1", "Decisions", "林晓：发布窗口定在 2026-03-10 晚上九点到十点", Trust.INFERRED),
        Known("k2", "Preferences", "林晓喜欢简短的回答", Trust.INFERRED),
        Known("k3", "Decisions", "老周：备份改到凌晨两点", Trust.INFERRED),
    )
    got = await Offline().answer(window(said(1, "发布窗口改到下周三晚上八点。", "林晓"), memory=memory), CALL)
    (learned,) = got.learned
    assert learned.text == "林晓：发布窗口改到 2026-03-11 晚上八点"
    assert learned.replaces == ("k1",)


async def test_a_value_is_replaced_across_languages() -> None:
    """The words of plans are known in both."""
    memory = (Known("k1", "Decisions", "林晓：发布改到 2026-03-11 晚上八点到九点", Trust.INFERRED),)
    told = said(1, "Decision: the 2.4 release moves to Thursday 12 March, 10:00 to 11:30.")
    got = await Offline().answer(window(told, memory=memory), CALL)
    assert got.learned[0].replaces == ("k1",)


async def test_one_persons_liking_does_not_replace_anothers() -> None:
    """Two people may disagree."""
    memory = (Known("k1", "Preferences", "老周 prefers squash merges for every feature branch", Trust.INFERRED),)
    told = said(1, "I prefer no squash merges now for any feature branch.", "Priya")
    got = await Offline().answer(window(told, memory=memory), CALL)
    assert got.learned[0].replaces == ()


async def test_within_a_window_the_last_word_counts() -> None:
    """A date that moved twice is learnt once."""
    got = await Offline().answer(
        window(
            said(1, "The release moves to Tuesday 10 March, 21:00 to 22:00."),
            said(2, "The release moves to Wednesday 11 March, 20:00 to 21:00."),
            said(3, "Fine."),
        ),
        CALL,
    )
    assert [item.text for item in got.learned] == ["Dana: The release moves to Wednesday 11 March, 20:00 to 21:00"]


async def test_a_promise_kept_is_over() -> None:
    """The owner says it is done, in the words of the promise."""
    memory = (Known("k1", "Open Loops", "回滚脚本 ops/rollback.sh 老周来写，2026-03-09 之前要能跑", Trust.INFERRED),)
    done = said(1, "回滚脚本写完了，ops/rollback.sh，演练过。", "老周")
    assert (await Offline().answer(window(done, memory=memory), CALL)).over[0].id == "k1"
    other = said(1, "回滚脚本写完了，ops/rollback.sh，演练过。", "林晓")
    task = Consolidate(NOW, ("林晓", "老周"), memory, (other,), group=True)
    assert (await Offline().answer(task, CALL)).over == ()


async def test_a_real_exchange_leaves_a_bullet_even_if_nothing_was_said() -> None:
    """Small talk is history too."""
    got = await Offline().answer(window(said(1, "Hi"), answered(2, "Hello!")), CALL)
    assert [bullet.text for bullet in got.history] == ["Dana: small talk (2 messages)"]
    zh = await Offline().answer(window(said(1, "你好", "林晓"), answered(2, "你好！")), CALL)
    assert [bullet.text for bullet in zh.history] == ["林晓闲聊（2 条消息）"]


async def test_nothing_said_leaves_nothing() -> None:
    """The bot alone is no exchange."""
    assert await Offline().answer(window(answered(1, "Anyone?")), CALL) == Consolidated()


async def test_the_sample_conversation_reads_well() -> None:
    """In windows of sixty: what must be remembered is, what must not is not, and all of it is short and sourced."""
    messages = room()
    offline = Offline()
    texts: list[str] = []
    for start in range(0, len(messages), 60):
        part = tuple(messages[start : start + 60])
        got = await offline.answer(window(*part), CALL)
        ids = {message.id for message in part}
        users = sum(message.role == "user" for message in part)
        assert 1 <= len(got.history) <= 6
        assert 0 < len(got.title) <= 60
        assert len([item for item in got.learned if not item.explicit]) <= users / 2 + 1
        for bullet in got.history:
            assert len(bullet.text) <= 140
            assert set(bullet.sources) <= ids
            for message in part:
                assert len(message.content) <= 60 or message.content not in bullet.text
        for item in got.learned:
            assert set(item.sources) <= ids
        texts += [item.text for item in got.learned]
    whole = "\n".join(texts)
    for kept in ("never deploy on Fridays", "花生过敏", "Redis", "Thursday 12 March", "CREATE INDEX CONCURRENTLY"):
        assert kept in whole
    for kept_out in ("sk-proj", "Hb7#", "自动通过", "hospital", "dumplings", "Postgres 14"):
        assert kept_out not in whole


def shared_run(a: str, b: str) -> int:
    """The characters of the longest stretch that stands word for word in both."""
    return SequenceMatcher(None, a, b, autojunk=False).find_longest_match().size


async def test_history_is_in_own_words() -> None:
    """No bullet copies more than a line of what was said."""
    messages = room()[:60]
    got = await Offline().answer(window(*messages), CALL)
    longest = max(shared_run(bullet.text, m.content) for bullet in got.history for m in messages)
    assert longest <= 110


async def test_a_session_is_brought_up_to_date() -> None:
    """New items come first, what is done leaves the next steps, sections without news are left out."""
    old = "## Next Steps\n- 老周来写回滚脚本 ops/rollback.sh\n- Dana will test the iPad by 2026-03-06\n"
    new = (
        said(1, "回滚脚本写完了，见 ops/rollback.sh。", "老周"),
        said(2, "We decided to keep Redis for this release."),
        said(3, "The deploy crashed with a NullPointerException in CartView."),
    )
    got = (await Offline().answer(Refresh(NOW, old, new), CALL)).sections
    assert got["Next Steps"] == ("Dana will test the iPad by 2026-03-06",)
    assert got["Decisions"] == ("Dana: We decided to keep Redis for this release",)
    assert got["Active Files"] == ("ops/rollback.sh",)
    assert got["Errors & Corrections"] == ("Dana: The deploy crashed with a NullPointerException in CartView",)
    assert got["Current State"][0].startswith("老周：回滚脚本写完了")
    assert "Worklog" not in got  # it stands above
    later = (said(4, "The release notes are done.", "林晓"),)
    sheet = f"## Current State\n- {got['Current State'][0]}\n"
    got = (await Offline().answer(Refresh(NOW, sheet, later), CALL)).sections
    assert got["Current State"] == ("林晓: The release notes are done",)
    assert got["Worklog"][0].startswith("老周：回滚脚本写完了")
    assert "Constraints" not in got


async def test_tidying_merges_moves_and_drops_only_what_was_inferred() -> None:
    """Repetitions are merged into the longer text, misfiled rules moved, told events dropped; people's stay."""

    def ours(name: str, section: str, text: str) -> Known:
        return Known(name, section, text, Trust.INFERRED, 9)

    task = Tidy(
        NOW + timedelta(days=9),
        (
            ours("k1", "Preferences", "Dana prefers short answers in bullets"),
            ours("k2", "Preferences", "Dana prefers short answers, in bullets."),
            ours("k3", "Facts", "林晓：生产库不许直接改，任何改动都走 migration"),
            ours("k4", "Facts", "Priya submitted build 1187 to review on 2026-03-09"),
            Known("k5", "Facts", "Priya submitted build 1187 to review on 2026-03-08"),
            ours("k6", "Decisions", "The release is on 2026-03-10"),
            ours("k7", "Decisions", "The release is on 2026-03-12"),
        ),
        ("Priya submitted build 1187 to review on 2026-03-09",),
    )
    got = await Offline().answer(task, CALL)
    assert got.merge == (Merge(("k1", "k2"), "Dana prefers short answers, in bullets."),)
    assert got.move == (Refile("k3", Kind.CONSTRAINT),)
    assert got.drop == (Over("k4", "in_history"),)


async def test_a_fold_keeps_what_weighs_and_says_nothing_twice() -> None:
    """Twins become one bullet with both sources; the order of time stays."""
    bullets = (
        ("h1", "老周 wrote the rollback script, 4 minutes to go back"),
        ("h2", "Dana: the release moves to 2026-03-12 10:00"),
        ("h3", "Dana: the release moves to 2026-03-12, 10:00"),
        ("h4", "Lunch"),
    )
    got = await Offline().answer(Fold("2026-03", bullets), CALL)
    assert [bullet.sources for bullet in got.bullets][:2] == [("h1",), ("h2", "h3")]
    assert got.title


async def test_a_fold_of_one_bullet_is_that_bullet() -> None:
    """Nothing is lost."""
    got = await Offline().answer(Fold("2026-03", (("h1", "x"),)), CALL)
    assert [bullet.text for bullet in got.bullets] == ["x"]
    assert got.title == "2026-03"


def test_what_differs_in_more_than_its_value_is_another_thing() -> None:
    """Alpha's port is no newer value of beta's, nor one person's birthday of another's."""
    weights = Weights(Words(Segmenter()), [])

    def replaces(new: str, old: str) -> bool:
        return takes_the_place(Statement(new, Kind.FACT), Statement(old, Kind.FACT), weights, ())

    assert not replaces("service beta listens on port 5002", "service alpha listens on port 5001")
    assert not replaces("service s4 listens on port 5004", "service s3 listens on port 5003")
    assert not replaces("李四的生日是5月2日", "张三的生日是5月1日")
    assert replaces("service alpha listens on port 6001", "service alpha listens on port 5001")
