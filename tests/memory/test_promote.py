"""The one bar that everything learnt must pass."""

from __future__ import annotations

from dataclasses import replace
from datetime import date, timedelta

import pytest
from msgspec import structs
from pipimem.memory.promote import confirmed, promoted, recalled_entries
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.message import Message
from pipimem.notes.operations import Add, Author, Confirm, Operation, Supersede, Trust
from pipimem.sidecar.tasks import Learned
from pipimem.text.words.similarity import Statement, says_the_same

from tests.cases import each
from tests.notes.building import NOW, notes_of

SAID = {
    "m1": Message("user", "port 9090; 上线窗口改到周三 18:00", "m1", NOW, "Dana", "", 7),
    "b1": Message("assistant", "…", "b1", NOW, "bot", "", 8),
}


def learn(
    *items: Learned, memory: str = "", trust: Trust = Trust.INFERRED
) -> tuple[Operation, ...]:
    return promoted(items, notes_of(memory, trust=trust), SAID, NOW).operations


def learned(text: str, necessity: str = "high", **more: object) -> Learned:
    kind, sources = more.pop("kind", Kind.FACT), more.pop("sources", ("m1",))
    return Learned(kind, text, sources, necessity=necessity, **more)  # type: ignore[arg-type]


def test_what_is_necessary_and_was_said_is_written_at_once() -> None:
    """It makes a durable entry with its evidence."""
    [add] = learn(learned("the port is 8080"))
    assert isinstance(add, Add)
    assert (add.trust, add.probation_until, add.evidence.newest) == (Trust.INFERRED, None, 7)
    assert (add.evidence.speaker, add.evidence.sources) == ("Dana", ("m1",))


@each(("messages", "most"), [(1, 8), (90, 22)])
def test_middling_goes_on_probation_one_for_four_messages(messages: int, most: int) -> None:
    """Necessity medium is kept for 30 days; the most important came first."""
    items = tuple(learned(f"thing {n} is blue", "medium") for n in range(most + 2))
    window = {f"m{n}": replace(SAID["m1"], id=f"m{n}") for n in range(1, messages + 1)}
    found = promoted(items, notes_of(), window, NOW)
    until = [op.probation_until for op in found.operations if isinstance(op, Add)]
    assert until == [NOW + timedelta(days=30)] * most
    assert len(found.left_out) == 2


def test_the_rest_is_left_out_with_a_reason() -> None:
    """Things of low necessity are not written, and the change can say so."""
    result = promoted((learned("it rains", "low"),), notes_of(), SAID, NOW)
    assert result.operations == ()
    assert [(item.reason[:13], item.text) for item in result.left_out] == [
        ("below the bar", "it rains"),
    ]


def test_what_is_concluded_is_on_probation() -> None:
    """Nobody said it plainly, however necessary it is; what somebody asked to keep is kept."""
    [add] = learn(learned("Dana works at night", concluded=True))
    assert isinstance(add, Add)
    assert add.probation_until == NOW + timedelta(days=30)
    [asked] = learn(learned("Dana works at night", concluded=True, explicit=True))
    assert isinstance(asked, Add)
    assert asked.probation_until is None


@each(
    ("kind", "due", "day"),
    [
        (Kind.OPEN_LOOP, "2026-03-20", date(2026, 3, 20)),
        (Kind.OPEN_LOOP, "", None),
        (Kind.OPEN_LOOP, "2026-02-30", None),
        (Kind.OPEN_LOOP, "2025-03-12", date(2025, 3, 12)),
        (Kind.OPEN_LOOP, "2025-03-10", None),
        (Kind.FACT, "2026-03-20", None),
    ],
)
def test_an_open_loop_has_the_day_it_is_due(kind: Kind, due: str, day: date | None) -> None:
    """As the answer names it, unless that is long past; other kinds have none."""
    [add] = learn(learned("Dana pays the rent", kind=kind, due=due))
    assert isinstance(add, Add)
    assert add.due == day
    memory = "## Open Loops\n\n- Dana pays the rent soon\n"
    name = notes_of(memory).memory.entries[0].id
    newer = learned("Dana pays the rent next week", kind=kind, due=due, replaces=(name,))
    [instead] = learn(newer, memory=memory)
    assert isinstance(instead, Supersede)
    assert instead.due == day


