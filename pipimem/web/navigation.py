"""Which pages there are, in the order in which every page leads to them."""

from __future__ import annotations

# The name is that of the text that stands for it in `[page]` of data/web/*.toml.
COSTS = ("costs", "/costs")
WORKSPACE_PAGES = (("channels", "/"), COSTS, ("health", "/health"))
CHANNEL_PAGES = (
    ("notes", "/channel"),
    ("changes", "/changes"),
    ("talk", "/talk"),
    ("playground", "/playground"),
)
