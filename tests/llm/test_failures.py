"""litellm's errors in our words: what may pass, what never will, and how long to wait."""

from __future__ import annotations

import httpx
import pytest
from pipimem.errors import ModelUnavailable, SidecarError
from pipimem.llm.failures import RequestRefused, retry_after, translated
from pipimem.llm.litellm_client import load_litellm
from pipimem.llm.request import ContextOverflow, KeyRefused, ModelBusy

from tests.cases import each, table


def failed(status: int, words: str, **headers: str) -> Exception:
    """An error as litellm raises it for a status and a provider's words."""
    litellm = load_litellm()
    response = httpx.Response(status, headers=headers, request=httpx.Request("POST", "http://test"))
    error = litellm.exceptions.APIError(status, f"OpenAIException - {words}", "openai", "openai/x")
    error.response = response
    return error  # type: ignore[no-any-return]


def told(status: int, words: str) -> SidecarError:
    return translated(failed(status, words), "openai/x", load_litellm())


@each(
    "words",
    table(__file__, "a_prompt_too_long_is_known_by_many_words"),
)
def test_a_prompt_too_long_is_known_by_many_words(words: str) -> None:
    """Whatever the provider calls it, a smaller window is what helps."""
    assert isinstance(told(400, words), ContextOverflow)


def test_a_minute_too_small_for_the_prompt_is_no_wait() -> None:
    """429 for one request larger than the minute's allowance never passes; 429 for many of them
    does.
    """
    large = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 40000."
    assert isinstance(told(429, large), ContextOverflow)
    assert isinstance(
        told(429, "Requests have exceeded token rate limit of your current tier."), ModelBusy
    )
    assert isinstance(told(413, "Payload too large"), ContextOverflow)


@each(
    ("status", "words", "kind", "says"),
    [
        (500, "oops", ModelBusy, r"failed \(500\)"),
        (500, "overloaded input queue", ModelBusy, r"failed \(500\)"),
        (529, "Overloaded", ModelBusy, r"failed \(529\)"),
        (408, "timed out", ModelBusy, r"failed \(408\)"),
        (409, "conflict", ModelBusy, r"failed \(409\)"),
        (501, "not implemented", RequestRefused, r"\(501\)"),
        (422, "参数错误", RequestRefused, r"\(422\)"),
        (402, "Insufficient Balance", ModelUnavailable, "no credit"),
        (
            429,
            "You exceeded your current quota, please check your plan",
            ModelUnavailable,
            "no credit",
        ),
        (400, "账户欠费", ModelUnavailable, "no credit"),
        (400, "The model `x` does not exist", ModelUnavailable, "no model"),
        (400, "data_inspection_failed", ModelUnavailable, "filter"),
    ],
)
def test_a_status_and_its_words_decide(
    status: int, words: str, kind: type[SidecarError], says: str
) -> None:
    """What passes by itself is busy, what has a cause says it, the rest is refused."""
    error = told(status, words)
    assert type(error) is kind
    with pytest.raises(kind, match=says):
        raise error


DATE = "Wed, 04 Mar 2026 09:30:00 GMT"


@each(
    ("headers", "seconds"),
    [
        ({"retry-after": "7"}, 7),
        ({"retry-after": "0.5"}, 0.5),
        ({"retry-after-ms": "250", "retry-after": "1"}, 0.25),
        ({"retry-after": "Wed, 04 Mar 2026 09:31:30 GMT", "date": DATE}, 90),
        ({"retry-after": "Wed, 04 Mar 2026 09:00:00 GMT", "date": DATE}, 0),
        ({"retry-after": "Wed, 04 Mar 2026 09:31:30 GMT"}, None),
        ({"retry-after": "soon", "date": DATE}, None),
        ({"retry-after": "-3", "date": DATE}, None),
        ({"retry-after": "9" * 400}, None),
        ({}, None),
    ],
)
def test_the_wait_a_provider_asks_for(headers: dict[str, str], seconds: float | None) -> None:
    """Seconds, milliseconds, or a date counted from the answer's own; nonsense is no wait of
    theirs.
    """
    assert retry_after(failed(429, "slow", **headers)) == seconds


def test_a_missing_key_is_no_failure_of_the_server() -> None:
    """The variable is named, also one that litellm's own list does not know."""
    words = "Missing credentials. Please pass an `api_key`, or set the `ZAI_API_KEY` variable."
    error = told(500, words)
    assert isinstance(error, KeyRefused)
    assert "set OPENAI_API_KEY" in str(error) or "set ZAI_API_KEY" in str(error)
    assert "500" not in str(error)


def test_nobody_reached_is_no_failure_of_the_server() -> None:
    """A name that no resolver knows came as `failed (500)`."""
    error = failed(500, "[Errno -2] Name or service not known")
    error.__cause__ = httpx.ConnectError("[Errno -2] Name or service not known")
    assert "No connection to openai/x" in str(translated(error, "openai/x", load_litellm()))
