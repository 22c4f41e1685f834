"""What is off the record is known again when it comes back, and stands nowhere."""

from __future__ import annotations

import json
import threading
from pathlib import Path

import pytest
from pipimem.errors import StoreError
from pipimem.notes.message import Message
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

from tests.cases import table

SAID = Message.user("I am  quitting in May", speaker="Dana", id="77")
OTHER = Message.user("we ship on Friday")


def marks_file(channel: ChannelStore) -> Path:
    return channel.folder / ".pipimem" / "off_the_record.json"


def test_a_marked_message_is_left_out_by_id_and_by_text(channel: ChannelStore) -> None:
    """With other white space and case, with its name before it; another role is another message."""
    channel.off_the_record.add([SAID])
    same = [
        SAID,
        Message.user("something else", id="77"),
        Message.user("i am quitting in May\n"),
        Message.user("Dana: I am quitting in May"),
        Message.user("dana：I am quitting in May"),
    ]
    others = [
        Message.user("李雷：I am quitting in May"),
        OTHER,
        Message.assistant("I am quitting in May"),
        Message.user("I am quitting"),
        Message.user(""),
    ]
    assert channel.off_the_record.without_marked([*same, *others]) == others


@pytest.mark.parametrize(
    ("marked", "same", "others"),
    [
        (
            Message.user("yes"),
            [Message.user("yes"), Message.user("yes", id="1"), Message.user("yes", speaker="Tom")],
            [Message.user("no")],
        ),
        (
            Message.user("yes", speaker="Dana"),
            [Message.user("yes"), Message.user("yes", speaker="dana", id="1")],
            [Message.user("yes", speaker="Tom"), Message.user("Decision: yes", speaker="Tom")],
        ),
        (
            Message.user("yes", id="1"),
            [Message.user("yes"), Message.user("other", id="1"), Message.user("Dana: yes")],
            [Message.user("yes", id="2"), Message.user("Decision: yes", id="3")],
        ),
    ],
)
def test_another_id_or_speaker_is_another_message(
    channel: ChannelStore, marked: Message, same: list[Message], others: list[Message]
) -> None:
    """Where both are known; where one is not, what they say decides."""
    channel.off_the_record.add([marked])
    assert channel.off_the_record.without_marked([*same, *others]) == others


def test_an_id_that_is_known_later_counts_from_then_on(channel: ChannelStore) -> None:
    """The message was marked as it came in; nothing else with an id is taken for it then."""
    other = Message.user("yes", id="2")
    channel.off_the_record.add([Message.user("yes", speaker="Dana")])
    assert channel.off_the_record.without_marked([other]) == []
    channel.off_the_record.add([Message.user("yes", speaker="Dana", id="1")])
    third = Message.user("yes", id="3", speaker="Dana")
    assert channel.off_the_record.without_marked([third]) == [third]


@pytest.mark.parametrize(
    "form",
    table(__file__, "what_a_host_puts_around_a_text_does_not_count"),
)
def test_what_a_host_puts_around_a_text_does_not_count(channel: ChannelStore, form: str) -> None:
    """A time, a name, marks of citing, other paragraphs, characters that cannot be seen."""
    channel.off_the_record.add([Message.user("I leave the cafe\u0301 in May", speaker="Dana")])
    same = Message.user(form.format("I leave the caf\u00e9 in May"))
    assert channel.off_the_record.without_marked([same, OTHER]) == [OTHER]


def test_a_system_message_that_says_it_is_known_whoever_said_it(channel: ChannelStore) -> None:
    """Hosts hand a part of the talk on in one, alone, in a paragraph or in a line with a name."""
    answer = Message.assistant("The contract ends in summer then")
    channel.off_the_record.add([SAID, answer, Message.user("yes", id="78")])
    same = [
        Message("system", "I am quitting in May"),
        Message("system", "I am quitting in May", id="new"),
        Message("system", "Earlier talk:\nDana: I am quitting in May\nBot: I see"),
        Message("system", "So far.\n\nThe contract ends in summer then"),
        Message("system", "yes"),
    ]
    others = [Message("system", "be brief"), Message("system", "say yes\nor no")]
    assert channel.off_the_record.without_marked([*same, *others]) == others


