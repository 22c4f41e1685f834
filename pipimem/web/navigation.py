"""Which pages there are, in the order in which every page leads to them."""

from __future__ import annotations

# The name is that of the text that stands for it in `[page]` of data/web/*.toml.
WORKSPACE_PAGES = (("channels", "/"),)
CHANNEL_PAGES = (("notes", "/channel"), ("changes", "/changes"))
