"""The public module for assistants of a host."""

from __future__ import annotations

import dataclasses
from pprint import pformat

import pipimem
import pytest
from pipimem import assistant
from pipimem.notes import operations


def test_all_is_sorted_and_true() -> None:
    """Every name in `__all__` is there."""
    assert sorted(assistant.__all__) == assistant.__all__
    assert all(hasattr(assistant, name) for name in assistant.__all__)


def test_the_names_of_0_2_work_with_a_warning() -> None:
    """Here and at the root, until 0.4.0."""
    for module in (assistant, pipimem):
        vars(module).pop("Over", None)
        vars(module).pop("Bullet", None)
        with pytest.warns(DeprecationWarning, match=r"Over is [\w.]*Outdated"):
            assert module.Over is assistant.Outdated
        with pytest.warns(DeprecationWarning, match=r"Bullet is [\w.]*HistoryItem"):
            assert module.Bullet is operations.Bullet
    with pytest.raises(AttributeError, match="no attribute 'Odd'"):
        assistant.Odd  # noqa: B018


def test_a_struct_is_copied_as_the_dataclass_of_0_2_was() -> None:
    """With a warning the first time, until 0.4.0."""

    class Own(assistant.Refreshed, frozen=True):
        pass

    items = {"Worklog": ("tea",)}
    with pytest.warns(
        DeprecationWarning, match="use replace, asdict and fields of msgspec.structs"
    ):
        assert dataclasses.replace(Own(), sections=items) == Own(items)
    assert dataclasses.asdict(Own(items)) == {"sections": items}
    assert pformat(Own(items)) == repr(Own(items))
