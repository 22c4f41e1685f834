"""Imports that need an extra."""

from __future__ import annotations

import pytest
from pipimem.cli.extras import needing_extra
from pipimem.cli.output import Failed


def test_a_missing_library_is_said_with_what_brings_it() -> None:
    """Also where a part of it is missing."""
    sentence = r"^the view needs it: pip install 'pipimem\[ui\]'$"
    extra = needing_extra("ui", ("no_such_library",), "the view needs it")
    with pytest.raises(Failed, match=sentence), extra:
        import no_such_library.part  # noqa: F401


def test_another_missing_module_is_a_fault_of_ours() -> None:
    """It is raised as it is: to install the extra would not help."""
    extra = needing_extra("ui", ("no_such_library",), "the view needs it")
    with pytest.raises(ModuleNotFoundError, match="no_such_module"), extra:
        import no_such_module  # noqa: F401
