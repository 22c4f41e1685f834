"""What of MEMORY.md a prompt shows."""

from __future__ import annotations

from msgspec.structs import replace
from pipimem.memory.prompt_memory import ShownMemory, known, targets
from pipimem.notes.kinds import File
from pipimem.notes.ledger import QuoteReason, Record
from pipimem.notes.notes import Notes
from pipimem.notes.operations import Target, Trust
from pipimem.sidecar.tasks import KnownEntry

from tests.cases import each
from tests.notes.building import NOW, notes_of

SMALL = "## Facts\n\n- the port is 8080\n\nProse.\n\n## 偏好\n\n- 林晓喝茶\n"
LARGE = (
    "## Facts\n\n"
    + "".join(f"- room {n} of the {'long ' * 20} corridor is empty\n" for n in range(100))
    + "- 网关的端口是 8080\n"
)


def texts(shown: ShownMemory) -> list[str]:
    return [entry.text for entry in shown.entries]


def test_a_small_memory_is_shown_whole() -> None:
    """Every bullet in file order, whatever the talk is about; a paragraph is people's own."""
    shown = known(notes_of(SMALL), NOW, ["weather"])
    assert [(entry.section, entry.text) for entry in shown.entries] == [
        ("Facts", "the port is 8080"),
        ("偏好", "林晓喝茶"),
    ]
    assert shown.hidden == 0


def test_of_a_large_memory_it_is_shown_what_the_window_touches() -> None:
    """Up to 8,000 characters, the nearest among them, still in file order, and how many are not."""
    shown = known(notes_of(LARGE), NOW, ["网关的端口改了吗？ room 99"])
    rooms = [text for text in texts(shown) if text.startswith("room")]
    assert texts(shown)[-1] == "网关的端口是 8080"
    assert 7_500 < sum(map(len, texts(shown))) <= 8_000
    assert rooms == sorted(rooms, key=lambda text: int(text.split()[1]))
    assert shown.hidden == 100 - len(rooms) > 0


COLOUR = "## Preferences\n\n" + "".join(
    f"- Dana finds the {word} in her garden lovely, as she and everybody said once more\n"
    for word in (f"{name}{n}" for n in range(60) for name in ("rose", "lily", "fern"))
)
TALK = ["I love my garden, as everybody said.", "and the boiler? Did the plumber come?"]


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
        ("Wishes", "Tom wants the assistant to answer in verse"),
        ("健康", "林晓对花生过敏"),
        ("Participants", "Ines is a cellist"),
        ("Open Loops", "Tom pays 4711"),
        ("Facts", "The boiler was mended by Ann"),
    ],
)
def test_what_always_counts_and_what_a_message_touches_is_shown_before_colour(
    section: str, text: str
) -> None:
    """However old it is; without such a heading only where a message has a rare word of it."""
    notes = _large(f"## {section}", "", f"- {text}", said="2025-01-01T09:00:00+08:00")
    shown = texts(known(notes, NOW, TALK, 2_000))
    assert text in shown
    assert 15 < len(shown) < 40
    elsewhere = texts(known(notes, NOW, ["weather"], 2_000))
    assert (text in elsewhere) is (section != "Facts")


def test_each_message_has_its_own_nearest() -> None:
    """The plumber is asked about once, the garden in forty messages: both are looked for."""
    notes = _large("## Facts", "", "- The boiler was mended by Ann", said="2025-01-01T09:00:00Z")
    talk = [f"the rose{n} in my garden is lovely, as everybody said" for n in range(40)]
    assert "The boiler was mended by Ann" in texts(known(notes, NOW, [*talk, TALK[1]], 3_000))


def test_open_loops_leave_room_for_what_the_talk_is_about() -> None:
    """Of very many the newest take two thirds; the rest can wait for the talk to name them."""
    loops = "".join(f"- Tom mends fence{chr(97 + n)} soon, he says\n" for n in range(26)) * 2
    notes = notes_of(f"## Open Loops\n\n{loops}\n## Facts\n\n- The boiler is old\n")
    shown = texts(known(notes, NOW, ["the boiler again"], 300))
    assert "The boiler is old" in shown
    assert 150 < sum(map(len, shown)) <= 300


def test_a_loop_whose_due_day_has_passed_has_no_news() -> None:
    """By its record alone: a day in its text says nothing, and what a person typed stays as it is."""
    notes = notes_of("## Open Loops\n\n- Tom left on 2025-01-01\n", trust=Trust.INFERRED)
    [entry] = notes.memory.entries
    for due, has_none in (("2026-03-11", True), ("2026-03-12", False), ("", False)):
        record = replace(notes.ledger.records[entry.id], due=due)
        ledger = replace(notes.ledger, records={entry.id: record})
        [shown] = known(replace(notes, ledger=ledger), NOW).entries
        assert (shown.no_news, shown.due) == (has_none, due)


def test_trust_and_age_come_with_each() -> None:
    """An entry without a record is a person's, of unknown age."""
    [typed, _] = known(notes_of(SMALL), NOW).entries
    [learnt, _] = known(notes_of(SMALL, trust=Trust.INFERRED), NOW).entries
    assert (typed.trust, typed.age_days, typed.said) == (Trust.HUMAN, None, "")
    assert learnt == KnownEntry(
        typed.id, "Facts", "the port is 8080", Trust.INFERRED, 11, said="2026-03-01"
    )


def test_an_id_means_the_first_of_equal_bullets() -> None:
    """Equal texts in one section are shown once, and the target is the first."""
    notes = notes_of("## Facts\n\n- tea\n- tea\n")
    [shown] = known(notes, NOW).entries
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
    assert [one.awaits_second_voice for one in known(notes, NOW).entries] == [True, False, False]
