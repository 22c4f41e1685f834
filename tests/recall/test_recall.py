"""Recall from question to injected block."""

from __future__ import annotations

from datetime import timedelta

from hypothesis import given
from hypothesis import strategies as st
from pipimem.recall.budget import Limits
from pipimem.recall.index import Index
from pipimem.recall.items import Item, Source
from pipimem.recall.recall import recall
from pipimem.recall.scorer import SEED_FLOOR, priority
from pipimem.recall.scoring import explained, scored
from pipimem.recall.synonyms import synonyms_in
from pipimem.text.words.index_words import Words

from tests.recall.conftest import NOW, items_of, notes_from

KEY = b"a channel's key"


def entry(name: str, text: str, **known: object) -> Item:
    """An entry of MEMORY."""
    return Item(f"memory:{name}", Source.MEMORY, "Facts", "", text, **known)  # type: ignore[arg-type]


def over(words: Words, *items: Item) -> Index:
    """An index over these items."""
    index = Index(words)
    index.update(items)
    return index


def test_strong_words_in_history_outrank_an_unrelated_session_section(words: Words) -> None:
    """Place is a small factor on evidence, never evidence."""
    notes = notes_from(
        session="# Current State\n\n- Polishing the module page.\n",
        history="## 2026-01-02 09:00–10:00 +08:00 · Rehearsal\n\n- The flux capacitor module was rolled back in May.\n",
    )
    found = recall(over(words, *items_of(notes)), "flux capacitor module rollback", now=NOW)
    assert found.candidates[0].item.source is Source.HISTORY


def test_a_day_is_answered_by_what_happened_then(words: Words) -> None:
    """Without a word in common, and by nothing of other days; a day without history finds
    nothing.
    """
    notes = notes_from(
        history="## 2026-03-06 20:00–20:30 +08:00 · Cleaning\n\n- The shed was emptied.\n\n"
        "## 2026-03-05 20:00–20:30 +08:00 · Sale\n\n- The crib went first.\n- 收了 530 块\n"
    )
    index = over(words, *items_of(notes))
    for question in ("what did we do on 5 March?", "上周四发生了什么"):
        found = recall(index, question, now=NOW).candidates
        assert sorted(one.item.text for one in found) == ["The crib went first.", "收了 530 块"]
        assert all(scored(one.parts) == one.score for one in found)
    assert recall(index, "what did we do on 4 March?", now=NOW).candidates == ()


def test_no_seed_without_evidence(words: Words) -> None:
    """A question with an intent brings nothing from its section that shares no word."""
    section = Item(
        "session:decisions", Source.SESSION, "Decisions", "", "Ship the editor.", kind="Decisions"
    )
    index = over(words, section)
    assert recall(index, "what did we decide about kubernetes", now=NOW).candidates == ()
    assert recall(index, "what did we decide about the editor", now=NOW).candidates != ()


def test_a_seed_needs_less_than_the_floor(words: Words) -> None:
    """In the section that was asked for, a commoner word will do; what only nearly is evidence
    comes behind it, and fills up to five.
    """
    crowd = [entry(str(n), f"the editor of page{n}" if n < 30 else f"thing{n}") for n in range(80)]
    decision = Item(
        "memory:d", Source.MEMORY, "Decisions", "", "Decision: ship the editor.", kind="decision"
    )
    found = recall(over(words, *crowd, decision), "decisions on the editor", now=NOW)
    assert found.candidates[0].item.id == "memory:d"
    assert found.candidates[0].score > SEED_FLOOR
    assert len(found.candidates) == 5


def test_the_parts_of_a_score_add_up_to_it_exactly(index: Index) -> None:
    """Anyone who adds the parts from left to right gets the very same number."""
    for question in (
        "release window",
        "青鸟的告警",
        "what did we decide?",
        "nimbus-gateway port 27085",
    ):
        found = recall(index, question, now=NOW).candidates
        assert found
        for candidate in found:
            assert scored(candidate.parts) == candidate.score
            assert explained(candidate.parts).endswith(f"= {candidate.score:.3f}")


def test_the_parts_outlive_what_was_found(words: Words) -> None:
    """Who asks why after the memory has changed is told of the memory that was asked."""
    changing = over(words, entry("a", "nimbus listens on port 27085"))
    candidate = recall(changing, "nimbus port", now=NOW).candidates[0]
    changing.update([entry("b", "the port of Nimbus, port by port")])
    assert scored(candidate.parts) == candidate.score


