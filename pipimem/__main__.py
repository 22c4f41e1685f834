"""`python -m pipimem` is the command line."""

from __future__ import annotations

from pipimem.cli import main

if __name__ == "__main__":
    main()
