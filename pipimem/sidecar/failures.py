"""What litellm raises, as errors that say what to do."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from types import ModuleType

from pipimem.errors import ModelUnavailable, SidecarError
from pipimem.sidecar.body_limit import Body
from pipimem.sidecar.door import ContextOverflow, KeyRefused, ModelBusy
from pipimem.text.patterns import Pattern

_MOST_CHARS = 200
# Client errors that may pass by themselves; every server error may, but for "I cannot do that" (501).
_PASSING = frozenset({408, 409, 425})

# How providers say that a prompt is too long.
_TOO_LONG = Pattern(
    r"context[_ ](?:length|window|size)|prompt (?:is )?too long|input (?:is )?too long|too large for model"
    r"|maximum (?:prompt|input|context|number of (?:input )?tokens)|range of input length|input token count"
    r"|(?:exceed\w*|over) (?:the )?(?:model'?s? )?(?:max\w* )?(?:token|context|input)\w* ?(?:limit|length)?"
    r"|reduce the (?:length|number)|`inputs` tokens|超长|上下文长度|最大长度|token ?数?超",
    re.IGNORECASE,
)
# With 429: one prompt is larger than a whole minute's allowance. To wait would not help.
_TOO_LARGE = Pattern(r"request too large|tokens must be reduced", re.IGNORECASE)
_NO_CREDIT = Pattern(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|current quota|billing|arrear|overdue|no credit|欠费|余额不足",
    re.IGNORECASE,
)
_NO_MODEL = Pattern(
    r"model[_ ]not[_ ]found|no such model|unknown model|invalid model|model .{0,60}(?:not exist|not found)|模型不存在",
    re.IGNORECASE,
)
_FILTERED = Pattern(
    r"content[_ ](?:policy|filter|management)|data_inspection|inappropriate content|敏感|违规",
    re.IGNORECASE,
)


class RequestRefused(ModelUnavailable):
    """The provider refused the request, and its words do not say what else to try."""


def status_of(reason: Exception) -> int:
    """The HTTP status an error came with; litellm's own class may say another one."""
    status = getattr(reason, "status_code", None)
    return status if isinstance(status, int) else 0


def words_of(reason: Exception) -> str:
    """What the provider said, without what litellm put behind it."""
    return str(reason).partition("Traceback (most recent call last)")[0]


def translated(reason: Exception, model: str, litellm: ModuleType) -> SidecarError:
    """One of litellm's errors as one of ours; what may pass by itself is a `ModelBusy`."""
    errors, status, words = litellm.exceptions, status_of(reason), words_of(reason)
    if isinstance(reason, errors.ContextWindowExceededError) or _is_too_long(status, words):
        return ContextOverflow(
            f"The prompt is longer than {model} can read: take a smaller window."
        )
    if "provider not provided" in words.casefold():
        return ModelUnavailable(
            f"{model!r} names no provider: write provider/model, such as openai/gpt-5-mini."
        )
    if status == 402 or (status in {400, 403, 429} and _NO_CREDIT().search(words)):
        return ModelUnavailable(
            f"The account of {model} has no credit left ({status}): {_first_line(reason)}"
        )
    if status in {401, 403}:
        return _refused_key(reason, model, litellm, status)
    if status == 404 or (status == 400 and _NO_MODEL().search(words)):
        return ModelUnavailable(
            f"The provider has no model {model!r} ({status}): check the name, "
            "and the address (OPENAI_API_BASE …) if it is served elsewhere."
        )
    if status == 429:
        return ModelBusy(
            f"{model} asks to slow down (429): {_first_line(reason)}", retry_after(reason)
        )
    if isinstance(reason, errors.ContentPolicyViolationError) or (
        status == 400 and _FILTERED().search(words)
    ):
        return ModelUnavailable(
            f"The provider's filter refused the talk ({status}): {_first_line(reason)}"
        )
    return _unexplained(reason, model, litellm, status)


def too_long(model: str, body: Body) -> ModelUnavailable:
    """A body that was cut at its bound."""
    return ModelUnavailable(
        f"{model} answered with more than {body.most // 1024 // 1024} MB, which is no answer: the rest was not read. "
        "Check the address it is served at (OPENAI_API_BASE …)."
    )


def _is_too_long(status: int, words: str) -> bool:
    match status:
        case 413:
            return True
        case 429:
            return _TOO_LARGE().search(words) is not None
        case 400 | 422 | 500:
            return _TOO_LONG().search(words) is not None
        case _:
            return False


def _unexplained(reason: Exception, model: str, litellm: ModuleType, status: int) -> SidecarError:
    words = words_of(reason).casefold()
    if _missing_keys(model, litellm) and "credential" in words:
        return _refused_key(reason, model, litellm, 401)
    if status == 501 or (400 <= status < 500 and status not in _PASSING):
        return RequestRefused(f"{model} refused the request ({status}): {_first_line(reason)}")
    if "connect" in words:
        return ModelBusy(
            f"No connection to {model}: check the network, and the provider's address (OPENAI_API_BASE …)."
        )
    return ModelBusy(f"{model} failed ({status}): {_first_line(reason)}", retry_after(reason))


def retry_after(reason: Exception) -> float | None:
    """The seconds a provider asks us to wait, also where it says so in milliseconds or as a date."""
    headers = getattr(getattr(reason, "response", None), "headers", None) or {}
    headers = {**(getattr(reason, "litellm_response_headers", None) or {}), **headers}
    told = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if re.fullmatch(r"\d{1,9}(?:\.\d+)?", told.get(name, "")):
            return float(told[name]) * unit
    try:
        # Counted from the answer's own Date: the provider's clock may be another one than ours.
        until, now = (
            parsedate_to_datetime(told.get("retry-after", "")),
            parsedate_to_datetime(told.get("date", "")),
        )
        return max(0.0, (until - now).total_seconds())
    except (
        ValueError,
        TypeError,
    ):  # absent, no date, or only one of them with a zone: our own backoff will do
        return None


def _refused_key(reason: Exception, model: str, litellm: ModuleType, status: int) -> KeyRefused:
    if missing := _missing_keys(model, litellm):
        return KeyRefused(
            f"No key for {model}: set {' and '.join(missing)}, or take the model offline."
        )
    return KeyRefused(
        f"{model} refused the key ({status}): check the provider's key, such as OPENAI_API_KEY. {_first_line(reason)}"
    )


def _missing_keys(model: str, litellm: ModuleType) -> list[str]:
    found: list[str] = litellm.validate_environment(model).get("missing_keys", [])
    return found


def _first_line(reason: Exception) -> str:
    # litellm puts its class in front and advice behind.
    text = words_of(reason).strip()
    text = text.splitlines()[0] if text else type(reason).__name__
    return text.rpartition("Exception - ")[2][:_MOST_CHARS]
