"""The workspaces and channels of tests/store."""

from tests.store.conftest import add, channel, now, workspace

__all__ = ["add", "channel", "now", "workspace"]
