"""The JSON object in a model's answer: exactly one, whole and strict, or a refusal that says why.

Nothing is repaired: a repaired cut is a silent loss. The text of the refusal goes back to the model.
"""

from __future__ import annotations

import json
import re
from math import isinf
from typing import NoReturn

from pipimem.errors import AnswerRefused
from pipimem.text.patterns import Pattern

# An answer has 40,000 characters at most, thinking in front of it some 100,000. Far beyond, a model is told why.
LONGEST = 4_000_000
# What only looks like an object, in thinking whose opening tag was swallowed: each costs a look at the whole.
_MOST_DRAFTS = 20
# Outside of the object only these matter; all else is prose, fences included.
_LANDMARK = Pattern(r"<(?P<closing>/)?[ \t]*think(?:ing)?[ \t]*>|\{", re.IGNORECASE)
# The end of thinking whose opening tag the provider swallowed. Next to a line break it is in no JSON string.
_THINKING_ENDS = Pattern(r"\n[ \t]*</think(?:ing)?>|</think(?:ing)?>[ \t]*\n", re.IGNORECASE)
_NEAR_JSON = (
    (Pattern(r"'"), "single quotes, JSON has double ones"),
    (Pattern(r"/[/*]|#"), "a comment, JSON has none"),
    (Pattern(r"[“”„]"), "curly quotes, JSON has straight ones"),
    (Pattern(r"[A-Za-z_$][\w$]*\s*:"), "a key without quotes"),
)


def json_in(answer: str) -> str:
    """The exact text of the one JSON object in the answer, after closed thinking and among any prose.

    Raises AnswerRefused when there is none or more than one, when it is cut or only nearly JSON, holds a key
    twice, NaN, Infinity or half a character, or when the thinking is not closed.
    """
    if not answer.strip():
        raise AnswerRefused("the answer is empty; answer with one JSON object")
    if len(answer) > LONGEST:
        raise AnswerRefused(
            f"the answer has {len(answer)} characters; answer with one JSON object only"
        )
    found = _found(answer)
    if found is None:
        raise AnswerRefused("the answer holds no JSON object; answer with one JSON object only")
    _refuse_list(answer, *found)
    return answer[slice(*found)]


def _found(answer: str) -> tuple[int, int] | None:
    """Where the one object outside of thinking stands."""
    found: tuple[int, int] | None = None
    position = depth = drafts = 0
    while landmark := _LANDMARK().search(answer, position):
        position = landmark.end()
        if landmark[0] == "{":
            if depth:
                continue
            if found:
                raise AnswerRefused(
                    "the answer holds more than one JSON object; answer with exactly one"
                )
            try:
                position = _object_end(answer, landmark.start())
                found = (landmark.start(), position)
            except AnswerRefused:
                position, drafts = _thinking_end(answer, position), drafts + 1
                if not position or drafts > _MOST_DRAFTS:
                    raise
        elif landmark["closing"] is None:
            depth += 1
        elif depth:
            depth -= 1
        else:
            found = None  # some models leave out the opening tag: all before this was thinking
    if depth:
        raise AnswerRefused(
            "the thinking is not closed, so the answer may be cut; answer with one JSON object only"
        )
    return found


def _thinking_end(answer: str, position: int) -> int:
    closing = _THINKING_ENDS().search(answer, position)
    return closing.end() if closing else 0


def _object_end(answer: str, start: int) -> int:
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
        return "the JSON is cut off or a string in it is never closed; answer with one complete JSON object"
    where = f"at character {error.pos}"
    before = answer[max(0, error.pos - 50) : error.pos].rstrip()
    if (rest[0] in "}]" and before.endswith(",")) or (
        rest[0] == "," and error.msg.startswith("Illegal trailing")
    ):
        return f"not JSON {where}: a comma before a closing bracket; leave it out"
    for pattern, name in _NEAR_JSON:
        if pattern().match(rest):
            return f"not JSON {where}: {name}"
    return f"not JSON {where}: {error.msg.lower()} (got {rest[:20]!r})"


def _refuse_list(answer: str, start: int, end: int) -> None:
    before, after = answer[max(0, start - 50) : start].rstrip(), answer[end : end + 50].lstrip()
    if before.endswith("[") or after.startswith("]"):
        raise AnswerRefused("the answer is a list; answer with one JSON object")
    if after.startswith("}"):
        raise AnswerRefused(
            "a bracket too many after the JSON object; answer with exactly one object"
        )


def _checked(pairs: list[tuple[str, object]]) -> dict[str, object]:
    table = dict(pairs)
    if len(table) < len(pairs):
        seen: set[str] = set()
        for key, _ in pairs:
            if key in seen:
                raise AnswerRefused(
                    f"the key {key[:40]!r} stands twice in one object; use each key once"
                )
            seen.add(key)
    return table


def _refuse_constant(name: str) -> NoReturn:
    raise AnswerRefused(f"{name} is not JSON; use a finite number or null")


def _finite(digits: str) -> float:
    number = float(digits)
    if isinf(number):
        _refuse_constant(digits[:20])
    return number


# Integers stay text: nobody looks at the values here, and a number of a million digits would take minutes.
_DECODER = json.JSONDecoder(
    object_pairs_hook=_checked, parse_constant=_refuse_constant, parse_float=_finite, parse_int=str
)
