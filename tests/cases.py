"""Cases as data: one test for a whole table, which tells every case that fails."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from functools import wraps
from typing import Any

Test = Callable[..., Any]


def each(names: str | Iterable[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """As `pytest.mark.parametrize` does, but in one test, whose failure lists the cases.

    For tests without fixtures of their own for a case: whatever else they take is made once.
    """
    named = names.replace(" ", "").split(",") if isinstance(names, str) else list(names)
    rows = [tuple(case) if len(named) > 1 else (case,) for case in cases]

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        others = [value for name, value in signature.parameters.items() if name not in named]
        outer = signature.replace(parameters=others)

        if inspect.iscoroutinefunction(test):

            @wraps(test)
            async def table(**fixtures: Any) -> None:
                failures = Failures(named)
                for row in rows:
                    try:
                        await test(**fixtures, **dict(zip(named, row, strict=True)))
                    except Exception as error:  # noqa: BLE001 - each is told, below
                        failures.add(row, error)
                failures.tell(len(rows))

        else:

            @wraps(test)
            def table(**fixtures: Any) -> None:
                failures = Failures(named)
                for row in rows:
                    try:
                        test(**fixtures, **dict(zip(named, row, strict=True)))
                    except Exception as error:  # noqa: BLE001 - each is told, below
                        failures.add(row, error)
                failures.tell(len(rows))

        table.__signature__ = outer  # type: ignore[attr-defined]
        del table.__wrapped__  # pytest would read the signature of what is inside
        return table

    return decorate


class Failures:
    """The cases of one table that fail."""

    def __init__(self, names: list[str]) -> None:
        self._names = names
        self._lines: list[str] = []

    def add(self, row: tuple[Any, ...], error: Exception) -> None:
        """Writes down one case, its values cut to what a line holds, and what was wrong."""
        values = ", ".join(
            f"{name}={repr(value)[:120]}" for name, value in zip(self._names, row, strict=True)
        )
        why = "\n    ".join(str(error).splitlines()[:6])
        self._lines.append(f"- {values}\n    {type(error).__name__}: {why}")

    def tell(self, cases: int) -> None:
        """Fails if there is any, with a list of all of them."""
        assert cases, "the table is empty"
        if self._lines:
            raise AssertionError(f"{len(self._lines)} of {cases} cases:\n" + "\n".join(self._lines))
