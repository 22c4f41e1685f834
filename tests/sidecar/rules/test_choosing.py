"""Which sentences are kept, and that they are written as they were said; the cases are in
`cases/`.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.sidecar.rules.consolidating import consolidated
from pipimem.sidecar.tasks import Consolidate, Consolidated, KnownEntry, Learned
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.cases import each, table

CASES = Path(__file__).parents[1] / "cases"
WORDS = Words(Segmenter())
NOW = datetime(2026, 11, 12, 10, tzinfo=UTC)


def cases(name: str) -> list[Mapping[str, object]]:
    """The lines of a file of cases."""
    return [
        json.loads(line)
        for line in (CASES / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def talk(*texts: str) -> tuple[Message, ...]:
    """Messages a minute apart: "Ann|…" is Ann's, "bot|…" the bot's, all others are Tom's."""
    window: list[Message] = []
    for number, text in enumerate(texts, 1):
        name, bar, content = text.rpartition("|")
        role, speaker = ("assistant", "pipi") if name == "bot" else ("user", name if bar else "Tom")
        window.append(
            Message(
                role, content, f"m{number}", NOW + timedelta(minutes=number), speaker, number=number
            )
        )
    return tuple(window)


def answer_to(*texts: str, memory: tuple[KnownEntry, ...] = ()) -> Consolidated:
    """What the rules make of a talk."""
    window = talk(*texts)
    people = tuple(dict.fromkeys(message.speaker for message in window if message.role == "user"))
    return consolidated(Consolidate(NOW, people, memory, window), WORDS)


def learnt_from(*texts: str, memory: tuple[KnownEntry, ...] = ()) -> Sequence[Learned]:
    """What is kept of a talk."""
    return answer_to(*texts, memory=memory).learned


@each("case", cases("quoted"))
def test_what_matters_is_quoted_with_who_and_when(case: Mapping[str, list[str]]) -> None:
    """Word for word, of the right kind, marked where somebody asked for it."""
    got = learnt_from(*case["said"])
    assert [item.text for item in got] == case["kept"]
    assert got[-1].explicit is bool(case.get("asked"))
    if "kind" in case:
        assert got[-1].kind is Kind(case["kind"])


@each("case", cases("in_context"))
def test_a_sentence_is_quoted_with_what_corrects_or_completes_it(
    case: Mapping[str, list[str]],
) -> None:
    """Never a wrong value alone; what is taken back, done or not to be noted leaves nothing."""
    assert [item.text for item in learnt_from(*case["said"])] == case["kept"]


@each("case", cases("ignored"))
def test_talk_is_let_pass(case: Mapping[str, str]) -> None:
    """Questions with and without their sign, requests, wishes, quotes of others, secrets and
    reactions leave nothing.
    """
    assert learnt_from(case["said"]) == ()


def test_a_quote_rests_on_what_it_quotes() -> None:
    """The question's message and the answer's."""
    (got,) = learnt_from("Ann|Who waters the plants in August?", "I do")
    assert got.sources == ("m1", "m2")
    assert got.speaker == "Tom"


@each(
    ("first", "kept"),
    [
        ("Dinner is on Friday", []),
        ("Dinner is at six", ["Tom (2026-11-14): Dinner is at six … Oh wait, no, seven"]),
    ],
)
def test_a_correction_two_days_later_moves_no_day(first: str, kept: list[str]) -> None:
    """A weekday counts from the day it was said: then neither half is kept, and never the old."""
    early, late = talk(first, "Oh wait, no, seven")
    window = (early, replace(late, time=NOW + timedelta(days=2)))
    got = consolidated(Consolidate(NOW, ("Tom",), (), window), WORDS)
    assert [item.text for item in got.learned] == kept


def test_a_question_to_one_person_is_not_answered_by_another() -> None:
    """The bot asked Ann; what Tom says then stands alone."""
    got = learnt_from(
        "Ann|I bought a kayak in May", "bot|Where do you keep it?", "I live in Madrid"
    )
    assert [item.text for item in got] == [
        "Ann (2026-11-12): I bought a kayak in May",
        "Tom (2026-11-12): I live in Madrid",
    ]


def test_a_sentence_is_never_cut() -> None:
    """Neither a long rule that somebody asked for, nor a page that somebody pasted."""
    long = "the boiler " + "and the old red pump " * 15 + "are serviced in May"
    (got,) = learnt_from(f"Remember: {long}.")
    assert got.text == f"Tom (2026-11-12): {long}"
    assert learnt_from(f"In May {long}") == ()


def test_another_person_in_front_stays() -> None:
    """Who is to book the room is part of what was said; the bot's name is not."""
    (got,) = learnt_from("Ann|Hello", "@Ann books the room for Friday, that is settled")
    assert got.text == "Tom (2026-11-12): @Ann books the room for Friday, that is settled"


