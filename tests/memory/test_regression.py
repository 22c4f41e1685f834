"""What memory finds today it finds after a tidying, a fold or an expiry, too."""

from __future__ import annotations

from collections.abc import Iterable

from pipimem.memory.regression import RecallCase, RegressionCheck, recall_cases
from pipimem.notes.apply import applied
from pipimem.notes.kinds import File, Kind
from pipimem.notes.ledger import Asked
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    Author,
    Bullet,
    Decision,
    FoldBlocks,
    Invalidate,
    Move,
    Operation,
    Supersede,
    Target,
    Trust,
)
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each
from tests.notes.building import NOW, notes_of

MEMORY = """## Facts

- the gateway listens on port 8080
- Dana drives a green tractor
- the archive server is called hermes
- it rained in March
- 林晓对花生过敏
"""
WORDS = Words(Segmenter())


def target(notes: Notes, word: str) -> Target:
    return next(entry.target for entry in notes.memory.entries if word in entry.text)


def check(notes: Notes, *asked: str | RecallCase) -> RegressionCheck:
    return RegressionCheck(
        notes,
        NOW,
        [one if isinstance(one, RecallCase) else RecallCase(one) for one in asked],
        WORDS,
    )


def held(notes: Notes, operations: Iterable[Operation], *asked: str | RecallCase) -> Decision:
    decision = Decision("tidy", Author.MODEL, tuple(operations), why="MEMORY.md grew")
    return check(notes, *asked).without_losses(decision)


def test_what_a_recent_question_finds_is_not_dropped() -> None:
    """The offending operation is left out with its reason, the rest is committed."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    rain, port = (
        Invalidate(target(notes, "rained"), "over"),
        Invalidate(target(notes, "8080"), "over"),
    )
    decision = held(notes, (rain, port), "which port does the gateway listen on?")
    assert decision.operations == (rain,)
    assert decision.notes == (
        "invalidate 'the gateway listens on port 8080': left as it is, a recent question finds it",
    )


def test_the_words_of_a_question_stay_out_of_the_changes() -> None:
    """Somebody may want them forgotten; a line of `recall.must` is public."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    drop = (Invalidate(target(notes, "hermes"), "over"),)
    asked = "what is the archive server called?"
    assert asked not in " ".join(held(notes, drop, asked).notes)
    assert (
        f"recall.must asks {asked!r}" in held(notes, drop, RecallCase(asked, is_must=True)).notes[0]
    )


def test_a_merge_that_keeps_the_words_is_no_loss() -> None:
    """One entry that says both answers both."""
    notes = notes_of(
        "## Facts\n\n- Dana drives a green tractor\n- Dana drives a tractor\n", trust=Trust.INFERRED
    )
    targets = tuple(entry.target for entry in notes.memory.entries)
    merge = Supersede(targets, "Dana drives a green tractor", Trust.INFERRED, reason="merged")
    assert held(notes, (merge,), "what does Dana drive?").operations == (merge,)


def test_a_merge_that_loses_a_figure_is_a_loss() -> None:
    """Most of the words are kept, but not the one that was asked for."""
    notes = notes_of(
        "## Facts\n\n- the gateway listens on port eth0\n- the gateway listens\n",
        trust=Trust.INFERRED,
    )
    targets = tuple(entry.target for entry in notes.memory.entries)
    merge = Supersede(
        targets, "the gateway listens on its usual port", Trust.INFERRED, reason="merged"
    )
    assert held(notes, (merge,), "which port does the gateway listen on?").operations == ()


def test_of_many_operations_only_the_bad_ones_are_left_out() -> None:
    """Found by halving; all others are carried out, in their order."""
    lines = "".join(f"- note {n}: the {name} is blue\n" for n, name in enumerate(NAMES))
    notes = notes_of(f"## Facts\n\n{lines}", trust=Trust.INFERRED)
    drops = [Invalidate(entry.target, "over") for entry in notes.memory.entries]
    # A rule's decision: a model may not take out that many, whatever is asked.
    decision = check(notes, "what about the walrus?", "and the harp?").without_losses(
        Decision("expire", Author.RULE, tuple(drops))
    )
    left = [
        entry.text
        for entry in notes.memory.entries
        if entry.target not in [op.target for op in decision.operations]
    ]  # type: ignore[union-attr]
    assert left == ["note 3: the walrus is blue", "note 21: the harp is blue"]
    assert len(decision.notes) == 2


NAMES = (
    *(
        "anchor",
        "barrel",
        "candle",
        "walrus",
        "dagger",
        "engine",
        "feather",
        "guitar",
        "hammer",
        "island",
        "jacket",
    ),
    *(
        "kettle",
        "ladder",
        "magnet",
        "needle",
        "orchard",
        "pillow",
        "quarry",
        "ribbon",
        "saddle",
        "turnip",
        "harp",
    ),
)


