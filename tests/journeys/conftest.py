"""The workspaces and channels of tests/store, and that of README."""

from tests.journeys.readme import readme_folder
from tests.store.conftest import add, channel, now, workspace

__all__ = ["add", "channel", "now", "readme_folder", "workspace"]
