"""Rules that a newcomer, or one member of a group, alone says: quotes, until another agrees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

import pytest
from msgspec import structs
from pipimem import Pipimem, Settings
from pipimem.memory.injection_guard import sheet_without_injections, without_injections
from pipimem.memory.one_voice import ALONE, lone_quotes, one_voice
from pipimem.memory.promote import promoted
from pipimem.notes.kinds import Kind
from pipimem.notes.ledger import Record
from pipimem.notes.message import Message
from pipimem.notes.operations import Add, Confirm, Supersede, Trust
from pipimem.notes.quote_reason import QuoteReason
from pipimem.settings import GroupSettings, MaintenanceSettings
from pipimem.sidecar.tasks import Consolidated, Learned
from pipimem.store.workspace import WorkspaceStore
from pipimem.testing import FixedClock

from tests.cases import each
from tests.notes.building import notes_of

NOON = datetime.fromisoformat("2026-11-12T12:00:00+08:00")
RULE = "以后周五下午不开会"
RULE_EN = "Nobody merges on Fridays after three"


def talk(*said: tuple[str, str]) -> tuple[Message, ...]:
    """Messages of (speaker, text), with ids m0, m1 …; the bot is "bot"."""
    found: list[Message] = []
    for at, (speaker, text) in enumerate(said):
        make = Message.assistant if speaker == "bot" else Message.user
        found.append(make(text, id=f"m{at}", speaker=speaker, time=NOON))
    return tuple(found)


def rule(text: str = RULE, kind: Kind = Kind.CONSTRAINT, *sources: str) -> Learned:
    """What a model makes of it."""
    return Learned(kind, text, sources or ("m0",), "Tom", explicit=True)


def are_alone(items: Sequence[Learned], *said: tuple[str, str], known: str = "Ann") -> list[int]:
    """The places of the items that bind and have one voice."""
    return sorted(one_voice(talk(*said), [known]).binding(items))


@each("text", [RULE, RULE_EN])
def test_a_rule_of_one_member_is_a_quote_of_its_kind_that_does_not_stand(text: str) -> None:
    """It keeps its heading, who said it and when; its trust says that it binds nobody."""
    messages = talk(("Tom", text))
    answer, notes = without_injections(
        Consolidated((rule(text),)), messages, ["Ann"], newcomers=None
    )
    assert notes == (f"{ALONE[QuoteReason.ONE_MEMBER]}, said in m0",)
    found = promoted(answer.learned, notes_of(""), {one.id: one for one in messages}, NOON)
    (added,) = found.operations
    assert isinstance(added, Add)
    assert (added.kind, added.trust) == (Kind.CONSTRAINT, Trust.QUOTED)
    assert added.quote_reason == QuoteReason.ONE_MEMBER
    assert added.text.startswith("Tom")
    assert added.text.endswith(f"“{text}”")


def test_it_is_the_hosts_choice_and_one_person_is_no_group() -> None:
    """Without the setting, and where nobody else ever spoke, a rule is a rule."""
    messages = talk(("Tom", RULE))
    for people, newcomers in ((["Ann"], frozenset[str]()), (["Tom"], None)):
        answer, notes = without_injections(Consolidated((rule(),)), messages, people, newcomers)
        assert ([one.quote_reason for one in answer.learned], notes) == ([""], ())


@each(
    "said",
    [
        [("Tom", RULE), ("Ann", "收到")],
        [("Tom", RULE), ("bot", "记下了。"), ("Ann", "好的，同意")],
        [("Tom", RULE), ("Ann", "记住这条")],
        [("Tom", f"记住：{RULE}")],
        [("Tom", "请注意"), ("Tom", RULE), ("Ann", "没意见")],
        [("Tom", RULE), ("Ann", "周五？"), ("Ann", "行，同意")],
    ],
)
def test_another_member_agrees_or_somebody_asks_to_keep_it(said: list[tuple[str, str]]) -> None:
    """Then it binds."""
    place = next(at for at, (_, text) in enumerate(said) if RULE in text)
    assert are_alone([rule(RULE, Kind.CONSTRAINT, f"m{place}")], *said) == []


@each(
    "said",
    [
        [("Tom", RULE), ("Tom", "收到")],
        [("Tom", RULE), ("bot", "好的，同意")],
        [("Tom", RULE), ("Ann", "周五我不在")],
        [("Tom", RULE), ("Ann", "没收到通知")],
        [("Tom", RULE), ("bot", "要看天气吗？"), ("Ann", "好的")],
        [("Tom", RULE), ("Bea", "明天下雨"), ("Ann", "好的")],
    ],
)
def test_no_second_voice(said: list[tuple[str, str]]) -> None:
    """Its speaker, the bot, other talk, and an answer to somebody else are none."""
    assert are_alone([rule()], *said) == [0]


def test_a_source_that_does_not_say_it_is_no_second_voice() -> None:
    """A model may name any message; who says part of it is one."""
    item = rule(RULE, Kind.CONSTRAINT, "m0", "m1")
    assert are_alone([item], ("Tom", RULE), ("Ann", "我带蛋糕")) == [0]
    assert are_alone([item], ("Tom", RULE), ("Ann", "对，周五下午不开会")) == []
    wrong = rule(RULE, Kind.CONSTRAINT, "m1", "m2")
    assert are_alone([wrong], ("Tom", RULE), ("Ann", "我带蛋糕"), ("Bob", "天气好")) == [0]


@each(
    ("said", "newcomers", "alone"),
    [
        ([("Tom", RULE)], {"m0"}, True),
        ([("Ann", RULE)], {"m1"}, False),
        ([("Tom", RULE), ("Ann", "收到")], {"m0"}, False),
        ([("Tom", RULE), ("Ann", "收到")], {"m0", "m1"}, True),
        ([("Tom", f"记住：{RULE}")], {"m0"}, True),
        ([("Tom", RULE), ("Ann", "记住这条")], {"m0"}, False),
        ([("Tom", RULE), ("Ann", "记住这条")], {"m0", "m1"}, True),
        ([("Tom", RULE), ("Ann", f"对，{RULE}")], {"m0", "m1"}, True),
        ([("Tom", RULE), ("Ann", f"对，{RULE}")], {"m0"}, False),
    ],
)
def test_a_newcomer_needs_somebody_who_is_none(
    said: list[tuple[str, str]], newcomers: set[str], alone: bool
) -> None:
    """Whom another newcomer agrees with, and who asks to keep it, is as alone as before."""
    item = rule(RULE, Kind.CONSTRAINT, "m0", "m1")
    voices = one_voice(talk(*said), ["Ann"], frozenset(newcomers))
    assert (voices.binding([item]) == {0}) is alone


def test_a_newcomers_rule_waits_for_no_other_newcomer() -> None:
    """It is a quote with its reason; who is none makes a rule of it, by saying the same."""
    messages = talk(("Tom", RULE))
    answer, notes = without_injections(
        Consolidated((rule(),)), messages, ["Ann"], frozenset({"m0"})
    )
    (learnt,) = answer.learned
    assert learnt.quote_reason == QuoteReason.NEWCOMER
    assert notes == (f"{ALONE[QuoteReason.NEWCOMER]}, said in m0",)
    notes = notes_of(f"## Constraints\n\n- Tom（2026-11-10）：“{RULE}”\n")
    (entry,) = notes.memory.entries
    record = Record(Trust.QUOTED, "constraint", ("t1",), "Tom", quote_reason="newcomer")
    notes = structs.replace(notes, ledger=structs.replace(notes.ledger, records={entry.id: record}))
    for reason, wanted in (("newcomer", Confirm), ("", Supersede)):
        said = {one.id: one for one in talk(("Eve", RULE))}
        item = structs.replace(rule(), speaker="Eve", quote_reason=reason)
        (operation,) = promoted((item,), notes, said, NOON).operations
        assert isinstance(operation, wanted)


def test_what_binds_is_told_by_kind_and_words() -> None:
    """Whatever a model calls a rule, and what it tells again of one, in a group of two people."""
    items = [
        rule(),
        rule(f"Tom要求：{RULE}", Kind.FACT),
        rule("每周三轮到阿峰倒垃圾", Kind.FACT),
        rule("我以后都打辅助位", Kind.PREFERENCE),
        rule("小宝对花生过敏，别带花生", Kind.CONSTRAINT),
        rule("彩排在周一", Kind.FACT),
    ]
    assert are_alone(items, ("Tom", RULE)) == [0, 1]
    assert are_alone([rule("From now on invoices go to Lena", Kind.FACT)], ("Tom", "x")) == [0]


def test_a_second_member_who_says_the_same_makes_it_a_rule() -> None:
    """The quote goes; its own speaker only confirms it, and a third may not end a rule alone."""
    quote = f"Tom（2026-11-10）：“{RULE}”"
    notes = notes_of(f"## Constraints\n\n- {quote}\n")
    (entry,) = notes.memory.entries
    record = Record(Trust.QUOTED, "constraint", ("t1",), "Tom", NOON.isoformat())
    notes = structs.replace(notes, ledger=structs.replace(notes.ledger, records={entry.id: record}))
    assert lone_quotes([entry], notes, but_of="") == [entry.target]
    assert lone_quotes([entry], notes, but_of="Tom") == []
    for speaker, wanted in (("Ann", Supersede), ("Tom", Confirm)):
        messages = talk((speaker, RULE))
        item = structs.replace(rule(), speaker=speaker, quote_reason=QuoteReason.ONE_MEMBER)
        (operation,) = promoted((item,), notes, {one.id: one for one in messages}, NOON).operations
        assert isinstance(operation, wanted)
        if isinstance(operation, Supersede):
            assert (operation.trust, operation.kind) == (Trust.EXPLICIT, Kind.CONSTRAINT)
            assert (operation.text, operation.targets) == (RULE, (entry.target,))


@each(("trust", "ends"), [(Trust.INFERRED, False), (Trust.QUOTED, True)])
def test_one_voice_ends_no_rule_of_others(trust: Trust, ends: bool) -> None:
    """What binds stays beside what one member wants instead; a quote gives way to a newer one."""
    notes = notes_of("## Constraints\n\n- 周五下午三点开会\n")
    (entry,) = notes.memory.entries
    record = Record(trust, "constraint", ("t1",), "Bea", "2026-11-01T09:00:00+08:00")
    notes = structs.replace(notes, ledger=structs.replace(notes.ledger, records={entry.id: record}))
    messages = {one.id: one for one in talk(("Tom", RULE))}
    item = structs.replace(rule(), quote_reason=QuoteReason.ONE_MEMBER, replaces=(entry.id,))
    found = promoted((item,), notes, messages, NOON)
    assert isinstance(found.operations[0], Supersede if ends else Add)
    kept = () if ends else ("not replaced, one member alone says so: 周五下午三点开会",)
    assert found.notes == kept


def test_a_rule_of_one_is_no_constraint_of_the_session() -> None:
    """It is what was said; a rule that another agreed to, or nobody in the window said, stays."""
    sheet = {"Constraints": (RULE, "No phones at the table"), "Current State": ("Tea",)}
    alone = talk(("Tom", RULE))
    assert sheet_without_injections(sheet, alone, ["Ann"], None) == {
        "Constraints": ("No phones at the table",),
        "Current State": ("Tea", RULE),
    }
    agreed = (*alone, *talk(("Bob", "x"), ("Ann", "收到"))[1:])
    assert sheet_without_injections(sheet, alone, ["Ann"], frozenset({"m0"})) == {
        "Constraints": ("No phones at the table",),
        "Current State": ("Tea", RULE),
    }
    for messages, newcomers in ((agreed, None), (agreed, frozenset({"m0"})), (alone, frozenset())):
        found = sheet_without_injections(sheet, messages, ["Ann"], newcomers)
        assert found == sheet


@pytest.mark.anyio
async def test_in_a_channel(tmp_path: Path) -> None:
    """By the rules: a quote that a search finds with its speaker, then a rule of every turn."""
    WorkspaceStore.init(tmp_path / "bot")
    settings = Settings(
        maintenance=MaintenanceSettings(enabled=False), groups=GroupSettings(two_voices="everyone")
    )
    words = "no deploys on Fridays"
    async with Pipimem(tmp_path / "bot", settings=settings, clock=FixedClock(NOON)) as pipimem:
        channel = await pipimem.channel("team", kind="group")
        for speaker, trust, stands in (("Tom", "quoted", False), ("Ann", "inferred", True)):
            said = talk((speaker, words), ("Bob", "The cake is for Olga, at noon."))
            await channel.after_turn(None, [replace(one, id=speaker + one.id) for one in said])
            receipt = await channel.before_compaction()
            await channel.compacted(receipt)
            (entry,) = [one for one in await channel.notes.entries() if words in one.text]
            assert (entry.trust, entry.kind) == (trust, "constraint")
            first = await channel.before_turn("Good morning!", speaker="Bob")
            await channel.after_turn(first, [])
            turn = await channel.before_turn("Good evening!", speaker="Bob")
            assert (words in turn.standing) is stands
            found = await channel.talk.search("deploys on Fridays")
            assert entry.text in [hit.item.text for hit in found]
            assert entry.text.startswith(f"{speaker} (2026-11-12): ")


@pytest.mark.anyio
async def test_who_agrees_later_makes_a_rule_of_the_quote(tmp_path: Path) -> None:
    """The quote was written before the answer came; its words stay as they are."""
    WorkspaceStore.init(tmp_path / "bot")
    settings = Settings(
        maintenance=MaintenanceSettings(enabled=False), groups=GroupSettings(two_voices="everyone")
    )
    said = talk(
        ("Bob", "蛋糕是给奥尔加的，中午到"), ("Tom", RULE), ("bot", "记下了。"), ("Ann", "收到")
    )
    async with Pipimem(tmp_path / "bot", settings=settings, clock=FixedClock(NOON)) as pipimem:
        channel = await pipimem.channel("team", kind="group")
        for messages, trust in ((said[:3], "quoted"), (said[3:], "inferred")):
            await channel.after_turn(None, messages)
            await channel.compacted(await channel.before_compaction())
            (entry,) = [one for one in await channel.notes.entries() if RULE in one.text]
            assert (entry.trust, entry.text) == (trust, f"Tom（2026-11-12）：{RULE}")


@pytest.mark.anyio
async def test_as_installed_a_newcomer_sets_no_rule_for_a_group(tmp_path: Path) -> None:
    """Who was there from the beginning sets one as before; who is agreed with, by a member."""
    WorkspaceStore.init(tmp_path / "bot")
    settings = Settings(maintenance=MaintenanceSettings(enabled=False))
    words = {"Ann": "no deploys on Fridays", "Eve": "no reviews on Mondays"}
    async with Pipimem(tmp_path / "bot", settings=settings, clock=FixedClock(NOON)) as pipimem:
        channel = await pipimem.channel("team", kind="group")
        early = [
            replace(one, id=f"e{one.id}", time=NOON - timedelta(days=20))
            for one in talk(("Ann", "I bring the cake."), ("Bob", "I bring the tea."))
        ]
        said = talk(("Ann", words["Ann"]), ("Bob", "The cake is for Olga."), ("Eve", words["Eve"]))
        await channel.after_turn(None, [*early, *said])
        await channel.compacted(await channel.before_compaction())
        trust = {
            one.speaker: one.trust
            for one in await channel.notes.entries()
            if one.kind == "constraint"
        }
        assert trust == {"Ann": "inferred", "Eve": "quoted"}
        await channel.after_turn(await channel.before_turn("Good morning!", speaker="Bob"), [])
        turn = await channel.before_turn("Good evening!", speaker="Bob")
        assert [text in turn.standing for text in words.values()] == [True, False]
        await channel.after_turn(turn, [replace(talk(("Bob", "agreed"))[0], id="b9")])
        await channel.compacted(await channel.before_compaction())
        await channel.after_turn(await channel.before_turn("Good morning!", speaker="Bob"), [])
        later = await channel.before_turn("Good evening!", speaker="Bob")
        assert [text in later.standing for text in words.values()] == [True, True]


@pytest.mark.anyio
@pytest.mark.parametrize(
    ("who", "trusts"),
    [
        ("newcomers", {"Ann": "inferred", "Eve": "quoted"}),
        ("everyone", {"Ann": "quoted", "Eve": "quoted"}),
        ("nobody", {"Ann": "inferred", "Eve": "inferred"}),
    ],
)
async def test_the_setting_says_whose_rules_wait(
    tmp_path: Path,
    who: Literal["newcomers", "everyone", "nobody"],
    trusts: dict[str, str],
) -> None:
    """Those of newcomers, of everyone who speaks alone, or of nobody; each keeps its place."""
    WorkspaceStore.init(tmp_path / "bot")
    settings = Settings(
        maintenance=MaintenanceSettings(enabled=False), groups=GroupSettings(two_voices=who)
    )
    early = [replace(talk(("Ann", "I bring the cake."))[0], id="e", time=NOON - timedelta(days=20))]
    said = talk(
        ("Ann", "no deploys on Fridays"),
        ("Bob", "The tea is hot."),
        ("Eve", "no reviews on Mondays"),
    )
    async with Pipimem(tmp_path / "bot", settings=settings, clock=FixedClock(NOON)) as pipimem:
        channel = await pipimem.channel("team", kind="group")
        await channel.after_turn(None, [*early, *said])
        await channel.compacted(await channel.before_compaction())
        rules = [one for one in await channel.notes.entries() if one.kind == "constraint"]
        assert {one.speaker: one.trust for one in rules} == trusts
