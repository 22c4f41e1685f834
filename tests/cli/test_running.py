"""A command on the event loop."""

from __future__ import annotations

import pytest
from pipimem.cli.running import run
from pipimem.errors import ChannelError


def test_an_error_alone_in_a_group_is_raised_as_itself() -> None:
    """The event loop wraps errors in groups; whoever reads the sentence should not see that."""

    async def fails() -> None:
        raise ExceptionGroup("tasks", [ExceptionGroup("inner", [ChannelError("no such channel")])])

    with pytest.raises(ChannelError, match="no such channel"):
        run(fails)
