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

        @wraps(test)
        def table(**fixtures: Any) -> None:
            failures = []
            for row in rows:
                case = dict(zip(named, row, strict=True))
                try:
                    test(**fixtures, **case)
                except Exception as error:
                    failures.append(_told(case, error))
            assert rows, "the table is empty"
            if failures:
                raise AssertionError("\n".join([f"{len(failures)} of {len(rows)}:", *failures]))

        table.__signature__ = outer  # type: ignore[attr-defined]
        del table.__wrapped__  # pytest would read the signature of what is inside
        return table

    return decorate


def _told(case: dict[str, Any], error: Exception) -> str:
    values = ", ".join(f"{name}={repr(value)[:120]}" for name, value in case.items())
    why = "\n    ".join(str(error).splitlines()[:6])
    return f"- {values}\n    {type(error).__name__}: {why}"
