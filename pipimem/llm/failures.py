"""Errors of litellm translated into ours, which say what to do."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Callable, Iterator, Sequence
from contextlib import aclosing, contextmanager
from contextvars import ContextVar
from dataclasses import dataclass
from email.utils import parsedate_to_datetime
from functools import wraps
from types import ModuleType

from pipimem.errors import ModelUnavailable, SidecarError, described
from pipimem.llm.request import ContextOverflow, KeyRefused, ModelBusy
from pipimem.text.patterns import Pattern

# The longest answer we ask for has 40 KB, the vectors of a request some 4 MB.
_LIMIT_BYTES = 16 * 1024 * 1024
_INSTALLED = "_pipimem_limited"


class BodyTooLong(Exception):
    """The body is longer than its limit; httpx passes it on to litellm, which wraps it."""


@dataclass(slots=True)
class Body:
    """How many bytes were read of the responses to one request."""

    limit: int
    read: int = 0

    @property
    def is_cut(self) -> bool:
        """Whether the body was longer than its limit."""
        return self.read > self.limit

    def counted(self, piece: bytes) -> bytes:
        """Returns the piece; raises `BodyTooLong` once more than `limit` bytes were read."""
        self.read += len(piece)
        if self.is_cut:
            raise BodyTooLong(f"more than {self.limit} bytes")
        return piece


_CURRENT: ContextVar[Body | None] = ContextVar("pipimem_body", default=None)


@contextmanager
def limited_body(limit: int = _LIMIT_BYTES) -> Iterator[Body]:
    """Limits what httpx reads inside the context to `limit` bytes, in this task and its threads."""
    body = Body(limit)
    token = _CURRENT.set(body)
    try:
        yield body
    finally:
        _CURRENT.reset(token)


def install(httpx: ModuleType) -> None:
    """Makes `httpx.Response` count what it reads; once a process, further calls do nothing."""
    response = httpx.Response
    if getattr(response, _INSTALLED, False):
        return
    response.iter_bytes = _limited(response.iter_bytes)
    response.aiter_bytes = _limited_async(response.aiter_bytes)
    setattr(response, _INSTALLED, True)


def _counted(piece: bytes) -> bytes:
    body = _CURRENT.get()
    return piece if body is None else body.counted(piece)


def _limited(iter_bytes: Callable[..., Iterator[bytes]]) -> Callable[..., Iterator[bytes]]:
    @wraps(iter_bytes)
    def read(response: object, chunk_size: int | None = None) -> Iterator[bytes]:
        for piece in iter_bytes(response, chunk_size):
            yield _counted(piece)

    return read


def _limited_async(
    aiter_bytes: Callable[..., AsyncGenerator[bytes]],
) -> Callable[..., AsyncGenerator[bytes]]:
    @wraps(aiter_bytes)
    async def read(response: object, chunk_size: int | None = None) -> AsyncGenerator[bytes]:
        async with aclosing(aiter_bytes(response, chunk_size)) as pieces:
            async for piece in pieces:
                yield _counted(piece)

    return read


_MOST_CHARS = 200
# Client errors that may pass by themselves; every server error may, except "not implemented" (501).
_PASSING = frozenset({408, 409, 425})

# How providers say that a prompt is too long.
_TOO_LONG = Pattern(
    r"context[_ ](?:length|window|size)|prompt (?:is )?too long|input (?:is )?too long"
    r"|too large for model|maximum (?:prompt|input|context|number of (?:input )?tokens)"
    r"|range of input length|input token count"
    r"|(?:exceed\w*|over) (?:the )?(?:model'?s? )?(?:max\w* )?(?:token|context|input)\w*"
    r" ?(?:limit|length)?"
    r"|reduce the (?:length|number)|`inputs` tokens|超长|上下文长度|最大长度|token ?数?超",
    re.IGNORECASE,
)
# With 429: one prompt is larger than a whole minute's allowance. To wait would not help.
_TOO_LARGE = Pattern(r"request too large|tokens must be reduced", re.IGNORECASE)
_NO_CREDIT = Pattern(
    r"insufficient[_ ](?:quota|balance|credits?|funds)|current quota|billing|arrear|overdue"
    r"|no credit|欠费|余额不足",
    re.IGNORECASE,
)
_NO_MODEL = Pattern(
    r"model[_ ]not[_ ]found|no such model|unknown model|invalid model"
    r"|model .{0,60}(?:not exist|not found)|模型不存在",
    re.IGNORECASE,
)
# How the providers' libraries say that they sent nothing, for want of a key.
_NO_KEY = Pattern(r"missing credentials|api[_ ]?key.{0,40}must be set", re.IGNORECASE)
_KEY_VARIABLE = re.compile(r"\b[A-Z][A-Z0-9_]*_API_KEY\b")
# Errors of httpx by name: nobody was reached.
_NO_CONNECTION = frozenset({"ConnectError", "ConnectTimeout"})
_FILTERED = Pattern(
    r"content[_ ](?:policy|filter|management)|data_inspection|inappropriate content|敏感|违规",
    re.IGNORECASE,
)


class RequestRefused(ModelUnavailable):
    """The provider refused the request, and its message does not say what else to try."""


@contextmanager
def translated_errors(litellm: ModuleType, model: str) -> Iterator[None]:
    """Around one request to a model: its body is limited, and its errors become `SidecarError`s."""
    try:
        with limited_body() as body:
            yield
    except litellm.openai.OpenAIError as reason:
        if body.is_cut:
            raise _body_too_long(model, body) from reason
        raise translated(reason, model, litellm) from reason


def status_of(reason: BaseException) -> int:
    """The HTTP status an error came with, else 0; litellm's own class may say another one."""
    status = getattr(reason, "status_code", None)
    return status if isinstance(status, int) else 0


