"""The corpus of secrets: its size, that a seed makes it again, and what counts as masked whole."""

from __future__ import annotations

from collections import Counter

from benchmarks.secrets.generate import Case, cases, leaks, ordinary

from tests.cases import each


def test_the_corpus_is_as_large_as_its_figure_says() -> None:
    """At least 90 kinds of 30 texts, a third of them held back, and 2,000 ordinary lines."""
    shown = Counter(case.kind for case in cases(15, 20, held=False))
    held = Counter(case.kind for case in cases(15, 10, held=True))
    assert len(shown) >= 90
    assert shown.keys() == held.keys()
    assert {*shown.values()} == {20}
    assert {*held.values()} == {10}
    assert len(ordinary(15, 1333, held=False)) + len(ordinary(15, 667, held=True)) == 2000


@each("held", [False, True])
def test_a_seed_makes_the_same_texts_with_their_secrets_in_them(*, held: bool) -> None:
    """Two runs compare the same texts, and nothing is left unfilled."""
    first = list(cases(3, 10, held=held))
    assert first == list(cases(3, 10, held=held))
    for case in first:
        assert "«" not in case.text
        assert case.secrets
        assert all(secret in case.text for secret in case.secrets)


@each(
    ("masked", "is_leak"),
    [
        ("the password is [secret:password]", False),
        ("the password is [secret:password]nter2", True),
        ("the password is hunt[secret:password]", True),
        ("[secret:password]", False),
    ],
)
def test_a_secret_is_masked_whole_or_not_at_all(masked: str, *, is_leak: bool) -> None:
    """Four characters of it that remain are a leak; words around it may go, too."""
    assert leaks(Case("password", "the password is hunter2", ("hunter2",)), masked) is is_leak
