"""What comes in is written without what people marked as private, with the workspace's settings."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from pipimem import Message, Pipimem
from pipimem.results import PrivateCounts
from pipimem.runtime.intake import Intake
from pipimem.settings import PrivateSettings, SecretSettings
from pipimem.text.fence import fenced

from tests.cases import each
from tests.runtime.building import MORNING, Hands, opened, read, settings, workspace

INTAKE = Intake(PrivateSettings())


def test_what_is_private_goes_from_text_name_and_label() -> None:
    """Of every role: a tool may print what a person marked."""
    private = "a <private>SALARY</private>"
    messages = [
        Message(role, private, speaker=private, session=private)
        for role in ("user", "assistant", "tool", "system")
    ]
    for message in INTAKE.cleaned(messages, MORNING):
        assert message.content == message.speaker == message.session == "a [PRIVATE]"


def test_a_message_of_which_nothing_is_left_is_stored_all_the_same() -> None:
    """Its id is known then, and the host does not bring it again."""
    intake = Intake(PrivateSettings(marker=""))
    (kept,) = intake.cleaned([Message.user("<private>x</private>", id="1")], MORNING)
    assert kept.content == ""
    assert intake.private_counts("<private>x</private>") == PrivateCounts(1, 1, 20, 0)


def test_a_message_without_an_id_is_known_by_what_is_kept_of_it() -> None:
    """The host has it as it was said."""
    said = Message.user("a <private>x</private> b")
    logged = INTAKE.cleaned([said], MORNING)
    assert INTAKE.unknown_messages([said, said], logged) == [said]


def test_blanks_that_a_host_puts_around_a_message_make_no_other_one() -> None:
    """As `f"{turn.context}\\n\\n{question}"` does where memory had nothing to say."""
    logged = INTAKE.cleaned([Message.user("my daughter Mia is allergic to walnuts")], MORNING)
    for around in ("\n\n{}", "{}\n", "  {} "):
        held = Message.user(around.format(logged[0].content))
        assert INTAKE.unknown_messages([held], logged) == []


@each("line", ["the tag <private> hides", "</private> ends it", "`<private>`"])
def test_a_tag_in_an_injected_block_hides_nothing(line: str) -> None:
    """Of the message behind the block, whose own tags count as ever."""
    block = fenced([("MEMORY: Facts", [line])], b"key")
    (kept,) = INTAKE.cleaned([Message.user(f"{block}\n\nThe train leaves at nine")], MORNING)
    assert kept.content.strip() == "The train leaves at nine"
    assert INTAKE.private_counts(f"{block}\n\nThe train leaves at nine") == PrivateCounts()
    text = f"{block}\n\nat nine <private>SALARY</private>"
    assert INTAKE.cleaned_text(text).strip() == "at nine [PRIVATE]"
    assert INTAKE.cleaned_text(f"<private>SALARY\n{block}\nmore</private> x") == "[PRIVATE] x"


def test_a_block_that_comes_to_light_goes_too() -> None:
    """Where an empty stretch stood in the middle of its tag."""
    block = fenced([("MEMORY: Facts", ["Dana likes tea"])], b"key")
    hidden = block.replace("memory-", "mem<private></private>ory-")
    assert INTAKE.cleaned_text(f"{hidden}\n\nhello").strip() == "hello"


@pytest.mark.anyio
async def test_the_settings_of_the_workspace_decide(tmp_path: Path) -> None:
    """The marker in the log and in a title, and tags in code."""
    root = workspace(tmp_path)
    wanted = replace(settings(), private=PrivateSettings("[REDACTED]", in_code="count"))
    async with Pipimem(root, "offline", settings=wanted, clock=Hands().clock()) as pipimem:
        channel = await pipimem.channel("room", title="x <private>SALARY</private>")
        await channel.talk.append([Message.user("I earn `<private>SALARY</private>`")])
    assert '"I earn `[REDACTED]`"' in read(root, "log.jsonl")
    files = [path.read_bytes() for path in root.rglob("*") if path.is_file()]
    assert not any(b"SALARY" in data for data in files)
    assert any(b"x [REDACTED]" in data for data in files)


@pytest.mark.anyio
async def test_the_list_of_the_workspace_is_masked_everywhere(tmp_path: Path) -> None:
    """Phone numbers, words and patterns, in messages, names, titles and what is remembered."""
    root = workspace(tmp_path)
    own = SecretSettings(phone_numbers=True, words=("Osprey",), patterns=(r"EMP-\d{6}",))
    wanted = replace(settings(), secrets=own)
    async with Pipimem(root, "offline", settings=wanted, clock=Hands().clock()) as pipimem:
        channel = await pipimem.channel("room", title="about osprey")
        await channel.talk.append([Message.user("ring 13800138000", speaker="EMP-001234")])
        await channel.notes.remember("Dana leads the Osprey project")
    files = b"".join(path.read_bytes() for path in root.rglob("*") if path.is_file())
    assert not any(word in files for word in (b"13800138000", b"EMP-001234"))
    assert b"osprey" not in files.lower()
    assert b"ring [secret:phone-number]" in files
    assert b"about [secret:listed]" in files
    assert b"Dana leads the [secret:listed] project" in files


@pytest.mark.anyio
async def test_the_marker_is_never_evidence_nor_an_entry(tmp_path: Path) -> None:
    """Not in a search, not in what somebody asks to remember."""
    root = workspace(tmp_path)
    async with opened(root) as channel:
        await channel.talk.append([Message.user("I paid <private>5000</private> for the flat")])
        assert await channel.talk.search("private") == ()
        assert await channel.talk.search("[PRIVATE]") == ()
        assert len(await channel.talk.search("flat")) == 1
        await channel.notes.remember("I like tea <private>and that I am ill</private>")
    assert "- I like tea\n" in read(root)
