"""A note with a masked word, edited and saved: no other byte changes (promises 1 and 4).

What a person types into a file stays theirs: it is masked where it is shown.
"""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest

from tests.promises.front_door import (
    Channel,
    File,
    Message,
    PipimemError,
    SecretSettings,
    call_tool,
    detail,
    entries,
    folder_of,
    maintain,
    remember,
    run_command,
    save_file,
    search,
    timeline,
    view_file,
)
from tests.promises.rooms import ASYNCIO, context, opened, quiet_settings, say
from tests.promises.test_isolation import strings
from tests.promises.test_journeys import well_meant
from tests.servers.openai import OpenAIServer

pytestmark = ASYNCIO
SECRETS = ("Zx8kQ2vv9", "hunter2Xy9Qw", "Quetzal")
# Bytes that a careless writer would normalize: CRLF, a BOM, tabs, blanks, no final newline.
NOTES = (
    "\ufeff# Memory\r\n\r\n## Facts\r\n\r\n- the lantern release is on Thursday  \r\n"
    "-\tthe password is hunter2Xy9Qw, kept by Ines\r\n* Project Quetzal ships in May\r\n"
    "  - and Quetzal needs a permit\r\n\r\nA paragraph of Quetzal.\r\n\r\n"
    "## 备注\r\n\r\n+ 密码是 Zx8kQ2vv9\r\n1. a <private>platypus</private> of Dana\r\n- the last line"
)
OWN = quiet_settings(secrets=SecretSettings(words=("Quetzal",)))


def typed(workspace: Path, text: str = NOTES, name: str = "MEMORY.md") -> Path:
    """Write a note as a person does."""
    path = folder_of(workspace, "room") / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(text.encode())
    return path


@asynccontextmanager
async def room(workspace: Path):  # type: ignore[no-untyped-def]
    """The channel with a list of masked words."""
    async with opened(workspace, settings=OWN) as channel:
        yield channel


@pytest.mark.parametrize("name", ["MEMORY.md", "SESSION.md"])
async def test_an_edit_beside_a_masked_word_changes_nothing_else(
    workspace: Path, name: str
) -> None:
    """The view shows marks in the place of secrets; what is saved has the secrets still."""
    path = typed(workspace, name=name)
    async with room(workspace) as channel:
        base = await view_file(channel, File(name))
        assert not [word for word in (*SECRETS, "platypus") if word in base.text]
        assert base.text.count("[secret:") >= 5
        draft = base.text.replace("on Thursday", "on Monday")
        saved = await save_file(channel, File(name), draft, base)
        assert saved.number > 0
    assert path.read_bytes().decode() == NOTES.replace("on Thursday", "on Monday")


async def test_saving_what_was_shown_changes_nothing(workspace: Path) -> None:
    """A save without an edit leaves each byte."""
    path = typed(workspace)
    async with room(workspace) as channel:
        base = await view_file(channel, File.MEMORY)
        await save_file(channel, File.MEMORY, base.text, base)
    assert path.read_bytes().decode() == NOTES


