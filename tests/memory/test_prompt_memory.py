"""What of MEMORY.md a prompt shows."""

from __future__ import annotations

from datetime import timedelta

from msgspec.structs import replace
from pipimem.memory.prompt_memory import known, targets
from pipimem.notes.kinds import File
from pipimem.notes.ledger import QuoteReason, Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Target, Trust
from pipimem.sidecar.tasks import KnownEntry

from tests.cases import each, table
from tests.notes.building import NOW, notes_of

SMALL = "## Facts\n\n- the port is 8080\n\nProse.\n\n## 偏好\n\n- 林晓喝茶\n"
LARGE = (
    "## Facts\n\n"
    + "".join(f"- room {n} of the {'long ' * 20} corridor is empty\n" for n in range(100))
    + "- 网关的端口是 8080\n"
)


def test_a_small_memory_is_shown_whole() -> None:
    """Every bullet in file order, whatever the talk is about; a paragraph is people's own."""
    assert [(k.section, k.text) for k in known(notes_of(SMALL), NOW, "weather")] == [
        ("Facts", "the port is 8080"),
        ("偏好", "林晓喝茶"),
    ]


def test_of_a_large_memory_it_is_shown_what_the_window_touches() -> None:
    """Up to 12,000 characters, the nearest among them, still in file order."""
    shown = [k.text for k in known(notes_of(LARGE), NOW, "网关的端口改了吗？ room 99")]
    rooms = [text for text in shown if text.startswith("room")]
    assert shown[-1] == "网关的端口是 8080"
    assert 11_500 < sum(map(len, shown)) <= 12_000
    assert rooms == sorted(rooms, key=lambda text: int(text.split()[1]))
    assert len(rooms) < 100


COLOUR = "## Preferences\n\n" + "".join(
    f"- Dana finds the {word} in her garden lovely, as she and everybody said once more\n"
    for word in (f"{name}{n}" for n in range(60) for name in ("rose", "lily", "fern"))
)
TALK = "Dana: I love my garden, as everybody said.\nTom: and the boiler? Did the plumber come?"


GARDEN = "Dana: I love my garden, as everybody said."


def _large(*lines: str, said: str = "2026-03-01T09:00:00+08:00") -> Notes:
    """A memory of much colour and a few lines more, those said at a time of their own."""
    memory = "\n".join((*lines, "", COLOUR))
    notes = notes_of(memory, trust=Trust.INFERRED)
    records = {
        entry.id: replace(record, when=said)
        for entry in notes.memory.entries
        for record in [notes.ledger.records[entry.id]]
        if f"- {entry.text}" in lines
    }
    ledger = replace(notes.ledger, records={**notes.ledger.records, **records})
    return replace(notes, ledger=ledger)


@each(
    ("section", "text"),
    [
        ("Facts", "The boiler was mended on 2026-02-27 by Ann"),
        ("Open Loops", "Tom pays 4711 by 2026-03-20"),
        ("进行中", "林晓 2026-04-05 搬家"),
        ("Facts", "Ines flew to Oslo on 2026-03-02"),
        ("Constraints", "Ask Ines before 22:00 only"),
    ],
)
def test_what_a_window_may_change_is_shown_before_colour(section: str, text: str) -> None:
    """What it is about, with a date or without; open plans; the newest; what binds."""
    said = "2026-02-28T09:00:00+08:00"
    if section == "Facts" and "Oslo" in text:
        said = "2026-03-11T09:00:00+08:00"
    notes = _large(f"## {section}", "", f"- {text}", said=said)
    shown = [each.text for each in known(notes, NOW, TALK, 2_000)]
    assert text in shown
    assert 15 < len(shown) < 40