def test_marking_waits_for_no_commit(channel: ChannelStore) -> None:
    """A commit of another process, or of another thread, holds the channel for seconds."""
    channel.off_the_record.add([OTHER])
    held, done = threading.Event(), threading.Event()

    def commit() -> None:
        opened = channel._opened
        with opened.mutex, opened.channel_folder.lock.held():
            held.set()
            done.wait(60)

    thread = threading.Thread(target=commit)
    thread.start()
    try:
        assert held.wait(60)
        again = ChannelStore.open(channel.workspace, channel.channel_id, create=False)
        for each in (channel, again):
            each.off_the_record.add([SAID])
            assert each.off_the_record.without_marked([SAID, OTHER]) == []
        assert thread.is_alive()
    finally:
        done.set()
        thread.join()


def test_a_short_paragraph_is_anybodys(channel: ChannelStore) -> None:
    """A message does not go because "yes" is one of its paragraphs."""
    channel.off_the_record.add([Message.user("yes")])
    other = Message.user("yes\n\nwe ship on Friday")
    assert channel.off_the_record.without_marked([other]) == [other]


def test_who_says_the_same_again_is_known_both_times(channel: ChannelStore) -> None:
    """The host broke off the first turn, so the id of its message was never told."""
    for _ in range(2):
        channel.off_the_record.add([Message.user("I am quitting", speaker="Dana")])
    channel.off_the_record.add([Message.user("I am quitting", speaker="Dana", id="2")])
    held = [Message.user("I am quitting", speaker="Dana", id=number) for number in "12"]
    assert channel.off_the_record.without_marked(held) == []


def test_marks_are_no_words(channel: ChannelStore) -> None:
    """They are keyed: another channel has other marks of the same text."""
    other = ChannelStore.open(channel.workspace, "other", create=True)
    marks = []
    for each in (channel, other):
        each.off_the_record.add([SAID])
        text = marks_file(each).read_text()
        assert "quitting" not in text
        marks.append(set(json.loads(text)["marks"]))
    assert len(marks[0]) == len(marks[1]) == 3
    assert marks[0].isdisjoint(marks[1])


def test_marks_outlast_the_process(channel: ChannelStore, workspace: WorkspaceStore) -> None:
    """Another one reads them from the disk."""
    channel.off_the_record.add([SAID])
    again = ChannelStore.open(workspace, channel.channel_id, create=False)
    assert again.off_the_record.without_marked([SAID, OTHER]) == [OTHER]


def test_marks_go_with_the_epoch_after_theirs(channel: ChannelStore) -> None:
    """A host may keep its newest messages over a compaction; then it has dropped them all."""
    channel.off_the_record.add([SAID])
    channel.off_the_record.end_epoch()
    channel.off_the_record.add([OTHER])
    channel.off_the_record.end_epoch()
    assert channel.off_the_record.without_marked([SAID]) == [SAID]
    channel.off_the_record.end_epoch()
    assert not marks_file(channel).exists()
    channel.off_the_record.end_epoch()


def test_a_mark_that_a_gate_meets_stays(channel: ChannelStore) -> None:
    """However many epochs end, the host still holds the message."""
    channel.off_the_record.add([SAID])
    for _ in range(4):
        assert channel.off_the_record.without_marked([SAID, OTHER]) == [OTHER]
        channel.off_the_record.end_epoch()


def test_a_marked_message_takes_its_answer_with_it(channel: ChannelStore) -> None:
    """Up to the next message of a user; it is known then without its question."""
    called, printed = Message.assistant("I look it up"), Message.tool("Dana: quitting")
    answer, system = Message.assistant("in May"), Message("system", "be brief")
    later = [OTHER, Message.assistant("on Friday it is")]
    channel.off_the_record.add([SAID])
    held = [Message.assistant("hi"), SAID, called, system, printed, answer, *later]
    kept = [held[0], system, *later]
    assert channel.off_the_record.without_marked(held) == kept
    assert channel.off_the_record.without_marked([printed, answer, *later]) == later


def test_damaged_marks_are_told(channel: ChannelStore) -> None:
    """Nothing is taken for on the record that may not be."""
    channel.off_the_record.add([SAID])
    marks_file(channel).write_text("{}")
    with pytest.raises(StoreError, match="is damaged"):
        channel.off_the_record.without_marked([OTHER])
