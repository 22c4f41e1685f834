"""How a page is made: its language, its addresses, its texts."""

from __future__ import annotations

import re

from pipimem.resources import web_folder, web_texts
from pipimem.web.pages import preferred_language, url

from tests.cases import each, table


@each(
    ("header", "language"),
    table(__file__, "the_language_that_the_browser_likes_most"),
)
def test_the_language_that_the_browser_likes_most(header: str, language: str) -> None:
    """Of the two that we have."""
    assert preferred_language(header) == language


def test_an_id_in_an_address_may_be_any_text() -> None:
    """Slashes, signs and dots are no part of the path."""
    assert url("/channel", id="a/b?c#../👍", file="") == "/channel?id=a%2Fb%3Fc%23..%2F%F0%9F%91%8D"


def test_both_languages_say_the_same_things() -> None:
    """With the same places for numbers."""
    english, chinese = web_texts("en"), web_texts("zh")
    assert {(page, name) for page in english for name in english[page]} == {
        (page, name) for page in chinese for name in chinese[page]
    }
    places = re.compile(r"\{(\d?)\}")
    for page, texts in english.items():
        for name, text in texts.items():
            assert sorted(places.findall(text)) == sorted(places.findall(chinese[page][name]))


def test_every_text_of_a_template_is_there() -> None:
    """`t.page.title` is a line of the texts; a word of it that has gone is found here."""
    texts = web_texts("en")
    for template in web_folder("templates").glob("*.html"):
        for page, name in re.findall(
            r"\bt\.(\w+)\.(?!get\(|items\()(\w+)", template.read_text("utf-8")
        ):
            assert name in texts[page], (template.name, page, name)
