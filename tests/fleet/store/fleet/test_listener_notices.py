"""What hosts tell each other, as it is sent."""

from __future__ import annotations

from pipimem.store.fleet.listener import Notice, listeners_of


def test_a_notice_comes_as_it_was_sent() -> None:
    """Who wrote in which channel, up to which record."""
    sent = Notice("host-1-ab", "w/team/lock", 7)
    assert Notice.read(sent.payload) == sent
    assert (sent.written, sent.wanted) == ("team", "")
    assert listeners_of(sent.lock) == "pipimem_w"


def test_what_is_no_notice_of_ours_is_none() -> None:
    """Another version may tell other things; nobody fails over it."""
    for payload in ("", "7", "7 host", "seven host w/team/lock"):
        assert Notice.read(payload) is None


def test_who_waits_to_think_wrote_nothing() -> None:
    """And other locks are about no channel."""
    waits, counts = Notice("h", "w/team/thought.lock", 0), Notice("h", "w/usage.lock", 0)
    assert (waits.written, waits.wanted) == ("", "team")
    assert (counts.written, counts.wanted) == ("", "")
