"""What the bot says of itself, in the language of its group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, Self

from pipimem.resources import bot_texts

BotLanguage = Literal["zh", "en"]


@dataclass(frozen=True, slots=True)
class Wording:
    """The sentences of one language, as `data/bots/<language>.toml` has them."""

    sentences: Mapping[str, str]
    # What stands for a message without words, by its kind.
    notes: Mapping[str, str]
    yes: frozenset[str]
    no: frozenset[str]

    @classmethod
    def of(cls, language: BotLanguage) -> Self:
        """The sentences of a language."""
        found = bot_texts(language)
        answers = {name: frozenset(text.split()) for name, text in found["answers"].items()}
        return cls(found["sentences"], found["notes"], answers["yes"], answers["no"])

    def __call__(self, name: str, **values: object) -> str:
        """The sentence of a name, with its values."""
        return self.sentences[name].format(**values)

    def says(self, text: str) -> bool | None:
        """Whether a text is a yes or a no; `None` where it is neither."""
        word = text.strip().strip("。.!！~～").casefold()
        if word in self.yes:
            return True
        return False if word in self.no else None