def test_there_is_a_bound_on_how_much_is_kept() -> None:
    """One entry for two messages of people, never fewer than four; what was asked for is not
    counted.
    """
    things = (
        "jazz",
        "tea",
        "maps",
        "trains",
        "chess",
        "boats",
        "kites",
        "bread",
        "moss",
        "owls",
        "rain",
        "salt",
    )
    likes = [
        f"I collect {thing} from Ghent, {number} so far" for number, thing in enumerate(things, 1)
    ]
    assert len(learnt_from(*likes)) == 6
    assert len(learnt_from(*likes[:5])) == 4
    assert (
        len(learnt_from(*likes, *(f"Remember: {thing} box is green" for thing in things)))
        == 12 + 12
    )


def test_rules_and_allergies_come_before_small_things_where_room_is_short() -> None:
    """What does harm when it is forgotten is never pushed out by what was done at the weekend."""
    small = [
        f"I bought {n} {thing} in Leeds"
        for n, thing in enumerate(("pans", "mugs", "lamps", "rugs"), 2)
    ]
    got = [
        item.text
        for item in learnt_from(*small, "Ann|小宝对青霉素过敏", "Ann|Nobody may open the lab alone")
    ]
    assert "Ann（2026-11-12）：小宝对青霉素过敏" in got
    assert "Ann (2026-11-12): Nobody may open the lab alone" in got


def test_what_memory_says_already_is_not_learnt_again() -> None:
    """Whenever it was said; but what another person says of themselves is another thing."""
    memory = (
        KnownEntry("k1", "Preferences", "Tom (2026-10-01): I never eat cheese", Trust.INFERRED),
    )
    assert learnt_from("I never eat cheese", memory=memory) == ()
    assert [item.text for item in learnt_from("Ann|I never eat cheese", memory=memory)] == [
        "Ann (2026-11-12): I never eat cheese"
    ]


def test_the_same_window_is_learnt_the_same() -> None:
    """No chance and no clock are in it."""
    texts = (
        "We decided to use Postgres",
        "Ann|我喜欢爬山和摄影",
        "Ann|Who waters the plants?",
        "I do",
    )
    assert answer_to(*texts) == answer_to(*texts)


def test_history_is_quotes_and_no_title() -> None:
    """What came about before what holds, at most eight, each with its weight and source."""
    done = [f"Ann|The slides of part {n} are done" for n in range(1, 12)]
    got = answer_to(*done, "I never eat cheese", *("Ann|ok",) * 30)
    assert got.title == ""
    assert len(got.history) == 8
    assert all(bullet.text.startswith("Ann (2026-11-12): The slides") for bullet in got.history)
    assert all(bullet.weight > 0 for bullet in got.history)
    assert got.history[0].sources == ("m1",)


@each(("speaker", "stands_with_it"), [("Tom", True), ("Ann", False)])
def test_who_backs_out_is_quoted_with_their_promise_of_long_ago(
    speaker: str, stands_with_it: bool
) -> None:
    """Memory holds the promise; somebody else's is left alone."""
    promised = "I'll be off book for Act Two by 12 December"
    was = f"{speaker} (2026-10-01): {promised}"
    memory = (KnownEntry("k1", "Open loops", was, Trust.INFERRED),)
    (item,) = learnt_from("Confession: I'm not off book for Act Two", memory=memory)
    assert (promised in item.text) is stands_with_it


@each("short", ["I'll bring 3", "我周一去看"])
def test_what_says_little_is_kept_only_where_little_is_said(short: str) -> None:
    """Beside four entries that say more it is left out."""
    said = (
        "Decision: the fair is on 12 March in the Mill Hall",
        "Every refund must be signed by two people of the board",
        "Olga collects the forty speakers from the Anchor Inn on Sunday",
        "Nobody may open the lab alone after nine in the evening",
    )
    assert len(learnt_from(short)) == 1
    assert len(learnt_from(*said[1:], short)) == 4
    assert [item.text.partition("): ")[2] for item in learnt_from(*said, short)] == list(said)


@each(
    ("texts", "told"),
    [(("Hi", "bot|Hello!"), "Tom (2026-11-12): Hi"), (("👍", "bot|好"), "Tom (2026-11-12): 👍")],
)
def test_a_real_exchange_leaves_a_bullet_even_if_nothing_was_said(
    texts: tuple[str, ...], told: str
) -> None:
    """The last that a person said, as it was said; the bot alone is no exchange."""
    assert [bullet.text for bullet in answer_to(*texts).history] == [told]
    assert answer_to("bot|Anyone?") == Consolidated()


