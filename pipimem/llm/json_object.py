"""The JSON object in a model's answer: exactly one, whole and strict, or a refusal that says why.

Nothing is repaired: a repaired cut is a silent loss. The refusal's text goes back to the model.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from math import isinf
from typing import NoReturn

from pipimem.errors import AnswerRefused
from pipimem.text.patterns import Pattern

# An answer has 40,000 characters at most, thinking in front of it some 100,000. A longer one is
# refused with the reason.
LONGEST = 4_000_000
# What only looks like an object, in thinking whose opening tag is missing: each costs a search
# through the whole answer.
_MOST_DRAFTS = 20
# Outside of the object only these matter; all else is prose, fences included.
_LANDMARK = Pattern(r"<(?P<closing>/)?[ \t]*think(?:ing)?[ \t]*>|\{", re.IGNORECASE)
# The end of thinking whose opening tag is missing. Next to a line break it is in no JSON string.
_THINKING_ENDS = Pattern(r"\n[ \t]*</think(?:ing)?>|</think(?:ing)?>[ \t]*\n", re.IGNORECASE)
_NEAR_JSON = (
    (Pattern(r"'"), "single quotes, JSON has double ones"),
    (Pattern(r"/[/*]|#"), "a comment, JSON has none"),
    (Pattern(r"[“”„]"), "curly quotes, JSON has straight ones"),
    (Pattern(r"[A-Za-z_$][\w$]*\s*:"), "a key without quotes"),
)


def extract_json(answer: str) -> str:
    """The exact text of the one JSON object in the answer, after closed thinking and among prose.

    Raises `AnswerRefused` when there is none or more than one, when it is cut or only nearly JSON,
    holds a key twice, NaN, Infinity or half a character, or when the thinking is not closed.
    """
    if not answer.strip():
        raise AnswerRefused("the answer is empty; answer with one JSON object")
    if len(answer) > LONGEST:
        raise AnswerRefused(
            f"the answer has {len(answer)} characters; answer with one JSON object only"
        )
    found = _Search(answer).run()
    if found is None:
        raise AnswerRefused("the answer holds no JSON object; answer with one JSON object only")
    start, end = found
    _refuse_list(answer, start, end)
    return answer[start:end]


@dataclass(slots=True)
class _Search:
    """The search for the one object outside of thinking, landmark by landmark."""

    answer: str
    found: tuple[int, int] | None = None
    depth: int = 0  # of the thinking
    drafts: int = 0

    def run(self) -> tuple[int, int] | None:
        """Where the object starts and ends, `None` if there is none."""
        landmark = _LANDMARK().search(self.answer)
        while landmark is not None:
            position = landmark.end()
            if landmark[0] != "{":
                self._take_tag(is_closing=landmark["closing"] is not None)
            elif not self.depth:
                position = self._take_object(landmark.start())
            landmark = _LANDMARK().search(self.answer, position)
        if self.depth:
            raise AnswerRefused(
                "the thinking is not closed, so the answer may be cut; answer with one JSON object "
                "only"
            )
        return self.found

    def _take_tag(self, *, is_closing: bool) -> None:
        if not is_closing:
            self.depth += 1
        elif self.depth:
            self.depth -= 1
        else:
            self.found = None  # some models omit the opening tag: all before this was thinking

    def _take_object(self, start: int) -> int:
        """Where to go on: behind an object, or behind the thinking that only looked like one."""
        if self.found:
            raise AnswerRefused(
                "the answer holds more than one JSON object; answer with exactly one"
            )
        try:
            end = _object_end(self.answer, start)
        except AnswerRefused:
            self.drafts += 1
            closing = _THINKING_ENDS().search(self.answer, start + 1)
            if closing is None or self.drafts > _MOST_DRAFTS:
                raise
            return closing.end()
        self.found = start, end
        return end


def _object_end(answer: str, start: int) -> int:
    """Where the object ends that starts here; raises `AnswerRefused` if it is not strict JSON."""
    try:
        value, end = _DECODER.raw_decode(answer, start)
        answer[start:end].encode()
        if "\\ud" in answer[start:end].lower():
            json.dumps(value, ensure_ascii=False).encode()
    except json.JSONDecodeError as error:
        raise AnswerRefused(_reason(answer, error)) from None
    except RecursionError:
        raise AnswerRefused(
            "the JSON is nested too deeply; answer with the asked shape only"
        ) from None
    except UnicodeEncodeError:
        raise AnswerRefused(
            "the JSON holds half a character (a lone surrogate); write characters as they are"
        ) from None
    return end


def _reason(answer: str, error: json.JSONDecodeError) -> str:
    """Why the JSON could not be read, in words the model can act on."""
    rest = answer[error.pos : error.pos + 200].lstrip()
    if not rest or rest.startswith("```") or error.msg.startswith("Unterminated string"):
        return (
            "the JSON is cut off or a string in it is never closed; answer with one complete JSON "
            "object"
        )
    where = f"at character {error.pos}"
    before = answer[max(0, error.pos - 50) : error.pos].rstrip()
    is_behind_comma = rest[0] in "}]" and before.endswith(",")
    is_at_comma = rest[0] == "," and error.msg.startswith("Illegal trailing")
    if is_behind_comma or is_at_comma:
        return f"not JSON {where}: a comma before a closing bracket; leave it out"
    for pattern, name in _NEAR_JSON:
        if pattern().match(rest):
            return f"not JSON {where}: {name}"
    return f"not JSON {where}: {error.msg.lower()} (got {rest[:20]!r})"


def _refuse_list(answer: str, start: int, end: int) -> None:
    before = answer[max(0, start - 50) : start].rstrip()
    after = answer[end : end + 50].lstrip()
    if before.endswith("[") or after.startswith("]"):
        raise AnswerRefused("the answer is a list; answer with one JSON object")
    if after.startswith("}"):
        raise AnswerRefused(
            "a bracket too many after the JSON object; answer with exactly one object"
        )


def _checked(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table: dict[str, object] = {}
    for key, value in pairs:
        if key in table:
            raise AnswerRefused(
                f"the key {key[:40]!r} stands twice in one object; use each key once"
            )
        table[key] = value
    return table


def _refuse_constant(name: str) -> NoReturn:
    raise AnswerRefused(f"{name} is not JSON; use a finite number or null")


def _finite(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        _refuse_constant(digits[:20])
    return number


# Integers stay text: the values are not used here, and a number of a million digits would take
# minutes.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_checked, parse_constant=_refuse_constant, parse_float=_finite, parse_int=str
)