def test_the_order_is_total_and_ranks_count_from_one(words: Words) -> None:
    """Items with the same score stand in the order of section and id, however they came in."""
    items = [entry(name, "nimbus is up") for name in "cab"]
    items = [Item(i.id, i.source, i.section, "", f"nimbus{i.id[-1]} nimbus") for i in items]
    orders = {
        tuple((c.rank, c.item.id) for c in recall(over(words, *some), "nimbus", now=NOW).candidates)
        for some in (items, items[::-1])
    }
    assert orders == {((1, "memory:a"), (2, "memory:b"), (3, "memory:c"))}


def test_recent_trusted_and_often_recalled_come_first(words: Words) -> None:
    """Of equal words the newer, the human and the used stand before, all within a tenth or so."""
    old, new = NOW - timedelta(days=400), NOW - timedelta(hours=3)
    plain = entry("plain", "nimbus alpha", when=old, trust="inferred")
    recent = entry("recent", "nimbus beta", when=new, trust="inferred")
    trusted = entry("trusted", "nimbus gamma", when=old, trust="human", recalls=900)
    guess = entry("guess", "nimbus delta", when=old, trust="probation")
    found = recall(over(words, guess, plain, recent, trusted), "nimbus", now=NOW).candidates
    assert [candidate.item.id for candidate in found] == [
        "memory:trusted",
        "memory:recent",
        "memory:plain",
        "memory:guess",
    ]
    assert found[0].score / found[2].score <= 1.10


def test_session_before_memory_before_workspace_before_history() -> None:
    """The priorities of the design: 12–18, 8–11, 6, 4."""
    places = [Item("x", source, "", "", "") for source in Source]
    assert [priority(item) for item in places] == [12, 8, 6, 4, 4]
    assert priority(Item("x", Source.SESSION, "", "", "", kind="Next Steps")) == 18
    assert priority(Item("x", Source.MEMORY, "", "", "", kind="constraint")) == 11


def test_a_date_in_the_question_lifts_what_is_of_that_day(words: Words) -> None:
    """ "Yesterday" is the day before the question."""
    items = [
        entry(str(age), f"nimbus number{age} restarted", when=NOW - timedelta(days=age))
        for age in (3, 4, 5)
    ]
    found = recall(over(words, *items), "why was nimbus restarted on 2026-03-08?", now=NOW)
    assert found.candidates[0].item.id == "memory:4"
    assert "date asked for" in [part.name for part in found.candidates[0].parts]


def test_synonyms_of_the_workspace_stand_in(words: Words) -> None:
    """A group in words.txt makes its words find each other, in any language; the word itself
    counts more.
    """
    index = over(words, entry("a", "上线窗口是周二"), entry("b", "the rollout window"))
    synonyms = synonyms_in("# ours\n上线, rollout, go live\n", words)
    assert [c.item.id for c in recall(index, "rollout", now=NOW).candidates] == ["memory:b"]
    found = recall(index, "rollout", now=NOW, synonyms=synonyms).candidates
    assert [candidate.item.id for candidate in found] == ["memory:b", "memory:a"]


def test_a_person_who_searches_gets_whatever_shares_a_word(index: Index) -> None:
    """Without the automatic path there is no gate and no floor."""
    assert recall(index, "git status", now=NOW).reason == "a command for a shell"
    found = recall(index, "deploy friday", now=NOW, automatic=False)
    assert found.candidates[0].item.text == "Never deploy on Fridays."


def test_a_near_copy_appears_once(words: Words) -> None:
    """The same thing in MEMORY and HISTORY is shown once; another number is another fact."""
    index = over(
        words,
        entry("a", "the nimbus gateway restarts every night at two"),
        Item(
            "history:b", Source.HISTORY, "h", "", "The nimbus gateway restarts every night, at two."
        ),
        entry("c", "the nimbus gateway restarts every night at 14:30"),
    )
    found = recall(index, "nimbus gateway restarts", now=NOW)
    assert sorted(candidate.item.id for candidate in found.candidates) == ["memory:a", "memory:c"]


def test_eight_are_injected_and_the_rest_counted(words: Words) -> None:
    """Twelve candidates, eight injected, four left out; those shown already make room for the
    others.
    """
    texts = [f"nimbus thing{n} other{n}" if n < 20 else f"zebra{n}" for n in range(80)]
    index = over(words, *(entry(f"{n:02}", text) for n, text in enumerate(texts)))
    found = recall(index, "nimbus", now=NOW)
    assert (len(found.candidates), len(found.injected), found.left_out) == (12, 8, 4)
    again = recall(index, "nimbus", now=NOW, shown=frozenset(found.ids))
    assert len(again.injected) == 4
    assert not {item.id for item in again.injected} & {item.id for item in found.injected}


