"""Compiles the thesaurus for the wheel: hatchling runs this hook in the source tree."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface


class ThesaurusHook(BuildHookInterface[Any]):
    """Puts `thesaurus/compiled` into the wheel; an editable install reads the checkout, which compiles for itself."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write the compiled thesaurus into a temporary folder, from where hatchling takes it."""
        if version == "editable":
            return
        sys.path.insert(0, self.root)
        from pipimem import assets
        from pipimem.recall.thesaurus import compiled
        from pipimem.text.segmentation import Segmenter
        from pipimem.text.words import Words

        self._folder = tempfile.TemporaryDirectory()
        made = Path(self._folder.name) / "compiled"
        made.write_text(compiled(assets.thesaurus_texts(), Words(Segmenter())), encoding="utf-8")
        build_data["force_include"][str(made)] = "pipimem/_assets/thesaurus/compiled"

    def finalize(self, version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Take the temporary folder away."""
        if version != "editable":
            self._folder.cleanup()
