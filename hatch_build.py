"""Compiles the thesaurus for the wheel: hatchling runs this hook in the source tree."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ThesaurusHook(BuildHookInterface[Any]):
    """Puts `data/synonyms/compiled` into the wheel.

    An editable install reads the checkout, which compiles for itself.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the compiled thesaurus into a temporary folder, from where hatchling takes it."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from pipimem import resources
        from pipimem.recall.thesaurus import compiled
        from pipimem.text.words.index_words import Words
        from pipimem.text.words.segmentation import Segmenter

        self._folder = tempfile.TemporaryDirectory()
        made = Path(self._folder.name) / "compiled"
        made.write_text(compiled(resources.thesaurus_texts(), Words(Segmenter())), encoding="utf-8")
        build_data["force_include"][str(made)] = "pipimem/data/synonyms/compiled"

    def finalize(self, version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Take the temporary folder away."""
        if version != "editable":
            self._folder.cleanup()
