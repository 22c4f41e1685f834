"""Markdown as HTML that can do nothing."""

from __future__ import annotations

from pipimem.web.markdown import plain, rendered, ticked

from tests.cases import each

HOSTILE = [
    "<script>alert(1)</script>",
    "<img src=x onerror=alert(1)>",
    "<svg/onload=alert(1)>",
    "<a href='javascript:alert(1)'>x</a>",
    "[x](javascript:alert(1))",
    "[x](JaVaScRiPt:alert(1))",
    "[x](java\nscript:alert(1))",
    "[x](&#106;avascript:alert(1))",
    "[x](data:text/html;base64,PHNjcmlwdD5hbGVydCgxKTwvc2NyaXB0Pg==)",
    "[x](vbscript:msgbox)",
    "![x](https://evil.example/track.png)",
    "<javascript:alert(1)>",
    "[x]: javascript:alert(1)\n\n[x]",
    "`<script>alert(1)</script>`",
    "```html\n<script>alert(1)</script>\n```",
    "<style>*{display:none}</style>",
    "<iframe src=//evil.example></iframe>",
    "<form action=//evil.example><input></form>",
    "<base href=//evil.example>",
    "<meta http-equiv=refresh content='0;url=//evil.example'>",
    "| a |\n|---|\n| <script>alert(1)</script> |",
    "[x](https://ok.example \"' onmouseover=alert(1) '\")",
]


@each("text", HOSTILE)
def test_hostile_markdown_is_words(text: str) -> None:
    """No element but those of Markdown, no attribute but an address that a person may follow."""
    html = str(rendered(text)).lower()
    for tag in (
        "<script",
        "<img",
        "<svg",
        "<style",
        "<iframe",
        "<form",
        "<input",
        "<base",
        "<meta",
    ):
        assert tag not in html
    for scheme in ('href="javascript', 'href="data', 'href="vbscript'):
        assert scheme not in html
    assert " onerror=" not in html.replace("&lt;", "").replace("x onerror=alert(1)&gt;", "")
    assert "<a onmouseover" not in html


def test_markdown_is_shown_as_people_know_it() -> None:
    """Emphasis, code, lists, tables, links."""
    html = rendered("**b** `c` [l](https://ok.example)\n\n- x\n\n| a |\n|---|\n| 1 |")
    for part in ("<strong>b</strong>", "<code>c</code>", "<li>x</li>", "<td>1</td>"):
        assert part in html
    assert '<a href="https://ok.example" rel="noopener noreferrer nofollow">l</a>' in html


@each("sign", ["\u202e", "\u2066", "\u200f", "\u200b", "\x1b", "\x00", "\ufeff"])
@each("show", [rendered, plain])
def test_signs_that_turn_or_hide_text_are_seen(show: object, sign: str) -> None:
    """What is read is what stands there; an entity is the same sign."""
    html = str(show(f"pay {sign}ecila 100"))  # type: ignore[operator]
    assert sign not in html
    if sign != "\x00":  # markdown has its own sign for it
        assert f"<code>U+{ord(sign):04X}</code>" in html
    assert "\u202e" not in rendered("pay &#x202e;ecila 100")


def test_a_family_of_emoji_stays_one() -> None:
    """The joiner between them is no hiding place."""
    assert "👩‍👧" in rendered("👩‍👧")


@each("line", ["a" * 1_000_000, "[" * 100_000, "*a " * 300_000, "`" * 200_000])
def test_a_line_of_a_megabyte_is_cut(line: str) -> None:
    """It is cut, and says how much is left out."""
    html = rendered(line)
    assert "(+" in html
    assert len(html) < 200_000


@each("text", HOSTILE)
def test_what_stands_between_backticks_is_code_and_can_do_nothing(text: str) -> None:
    """What a finding quotes may be anybody's words."""
    html = str(ticked(f"run `{text}` now, {text}"))
    assert html.replace("<code>", "").replace("</code>", "").count("<") == 0
    assert str(ticked("run `pipimem doctor`")) == "run <code>pipimem doctor</code>"
