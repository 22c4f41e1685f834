"""What litellm raises, as errors that say what to do."""

from __future__ import annotations

from types import ModuleType

from pipimem.errors import ModelTimeout, ModelUnavailable, SidecarError
from pipimem.sidecar.door import ContextOverflow, ModelBusy

_MOST_CHARS = 200


def translated(reason: Exception, model: str, litellm: ModuleType) -> SidecarError:
    """One of litellm's errors as one of ours; what may pass by itself is a `ModelBusy`."""
    errors = litellm.exceptions
    match reason:
        case errors.Timeout():
            return ModelTimeout(f"{model} gave no answer in time.")
        case errors.ContextWindowExceededError():
            return ContextOverflow(f"The prompt is longer than {model} can read: take a smaller window.")
        case errors.AuthenticationError() | errors.PermissionDeniedError():
            return _refused_key(model, litellm)
        case errors.NotFoundError():
            return ModelUnavailable(
                f"The provider has no model {model!r} (404): check the name, "
                "and the address (OPENAI_API_BASE …) if it is served elsewhere."
            )
        case errors.RateLimitError():
            return ModelBusy(f"{model} asks to slow down (429): {_first_line(reason)}", _retry_after(reason))
        case errors.BadRequestError() if "provider not provided" in str(reason).casefold():
            return ModelUnavailable(f"{model!r} names no provider: write provider/model, such as openai/gpt-5-mini.")
        case errors.BadRequestError():
            return ModelUnavailable(f"{model} refused the request (400): {_first_line(reason)}")
    if _missing_keys(model, litellm) and "credential" in str(reason).casefold():
        return _refused_key(model, litellm)
    if "connect" in str(reason).casefold():
        return ModelBusy(
            f"No connection to {model}: check the network, and the provider's address (OPENAI_API_BASE …)."
        )
    return ModelBusy(f"{model} failed: {_first_line(reason)}", _retry_after(reason))


def _refused_key(model: str, litellm: ModuleType) -> ModelUnavailable:
    if missing := _missing_keys(model, litellm):
        return ModelUnavailable(f"No key for {model}: set {' and '.join(missing)}, or take the model offline.")
    return ModelUnavailable(f"{model} refused the key (401): check the provider's key, such as OPENAI_API_KEY.")


def _missing_keys(model: str, litellm: ModuleType) -> list[str]:
    found: list[str] = litellm.validate_environment(model).get("missing_keys", [])
    return found


def _retry_after(reason: Exception) -> float | None:
    headers = getattr(getattr(reason, "response", None), "headers", None) or {}
    headers = {**(getattr(reason, "litellm_response_headers", None) or {}), **headers}
    try:
        return max(0.0, float(headers.get("retry-after", "")))
    except ValueError:
        return None  # absent, or a date: our own backoff will do


def _first_line(reason: Exception) -> str:
    # litellm puts its class in front and advice behind.
    text = str(reason).strip().splitlines()[0] if str(reason).strip() else type(reason).__name__
    return text.rpartition("Exception - ")[2][:_MOST_CHARS]
