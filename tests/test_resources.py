"""The texts that travel with pipimem."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from pipimem import resources


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout with one list of words and the code that compiles it."""
    (tmp_path / "pipimem" / "data" / "synonyms").mkdir(parents=True)
    (tmp_path / "pipimem" / "data" / "synonyms" / "animals.txt").write_text(
        "猫, cat\n", encoding="utf-8"
    )
    (tmp_path / "pipimem" / "recall").mkdir(parents=True)
    (tmp_path / "pipimem" / "recall" / "thesaurus.py").write_text("")
    monkeypatch.setattr(resources, "_HERE", tmp_path / "pipimem")
    return tmp_path


def counted() -> tuple[Callable[[list[str]], str], list[str]]:
    """A compiler, and what it compiled so far."""
    made: list[str] = []

    def compiled(texts: list[str]) -> str:
        made.append(texts[0])
        return texts[0].upper()

    return compiled, made


def test_a_checkout_compiles_its_thesaurus_once(checkout: Path) -> None:
    """And again when a text has changed; nothing else is left behind."""
    compiled, made = counted()
    assert [resources.thesaurus(compiled) for _ in range(3)] == ["猫, CAT\n"] * 3
    assert made == ["猫, cat\n"]
    (checkout / "pipimem" / "data" / "synonyms" / "animals.txt").write_text(
        "狗, dog\n", encoding="utf-8"
    )
    assert resources.thesaurus(compiled) == "狗, DOG\n"
    assert [path.name for path in (checkout / ".cache").iterdir()] == ["thesaurus"]


def test_a_damaged_file_is_made_anew(checkout: Path) -> None:
    """Torn, or no text at all."""
    compiled, made = counted()
    resources.thesaurus(compiled)
    kept = checkout / ".cache" / "thesaurus"
    for damaged in (kept.read_bytes()[:-1], b"", b"\xff\xfe"):
        kept.write_bytes(damaged)
        assert resources.thesaurus(compiled) == "猫, CAT\n"
    assert len(made) == 4


def test_where_nothing_can_be_kept_each_process_compiles(checkout: Path) -> None:
    """A file stands where the folder should be."""
    (checkout / ".cache").write_text("in the way")
    compiled, made = counted()
    assert [resources.thesaurus(compiled) for _ in range(2)] == ["猫, CAT\n"] * 2
    assert len(made) == 2