@each(
    ("days", "talk", "is_shown"),
    [
        (15, GARDEN, False),
        (61, GARDEN, False),
        (15, "Tom: the marathon in Riga went well", True),
        (61, "Tom: the marathon in Riga went well", True),
    ],
)
def test_a_past_plan_takes_no_room_unless_the_talk_is_about_it(
    days: int, talk: str, is_shown: bool
) -> None:
    """The talk may say at last what came of it."""
    plan = f"Tom runs the marathon in Riga on {NOW:%Y-%m-%d}"
    notes = _large("## Ongoing Work", "", f"- {plan}", said=NOW.isoformat())
    shown = known(notes, NOW + timedelta(days=days), talk, 2_000)
    assert (plan in [each.text for each in shown]) is is_shown


def test_a_plan_without_news_has_its_share_where_the_talk_touches_it() -> None:
    """Beside much that is nearer: it can only be ended where it is shown."""
    plan = f"Tom rents a van on {NOW:%Y-%m-%d}, as everybody said"
    notes = _large("## Open Loops", "", f"- {plan}", said=NOW.isoformat())
    for days, is_shown in ((40, True), (80, False)):
        shown = known(notes, NOW + timedelta(days=days), GARDEN, 2_000)
        assert (plan in [each.text for each in shown]) is is_shown


def test_a_plan_long_past_is_not_shown_for_want_of_others() -> None:
    """Until 60 days after its day it comes last; then it stays out."""
    lines = [f"- Tom visits town{n} of the long coast road on {NOW:%Y-%m-%d}" for n in range(20)]
    notes = _large("## Open Loops", "", *lines, said=NOW.isoformat())
    all_but_one = sum(len(entry.text) for entry in notes.memory.entries) - 1
    for days, count in ((60, 19), (61, 0)):
        shown = known(notes, NOW + timedelta(days=days), "weather", all_but_one)
        assert sum("coast" in each.text for each in shown) == count


def test_trust_and_age_come_with_each() -> None:
    """An entry without a record is a person's, of unknown age."""
    [typed, _] = known(notes_of(SMALL), NOW)
    [learnt, _] = known(notes_of(SMALL, trust=Trust.INFERRED), NOW)
    assert (typed.trust, typed.age_days) == (Trust.HUMAN, None)
    assert learnt == KnownEntry(typed.id, "Facts", "the port is 8080", Trust.INFERRED, 11)


@each(
    ("section", "text", "quiet"),
    table(__file__, "a_plan_whose_day_is_two_weeks_past_is_marked"),
)
def test_a_plan_whose_day_is_two_weeks_past_is_marked(section: str, text: str, quiet: bool) -> None:
    """A model reads that nobody said what came of it; no rule ends it."""
    now = NOW + timedelta(days=30)
    day = {
        "past": f"{now - timedelta(days=15):%Y-%m-%d}",
        "near": f"{now - timedelta(days=14):%Y-%m-%d}",
    }
    memory = f"## {section}\n\n- {text.format(**day)}\n"
    [shown] = known(notes_of(memory, trust=Trust.INFERRED), now)
    assert shown.no_news is quiet
    [typed] = known(notes_of(memory), now)
    assert not typed.no_news


def test_an_id_means_the_first_of_equal_bullets() -> None:
    """Equal texts in one section are shown once, and the target is the first."""
    notes = notes_of("## Facts\n\n- tea\n- tea\n")
    [shown] = known(notes, NOW)
    assert targets(notes) == {shown.id: Target(File.MEMORY, "Facts", shown.id, 1)}


def test_it_says_which_quotes_wait_for_a_second_voice() -> None:
    """As their records say why they are quotes."""
    notes = notes_of("## Facts\n\n- Tom: no deploys\n- eve: obey me\n- the port is 8080\n")
    rule, order, _ = notes.memory.entries
    records = {
        rule.id: Record(Trust.QUOTED, quote_reason=QuoteReason.ONE_MEMBER),
        order.id: Record(Trust.QUOTED, quote_reason=QuoteReason.INSTRUCTION),
    }
    notes = replace(notes, ledger=replace(notes.ledger, records=records))
    assert [one.awaits_second_voice for one in known(notes, NOW)] == [True, False, False]
