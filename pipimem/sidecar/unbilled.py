"""Whether a failed request can have cost anything: only what surely did not is let off."""

from __future__ import annotations

from collections.abc import Iterator

from pipimem.errors import ModelUnavailable
from pipimem.sidecar.door import ModelBusy

# By name, so that httpx stays behind the door: the server answered with an error status, or was never reached.
# Anything else (a broken or unreadable answer, a timeout) may stand on the provider's bill.
_NOT_SERVED = frozenset({"HTTPStatusError", "ConnectError", "ConnectTimeout", "PoolTimeout"})


def surely_unbilled(error: BaseException) -> bool:
    """The provider refused the request or never had it."""
    if not isinstance(error, ModelUnavailable):
        return False
    # What is no `ModelBusy` was refused in so many words: the key, the model's name, the request itself.
    return not isinstance(error, ModelBusy) or any(type(cause).__name__ in _NOT_SERVED for cause in _causes(error))


def _causes(error: BaseException) -> Iterator[BaseException]:
    seen: set[int] = set()
    while (cause := error.__cause__ or error.__context__) is not None and id(cause) not in seen:
        seen.add(id(cause))
        yield cause
        error = cause
