"""What of MEMORY.md a thought is shown."""

from __future__ import annotations

from datetime import timedelta

import pytest
from pipimem.memory.prompt_memory import known, targets
from pipimem.notes.files import File
from pipimem.notes.operations import Target, Trust
from pipimem.sidecar.tasks import KnownEntry

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
    """Up to 12,000 characters of the nearest bullets, still in file order."""
    shown = [k.text for k in known(notes_of(LARGE), NOW, "网关的端口改了吗？ room 99")]
    rooms = [text for text in shown if text.startswith("room")]
    assert shown[-1] == "网关的端口是 8080"
    assert 11_500 < sum(map(len, shown)) <= 12_000
    assert rooms == sorted(rooms, key=lambda text: int(text.split()[1]))
    assert len(rooms) < 100


def test_trust_and_age_come_with_each() -> None:
    """An entry without a record is a person's, of unknown age."""
    [typed, _] = known(notes_of(SMALL), NOW)
    [learnt, _] = known(notes_of(SMALL, trust=Trust.INFERRED), NOW)
    assert (typed.trust, typed.age_days) == (Trust.HUMAN, None)
    assert learnt == KnownEntry(typed.id, "Facts", "the port is 8080", Trust.INFERRED, 11)


@pytest.mark.parametrize(
    ("section", "text", "quiet"),
    [
        ("Open Loops", "Dana calls the bank on {past}", True),
        ("待办", "林晓 {past} 交报告", True),
        ("Ongoing", "Dana moves on {past}", True),
        ("Open Loops", "林晓（{past}）：我去问银行", False),
        ("Open Loops", "Dana calls the bank on {near}", False),
        ("Open Loops", "Dana calls the bank on {past} and on {near}", False),
        ("Open Loops", "Dana calls the bank", False),
        ("Facts", "Dana was born on {past}", False),
    ],
)
def test_a_plan_whose_day_is_two_weeks_past_is_marked(section: str, text: str, quiet: bool) -> None:
    """A model reads that nobody said what came of it; no rule ends it."""
    day = {
        "past": f"{NOW - timedelta(days=15):%Y-%m-%d}",
        "near": f"{NOW - timedelta(days=14):%Y-%m-%d}",
    }
    memory = f"## {section}\n\n- {text.format(**day)}\n"
    [shown] = known(notes_of(memory, trust=Trust.INFERRED), NOW)
    assert shown.no_news is quiet
    [typed] = known(notes_of(memory), NOW)
    assert not typed.no_news


def test_an_id_means_the_first_of_equal_bullets() -> None:
    """Equal texts in one section are shown once, and the target is the first."""
    notes = notes_of("## Facts\n\n- tea\n- tea\n")
    [shown] = known(notes, NOW)
    assert targets(notes) == {shown.id: Target(File.MEMORY, "Facts", shown.id, 1)}
