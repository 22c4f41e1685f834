"""What no model may do to a memory."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta

from msgspec.structs import replace
from pipimem.notes.apply import applied
from pipimem.notes.entry import Entry
from pipimem.notes.guards import counted, is_used_up, losses_by, refusals, reopens
from pipimem.notes.kinds import Kind
from pipimem.notes.notes import Notes
from pipimem.notes.operations import (
    Add,
    Author,
    Decision,
    Evidence,
    FoldBlocks,
    Invalidate,
    Move,
    Operation,
    Supersede,
    Trust,
)
from pipimem.text.words.similarity import bigrams, share_in

from tests.cases import each
from tests.notes.building import NOW, notes_of

SAID = Evidence(("m9",), 9)


def memory(count: int) -> str:
    return "## Facts\n\n" + "".join(f"- thing {n} stands in hall {n}\n" for n in range(count))


def refused(notes: Notes, *operations: Operation, author: Author = Author.MODEL) -> list[str]:
    return [refusal.reason for refusal in refusals(notes, Decision("tidy", author, operations))]


def all_out(notes: Notes) -> list[Operation]:
    return [Invalidate(entry.target, "x") for entry in notes.memory.entries]


@each(("entries", "allowed"), [(4, 3), (12, 3), (16, 4), (19, 4), (40, 10)])
def test_a_run_may_take_out_three_or_a_quarter(entries: int, allowed: int) -> None:
    """Whichever is more; the rest of the run is refused with the number."""
    notes = notes_of(memory(entries), trust=Trust.INFERRED)
    reasons = refused(notes, *all_out(notes))
    assert reasons == [f"this run may take out at most {allowed} entries"] * (entries - allowed)


def test_people_and_rules_are_not_bound() -> None:
    """A person may empty the file, and the calendar what is over."""
    notes = notes_of(memory(9))
    assert refused(notes, *all_out(notes), author=Author.PERSON) == []
    assert refused(notes, *all_out(notes), author=Author.RULE) == []


@each(
    ("trust", "dropped", "merged", "renewed"),
    [
        (Trust.HUMAN, True, True, True),
        (Trust.EXPLICIT, True, True, False),
        (Trust.INFERRED, False, False, False),
    ],
)
def test_who_said_it_decides_what_a_model_may_do(
    trust: Trust, dropped: bool, merged: bool, renewed: bool
) -> None:
    """Only a newer word of the conversation replaces what was asked for, and nothing what was
    typed.
    """
    notes = notes_of("## Facts\n\n- the port is 8080\n", trust=trust)
    target = notes.memory.entries[0].target
    no = [f"entry {target.id} is {trust}: only a person may remove it"]
    assert refused(notes, Invalidate(target, "x")) == no * dropped
    assert refused(notes, Supersede((target,), "the port: 8080", Trust.INFERRED)) == no * merged
    assert (
        refused(notes, Supersede((target,), "the port is 9090", Trust.INFERRED, SAID))
        == no * renewed
    )


@each(
    ("old", "new"),
    [
        ("the trip costs at most 90 euros", "the trip costs at least 90 euros"),
        ("Ida lent Ben her drill", "Ben lent Ida her drill"),
        ("小明欠小红三十元", "小红欠小明三十元"),
        ("the port is 8080", "the port is 9090"),
        ("the choir meets on Friday", "the choir meets on Monday"),
        ("the trip costs 90 euros", "the trip costs euros"),
    ],
)
def test_a_merge_or_a_wording_turns_nothing_round(old: str, new: str) -> None:
    """Nor does it change a number or a day: all of them are those of its entries."""
    notes = notes_of(f"## Facts\n\n- {old}\n- the gate is blue\n", trust=Trust.INFERRED)
    first, second = (entry.target for entry in notes.memory.entries)
    (reason,) = refused(notes, Supersede((first,), new, Trust.INFERRED))
    assert reason.startswith("a merge must")
    merged = f"{new}; the gate is blue"
    assert refused(notes, Supersede((first, second), merged, Trust.INFERRED)) == [reason]
    assert refused(notes, Supersede((first, second), f"{old}; blue gate", Trust.INFERRED)) == []


def test_an_entry_that_is_turned_round_counts_as_taken_out() -> None:
    """Also where a newer word of the talk says so."""
    notes = notes_of(
        "## Facts\n\n" + "".join(f"- gate {n} opens before noon\n" for n in range(4)),
        trust=Trust.INFERRED,
    )
    turned = [
        Supersede((entry.target,), entry.text.replace("before", "after"), Trust.INFERRED, SAID)
        for entry in notes.memory.entries
    ]
    assert refused(notes, *turned) == ["this run may take out at most 3 entries"]
    (loss,) = losses_by(notes, turned[0], NOW)
    assert loss.lost == 1


def test_a_merge_that_keeps_the_words_takes_nothing_out() -> None:
    """Merging is not erasing; replacing many by other words is."""
    notes = notes_of(memory(8), trust=Trust.INFERRED)
    targets = tuple(entry.target for entry in notes.memory.entries)
    keeping = "; ".join(entry.text for entry in notes.memory.entries)
    assert refused(notes, Supersede(targets, keeping, Trust.INFERRED)) == []
    (reason,) = refused(notes, Supersede(targets, "misc", Trust.INFERRED))
    assert reason.startswith(
        "a merge must keep the words of what it merges, and this one forgets: thing 0"
    )
    told = Evidence(sources=("m1",))
    assert refused(notes, Supersede(targets, "misc", Trust.INFERRED, told)) == [
        "this run may take out at most 3 entries"
    ]


def test_a_merge_or_a_wording_denies_what_its_entries_deny() -> None:
    """Letters alone would let an opposite pass; a newer word of the talk may deny."""
    notes = notes_of("- the yard is never locked\n- Ann has a key\n", trust=Trust.INFERRED)
    yard, key = (entry.target for entry in notes.memory.entries)
    reason = "a merge must deny what it merges denies, and nothing else"
    merged = "Ann has a key and the yard is never locked"
    assert refused(notes, Supersede((yard, key), merged, Trust.INFERRED)) == []
    merged = "Ann has a key and the yard is locked"
    assert refused(notes, Supersede((yard, key), merged, Trust.INFERRED)) == [reason]
    assert refused(notes, Supersede((key,), "Ann has no key", Trust.INFERRED)) == [reason]
    told = Evidence(sources=("m1",))
    assert refused(notes, Supersede((key,), "Ann has no key", Trust.INFERRED, told)) == []


def test_a_fold_without_bullets_is_refused() -> None:
    """It would erase a month."""
    assert refused(notes_of(), FoldBlocks("2026-03", "x", (), ("h",))) == [
        "a fold without bullets would erase a month"
    ]


# What every fact has says nothing about which of them is left.
COMMON = bigrams("the stands in hall " + " ".join(map(str, range(300))))
WORDS = ("barrel", "kettle", "lantern", "saddle", "anchor", "thimble", "ladder", "magnet")


def learnt(facts: Sequence[str], days_ago: int) -> Notes:
    """A memory of facts that a model concluded so many days ago."""
    notes = notes_of("")
    sources = Evidence(("m1",), when=NOW - timedelta(days=days_ago))
    adds = tuple(Add(Kind.FACT, fact, Trust.INFERRED, sources) for fact in facts)
    done = applied(notes, Decision("consolidate", Author.RULE, adds), NOW)
    return notes.after(done)


def facts(count: int) -> list[str]:
    """Sentences of which each has characters that no other has."""
    own = ("".join(chr(0x5000 + 16 * n + k) for k in range(12)) for n in range(count))
    return [f"the {WORDS[n % 8]} {name} stands in hall {n * 7}" for n, name in enumerate(own)]


def run(notes: Notes, operations: Sequence[Operation], now: datetime) -> tuple[Notes, int]:
    """One model's decision carried out; gives the notes after it and how much was refused."""
    done = applied(notes, Decision("tidy", Author.MODEL, tuple(operations)), now)
    return notes.after(done), len(done.refused)


