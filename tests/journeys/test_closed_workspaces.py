"""A host that opens and closes one workspace after the other grows by none of them."""

from __future__ import annotations

import gc
import time
from collections import Counter
from pathlib import Path

import anyio
import pytest
from pipimem import Message, Pipimem
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.channel import ChannelStore
from pipimem.store.transcript.log import Transcript
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from tests.runtime.building import workspace

SAID = (
    "We decided: the lantern release is on Thursday 2026-03-12.",
    "上线窗口定在周四晚上九点，先把回滚方案写好。",
    "No wait, the lantern release moved to Friday 2026-03-13.",
    "上线窗口改到周五晚上十点。",
)


async def use(root: Path) -> None:
    """A workspace is talked in, consolidated, asked, and closed."""
    async with Pipimem(root, "offline") as pipimem:
        channel = await pipimem.channel("room", kind="group")
        for text in SAID:
            turn = await channel.before_turn(text)
            said = [Message.user(text, speaker="Ann"), Message.assistant("noted")]
            await channel.after_turn(turn, said)
        await channel.reset()
        assert "2026-03-13" in (await channel.before_turn("When is the lantern release?")).context
        assert "十点" in (await channel.before_turn("上线窗口是什么时候？")).context


def held() -> Counter[str]:
    """How many objects of a workspace there are in this process."""
    gc.collect()
    ours = (Pipimem, Vocabulary, Words, Segmenter, ChannelStore, Transcript)
    return Counter(type(one).__name__ for one in gc.get_objects() if isinstance(one, ours))


def grown_since(before: Counter[str]) -> Counter[str]:
    """What there is more of, once the threads that did the last work have let go of it."""
    until = time.monotonic() + 60
    more = held() - before
    while more and time.monotonic() < until:
        time.sleep(0.1)
        more = held() - before
    return more


@pytest.mark.parametrize("backend", ["asyncio", "trio"])
def test_what_a_workspace_held_goes_with_it(tmp_path: Path, backend: str) -> None:
    """No cache of the process keeps its words, its dictionary or its channels."""
    before = held()
    anyio.run(use, workspace(tmp_path / "first"), backend=backend)
    # The rules and the thesaurus have words of their own, which all workspaces share.
    shared = grown_since(before)
    assert not shared - Counter(Words=2, Segmenter=2)
    for name in ("second", "third", "fourth"):
        anyio.run(use, workspace(tmp_path / name), backend=backend)
    assert not grown_since(before + shared)
