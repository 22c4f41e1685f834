"""litellm's response as a `Completion`, whatever of it is missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pipimem.sidecar.door import Completion

if TYPE_CHECKING:
    from litellm import ModelResponse
    from litellm.types.utils import Message


def completion(response: ModelResponse) -> Completion:
    """What came back; without choices or words it is empty, but what it cost stands in it all the same."""
    choice = response.choices[0] if response.choices else None
    message = getattr(choice, "message", None)
    usage = getattr(response, "usage", None)
    details = getattr(usage, "prompt_tokens_details", None)
    return Completion(
        text=_text(message),
        finish_reason=getattr(choice, "finish_reason", None) or "stop",
        tokens_in=getattr(usage, "prompt_tokens", 0) or 0,
        tokens_out=getattr(usage, "completion_tokens", 0) or 0,
        tokens_cached=getattr(details, "cached_tokens", 0) or 0,
        cost=cost_of(response),
        refusal=_refusal(message),
    )


def _text(message: Message | None) -> str:
    """The content; where there is none, the arguments of a call of a tool that nobody offered.

    Some servers fulfil a wish for JSON by a tool of their own. Thinking (`reasoning_content`) is never an answer.
    """
    if message is None:
        return ""
    match message.content, message.tool_calls:
        case str(text), _ if text.strip():
            return text
        case _, [only]:
            arguments = getattr(getattr(only, "function", None), "arguments", None)
            return arguments if isinstance(arguments, str) else ""
        case _:
            return ""


def _refusal(message: Message | None) -> str:
    said = (getattr(message, "provider_specific_fields", None) or {}).get("refusal")
    return said if isinstance(said, str) else ""


def cost_of(response: object) -> float | None:
    """US dollars by litellm's own list, `None` where it has no price."""
    # litellm leaves it out for a model it has no price of: unknown, which is not free.
    cost = getattr(response, "_hidden_params", {}).get("response_cost")
    return float(cost) if cost is not None else None
