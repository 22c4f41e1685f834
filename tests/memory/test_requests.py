"""Requests: "forget that …" is told to the host and learnt by nobody."""

from __future__ import annotations

from pipimem.memory.requests import MemoryRequest, requests, withheld, without_requests
from pipimem.notes.message import Message

from tests.cases import each, table


@each(
    ("said", "about"),
    table(__file__, "a_request_says_what_is_to_be_forgotten"),
)
def test_a_request_says_what_is_to_be_forgotten(said: str, about: str) -> None:
    """In the person's own words, without address, politeness and "what I said about"; a word that
    says nothing alone keeps its frame.
    """
    assert requests(said, "Tom", "m7") == (MemoryRequest("forget", about, "Tom", "m7"),)


@each(
    "said",
    table(__file__, "what_only_speaks_of_forgetting_is_no_request"),
)
def test_what_only_speaks_of_forgetting_is_no_request(said: str) -> None:
    """A reminder, an idiom, a story, a quotation."""
    assert requests(said) == ()


def test_a_request_is_taken_out_of_what_is_learnt_from() -> None:
    """The rest of the message stays."""
    text = "Forget that my phone is a Pixel 9. I moved to Lyon in May."
    assert without_requests(text) == "[a request to memory] I moved to Lyon in May."
    assert without_requests("I moved to Lyon.\nIn May.") == "I moved to Lyon.\nIn May."
    both = "The demo is on Friday, and forget that Bob is vegan."
    assert without_requests(both) == "The demo is on Friday [a request to memory]"


def test_a_clause_that_says_how_it_is_after_all_is_learnt() -> None:
    """Only that: what explains a request goes with it."""
    text = "Forget the chess thing I said, we do play it after all"
    assert without_requests(text) == "[a request to memory] we do play it after all"
    assert (
        without_requests("忘掉我说的搬家的事，其实不搬了。") == "[a request to memory] 其实不搬了"
    )
    explained = "Forget that my mother, who is ill, lives in Rome."
    assert without_requests(explained) == "[a request to memory]"


def test_a_secret_that_somebody_asked_to_remember_is_told_without_it() -> None:
    """Of what was learnt after all, and of what nobody asked for, nothing is said."""
    said = [
        Message("user", "remember: the gate code is 4711", id="m1", speaker="Tom"),
        Message("user", "remember that my password is [secret:password]", id="m2"),
        Message("user", "the gate code is 4711", id="m3", speaker="Tom"),
        Message("user", "remember: the door is green", id="m4", speaker="Tom"),
        Message("assistant", "remember: the gate code is 4711", id="m5"),
        Message("user", "记住：门禁密码是 4711", id="m6", speaker="小王"),
    ]
    asked = "asked to remember what looks like a password or code"
    assert withheld(said, {"m6"}) == (f"Tom {asked} (m1)", f"somebody {asked} (m2)")
    assert withheld(said[-1:], ()) == (f"小王 {asked} (m6)",)
