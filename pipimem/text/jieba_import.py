"""Imports jieba's tokenizer without `pkg_resources` (70 ms, and warnings of its own) and without a line on stderr.

The import system runs this body once, whoever asks first. While it runs, `pkg_resources` looks as if it were not
installed; jieba then opens its files with `open`. Afterwards others can import it as ever.
"""

from __future__ import annotations

import sys
import warnings

_hidden = "pkg_resources" not in sys.modules
if _hidden:
    sys.modules["pkg_resources"] = None  # type: ignore[assignment]  # what makes an import fail
try:
    with (
        warnings.catch_warnings()
    ):  # Python 3.12 complains of jieba's patterns where it has to compile them
        warnings.simplefilter("ignore")
        from jieba import Tokenizer
finally:
    if _hidden:
        del sys.modules["pkg_resources"]

__all__ = ["Tokenizer"]
