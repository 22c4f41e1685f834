"""Talk that waits beside the transcript, as a channel sees it."""

from __future__ import annotations

from pathlib import Path

from benchmarks.faults.journeys import NOW, opened
from pipimem import Message
from pipimem.settings import Settings
from pipimem.store.channel import ChannelStore
from pipimem.store.forget.traces import traces
from pipimem.store.health.channels import channel_findings


def waiting(root: Path, text: str) -> ChannelStore:
    """A channel in which a message of another host waits."""
    store = opened(root)
    store.append([Message.user("what was said before", id="before")])
    spool = opened(root).transcript.spool
    assert spool is not None
    spool.append([Message.user(text, id="waits")], after=0)
    return store


def texts(store: ChannelStore) -> list[str]:
    return [message.content for message in store.transcript.messages()]


def test_it_is_taken_in_once(root: Path) -> None:
    """In its place behind what stands there; a second time nothing is left."""
    store = waiting(root, "said meanwhile")
    for _ in range(2):
        store.take_in_spool()
        assert texts(store) == ["what was said before", "said meanwhile"]


def test_the_doctor_tells_of_it_and_takes_it_in(root: Path) -> None:
    """No other writing is needed."""
    store = waiting(root, "said meanwhile")
    (finding,) = [
        each
        for each in channel_findings(store.workspace, store.folder, NOW, Settings())
        if each.mend
    ]
    assert not finding.wrong
    assert finding.what.startswith("1 messages wait beside the transcript")
    assert finding.mend is not None
    finding.mend(NOW)
    assert texts(store) == ["what was said before", "said meanwhile"]


def test_a_forgetting_looks_there_too(root: Path) -> None:
    """Nothing of it is left in the channel's folder."""
    store = waiting(root, "the zebra sleeps in the cellar")
    store.forget("zebra", keep_transcript=False, now=NOW)
    assert list(traces([store.folder], "zebra")) == []


def test_who_finds_a_channel_busy_keeps_its_talk_beside(root: Path) -> None:
    """It opens, and says, while the lock is held; the next holder takes it in."""
    busy = opened(root)
    with busy.channel_folder.lock.held():
        other = opened(root)
        other.append([Message.user("I could not wait", id="quick")])
        assert texts(other) == []
    other.append([Message.user("now it is free", id="later")])
    assert texts(other) == ["I could not wait", "now it is free"]