@each(
    ("said", "told"),
    [
        (("Where is the key to room 4?", "bot|In the drawer."), []),
        (("Ann|机房的钥匙在哪", "bot|在抽屉里。"), []),
        (("Where is the key to room 4?", "Ann|is it lost?"), []),
        (("I eat my hat on Friday lol", "bot|All right."), []),
        (("Where is the key?", "Ann|no idea, sorry"), ["Ann (2026-11-12): no idea, sorry"]),
        (("We looked around. Where is the key?", "bot|?"), ["Tom (2026-11-12): We looked around"]),
    ],
)
def test_a_question_or_a_joke_is_no_line_of_history(said: Sequence[str], told: list[str]) -> None:
    """A statement of the exchange is told, or nothing."""
    assert [bullet.text for bullet in answer_to(*said).history] == told


@each(
    "text",
    table(__file__, "what_is_not_to_be_noted_is_told_nowhere"),
)
def test_what_is_not_to_be_noted_is_told_nowhere(text: str) -> None:
    """Neither in MEMORY nor in HISTORY, also where nothing else was said."""
    assert answer_to(text, "bot|All right") == Consolidated()


@each(
    ("said", "kept"),
    [
        (
            (
                "The SLA for gold customers is 4 hours",
                "Ann|On Thursday at two we meet Halden, I chair",
                "Bo|Correction: SLA for gold is 2 hours, not 4",
            ),
            (
                "Ann (2026-11-12): On Thursday at two we meet Halden, I chair",
                "Bo (2026-11-12): “The SLA for gold customers is 4 hours”"
                " Correction: SLA for gold is 2 hours, not 4",
            ),
        ),
        (
            (
                "Ann|my parents arrive on Friday evening",
                "correction: the picnic is on Sunday at the lake",
            ),
            (
                "Ann (2026-11-12): my parents arrive on Friday evening",
                "Tom (2026-11-12): correction: the picnic is on Sunday at the lake",
            ),
        ),
        (
            ("Ann|我订了周六的场地", "更正：报名费是三十块"),
            ("Ann（2026-11-12）：我订了周六的场地", "Tom（2026-11-12）：更正：报名费是三十块"),
        ),
        (
            ("Ann|I booked the hall for 6 pm", "开玩笑的，我要辞职去北京"),
            ("Ann (2026-11-12): I booked the hall for 6 pm",),
        ),
    ],
)
def test_a_correction_of_something_else_leaves_anothers_words_alone(
    said: Sequence[str], kept: Sequence[str]
) -> None:
    """One that names its subject belongs to a sentence about that; others to their speaker's."""
    got = [item.text for item in learnt_from(*said)]
    for text in kept:
        assert any(text == one.replace(".”", "”") for one in got), got
    assert sum("Halden" in one or "parents" in one or "hall for" in one for one in got) <= 1


def test_sums_and_what_makes_ill_are_kept_where_room_is_short() -> None:
    """Who pays how much, when it is due, what somebody cannot eat: beside the four of any window."""
    rules = [f"Nobody may open lab {number} alone at night" for number in range(2, 8)]
    dear = [
        "Rent is 1,450 a month, due on the 1st",
        "The internet is 30 euros each. Wait, no, 34",
        "Ann|I can't have gluten",
        "Ann|水电费我每月 5 号转给房东",
    ]
    got = [item.text.partition(": ")[2] or item.text for item in learnt_from(*rules, *dear)]
    for text in dear:
        said = text.rpartition("|")[2]
        assert any(one.endswith(said) for one in got), (said, got)
    assert len(got) == 4 + len(dear)


@each("case", cases("personal"))
def test_wishes_and_health_are_kinds_of_their_own(case: Mapping[str, str]) -> None:
    """They are kept by who said them, also out of a question; jokes and knowledge are neither."""
    learnt = learnt_from(case["said"], "Ann|好的" if "的" in case["said"] else "Ann|ok")
    personal = [item for item in learnt if item.kind in (Kind.WISH, Kind.HEALTH)]
    assert {item.kind for item in personal} == ({Kind(case["kind"])} if case["kind"] else set())
    assert {item.speaker for item in personal} <= {"Tom"}
    assert all(item.explicit for item in personal if item.kind is Kind.WISH)


def test_who_answers_a_question_about_health_is_not_who_has_it() -> None:
    """The statement in front of the question is quoted, and the answer adds nothing to it."""
    said = ("I'm allergic to peanuts, can we skip the satay?", "Ann|of course")
    assert [(item.text, item.speaker) for item in learnt_from(*said)] == [
        ("Tom (2026-11-12): I'm allergic to peanuts", "Tom")
    ]
    said = ("我对花生过敏，点餐能不能避开？", "王姐|好的没问题")
    assert [(item.text, item.speaker) for item in learnt_from(*said)] == [
        ("Tom（2026-11-12）：我对花生过敏", "Tom")
    ]