def message_of(reason: BaseException) -> str:
    """The provider's message, without the traceback that litellm appends."""
    return described(reason).partition("Traceback (most recent call last)")[0]


def translated(reason: Exception, model: str, litellm: ModuleType) -> SidecarError:
    """One of litellm's errors as one of ours; what may pass by itself is a `ModelBusy`."""
    status, message, first_line = status_of(reason), message_of(reason), _first_line(reason)
    is_too_long = isinstance(reason, litellm.exceptions.ContextWindowExceededError)
    if is_too_long or _is_too_long(status, message):
        return ContextOverflow(
            f"The prompt is longer than {model} can read: take a smaller window."
        )
    if "provider not provided" in message.casefold():
        return ModelUnavailable(
            f"{model!r} names no provider: write provider/model, such as openai/gpt-5-mini."
        )
    if _is_out_of_credit(status, message):
        return ModelUnavailable(f"The account of {model} has no credit left ({status})", first_line)
    if status in {401, 403}:
        return _key_refused(reason, model, litellm, status)
    if _is_unknown_model(status, message):
        return ModelUnavailable(
            f"The provider has no model {model!r} ({status}): check the name, "
            "and the address (OPENAI_API_BASE …) if it is served elsewhere."
        )
    if status == 429:
        return ModelBusy(f"{model} asks to slow down (429)", retry_after(reason), first_line)
    is_filtered = isinstance(reason, litellm.exceptions.ContentPolicyViolationError)
    if is_filtered or _is_filtered(status, message):
        return ModelUnavailable(f"The provider's filter refused the talk ({status})", first_line)
    return _unexplained(reason, model, litellm, status)


def _body_too_long(model: str, body: Body) -> ModelUnavailable:
    return ModelUnavailable(
        f"{model} answered with more than {body.limit // 1024 // 1024} MB, which is no answer: the "
        "rest was not read. Check the address it is served at (OPENAI_API_BASE …)."
    )


def _is_too_long(status: int, message: str) -> bool:
    match status:
        case 413:
            return True
        case 429:
            return _TOO_LARGE().search(message) is not None
        case 400 | 422 | 500:
            return _TOO_LONG().search(message) is not None
        case _:
            return False


def _is_out_of_credit(status: int, message: str) -> bool:
    if status == 402:
        return True
    return status in {400, 403, 429} and _NO_CREDIT().search(message) is not None


def _is_unknown_model(status: int, message: str) -> bool:
    return status == 404 or (status == 400 and _NO_MODEL().search(message) is not None)


def _is_filtered(status: int, message: str) -> bool:
    return status == 400 and _FILTERED().search(message) is not None


def _unexplained(reason: Exception, model: str, litellm: ModuleType, status: int) -> SidecarError:
    message = message_of(reason)
    if _NO_KEY().search(message):
        return _no_key(model, _missing_keys(model, litellm) or _KEY_VARIABLE.findall(message)[:1])
    is_final = 400 <= status < 500 and status not in _PASSING
    if is_final or status == 501:
        return RequestRefused(f"{model} refused the request ({status})", _first_line(reason))
    is_unreached = any(type(cause).__name__ in _NO_CONNECTION for cause in causes(reason))
    if is_unreached or "connect" in message.casefold():
        return ModelBusy(
            f"No connection to {model}: check the network, and the provider's address "
            "(OPENAI_API_BASE …)."
        )
    return ModelBusy(f"{model} failed ({status})", retry_after(reason), _first_line(reason))


def retry_after(reason: Exception) -> float | None:
    """The seconds a provider asks us to wait, given in milliseconds, in seconds or as a date.

    `None` where it says nothing, or its date cannot be compared with the `Date` of its answer.
    """
    headers = getattr(getattr(reason, "response", None), "headers", None) or {}
    headers = {**(getattr(reason, "litellm_response_headers", None) or {}), **headers}
    values = {str(name).lower(): str(value).strip() for name, value in headers.items()}
    for name, unit in (("retry-after-ms", 0.001), ("retry-after", 1.0)):
        if re.fullmatch(r"\d{1,9}(?:\.\d+)?", values.get(name, "")):
            return float(values[name]) * unit
    try:
        # Counted from the answer's own Date: the provider's clock may differ from ours.
        until = parsedate_to_datetime(values.get("retry-after", ""))
        now = parsedate_to_datetime(values.get("date", ""))
        return max(0.0, (until - now).total_seconds())
    except (ValueError, TypeError):  # absent, no date, or only one of them with a zone
        return None


def _key_refused(reason: Exception, model: str, litellm: ModuleType, status: int) -> KeyRefused:
    missing = _missing_keys(model, litellm)
    if missing:
        return _no_key(model, missing)
    return KeyRefused(
        f"{model} refused the key ({status}), check the provider's key, such as OPENAI_API_KEY",
        _first_line(reason),
    )


def _no_key(model: str, variables: Sequence[str]) -> KeyRefused:
    names = " and ".join(variables) or "the provider's key"
    return KeyRefused(f"No key for {model}: set {names}, or take the model offline.")


def causes(error: BaseException) -> list[BaseException]:
    """The errors that led to one, itself included, newest first; a circle of errors ends."""
    found = [error]
    cause = error.__cause__ or error.__context__
    while cause is not None and cause not in found:
        found.append(cause)
        cause = cause.__cause__ or cause.__context__
    return found


def _missing_keys(model: str, litellm: ModuleType) -> list[str]:
    found: list[str] = litellm.validate_environment(model).get("missing_keys", [])
    return found


def _first_line(reason: Exception) -> str:
    # litellm puts its class in front and advice behind.
    lines = message_of(reason).strip().splitlines() or [type(reason).__name__]
    return lines[0].rpartition("Exception - ")[2][:_MOST_CHARS]