@each(("words", "is_kept"), [(("花生",), True), (("过敏", "芝麻"), True), (("芝麻",), False)])
def test_words_behind_the_arrow_must_go_on_being_found(
    words: tuple[str, ...], is_kept: bool
) -> None:
    """Those that were found before; what never was there cannot be lost."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    drop = Invalidate(target(notes, "花生"), "over")
    decision = held(notes, (drop,), RecallCase("林晓对什么过敏？", words, is_must=True))
    assert (drop not in decision.operations) is is_kept


def test_a_move_loses_nothing() -> None:
    """The words stay, only the heading is another."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    move = Move(target(notes, "花生"), Kind.CONSTRAINT)
    assert held(notes, (move,), "林晓对什么过敏？").operations == (move,)


def test_a_move_away_from_the_heading_that_answers_is_a_loss() -> None:
    """A question for the constraints is answered by that section; its words stand elsewhere
    afterwards, unfound.
    """
    notes = notes_of("## Constraints\n\n- no deploys on Fridays\n\n" + MEMORY, trust=Trust.INFERRED)
    move = Move(target(notes, "Fridays"), Kind.FACT)
    assert held(notes, (move,), "what are our constraints?").operations == ()


def test_without_questions_nothing_is_held() -> None:
    """And an operation nobody asks about goes through."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    drop = Invalidate(target(notes, "rained"), "over")
    assert held(notes, (drop,)).operations == (drop,)
    assert held(notes, (drop,), "which port does the gateway listen on?").notes == ()


def test_what_is_over_by_its_own_date_goes_whoever_asks() -> None:
    """It is no longer so; the day was given with it."""
    notes = notes_of(MEMORY, trust=Trust.INFERRED)
    over = Invalidate(
        target(notes, "8080"), "it held until 2026-03-01", still_so=True, archived=True
    )
    assert held(notes, (over,), "which port does the gateway listen on?").operations == (over,)


def test_a_fold_keeps_word_for_word_what_is_asked_for() -> None:
    """The month is folded all the same; the bullet that answers a question stands in it as it
    was.
    """
    history = "## 2026-01-05 09:00–10:00 +08:00\n\n- Dana moved the vault to the north cellar\n- they had lunch\n"
    notes = notes_of(history=history)
    fold = FoldBlocks(
        "2026-01", "January", (Bullet("quiet weeks"),), ("2026-01-05 09:00–10:00 +08:00",)
    )
    decision = held(notes, (fold,), "where did Dana move the vault?")
    assert decision.notes == (
        "fold of 2026-01: 1 bullets stay word for word, a recent question finds it",
    )
    text = applied(notes, decision, NOW).texts[File.HISTORY]
    assert "- quiet weeks\n- Dana moved the vault to the north cellar\n" in text


def test_what_a_fold_keeps_word_for_word_is_not_retold_beside_it() -> None:
    """The retelling goes; what else it told of comes back word for word."""
    bullets = (
        "- Dana moved the vault to the north cellar\n- Wei paid the rent in May\n- they had lunch\n"
    )
    notes = notes_of(history=f"## 2026-01-05 09:00–10:00 +08:00\n\n{bullets}")
    originals = [Bullet(entry.text, (entry.id,)) for entry in notes.history.entries]
    vault, rent, lunch = (entry.id for entry in notes.history.entries)
    told = (Bullet("Dana and Wei saw to the house", (vault, rent)), Bullet("they ate", (lunch,)))
    heading = ("2026-01-05 09:00–10:00 +08:00",)
    fold = FoldBlocks("2026-01", "January", told, heading, tuple(originals))
    [op] = held(notes, (fold,), "where did Dana move the vault?").operations
    assert isinstance(op, FoldBlocks)
    assert [bullet.text for bullet in op.bullets] == [
        "Wei paid the rent in May",
        "they ate",
        "Dana moved the vault to the north cellar",
    ]


def test_an_entry_that_history_tells_too_may_go() -> None:
    """It is dropped from MEMORY.md because HISTORY.md has it, and goes on being recalled from
    there.
    """
    told = "## 2026-03-01 09:00–10:00 +08:00\n\n- Dana drives a green tractor\n"
    notes = notes_of(MEMORY, history=told, trust=Trust.INFERRED)
    drop = Invalidate(target(notes, "tractor"), "it stands in HISTORY.md", still_so=True)
    assert held(notes, (drop,), "what does Dana drive?").operations == (drop,)


def test_the_list_of_people_comes_before_what_was_asked() -> None:
    """One query a line, with words behind an arrow; comments and empty lines are none; the
    newest question is first.
    """
    must = (
        "# ours\n\n上线窗口是什么时候？ => 周四，9 点\nwho owns the gateway?\n => nothing asked\n"
    )
    assert recall_cases((Asked("first?"), Asked("second?")), must) == (
        RecallCase("上线窗口是什么时候？", ("周四", "9 点"), is_must=True),
        RecallCase("who owns the gateway?", is_must=True),
        RecallCase("second?"),
        RecallCase("first?"),
    )


def test_a_byte_order_mark_and_windows_lines_are_no_words() -> None:
    """As Notepad saves it."""
    assert recall_cases((), "\ufeff# list\r\nwhere? => Berlin\r\n") == (
        RecallCase("where?", ("Berlin",), is_must=True),
    )
