"""Which entries go with messages that are forgotten."""

from __future__ import annotations

from pipimem.notes.ledger import Ledger, Record
from pipimem.notes.message import Message
from pipimem.notes.operations import Trust
from pipimem.store.forget.find import learnt_from
from pipimem.text.folding import folded_as_shown

from tests.cases import each
from tests.notes.building import notes_of

ASKED = Message.user("谁来订场地？周六下午三点的", id="a", speaker="小唐")
ANSWERED = Message.user("我来订", id="b", speaker="老周")


@each(
    ("text", "sources", "rest"),
    [
        ("小唐（2026-03-02）：周六下午三点的场地", ("a",), ""),
        (
            "老周（2026-03-02）：「谁来订场地？周六下午三点的」我来订",
            ("a", "b"),
            "老周（2026-03-02）：我来订",
        ),
        ("老周（2026-03-02）：我来订 … 谁来订场地", ("a", "b"), "老周（2026-03-02）：我来订"),
        ("老周（2026-03-02）：谁来订场地 … 我来订", ("a", "b"), "老周（2026-03-02）：我来订"),
        (
            "老周（2026-03-02）：「谁来订场地？周六下午三点的」好。",
            ("a", "b"),
            "老周（2026-03-02）：好。",
        ),
        ("老周（2026-03-02）：「谁来订场地？周六下午三点的」。", ("a", "b"), ""),
        ("老周订场地", ("a", "b"), None),
        ("老周（2026-03-02）：「谁来订场地？周六下午三点的」我来订", (), None),
        ("老周（2026-03-02）：我来订", ("b",), None),
    ],
)
def test_entries_of_their_words_go_and_others_lose_the_quote(
    text: str, sources: tuple[str, ...], rest: str | None
) -> None:
    """What rests on nothing else goes; of another person's words these stay."""
    memory = f"# 记忆\n\n## 事实\n\n- {text}\n"
    (entry,) = notes_of(memory).memory.entries
    ledger = Ledger(records={entry.id: Record(Trust.INFERRED, sources=sources)})
    found = learnt_from(notes_of(memory, ledger=ledger), [ASKED])
    assert found == ({} if rest is None else {folded_as_shown(text): rest})
