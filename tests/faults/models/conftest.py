"""Faults are about answers: the seconds that litellm takes to load come before."""

from __future__ import annotations

import warnings

import pytest
from pipimem.llm.litellm_client import load_litellm


@pytest.fixture(scope="package", autouse=True)
def litellm_is_loaded() -> None:
    """Loaded once for all faults, and not within anybody's deadline."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # its own models warn while they are built
        load_litellm()
