"""Values are what `@dataclass(frozen=True, slots=True)` makes, in all that their users see."""

from __future__ import annotations

import copy
import inspect
import pickle
from dataclasses import FrozenInstanceError, asdict, dataclass, field, fields, replace
from typing import get_type_hints

import pytest
from pipimem.values import frozen


@frozen
class Point:
    """A point with a name."""

    x: int
    y: int = 0
    name: str = field(default="", compare=False)
    tags: list[str] = field(default_factory=list, repr=False)


@dataclass(frozen=True, slots=True)
class Peer:
    """Point as the standard library makes it."""

    x: int
    y: int = 0
    name: str = field(default="", compare=False)
    tags: list[str] = field(default_factory=list, repr=False)


@frozen
class Nothing:
    """A value without fields."""


@frozen
class Even:
    """A number that is checked when it is made, and has words of its own."""

    number: int

    def __post_init__(self) -> None:
        if self.number % 2:
            raise ValueError(self.number)

    def __repr__(self) -> str:
        return f"even {self.number}"


def test_a_value_is_a_dataclass() -> None:
    """With the fields, defaults and signature of one."""
    assert [item.name for item in fields(Point)] == [item.name for item in fields(Peer)]
    assert str(inspect.signature(Point)) == str(inspect.signature(Peer))
    assert get_type_hints(Point.__init__) == get_type_hints(Peer.__init__)
    assert repr(Point(1, name="a")) == repr(Peer(1, name="a")).replace("Peer", "Point")
    assert asdict(Point(1, 2)) == asdict(Peer(1, 2))
    assert replace(Point(1, 2), x=3) == Point(3, 2)
    assert Point.__match_args__ == Peer.__match_args__


def test_values_of_one_type_are_compared_by_their_fields() -> None:
    """But for those that say `compare=False`."""
    assert Point(1, name="a") == Point(1, name="b")
    assert Point(1) != Point(2)
    assert Point(1) != Peer(1)
    assert Nothing() == Nothing()
    assert {Even(2), Even(2), Even(4)} == {Even(2), Even(4)}
    assert len({Nothing(), Nothing()}) == 1


def test_each_value_has_a_list_of_its_own() -> None:
    """A default factory is called for each."""
    assert Point(1).tags is not Point(1).tags
    assert Point(1, tags=["a"]).tags == ["a"]


def test_a_value_cannot_be_changed() -> None:
    """Nor can a field be deleted, or an attribute be added."""
    point = Point(1)
    with pytest.raises(FrozenInstanceError, match=r"Point\.x cannot be changed"):
        point.x = 2  # type: ignore[misc]
    with pytest.raises(FrozenInstanceError):
        del point.x
    with pytest.raises(FrozenInstanceError):
        point.z = 1  # type: ignore[attr-defined]
    assert not hasattr(point, "__dict__")


def test_a_value_may_check_itself_and_keep_its_own_methods() -> None:
    """As a dataclass does."""
    with pytest.raises(ValueError, match="3"):
        Even(3)
    assert repr(Even(4)) == "even 4"


def test_a_field_that_is_no_parameter_in_order_is_refused() -> None:
    """Such a class takes `dataclass`."""
    with pytest.raises(TypeError, match=r"number needs dataclass"):

        @frozen
        class _Counted:
            number: int = field(default=0, init=False)


def test_a_missing_field_is_refused_by_name() -> None:
    """As by any function."""
    with pytest.raises(TypeError, match=r"Point\.__init__\(\) missing .* 'x'"):
        Point()  # type: ignore[call-arg]


def test_a_value_can_be_copied_and_pickled() -> None:
    """By making it again."""
    point = Point(1, 2, "a", ["b"])
    assert copy.deepcopy(point) == point
    assert pickle.loads(pickle.dumps(point)) == point
