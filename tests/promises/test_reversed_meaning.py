"""A model's merge, wording or replacement does not turn an entry into its opposite.

Ten pairs of an entry and its opposite, each merged with an entry about something else, and each
put in the place of what a person asked to remember.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.promises.front_door import (
    Consolidated,
    HistoryItem,
    Kind,
    Learned,
    Merge,
    Message,
    Pipimem,
    Reword,
    ScriptedAssistant,
    Tidied,
    entries,
    remember,
)

pytestmark = [pytest.mark.anyio, pytest.mark.parametrize("anyio_backend", ["asyncio"])]

NEGATIONS = [
    ("the door of the lab is never locked", "the door of the lab is locked"),
    ("nobody may feed the parrot without asking Ida", "anybody may feed the parrot, ask Ida"),
    ("Ben takes sugar in his coffee", "Ben doesn't take sugar in his coffee"),
    ("do not post parcels to the old flat", "post parcels to the old flat"),
    ("guests cannot use the sauna", "guests can use the sauna"),
    ("地下室周末不开门", "地下室周末开门"),
    ("不要给鹦鹉喂面包", "要给鹦鹉喂面包"),
    ("visitors mustn't feed the swans", "visitors must feed the swans"),
]
SWAPPED = [
    (("buy paper cups", "do not buy plastic cups"), "buy plastic cups, do not buy paper cups"),
    (
        ("Ida is allergic to nuts", "Ida is not allergic to milk"),
        "Ida is allergic to milk, Ida is not allergic to nuts",
    ),
    (("用新钥匙开门", "不要用旧钥匙开门"), "用旧钥匙开门，不要用新钥匙开门"),
]
OTHERS = [
    ("the trip costs at most 90 euros", "the trip costs at least 90 euros"),
    ("paint the wall before the shelf", "paint the wall after the shelf"),
    ("Ida lent Ben her drill", "Ben lent Ida her drill"),
]
UNRELATED = "the choir meets in room seven"


async def tidied(
    workspace: Path, old: str, new: str, change: str, other: str = UNRELATED
) -> list[str]:
    """Learn entries, have a model reword `old` or merge it with `other`; return the entries."""
    texts = [old, other, *(f"Ann painted the fence of garden {number}" for number in range(8))]
    talk = [Message.user(text, id=f"m{at}", speaker="Ann") for at, text in enumerate(texts)]
    facts = (Learned(Kind.FACT, one.content, (one.id,), speaker="Ann") for one in talk)
    told = Consolidated(
        tuple(facts), title="facts", history=(HistoryItem("Ann told facts", ("m0",)),)
    )
    assistant = ScriptedAssistant({"consolidate": [told], "tidy": []})
    async with Pipimem(workspace, assistant=assistant) as pipimem:
        channel = await pipimem.channel("talk")
        await channel.after_turn(None, talk)
        await channel.before_compaction()
        for number in range(10):  # a tidying needs a long MEMORY.md
            await remember(channel, f"shelf {number}: " + "books, " * 80)
        ids = {entry.text: entry.id for entry in await entries(channel)}
        if change == "merge":
            assistant.then("tidy", Tidied(merge=(Merge((ids[old], ids[other]), new),)))
        else:
            assistant.then("tidy", Tidied(reword=(Reword(ids[old], new),)))
        await channel.maintain(forced=True)
        assert [type(task).__name__ for task in assistant.asked].count("Tidy") == 1
        return [entry.text for entry in await entries(channel)]


@pytest.mark.parametrize(("old", "new"), [*NEGATIONS, *OTHERS])
async def test_a_merge_keeps_what_its_entries_deny(workspace: Path, old: str, new: str) -> None:
    """An entry is merged with another, and comes out as its opposite: both stay as they were."""
    found = await tidied(workspace, old, f"{new}; {UNRELATED}", "merge")
    assert {old, UNRELATED} <= set(found)


@pytest.mark.parametrize(("olds", "new"), SWAPPED)
async def test_a_merge_moves_no_denial_to_the_other_entry(
    workspace: Path, olds: tuple[str, str], new: str
) -> None:
    """As many denials as before, each of what the other entry says: both stay as they were."""
    assert set(olds) <= set(await tidied(workspace, olds[0], new, "merge", olds[1]))


@pytest.mark.parametrize(("old", "new"), NEGATIONS)
async def test_a_tighter_wording_keeps_what_the_entry_denies(
    workspace: Path, old: str, new: str
) -> None:
    """In both directions; whichever of the two is longer is the entry."""
    longer, shorter = sorted((old, new), key=len, reverse=True)
    assert longer in await tidied(workspace, longer, shorter, "reword")


async def test_a_merge_that_keeps_them_is_carried_out(workspace: Path) -> None:
    """Two entries with a denial become one."""
    old = "Ben doesn't take sugar in his coffee"
    merged = f"{old}; {UNRELATED}"
    assert merged in await tidied(workspace, old, merged, "merge")


async def replaced(workspace: Path, old: str, new: str, said: str) -> list[str]:
    """Have a model replace what a person asked to remember by the word of a message."""
    assistant = ScriptedAssistant({"consolidate": []})
    async with Pipimem(workspace, assistant=assistant) as pipimem:
        channel = await pipimem.channel("talk")
        await remember(channel, old)
        [entry] = await entries(channel)
        item = Learned(Kind.FACT, new, ("m0",), speaker="Ann", replaces=(entry.id,))
        history = (HistoryItem(said, ("m0",)),)
        assistant.then("consolidate", Consolidated((item,), title="talk", history=history))
        talk = [Message.user(said, id="m0", speaker="Ann"), Message.assistant("Yes.", id="b0")]
        await channel.after_turn(None, talk)
        await channel.before_compaction()
        return [entry.text for entry in await entries(channel)]


@pytest.mark.parametrize(("old", "new"), [*NEGATIONS, *OTHERS])
@pytest.mark.parametrize("said", ["What a fine morning, is it not?", "今天天气不错，是不是？"])
async def test_an_unrelated_message_replaces_nothing_that_was_asked_for(
    workspace: Path, old: str, new: str, said: str
) -> None:
    """The entry stays, whatever stands beside it now."""
    assert old in await replaced(workspace, old, new, said)


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("the choir meets in room seven", "the choir meets in room nine", "now it's room nine"),
        (
            "Ben takes sugar in his coffee",
            "Ben doesn't take sugar in his coffee",
            "Ben says no more sugar for him",
        ),
        ("不要给鹦鹉喂面包", "可以给鹦鹉喂面包", "兽医说鹦鹉可以吃面包了"),
    ],
)
async def test_a_message_that_says_the_new_value_replaces_it(
    workspace: Path, old: str, new: str, said: str
) -> None:
    """A newer word of the talk may end what was asked for."""
    assert await replaced(workspace, old, new, said) == [new]


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ("paint the wall before the shelf", "paint the wall after the shelf", "nice shelf, Ben"),
        (
            "Ben takes sugar in his coffee",
            "Ben doesn't take sugar in his coffee",
            "the sugar is in the cupboard",
        ),
    ],
)
async def test_a_message_about_the_same_subject_that_says_no_such_thing_replaces_nothing(
    workspace: Path, old: str, new: str, said: str
) -> None:
    """A word in common is not enough."""
    assert old in await replaced(workspace, old, new, said)
