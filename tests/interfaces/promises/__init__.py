"""The promises at the HTTP servers, each a process of its own; the others are in tests/promises."""