@each(
    ("proposed", "accepted", "text", "sources"),
    [
        (
            'The book "Bike Repair" by Ann Lee is good.', "Thanks, I'll get that one tomorrow.",
            'Dana will get "Bike Repair" by Ann Lee on 2026-03-03', ("b1", "m2"),
        ),
        ("推荐你看《活着》和《小城之春》。", "谢谢推荐，我会去看", "Dana 会去看《小城之春》", ("b1", "m2")),
        ("Have you been to the harbour?", "I moved to Oslo", "Dana moved to Oslo", ("m2",)),
        ("Bike Repair is good.", "I own Bike Repair", "Dana owns Bike Repair", ("m2",)),
    ],
)  # fmt: skip
def test_what_the_bot_proposed_and_a_person_accepted_has_both_sources(
    proposed: str, accepted: str, text: str, sources: tuple[str, ...]
) -> None:
    """The title stands in the one message, the promise in the other; it is the person's fact."""
    window = {
        "b1": replace(SAID["b1"], content=proposed, number=1),
        "m2": replace(SAID["m1"], id="m2", content=accepted, number=2),
    }
    [add] = promoted((learned(text, sources=("m2",)),), notes_of(), window, NOW).operations
    assert isinstance(add, Add)
    assert (add.evidence.sources, add.evidence.speaker) == (sources, "Dana")
    assert add.probation_until is None


def test_what_only_the_bot_said_is_never_durable() -> None:
    """An answer of the bot alone is kept on probation at best, and never as explicit."""
    [add] = learn(learned("the sky is green", sources=("b1",), explicit=True))
    assert isinstance(add, Add)
    assert add.probation_until is not None
    assert add.trust is Trust.INFERRED


def test_a_newer_value_replaces_what_was_learnt_and_stands_beside_what_was_typed() -> None:
    """A person's own line is never replaced; the newer value is added below it."""
    memory = "## Facts\n\n- the port is 8080\n"
    name = notes_of(memory).memory.entries[0].id
    newer = learned("the port is 9090", replaces=(name,))
    assert [type(op) for op in learn(newer, memory=memory)] == [Supersede]
    assert [type(op) for op in learn(newer, memory=memory, trust=Trust.HUMAN)] == [Add]


def test_an_entry_that_the_newer_value_does_not_speak_of_stays() -> None:
    """Models mix up ids: the newer value is written beside it, and the change says why."""
    memory = "## Facts\n\n- the port is 8080\n- Dana is allergic to shellfish\n"
    port, allergy = (entry.id for entry in notes_of(memory).memory.entries)
    both = learned("the port is 9090", replaces=(port, allergy))
    result = promoted((both,), notes_of(memory, trust=Trust.INFERRED), SAID, NOW)
    [newer] = result.operations
    assert isinstance(newer, Supersede)
    assert [target.id for target in newer.targets] == [port]
    assert result.notes == ("not replaced, it says something else: Dana is allergic to shellfish",)
    wrong = learned("the port is 9090", replaces=(allergy,))
    assert [type(op) for op in learn(wrong, memory=memory)] == [Add]


def test_in_another_language_the_kind_tells() -> None:
    """Letters cannot: a fact takes the place of a fact, not of a preference."""
    memory = (
        "## Facts\n\n- the release window is Thursday 20:00\n\n## Preferences\n\n- Dana likes tea\n"
    )
    window, tea = (entry.id for entry in notes_of(memory).memory.entries)
    assert [
        type(op)
        for op in learn(learned("上线窗口改到周三 18:00", replaces=(window,)), memory=memory)
    ] == [Supersede]
    assert [
        type(op) for op in learn(learned("上线窗口改到周三 18:00", replaces=(tea,)), memory=memory)
    ] == [Add]


def test_a_paraphrase_confirms_instead_of_standing_twice() -> None:
    """The same thought in nearly the same words is the same entry."""
    memory = "## Facts\n\n- Dana owns the on-call rotation for the gateway\n"
    assert [
        type(op)
        for op in learn(learned("Dana owns the on-call rotation of the gateway"), memory=memory)
    ] == [Confirm]


def test_numbers_and_denials_make_another_thought() -> None:
    """One digit or one "not" is all the difference."""
    assert not says_the_same("the port of the gateway is 8080", "the port of the gateway is 8081")
    assert not says_the_same("周五可以发布生产环境", "周五不可以发布生产环境")
    assert says_the_same("the port of the gateway is 8080", "The port of the gateway is 8080.")