def test_what_does_not_fit_is_skipped_for_what_does(words: Words) -> None:
    """Whole items only: a large one in the middle does not end the list."""
    first = entry("first", "nimbus nimbus nimbus")
    large = entry("large", "nimbus nimbus " + "long words here. " * 26)
    small = entry("small", "nimbus is small")
    found = recall(
        over(words, first, large, small), "nimbus", now=NOW, limits=Limits(max_chars=600)
    )
    assert [candidate.item.id for candidate in found.candidates] == [
        "memory:first",
        "memory:large",
        "memory:small",
    ]
    assert found.injected == (first, small)
    assert found.left_out == 1


def test_an_item_larger_than_everything_is_cut_at_a_sentence(words: Words) -> None:
    """It is shown with its id, so that one can ask for the rest."""
    text = "nimbus is up. " + "这一句话是为了占地方而写的。" * 400
    found = recall(over(words, entry("big", text)), "nimbus", now=NOW, limits=Limits(max_chars=400))
    (item,) = found.injected
    assert item.id == "memory:big"
    assert 100 < len(item.text) <= 400
    assert item.text.endswith("。… (memory:big)")
    assert len(found.context(KEY)) <= 400


def test_the_block_holds_lines_of_text_under_their_sections(index: Index) -> None:
    """The best first, a heading with file and section above it."""
    lines = recall(index, "release window", now=NOW).context(KEY).splitlines()
    assert lines[2] == "[MEMORY: Decisions]"
    assert lines[3].startswith("- Decision: the release window")


def test_what_is_asked_for_again_is_told(words: Words) -> None:
    """Recall names what it would show were it not shown already, and shows it not again."""
    index = over(words, entry("a", "nimbus restarts at noon"), entry("b", "zebra"))
    shown = frozenset(recall(index, "nimbus", now=NOW).ids)
    again = recall(index, "nimbus", now=NOW, shown=shown)
    assert (again.injected, again.context(KEY)) == ((), "")
    assert [item.text for item in again.repeated] == ["nimbus restarts at noon"]


def test_a_secret_in_a_file_is_masked_where_it_is_injected(words: Words) -> None:
    """What a person typed stays theirs in the file and is not sent on."""
    key = "sk-proj-" + "aB3dE5fG7hJ9kL1mN3pQ5rS7tU9vW1xY3z"
    context = recall(over(words, entry("a", f"nimbus key {key}")), "nimbus", now=NOW).context(KEY)
    assert "nimbus" in context
    assert key not in context
    assert "[secret" in context


def test_an_empty_memory_has_nothing_to_say(words: Words) -> None:
    """No items, no candidates, no block."""
    found = recall(Index(words), "what did we decide?", now=NOW)
    assert (found.candidates, found.context(KEY), found.reason) == (
        (),
        "",
        "nothing shares a word that matters",
    )


def test_the_reason_for_silence_is_the_true_one(words: Words) -> None:
    """What shares a word, and holds too little of the question, is not nothing."""
    index = over(words, *(entry(str(n), f"nimbus report {n} is filed") for n in range(60)))
    told = "which nimbus gateway did the auditors reject last spring?"
    assert (
        recall(index, told, now=NOW).reason == "what shares a word with it holds too little of it"
    )
    assert recall(index, "zebras?", now=NOW).reason == "nothing shares a word that matters"


def test_an_entry_that_holds_all_words_of_a_short_question_is_recalled(words: Words) -> None:
    """However common its words are: a number beside a noun counts."""
    index = over(words, *(entry(str(n), f"locker {n} belongs to person {n}") for n in range(60)))
    found = recall(index, "whose is locker 31?", now=NOW)
    assert found.candidates[0].item.text == "locker 31 belongs to person 31"


@given(
    st.lists(st.text(alphabet="nimbus 青鸟。.\n", min_size=1, max_size=400), max_size=8),
    st.integers(200, 900),
)
def test_the_budget_is_never_overdrawn(words: Words, texts: list[str], chars: int) -> None:
    """Whatever the items are, the lines stay within the characters allowed."""
    index = over(
        words, *(entry(str(n), f"nimbus{n} nimbus {text}") for n, text in enumerate(texts))
    )
    found = recall(index, "nimbus", now=NOW, limits=Limits(max_chars=chars))
    assert len(found.context(KEY)) <= chars
    assert len(found.injected) <= 8