def ends(entries: Sequence[Entry], _day: int) -> list[Operation]:
    return [Invalidate(entry.target, "over") for entry in entries]


def merges(entries: Sequence[Entry], _day: int) -> list[Operation]:
    return [
        Supersede((one.target, two.target), f"{one.text}; {two.text[:24]}", Trust.INFERRED)
        for one, two in zip(entries[::2], entries[1::2], strict=False)
    ]


def replaces(entries: Sequence[Entry], day: int) -> list[Operation]:
    """Each new wording keeps more than half of the one before: no run takes out anything.

    As many as a window of talk can bring.
    """
    found: list[Operation] = []
    for entry in entries[:8]:
        half = len(entry.text) * 6 // 10
        text = f"{entry.text[:half]} {chr(0x4E00 + day) * 4} q{day}z"
        evidence = Evidence((f"m{day}",), newest=day, when=NOW + timedelta(days=day))
        found.append(Supersede((entry.target,), text, Trust.INFERRED, evidence))
    return found


@each("destroys", [ends, merges, replaces])
@each("age", [0, 90])
def test_in_any_30_days_models_take_out_at_most_half_of_what_stood(
    destroys: Callable[[Sequence[Entry], int], list[Operation]], age: int
) -> None:
    """Run after run, every day for 70 days: whichever day one begins to count on."""
    notes = learnt(facts(40), age)
    texts: list[list[str]] = []
    refused = 0
    for day in range(1, 71):
        texts.append([entry.text for entry in notes.memory.entries])
        notes, more = run(notes, destroys(notes.memory.entries, day), NOW + timedelta(days=day))
        refused += more
    texts.append([entry.text for entry in notes.memory.entries])
    for first in range(len(texts)):
        last = min(first + 30, len(texts) - 1)
        left = bigrams("\n".join(texts[last]))
        lost = sum(1 - share_in(bigrams(text) - COMMON, left) for text in texts[first])
        assert lost <= len(texts[first]) / 2 + 0.5, (first, last)
    assert refused > 0


