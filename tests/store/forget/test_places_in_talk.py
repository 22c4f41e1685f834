"""The transcript rewritten without what is forgotten, while others talk and search."""

from __future__ import annotations

import threading
import time
from pathlib import Path

import pytest
from pipimem.notes.message import Message
from pipimem.store.caches import search_index
from pipimem.store.channel import ChannelStore
from pipimem.store.disk.folder_lock import FolderLock, try_lock, unlock
from pipimem.store.forget import places
from pipimem.store.forget.places import Forgetting, Plan
from pipimem.store.forget.targets import ForgetTargets
from pipimem.store.transcript.log import LOCK

TARGETS = ForgetTargets.of(["the vault code"])


@pytest.fixture
def spoken(channel: ChannelStore) -> ChannelStore:
    """A channel in which something was said that is to be forgotten."""
    channel.append(
        [Message.user("the vault code is 4711", id="a1"), Message.user("lunch?", id="a2")]
    )
    return channel


def clean_talk(channel: ChannelStore) -> None:
    """Forget the code in the talk alone."""
    with channel.channel_folder.lock.held(), channel.reading() as working_copy:
        what = Forgetting(working_copy, channel.transcript, Plan(TARGETS))
        places.in_talk(what, dry_run=False)


def test_what_is_said_meanwhile_waits_and_is_kept(
    spoken: ChannelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The file is replaced: a line added to the old one would be lost."""
    real = places.put_whole
    later = ChannelStore.open(spoken.workspace, spoken.channel_id, create=False)
    thread = threading.Thread(target=later.append, args=([Message.user("noon", id="a3")],))

    def put_whole(path: Path, data: bytes) -> None:
        thread.start()
        turnstile = spoken.folder / ".pipimem" / f"{LOCK}.turnstile"
        while is_free(turnstile):
            time.sleep(0.001)
        real(path, data)

    monkeypatch.setattr(places, "put_whole", put_whole)
    clean_talk(spoken)
    thread.join()
    said = [(one.id, one.content) for one in spoken.transcript.messages()]
    assert said == [("a1", ""), ("a2", "lunch?"), ("a3", "noon")]


def is_free(path: Path) -> bool:
    """Return whether nobody holds a lock file."""
    with path.open("rb+") as file:
        is_ours = try_lock(file.fileno())
        if is_ours:
            unlock(file.fileno())
    return is_ours


def test_an_index_of_a_search_goes_with_it(spoken: ChannelStore) -> None:
    """Whoever searched holds the talk's lock alone, and may have written it since others went."""
    index = spoken.folder / ".pipimem" / search_index.NAME
    index.write_bytes(b"the vault code")
    clean_talk(spoken)
    assert not index.exists()


def test_the_talks_lock_is_free_behind_it(
    spoken: ChannelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where the disk refuses: the forgetting is gone on with by the next writer."""

    def refuse(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(places, "put_whole", refuse)
    with pytest.raises(OSError, match="No space"):
        clean_talk(spoken)
    with FolderLock(spoken.folder / ".pipimem" / LOCK).held(0.0):
        pass
    assert [one.id for one in spoken.append([Message.user("noon", id="a3")])] == ["a3"]