def test_a_secret_in_an_answer_is_masked() -> None:
    """Whatever a model makes of it, a key is not written."""
    [add] = learn(learned("the key is sk-proj-Zk3Jx81mQpLw09TrYvBn47HsDfGaE2c6uKoI5iXN"))
    assert isinstance(add, Add)
    assert "sk-proj-" not in add.text


def test_a_copied_message_is_no_fact() -> None:
    """Weak models give messages back word for word; that is what the transcript is for."""
    long = "Thanks, Melanie! This necklace is super special to me, a gift from my grandma in my home country, Sweden."
    said = {"m1": Message("user", f"{long} It stands for love.", "m1", NOW, "Dana", "", 7)}
    result = promoted((learned(long),), notes_of(), said, NOW)
    assert result.operations == ()
    assert result.left_out[0].reason == "copies a message word for word"
    assert promoted((learned(long, explicit=True),), notes_of(), said, NOW).operations


def test_a_speaker_that_a_model_names_is_masked() -> None:
    """Whoever it thinks spoke, a key is not written."""
    [add] = learn(
        learned("the sky is green", speaker="Dana sk-proj-Zk3Jx81mQpLw09TrYvBn47HsDfGaE2c6uKoI5iXN")
    )
    assert isinstance(add, Add)
    assert add.evidence.speaker == "Dana [secret:openai-key]"


def test_what_only_the_bot_said_replaces_nothing() -> None:
    """A newer value would be durable at once: it stands on probation beside what it names."""
    memory = "## Facts\n\n- the port is 8080\n"
    name = notes_of(memory).memory.entries[0].id
    found = promoted(
        (learned("the port is 9090", sources=("b1",), replaces=(name,)),),
        notes_of(memory, trust=Trust.INFERRED),
        SAID,
        NOW,
    )
    [add] = found.operations
    assert isinstance(add, Add)
    assert add.probation_until == NOW + timedelta(days=30)
    assert found.notes == ("not replaced, only the bot or a tool says so: the port is 8080",)


@each(("hours", "kind"), [(1, Add), (-1, Supersede)])
def test_older_talk_is_no_newer_value_of_what_was_asked_for(
    hours: int, kind: type[Operation]
) -> None:
    """`remember` may come between the talk and its consolidation: then the talk stands beside
    it.
    """
    memory = "## Facts\n\n- the port is 9090\n"
    notes = notes_of(memory, trust=Trust.EXPLICIT)
    name = notes.memory.entries[0].id
    asked = Record(Trust.EXPLICIT, "fact", when=(NOW + timedelta(hours=hours)).isoformat())
    notes = structs.replace(notes, ledger=structs.replace(notes.ledger, records={name: asked}))
    talk = {"m1": replace(SAID["m1"], content="make it port 8080")}
    item = learned("the port is 8080", replaces=(name,))
    assert [type(op) for op in promoted((item,), notes, talk, NOW).operations] == [kind]


@pytest.mark.parametrize(
    ("old", "new", "said", "trust", "is_replaced"),
    [
        ("the port is 9090", "the port is 8080", "we take port 8080", Trust.EXPLICIT, True),
        ("the port is 9090", "the port is 8080", "nice weather", Trust.EXPLICIT, False),
        ("the port is 9090", "the port is 8080", "nice weather", Trust.INFERRED, False),
        ("the gate is blue", "the gate by the pond is blue", "hm", Trust.INFERRED, True),
        ("open before noon", "open after noon", "from now on after noon", Trust.INFERRED, True),
        ("open before noon", "open after noon", "it is noon", Trust.INFERRED, False),
        ("Bob owes Ann a beer", "Ann owes Bob a beer", "a beer!", Trust.INFERRED, False),
        ("Dana eats fish", "Dana does not eat fish", "no fish for me", Trust.INFERRED, True),
        ("Dana eats fish", "Dana does not eat fish", "not today", Trust.INFERRED, False),
        ("Dana doesn't eat fish", "Dana eats fish", "I had fish again", Trust.EXPLICIT, True),
        ("Dana doesn't eat fish", "Dana eats fish", "nice weather", Trust.EXPLICIT, False),
        ("周五下午不许上线", "周五下午可以上线", "周五可以上线了", Trust.EXPLICIT, True),
        ("周五下午不许上线", "周五下午可以上线", "今天天气真好", Trust.EXPLICIT, False),
    ],
)
def test_what_was_asked_for_and_what_is_turned_round_needs_a_source_that_says_so(
    old: str, new: str, said: str, trust: Trust, is_replaced: bool
) -> None:
    """Otherwise both stand, and the reason is noted."""
    notes = notes_of(f"## Facts\n\n- {old}\n", trust=trust)
    talk = {"m1": replace(SAID["m1"], content=said)}
    item = learned(new, replaces=(notes.memory.entries[0].id,))
    found = promoted((item,), notes, talk, NOW)
    [operation] = found.operations
    assert isinstance(operation, Supersede if is_replaced else Add)
    reasons = () if is_replaced else (f"not replaced, no source says so: {old}",)
    assert found.notes == reasons