def test_what_people_typed_is_no_part_of_the_count() -> None:
    """A hundred lines by hand do not let a model take out all that was learnt."""
    typed = "# Memory\n\n## Facts\n\n" + "".join(f"- by hand {n}\n" for n in range(100))
    notes = notes_of(typed)
    adds = tuple(Add(Kind.FACT, fact, Trust.INFERRED) for fact in facts(10))
    notes = notes.after(applied(notes, Decision("consolidate", Author.RULE, adds), NOW))
    for day in range(10):
        inferred = [
            entry
            for entry in notes.memory.entries
            if (record := notes.record(entry.id)) and record.trust is Trust.INFERRED
        ]
        notes, _ = run(notes, ends(inferred, day), NOW + timedelta(days=day))
    assert sum("hall" in entry.text for entry in notes.memory.entries) == 5


def test_a_newer_value_that_may_not_replace_stands_beside_the_older_one() -> None:
    """Nothing that was said is lost: both stay."""
    notes = learnt(facts(2), 1)
    one, two = notes.memory.entries
    notes, _ = run(notes, ends([one], 0), NOW)
    newer = Supersede((two.target,), "entirely other words", Trust.INFERRED, Evidence(("m9",), 9))
    notes, refused = run(notes, [newer], NOW)
    standing = [entry.text for entry in notes.memory.entries]
    assert (refused, standing) == (1, [two.text, "entirely other words"])


def test_what_was_brought_back_counts_no_more() -> None:
    """A person took the change back: models have their room again."""
    notes = learnt(facts(4), 1)
    first = notes.memory.entries[:2]
    after, _ = run(notes, ends(first, 0), NOW)
    assert is_used_up(after, NOW.date())
    back = tuple(Add(Kind.FACT, entry.text, Trust.HUMAN) for entry in first)
    again = after.after(applied(after, Decision("undo", Author.PERSON, back), NOW))
    assert not counted(again, NOW.date())
    assert not is_used_up(again, NOW.date())


def test_after_30_days_there_is_room_again() -> None:
    """Not a day before."""
    notes, _ = run(learnt(facts(4), 1), ends(learnt(facts(4), 1).memory.entries[:2], 0), NOW)
    assert reopens(notes, NOW.date()) == NOW.date() + timedelta(days=31)
    assert is_used_up(notes, NOW.date() + timedelta(days=30))
    assert not is_used_up(notes, NOW.date() + timedelta(days=31))


def test_a_rule_and_a_person_are_not_bound() -> None:
    """Expiry and people take out what they like."""
    for author in (Author.RULE, Author.PERSON):
        notes = learnt(facts(8), 1)
        done = applied(notes, Decision("x", author, tuple(ends(notes.memory.entries, 0))), NOW)
        assert not done.refused
        assert not notes.after(done).memory.entries


def test_a_quote_that_reads_like_an_instruction_is_not_moved_by_a_model() -> None:
    """Under Constraints it would look like a rule."""
    notes = notes_of("## Facts\n\n- eve: “never reply to Tom”\n", trust=Trust.QUOTED)
    target = notes.memory.entries[0].target
    by_model = Decision("tidy", Author.MODEL, (Move(target, Kind.CONSTRAINT),))
    assert [one.reason for one in refusals(notes, by_model)] == [
        f"entry {target.id} is a quote: only a person may move it"
    ]
    assert refusals(notes, replace(by_model, author=Author.PERSON)) == ()
