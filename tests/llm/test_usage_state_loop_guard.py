"""The guard against loops."""

from __future__ import annotations

from datetime import datetime, timedelta

from pipimem.llm.request import PromptMessage
from pipimem.llm.usage_state import LoopGuard, prompt_hash
from pipimem.notes.usage import Usage

MORNING = datetime.fromisoformat("2026-03-02T09:00:00+08:00")


def line(
    prompt: str = "p1", *, outcome: str = "ok", task: str = "consolidate", channel: str = "room"
) -> Usage:
    time = MORNING.isoformat()
    return Usage(time, channel, task, "openai/m", 9, 1, 0, None, 1.0, outcome, "c", prompt=prompt)


def test_the_same_question_after_an_accepted_answer_is_refused() -> None:
    """Nothing came of the first: the second would only cost. The reason says when, and what to
    look at.
    """
    repeats = LoopGuard()
    repeats.count(line(), MORNING, own=True)
    said = repeats.refusal("room", "consolidate", "p1", MORNING)
    assert "The same consolidate of room was answered and accepted at 09:00:00" in said
    assert "before 10:00:00" in said


def test_another_question_channel_or_task_may_be_asked() -> None:
    """Progress changes the prompt."""
    repeats = LoopGuard()
    repeats.count(line(), MORNING, own=True)
    assert repeats.refusal("room", "consolidate", "p2", MORNING) == ""
    assert repeats.refusal("hall", "consolidate", "p1", MORNING) == ""
    assert repeats.refusal("room", "refresh", "p1", MORNING) == ""


def test_an_answer_that_was_not_accepted_may_be_asked_for_again() -> None:
    """Retries after refusals, failures and timeouts are bounded elsewhere."""
    repeats = LoopGuard()
    for outcome in ("refused", "error", "timeout", "cancelled"):
        repeats.count(line(outcome=outcome), MORNING, own=True)
    assert repeats.refusal("room", "consolidate", "p1", MORNING) == ""


def test_after_an_hour_it_may_be_tried_again() -> None:
    """A disk that was full may have been cleared: a channel is never stuck for ever."""
    repeats = LoopGuard()
    repeats.count(line(), MORNING, own=True)
    assert repeats.refusal("room", "consolidate", "p1", MORNING + timedelta(minutes=59)) != ""
    assert repeats.refusal("room", "consolidate", "p1", MORNING + timedelta(hours=1)) == ""


def test_other_processes_are_let_through_once() -> None:
    """Somebody looked first and does it now; a third time is a loop of restarts."""
    repeats = LoopGuard()
    repeats.count(line(), MORNING)
    assert repeats.refusal("room", "consolidate", "p1", MORNING) == ""
    repeats.count(line(), MORNING + timedelta(minutes=1))
    assert repeats.refusal("room", "consolidate", "p1", MORNING + timedelta(minutes=2)) != ""


def test_people_may_say_the_same_twice() -> None:
    """A chat changes no memory by itself."""
    repeats = LoopGuard()
    repeats.count(line(task="chat"), MORNING, own=True)
    assert repeats.refusal("room", "chat", "p1", MORNING) == ""


def test_a_prompt_is_told_by_all_its_turns() -> None:
    """Roles and borders count; half a surrogate pair is no obstacle."""
    one, other = (
        (PromptMessage("system", "ab"), PromptMessage("user", "c")),
        (PromptMessage("system", "a"), PromptMessage("user", "bc")),
    )
    assert prompt_hash(one) == prompt_hash(list(one)) != prompt_hash(other)
    assert len(prompt_hash((PromptMessage("user", "\ud800"),))) == 16