def test_a_source_may_answer_the_message_before_it() -> None:
    """Who says "yes" says what was asked."""
    notes = notes_of("## Facts\n\n- the port is 9090\n", trust=Trust.EXPLICIT)
    talk = {
        "b1": replace(SAID["b1"], content="Shall I use 8080?"),
        "m1": replace(SAID["m1"], content="yes"),
    }
    item = learned("the port is 8080", replaces=(notes.memory.entries[0].id,))
    [operation] = promoted((item,), notes, talk, NOW).operations
    assert isinstance(operation, Supersede)


def test_an_entry_may_repeat_the_bots_words() -> None:
    """A person who accepts a long proposal word for word copies nothing of their own."""
    plan = "Put 400 euros aside on the first of each month, and the rest of the pay by its end"
    talk = {
        "b1": replace(SAID["b1"], content=plan),
        "m1": replace(SAID["m1"], content="yes, exactly so"),
    }
    item = learned(plan, sources=("b1", "m1"))
    [operation] = promoted((item,), notes_of(""), talk, NOW).operations
    assert isinstance(operation, Add)


def test_every_entry_is_read_once_for_all_that_was_learnt(monkeypatch: pytest.MonkeyPatch) -> None:
    """The time grows with entries and candidates, not with their pairs."""
    entries = [f"the red box {number} is in the cellar" for number in range(60)]
    items = [learned(f"{text}.") for text in entries[:20]]
    read: list[str] = []
    made = Statement.of

    def counting(text: str) -> Statement:
        read.append(text)
        return made(text)

    monkeypatch.setattr(Statement, "of", counting)
    memory = "# Memory\n\n## Facts\n\n" + "".join(f"- {text}\n" for text in entries)
    found = learn(*items, memory=memory)
    assert [type(op) for op in found] == [Confirm] * 20
    assert len(read) == 80


def test_the_mark_of_what_was_private_is_no_entry() -> None:
    """Whatever stands around it was said with something that is not to be known."""
    found = promoted((learned("Dana paid [PRIVATE] for the flat"),), notes_of(), SAID, NOW)
    assert found.operations == ()
    (why,) = found.left_out
    assert (why.reason, why.text) == ("says that something was private", "")
    assert learn(learned("Dana has a private garden"))


MEMORY = "## Facts\n\n- on probation\n- durable\n\na paragraph\n"


def test_only_bullets_of_memory_are_entries_that_were_recalled() -> None:
    """In the order they were found; a paragraph is a person's, other files have no probation."""
    notes = notes_of(MEMORY)
    first, durable, paragraph = notes.memory.entries
    found = [
        f"memory:{durable.ref}",
        f"history:{first.ref}",
        f"memory:{paragraph.ref}",
        f"memory:{first.ref}",
    ]
    assert recalled_entries(notes, found) == (durable, first)


def test_what_is_on_probation_is_confirmed() -> None:
    """The others are as they were, and without any nothing is decided."""
    first, durable, _ = notes_of(MEMORY).memory.entries
    records = {
        first.id: Record(Trust.INFERRED, probation_until=NOW.isoformat()),
        durable.id: Record(Trust.INFERRED, when=NOW.isoformat()),
    }
    decision = confirmed(Ledger(records=records), (durable, first))
    assert decision is not None
    assert (decision.task, decision.author, decision.operations) == (
        "recall",
        Author.RULE,
        (Confirm(first.target),),
    )
    assert confirmed(Ledger(records=records), (durable,)) is None
