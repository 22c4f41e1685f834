"""Makes `thesaurus/compiled` of the texts beside it.

usage: python thesaurus/compile.py
"""

from __future__ import annotations

from pathlib import Path

from pipimem import assets
from pipimem.recall.thesaurus import compiled
from pipimem.text.segmentation import Segmenter
from pipimem.text.words import Words

if __name__ == "__main__":
    text = compiled(assets.thesaurus_texts(), Words(Segmenter()))
    (Path(__file__).parent / "compiled").write_text(text, encoding="utf-8")
