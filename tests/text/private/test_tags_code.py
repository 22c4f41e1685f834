"""Where code stands: closed fences, code spans on one line; what is unclear is no code."""

from __future__ import annotations

from pipimem.text.private.code_areas import code_areas

from tests.cases import each


@each(
    ("text", "code"),
    [
        ("no code", []),
        ("use `a` and ``b`c`` here", ["`a`", "``b`c``"]),
        ("说`a`吧", ["`a`"]),
        ("```py\na\n```\nb", ["```py\na\n```\n"]),
        ("x\n~~~\na\n```\n~~~~\nb", ["~~~\na\n```\n~~~~\n"]),
        ("  ```\r\na\r\n  ```\r\n", ["  ```\r\na\r\n  ```\r\n"]),
        ("```\na\n```\n`b`\n```\nc\n```", ["```\na\n```\n", "`b`", "```\nc\n```"]),
        ("```\nnever closed `a`", ["`a`"]),
        ("````\na\n```\nb", []),
        ("    ```\na\n    ```", []),
        ("one ` alone\nand ` another", []),
        ("don`t and it`s", []),
        ("the`a` and `b`c", []),
        ("an escaped \\`a`", []),
        ("``` a ``` b", ["``` a ```"]),
    ],
)
def test_code_is_found(text: str, code: list[str]) -> None:
    """As Markdown has it, but for what may as well be a slip."""
    assert [text[start:end] for start, end in code_areas(text)] == code
