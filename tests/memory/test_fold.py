"""The older blocks of HISTORY.md become one block a month."""

from __future__ import annotations

import pytest
from pipimem.errors import AnswerRefused
from pipimem.llm.request import ContextOverflow
from pipimem.memory.fold import fold
from pipimem.notes.apply import applied
from pipimem.notes.files import File
from pipimem.notes.notes import Note
from pipimem.notes.operations import Bullet, Decision, FoldBlocks
from pipimem.sidecar.scripted import Scripted
from pipimem.sidecar.tasks import Call, Fold, Folded

from tests.notes.building import KEY, NOW, notes_of

pytestmark = pytest.mark.anyio
CALL = Call("dev", "c1", 120)
SHORT = Folded("quiet", (Bullet("much was done", ("a",)),))


def block(day: str) -> str:
    return f"## {day} 09:00–10:00 +08:00\n\n- worked on {day}\n\n"


def archive(text: str = "") -> Note:
    return Note.read(File.ARCHIVE, text, KEY)


async def folded(
    history: str, archived: str = "", *answers: Folded | BaseException
) -> tuple[Decision, list[tuple[str, list[str]]]]:
    """The decision, and what the assistant was shown by month."""
    assistant = Scripted(answers or [SHORT] * 3)
    decision = await fold(assistant, notes_of(history=history), archive(archived), CALL)
    asked = [
        (t.month, [text for _, text in t.bullets]) for t in assistant.asked if isinstance(t, Fold)
    ]
    return decision, asked


async def test_the_newest_three_stay_as_they_were_told() -> None:
    """Of five blocks the two oldest are folded; of three, none."""
    days = ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04", "2026-03-05"]
    decision, _ = await folded("".join(map(block, days)))
    assert decision.operations == (
        FoldBlocks(
            "2026-03",
            "quiet",
            SHORT.bullets,
            tuple(f"{day} 09:00–10:00 +08:00" for day in days[:2]),
        ),
    )
    assert (await folded("".join(map(block, days[2:]))))[0].operations == ()


async def test_the_newest_are_newest_by_their_time() -> None:
    """Who keeps the newest block on top keeps the newest three, too."""
    days = ["2026-03-05", "2026-03-04", "2026-03-03", "2026-03-02"]
    _, asked = await folded("".join(map(block, days)))
    assert asked == [("2026-03", ["worked on 2026-03-02"])]


async def test_every_month_has_a_fold_of_its_own() -> None:
    """Blocks of two months are two questions and two folds."""
    days = ["2026-01-30", "2026-02-01", "2026-02-02", "2026-03-01", "2026-03-02", "2026-03-03"]
    decision, asked = await folded("".join(map(block, days)))
    assert asked == [
        ("2026-01", ["worked on 2026-01-30"]),
        ("2026-02", ["worked on 2026-02-01", "worked on 2026-02-02"]),
    ]
    assert [op.month for op in decision.operations if isinstance(op, FoldBlocks)] == [
        "2026-01",
        "2026-02",
    ]


async def test_a_fold_is_made_anew_from_the_originals() -> None:
    """The earlier fold is replaced, and its words are never shown: only the archive's and the
    newer block's.
    """
    earlier = "## 2026-03 · the short of it\n\n- a summary of a summary\n\n"
    newer = "".join(map(block, ["2026-03-05", "2026-03-06", "2026-03-07", "2026-03-08"]))
    decision, asked = await folded(earlier + newer, block("2026-02-27") + block("2026-03-01"))
    assert asked == [("2026-03", ["worked on 2026-03-01", "worked on 2026-03-05"])]
    [op] = decision.operations
    assert isinstance(op, FoldBlocks)
    assert op.headings == ("2026-03 · the short of it", "2026-03-05 09:00–10:00 +08:00")


async def test_what_is_folded_goes_to_the_archive_word_for_word() -> None:
    """Carried out, the decision leaves the fold in HISTORY.md and the original in the archive."""
    notes = notes_of(
        history="".join(map(block, ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"]))
    )
    decision = await fold(Scripted([SHORT]), notes, archive(), CALL)
    outcome = applied(notes, decision, NOW)
    assert outcome.archived == block("2026-03-01")
    assert outcome.texts[File.HISTORY].startswith(
        "## 2026-03 · quiet\n\n- much was done\n\n## 2026-03-02"
    )


@pytest.mark.parametrize("bullets", [(), (Bullet("  "),)])
async def test_an_answer_without_bullets_is_refused(bullets: tuple[Bullet, ...]) -> None:
    """It would erase a month."""
    history = "".join(map(block, ["2026-03-01", "2026-03-02", "2026-03-03", "2026-03-04"]))
    with pytest.raises(AnswerRefused, match="the fold of 2026-03 keeps nothing of 1 bullets"):
        await folded(history, "", Folded("quiet", bullets))


async def test_sections_of_peoples_own_are_never_folded() -> None:
    """A heading without a time is not a block to fold, and does not count among the newest."""
    own = "## Our traditions\n\n- cake on Fridays\n\n"
    decision, asked = await folded(
        own + "".join(map(block, ["2026-03-01", "2026-03-02", "2026-03-03"]))
    )
    assert (decision.operations, asked) == ((), [])


async def test_a_month_that_is_too_long_to_read_is_folded_in_halves() -> None:
    """One block of both halves; a single bullet that is too long is nobody's to halve."""
    days = [f"2026-03-0{n}" for n in range(1, 6)]
    too_long, rest = ContextOverflow("too long"), Folded("then", (Bullet("more", ("b",)),))
    decision, asked = await folded("".join(map(block, days)), "", too_long, SHORT, rest)
    assert [len(texts) for _, texts in asked] == [2, 1, 1]
    [op] = decision.operations
    assert isinstance(op, FoldBlocks)
    assert (op.title, op.bullets) == ("quiet", (*SHORT.bullets, *rest.bullets))
    with pytest.raises(ContextOverflow):
        await folded("".join(map(block, days)), "", too_long, too_long)
