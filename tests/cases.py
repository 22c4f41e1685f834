"""Cases as data: one test for a whole table, which reports every case that fails."""

from __future__ import annotations

import inspect
import tomllib
from collections.abc import Callable, Iterable
from functools import wraps
from pathlib import Path
from typing import Any

import pytest

Test = Callable[..., Any]


def each(names: str | Iterable[str], cases: Iterable[Any]) -> Callable[[Test], Test]:
    """Run a test with every case, as `pytest.mark.parametrize` does, but as a single test.

    The failure lists the cases that failed. The cases share the fixtures of the test.
    """
    named = names.replace(" ", "").split(",") if isinstance(names, str) else list(names)
    rows = [tuple(case) if len(named) > 1 else (case,) for case in cases]

    def decorate(test: Test) -> Test:
        signature = inspect.signature(test)
        others = [value for name, value in signature.parameters.items() if name not in named]
        outer = signature.replace(parameters=others)

        @wraps(test)
        def rows_in_turn(**fixtures: Any) -> None:
            failures = []
            for row in rows:
                case = dict(zip(named, row, strict=True))
                try:
                    test(**fixtures, **case)
                # `pytest.raises` and `pytest.fail` raise what is no `Exception`.
                except (Exception, pytest.fail.Exception) as error:
                    failures.append(_describe(case, error))
            assert rows, "the table is empty"
            if failures:
                raise AssertionError("\n".join([f"{len(failures)} of {len(rows)}:", *failures]))

        rows_in_turn.__signature__ = outer  # type: ignore[attr-defined]
        del rows_in_turn.__wrapped__  # pytest would read the signature of what is inside
        return rows_in_turn

    return decorate


def table(module: str, name: str) -> list[Any]:
    """Return a table of `cases/NAME_OF_THE_MODULE.toml`, which is beside the module of tests."""
    path = Path(module)
    file = path.parent / "cases" / f"{path.stem.removeprefix('test_')}.toml"
    rows: list[Any] = tomllib.loads(file.read_text("utf-8"))[name]
    return rows


def _describe(case: dict[str, Any], error: BaseException) -> str:
    """Return the values of a case and the first lines of its error."""
    values = ", ".join(f"{name}={repr(value)[:120]}" for name, value in case.items())
    why = "\n    ".join(str(error).splitlines()[:6])
    return f"- {values}\n    {type(error).__name__}: {why}"