async def test_many_edits_change_their_own_lines_only(
    workspace: Path, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """Lines added, removed, reworded and moved at random; lines that were not touched keep their
    bytes, and no secret of a kept line is lost.
    """
    chance = random.Random(5)
    trials = 400 if is_long else 20
    for _ in range(trials):
        path = typed(workspace)
        async with room(workspace) as channel:
            base = await view_file(channel, File.MEMORY)
            shown = base.text.split("\n")
            raw = path.read_bytes().decode().split("\n")
            assert len(shown) == len(raw)
            place = chance.randrange(3, len(shown))
            added = f"- a new line {chance.randrange(99)}"
            draft, wanted = [*shown], [*raw]
            how = chance.randrange(3)
            if how == 0:
                draft.insert(place, added)
                wanted.insert(place, added)
            elif how == 1:
                del draft[place], wanted[place]
            else:
                draft[place] = wanted[place] = added
            await save_file(channel, File.MEMORY, "\n".join(draft), base)
        got = path.read_bytes().decode().split("\n")
        strip = [line.rstrip("\r") for line in got]
        assert strip == [line.rstrip("\r") for line in wanted], (how, place)
        untouched = [line for line in raw if line in wanted]
        assert [line for line in untouched if line not in got] == []
    count_trials(trials)


async def test_a_secret_typed_into_the_view_is_not_written(workspace: Path) -> None:
    """A new secret in a draft is masked; old ones stay as a person typed them in the file."""
    path = typed(workspace)
    async with room(workspace) as channel:
        base = await view_file(channel, File.MEMORY)
        await save_file(
            channel, File.MEMORY, base.text + "\n- the new password is hunter3Xy9Qw", base
        )
        assert "hunter2Xy9Qw" in path.read_text()
        draft = (await view_file(channel, File.MEMORY)).text
        assert "hunter" not in draft


async def test_an_edit_of_a_masked_line_is_refused_or_keeps_the_secret(workspace: Path) -> None:
    """Whoever edits the words beside a mark does not write the mark over the secret."""
    path = typed(workspace)
    async with room(workspace) as channel:
        base = await view_file(channel, File.MEMORY)
        draft = base.text.replace("kept by Ines", "kept by Tom")
        try:
            await save_file(channel, File.MEMORY, draft, base)
        except PipimemError:
            assert path.read_bytes().decode() == NOTES
        else:
            wanted = NOTES.replace("kept by Ines", "kept by Tom")
            assert path.read_bytes().decode() == wanted


async def shown_of(channel: Channel) -> str:
    """All that turns, recall, searches and tools show of the notes and the talk."""
    texts = [
        await context(channel, "hello"),
        await context(channel, "When does the project ship, and what does it need?"),
        await context(channel, "what is the password, 密码?"),
    ]
    texts += [hit.excerpt + hit.item.text for hit in await search(channel, "project permit budget")]
    texts += [item.text for item in await timeline(channel, "m1")]
    texts += [item.text for item in await detail(channel, "m1")]
    ids = [f"memory:{entry.id}" for entry in await entries(channel)]
    texts.append(await call_tool(channel, "memory_search", ids=[*ids, "m1"]))
    texts.append(await call_tool(channel, "memory_search", query="project budget 密码 password"))
    texts.append(strings(await channel.preview_turn("the project's password")))
    return "\n".join(texts)


async def test_what_a_person_typed_is_masked_where_it_is_shown(workspace: Path) -> None:
    """Notes and talk of before the list, too; found by the words beside the mark; `doctor` names
    the place without the word.
    """
    path = typed(workspace)
    async with opened(workspace) as channel:
        said = Message.user("the Quetzal budget is 40k", id="m1", speaker="Dana")
        await channel.after_turn(None, [said])
    (workspace / "pipimem.toml").write_text('[secrets]\nwords = ["Quetzal"]\n')
    async with room(workspace) as channel:
        shown = await shown_of(channel)
    assert "ships in May" in shown
    assert "budget is 40k" in shown
    assert "[secret:listed" in shown
    assert [word for word in SECRETS if word.casefold() in shown.casefold()] == []
    ran = run_command(workspace, "doctor")
    told = ran.printed
    assert "MEMORY.md" in told
    assert "log.jsonl" in told
    assert [word for word in SECRETS if word in told] == []
    assert set(NOTES.splitlines()) <= set(path.read_bytes().decode().splitlines())


@pytest.mark.xfail(strict=True, reason="a later change: one door for masking")
async def test_a_private_stretch_in_a_file_is_masked_where_it_is_shown(workspace: Path) -> None:
    """As a secret is: what is between the tags, not the line."""
    typed(workspace)
    async with room(workspace) as channel:
        await channel.after_turn(None, [Message.user("hello", id="m1", speaker="Dana")])
        shown = await shown_of(channel)
    assert "of Dana" in shown
    assert "platypus" not in shown


@pytest.mark.parametrize(
    "word",
    [
        "hunter2Xy9Qw",
        "Zx8kQ2vv9",
        pytest.param(
            "Quetzal",
            marks=pytest.mark.xfail(strict=True, reason="a later change: one door for masking"),
        ),
    ],
)
async def test_no_model_is_asked_with_a_word_that_a_person_typed(
    workspace: Path, monkeypatch: pytest.MonkeyPatch, word: str
) -> None:
    """Secrets of a known kind and listed words, in no request at a gate or in idle work."""
    with OpenAIServer(well_meant) as server:
        monkeypatch.setenv("OPENAI_API_BASE", f"{server.url}/v1")
        monkeypatch.setenv("OPENAI_API_KEY", "x")
        settings = replace(OWN, recall=replace(OWN.recall, rerank="always"))
        async with opened(workspace, model="openai/test", settings=settings) as channel:
            await remember(channel, "the launch is on Monday")
            path = folder_of(workspace, "room") / "MEMORY.md"
            path.write_text(
                path.read_text() + "- Project Quetzal launches on Monday\n"
                "- the password is hunter2Xy9Qw of the launch\n- 密码是 Zx8kQ2vv9\n"
            )
            await say(channel, "We decided that the launch is on Monday")
            await channel.before_compaction(deadline=300)
            await maintain(channel)
        assert "launch is on Monday" in str(server.requests[0].messages)
        sent = "\n".join(
            json.dumps(dict(each.body), ensure_ascii=False) for each in server.requests
        )
    assert word.casefold() not in sent.casefold()
