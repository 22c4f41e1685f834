"""Values: frozen dataclasses with slots, which are cheap to define and to make."""

from __future__ import annotations

import sys
from collections.abc import Callable
from dataclasses import MISSING, FrozenInstanceError, dataclass, field, fields
from operator import attrgetter
from typing import Any, NoReturn, TypeVar, dataclass_transform

T = TypeVar("T")


class _Factory:
    """The default of a parameter whose value `default_factory` makes."""

    def __repr__(self) -> str:
        return "<factory>"


_FACTORY = _Factory()


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
def frozen(cls: type[T]) -> type[T]:
    """Make a class a dataclass, as `@dataclass(frozen=True, slots=True)` does.

    Each field is a parameter of `__init__`, in order. Raises `TypeError` for a field that is not,
    by `init=False` or `kw_only`.

    `dataclass` compiles six methods, 0.5 ms for each of the 200 classes which `from pipimem import
    Pipimem` makes: more than half of its time. Here `__init__` is compiled, and the others are
    shared. It sets slots directly, so that a value is made three times as fast.
    """
    made: type[Any] = dataclass(init=False, repr=False, eq=False, slots=True)(cls)
    methods = {
        "__init__": _init(made),
        "__repr__": _repr([item.name for item in fields(made) if item.repr]),
        "__reduce__": _reduce,
        "__setattr__": _refuse,
        "__delattr__": _refuse,
        **_comparison([item.name for item in fields(made) if item.compare]),
    }
    for name, method in methods.items():
        if name not in vars(cls):
            setattr(made, name, method)
    return made


def _init(cls: type[Any]) -> Callable[..., None]:
    """Compile `__init__`; its annotations are looked up in the module of the class."""
    given: dict[str, object] = {"_FACTORY": _FACTORY}
    parameters, lines = ["self"], []
    for item in fields(cls):
        name = new = item.name
        if item.kw_only or not item.init:
            raise TypeError(f"{cls.__qualname__}.{name} needs dataclass(frozen=True, slots=True)")
        given[f"_set_{name}"] = getattr(cls, name).__set__
        if item.default_factory is not MISSING:
            given[f"_make_{name}"] = item.default_factory
            new = f"_make_{name}() if {name} is _FACTORY else {name}"
            parameters.append(f"{name}=_FACTORY")
        elif item.default is not MISSING:
            given[f"_default_{name}"] = item.default
            parameters.append(f"{name}=_default_{name}")
        else:
            parameters.append(name)
        lines.append(f"_set_{name}(self, {new})")
    if hasattr(cls, "__post_init__"):
        lines.append("self.__post_init__()")
    body = "\n  ".join(lines or ["pass"])
    source = (
        f"def create({', '.join(given)}):\n"
        f" def __init__({', '.join(parameters)}):\n  {body}\n"
        f" return __init__"
    )
    found: dict[str, Any] = {}
    exec(source, vars(sys.modules[cls.__module__]), found)  # noqa: S102 - as dataclasses does
    init: Callable[..., None] = found["create"](**given)
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    init.__annotations__ = {item.name: item.type for item in fields(cls)} | {"return": None}
    return init


def _comparison(names: list[str]) -> dict[str, Callable[..., Any]]:
    """Return `__eq__` and `__hash__` by the values of some fields."""
    key: Callable[[object], object] = attrgetter(*names) if names else lambda _: ()

    def equals(self: object, other: object) -> bool:
        return key(self) == key(other) if other.__class__ is self.__class__ else NotImplemented

    def hashed(self: object) -> int:
        return hash(key(self))

    return {"__eq__": equals, "__hash__": hashed}


def _repr(names: list[str]) -> Callable[[object], str]:
    def described(self: object) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)!r}" for name in names)
        return f"{self.__class__.__qualname__}({shown})"

    return described


def _reduce(self: Any) -> tuple[type[Any], tuple[object, ...]]:  # noqa: ANN401 - any value
    """Let copies and pickles be made by `__init__`: nothing else may set a field."""
    return self.__class__, tuple(getattr(self, item.name) for item in fields(self))


def _refuse(self: object, name: str, *_: object) -> NoReturn:
    raise FrozenInstanceError(f"{self.__class__.__qualname__}.{name} cannot be changed")
