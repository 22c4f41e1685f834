"""A segmenter that has read its whole dictionary, so that no measurement stops for a part of it."""

from __future__ import annotations

from pipimem.text.words.segmentation import Segmenter


def loaded_segmenter() -> Segmenter:
    """A segmenter that has met every character jieba calls Han."""
    segmenter = Segmenter()
    segmenter.cut("".join(map(chr, range(0x4E00, 0x9FD6))))
    return segmenter
