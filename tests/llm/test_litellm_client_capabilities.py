"""How a model wants to be asked, learnt from its refusals."""

from __future__ import annotations

from msgspec.structs import replace
from pipimem.llm.litellm_client import AnswerFormat, Capabilities, KnownCapabilities
from pipimem.llm.request import AnswerSchema, ModelRequest, PromptMessage

from tests.cases import each

TURNS = (PromptMessage("system", "Be short."), PromptMessage("user", "hi"))
ASK = ModelRequest("openai/x", TURNS, 20, 8000, AnswerSchema("a", {"type": "object"}))
CHAT = replace(ASK, schema=None)


@each(
    ("words", "learnt"),
    [
        (
            "'response_format' of type 'json_schema' is not supported",
            Capabilities(format=AnswerFormat.JSON_OBJECT),
        ),
        (
            "This model does not support structured outputs.",
            Capabilities(format=AnswerFormat.JSON_OBJECT),
        ),
        (
            "Invalid schema for function 'a': 'maxLength' is not permitted",
            Capabilities(format=AnswerFormat.JSON_OBJECT),
        ),
        ("guided_json is disabled", Capabilities(format=AnswerFormat.JSON_OBJECT)),
        (
            "tool_choice is incompatible with thinking",
            Capabilities(format=AnswerFormat.JSON_OBJECT),
        ),
        ("该模型不支持结构化输出", Capabilities(format=AnswerFormat.JSON_OBJECT)),
        (
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
            Capabilities(limit="max_completion_tokens"),
        ),
        ("Unrecognized request argument supplied: max_tokens", Capabilities(limit="")),
        (
            "Requested 9100 tokens (1100 in the messages, 8000 in the completion)",
            Capabilities(limit=""),
        ),
        ("'temperature' does not support 0 with this model", Capabilities(temperature=False)),
        ("System role not supported", Capabilities(system=False)),
        (
            "'messages[0].role' does not support 'system' with this model.",
            Capabilities(system=False),
        ),
    ],
)
def test_what_a_refusal_names_is_left_out(words: str, learnt: Capabilities) -> None:
    """One thing at a time, and it is known from then on."""
    manners = KnownCapabilities()
    assert manners.refused(ASK, Capabilities(), 400, words, explained=False)
    assert manners.of("openai/x") == learnt
    assert manners.of("openai/y") == Capabilities()


def test_another_name_for_the_room_may_be_refused_too() -> None:
    """First the other name, then none."""
    manners = KnownCapabilities()
    words = "max_tokens is unknown, so is max_completion_tokens"
    assert manners.refused(ASK, manners.of(ASK.model), 400, words, explained=False)
    assert manners.refused(ASK, manners.of(ASK.model), 400, words, explained=False)
    assert manners.of(ASK.model) == Capabilities(limit="")


def test_a_refusal_without_a_cause_is_met_with_less_and_less() -> None:
    """What helps is known; what did not help is not remembered."""
    manners, tried = KnownCapabilities(), []
    while manners.refused(ASK, manners.of(ASK.model), 400, "Bad request", explained=False):
        tried.append(manners.of(ASK.model))
    assert tried == [
        Capabilities(format=AnswerFormat.JSON_OBJECT),
        Capabilities(format=AnswerFormat.NONE),
        Capabilities(format=AnswerFormat.NONE, limit="", temperature=False),
    ]
    assert manners.of(ASK.model) == Capabilities()
    manners.refused(ASK, Capabilities(), 400, "Bad request", explained=False)
    manners.accepted(ASK.model)
    assert manners.of(ASK.model) == Capabilities(format=AnswerFormat.JSON_OBJECT)


def test_what_has_another_cause_is_not_guessed_about() -> None:
    """A refused key or a missing model is not asked again in other ways, nor is a server that
    fell over.
    """
    manners = KnownCapabilities()
    assert not manners.refused(ASK, Capabilities(), 401, "Incorrect API key", explained=True)
    assert not manners.refused(
        ASK, Capabilities(), 503, "json_schema workers are overloaded", explained=True
    )
    assert manners.of(ASK.model) == Capabilities()


def test_free_text_is_not_asked_for_less_structure() -> None:
    """A chat sends no format and no temperature: there is nothing of them to leave out."""
    manners = KnownCapabilities()
    assert not manners.refused(
        CHAT, Capabilities(limit=""), 400, "response_format and temperature", explained=False
    )
    assert "temperature" not in Capabilities().arguments(CHAT)
    assert "response_format" not in Capabilities().arguments(CHAT)


def test_a_request_is_shaped_by_the_quirks() -> None:
    """Each argument under its name, or not at all; without a system role the user's turn begins
    with it.
    """
    whole = Capabilities().arguments(ASK)
    assert (whole["max_tokens"], whole["temperature"]) == (8000, 0)
    assert whole["response_format"]["json_schema"]["strict"] is True  # type: ignore[index]
    assert Capabilities(format=AnswerFormat.JSON_OBJECT).arguments(ASK)["response_format"] == {
        "type": "json_object"
    }
    assert (
        Capabilities(limit="max_completion_tokens").arguments(ASK)["max_completion_tokens"] == 8000
    )
    bare = Capabilities(AnswerFormat.NONE, "", temperature=False, system=False).arguments(ASK)
    assert bare == {"messages": [{"role": "user", "content": "Be short.\n\nhi"}]}
