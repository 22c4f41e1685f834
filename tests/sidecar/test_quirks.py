"""How a model wants to be asked, learnt from its refusals."""

from __future__ import annotations

from dataclasses import replace

import pytest
from pipimem.sidecar.door import Ask, Schema, Turn
from pipimem.sidecar.quirks import Format, Manners, Quirks

TURNS = (Turn("system", "Be short."), Turn("user", "hi"))
ASK = Ask("openai/x", TURNS, 20, 8000, Schema("a", {"type": "object"}))
CHAT = replace(ASK, schema=None)


@pytest.mark.parametrize(
    ("words", "learnt"),
    [
        (
            "'response_format' of type 'json_schema' is not supported",
            Quirks(format=Format.JSON_OBJECT),
        ),
        ("This model does not support structured outputs.", Quirks(format=Format.JSON_OBJECT)),
        (
            "Invalid schema for function 'a': 'maxLength' is not permitted",
            Quirks(format=Format.JSON_OBJECT),
        ),
        ("guided_json is disabled", Quirks(format=Format.JSON_OBJECT)),
        ("tool_choice is incompatible with thinking", Quirks(format=Format.JSON_OBJECT)),
        ("该模型不支持结构化输出", Quirks(format=Format.JSON_OBJECT)),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            Quirks(room="max_completion_tokens"),
        ),
        ("Unrecognized request argument supplied: max_tokens", Quirks(room="")),
        ("Requested 9100 tokens (1100 in the messages, 8000 in the completion)", Quirks(room="")),
        ("'temperature' does not support 0 with this model", Quirks(temperature=False)),
        ("System role not supported", Quirks(system=False)),
        ("'messages[0].role' does not support 'system' with this model.", Quirks(system=False)),
    ],
)
def test_what_a_refusal_names_is_left_out(words: str, learnt: Quirks) -> None:
    """One thing at a time, and it is known from then on."""
    manners = Manners()
    assert manners.refused(ASK, Quirks(), 400, words, explained=False)
    assert manners.of("openai/x") == learnt
    assert manners.of("openai/y") == Quirks()


def test_another_name_for_the_room_may_be_refused_too() -> None:
    """First the other name, then none."""
    manners = Manners()
    words = "max_tokens is unknown, so is max_completion_tokens"
    assert manners.refused(ASK, manners.of(ASK.model), 400, words, explained=False)
    assert manners.refused(ASK, manners.of(ASK.model), 400, words, explained=False)
    assert manners.of(ASK.model) == Quirks(room="")


def test_a_refusal_without_a_cause_is_met_with_less_and_less() -> None:
    """What helps is known; what did not help is not remembered."""
    manners, tried = Manners(), []
    while manners.refused(ASK, manners.of(ASK.model), 400, "Bad request", explained=False):
        tried.append(manners.of(ASK.model))
    assert tried == [
        Quirks(format=Format.JSON_OBJECT),
        Quirks(format=Format.NONE),
        Quirks(format=Format.NONE, room="", temperature=False),
    ]
    assert manners.of(ASK.model) == Quirks()
    manners.refused(ASK, Quirks(), 400, "Bad request", explained=False)
    manners.accepted(ASK.model)
    assert manners.of(ASK.model) == Quirks(format=Format.JSON_OBJECT)


def test_what_has_another_cause_is_not_guessed_about() -> None:
    """A refused key or a missing model is not asked again in other ways, nor is a server that fell over."""
    manners = Manners()
    assert not manners.refused(ASK, Quirks(), 401, "Incorrect API key", explained=True)
    assert not manners.refused(
        ASK, Quirks(), 503, "json_schema workers are overloaded", explained=True
    )
    assert manners.of(ASK.model) == Quirks()


def test_free_text_is_not_asked_for_less_structure() -> None:
    """A chat sends no format and no temperature: there is nothing of them to leave out."""
    manners = Manners()
    assert not manners.refused(
        CHAT, Quirks(room=""), 400, "response_format and temperature", explained=False
    )
    assert "temperature" not in Quirks().arguments(CHAT)
    assert "response_format" not in Quirks().arguments(CHAT)


def test_a_request_is_shaped_by_the_quirks() -> None:
    """Each argument under its name, or not at all; without a system role the user's turn begins with it."""
    whole = Quirks().arguments(ASK)
    assert (whole["max_tokens"], whole["temperature"]) == (8000, 0)
    assert whole["response_format"]["json_schema"]["strict"] is True  # type: ignore[index]
    assert Quirks(format=Format.JSON_OBJECT).arguments(ASK)["response_format"] == {
        "type": "json_object"
    }
    assert Quirks(room="max_completion_tokens").arguments(ASK)["max_completion_tokens"] == 8000
    bare = Quirks(Format.NONE, "", temperature=False, system=False).arguments(ASK)
    assert bare == {"messages": [{"role": "user", "content": "Be short.\n\nhi"}]}
