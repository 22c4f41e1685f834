"""Observers are told of each operation, and never break what they watch."""

from __future__ import annotations

import logging
from dataclasses import dataclass, field

import pytest
from pipimem.observer import (
    CorrelationScope,
    Observers,
    Operation,
    correlate,
    correlation,
)


@dataclass
class Recorder:
    """Keeps what it is told."""

    wants_content: bool = False
    told: list[str] = field(default_factory=list)
    ended: list[Operation] = field(default_factory=list)

    def begin(self, operation: Operation) -> object:
        self.told.append(f"begin {operation.kind}")
        return len(self.told)

    def end(self, operation: Operation, begun: object) -> None:
        self.told.append(f"end {operation.kind} {begun}")
        self.ended.append(operation)


class Broken(Recorder):
    def begin(self, operation: Operation) -> object:
        raise ValueError("the password is hunter2-horse")


def test_operations_nest_and_are_timed() -> None:
    """An inner one ends before the outer one; each end gets what its beginning returned."""
    recorder = Recorder()
    observers = Observers(recorder)
    with observers.of("turn", "room"), observers.of("recall", "room") as inner:
        inner.records = 3
    assert recorder.told == ["begin turn", "begin recall", "end recall 2", "end turn 1"]
    recall, turn = recorder.ended
    assert (recall.records, recall.outcome, recall.error) == (3, "ok", "")
    assert turn.seconds >= recall.seconds > 0


def test_what_raises_says_its_class_and_not_its_words() -> None:
    """An error may quote a message."""
    recorder = Recorder()
    with pytest.raises(KeyError), Observers(recorder).of("search", "room"):
        raise KeyError("my secret")
    (operation,) = recorder.ended
    assert (operation.outcome, operation.error) == ("error", "KeyError")
    assert "my secret" not in repr(operation)


def test_a_cancelled_operation_is_no_error() -> None:
    """Whoever gives up raises no `Exception`."""
    recorder = Recorder()
    with pytest.raises(KeyboardInterrupt), Observers(recorder).of("job", "room"):
        raise KeyboardInterrupt
    assert recorder.ended[0].outcome == "cancelled"


def test_an_outcome_that_is_known_already_stays() -> None:
    """The ledger says `timeout`, and so do its observers."""
    recorder = Recorder()
    observation = Observers(recorder).of("model", "room")
    observation.__enter__().outcome = "timeout"
    observation.__exit__(OSError, OSError("late"), None)
    assert (recorder.ended[0].outcome, recorder.ended[0].error) == ("timeout", "OSError")


def test_an_observer_that_raises_is_told_no_more(caplog: pytest.LogCaptureFixture) -> None:
    """The operation goes on, the others hear of it, and one line says which one was dropped."""
    recorder = Recorder()
    observers = Observers(Broken(), recorder)
    with caplog.at_level(logging.ERROR, "pipimem"):
        for _ in range(2):
            with observers.of("turn", "room"):
                pass
    assert [operation.kind for operation in recorder.ended] == ["turn", "turn"]
    assert [record.getMessage() for record in caplog.records] == [
        "Broken is told no more of operations: it raised ValueError"
    ]


def test_without_observers_nothing_is_told_and_the_correlation_still_ends() -> None:
    """Log lines after an operation do not have its id."""
    observers = Observers()
    assert not observers
    with observers.of("compaction", "room"):
        correlate("abc")
        assert correlation() == "abc"
    assert correlation() == ""


def test_a_correlation_is_inherited_and_found() -> None:
    """An inner operation has the id of the outer one; one that learns its id later has that."""
    recorder = Recorder()
    observers = Observers(recorder)
    with observers.of("job", "room"):
        correlate("abc")
        with observers.of("commit", "room"):
            assert correlation() == "abc"
        with observers.of("model", "room", correlation="xyz"):
            assert correlation() == "xyz"
        assert correlation() == "abc"
    assert {each.kind: each.correlation for each in recorder.ended} == {
        "commit": "abc",
        "model": "xyz",
        "job": "abc",
    }


def test_a_scope_ends_a_correlation() -> None:
    """A second job does not have the id of the first one."""
    with CorrelationScope():
        correlate("abc")
    assert correlation() == ""


def test_content_is_wanted_as_soon_as_one_wants_it() -> None:
    """Cleaning a text costs time that nobody else pays for."""
    observers = Observers(Recorder())
    assert not observers.wants_content
    observers.add(Recorder(wants_content=True))
    assert observers.wants_content
