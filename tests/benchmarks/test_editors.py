"""The judge of kills beside an editor: silent where nothing is lost, and no loss escapes it."""

from __future__ import annotations

import random
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest
from benchmarks.editors.journeys import JOURNEYS
from benchmarks.editors.judge import (
    ACKED,
    AMBIGUOUS,
    BACK,
    DOUBLED,
    FORGOTTEN,
    HUMAN,
    RAISED,
    judged,
)
from benchmarks.editors.styles import STYLES
from benchmarks.editors.trial import Editor, Plan, memory_of, met
from benchmarks.faults.child import Ended, Said
from benchmarks.faults.injection import prepared
from benchmarks.faults.journeys import SECRET, Journey

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="the harness forks")

RENAME = "rename over"
EARLY = Plan(by_call=True, save=3, kill=0, torn=False, pause=0.01, stale=False, deletes=False)


def columns(root: Path, journey: Journey, plan: Plan = EARLY, style: str = RENAME) -> set[str]:
    """What is lost in one trial, by its columns."""
    prepared(journey, root)
    before = memory_of(root).read_text()
    editor = Editor(memory_of(root), style, plan, random.Random(1))
    ended = met(journey, root, editor)
    assert editor.typed
    return {loss.column for loss in judged(root, before, editor, ended)}


def after(journey: Journey, root: Path, said: Said, old: str, new: str) -> set[str]:
    """What is lost where nobody ran, all that was `said`, and `new` stands for `old`."""
    prepared(journey, root)
    path = memory_of(root)
    before, editor = path.read_text(), Editor(path, "append", EARLY, random.Random(1))
    assert old in before
    path.write_text(before.replace(old, new))
    return {loss.column for loss in judged(root, before, editor, Ended("done", said))}


@pytest.mark.parametrize("style", STYLES)
def test_a_save_beside_a_memory_loses_nothing(tmp_path: Path, style: str) -> None:
    """Each style, with a kill some calls after the first step of the save."""
    assert columns(tmp_path / "w", JOURNEYS["remember"], replace(EARLY, kill=9), style) == set()


def test_a_bot_that_writes_over_a_person_is_noticed(tmp_path: Path) -> None:
    """A journey that puts an older text into the file loses what was just typed."""

    def write_over(root: Path, say: object) -> None:
        path = memory_of(root)
        inode, old = path.stat().st_ino, path.read_text()  # calls 1, and 2 to the end
        while path.stat().st_ino == inode:  # until the save, which begins at one of these calls
            time.sleep(0.001)
        path.write_text(old)

    assert columns(tmp_path / "w", replace(JOURNEYS["remember"], run=write_over)) == {HUMAN}


@pytest.mark.slow
def test_each_kind_of_loss_has_its_column(tmp_path: Path) -> None:
    """Acknowledged and gone, twice there, forgotten or taken back and there, an error not ours."""
    remember, forget, undo = JOURNEYS["remember"], JOURNEYS["forget"], JOURNEYS["undo"]
    root, tea = tmp_path / "w", "- alice likes tea\n"
    assert after(remember, root, (), tea, tea) == set()
    assert after(remember, root, (("entry", "never written"),), tea, tea) == {ACKED}
    assert after(remember, root, (("message", "never-said", "x"),), tea, tea) == {ACKED}
    assert after(remember, root, (), tea, tea + tea) == {DOUBLED}
    assert after(forget, root, (("forgotten", SECRET),), tea, tea) == {FORGOTTEN}
    assert after(undo, root, (("gone", "quartz viburnum jackdaw sphinx"),), tea, tea) == {BACK}
    raised = ("raised", ["KeyError"], "'when'", "a traceback")
    assert after(remember, root, (raised,), tea, tea) == {RAISED}


def test_a_deletion_that_no_older_buffer_would_leave_is_told_apart(tmp_path: Path) -> None:
    """The newest line, deleted with another typed, may be an older text; one before it may not."""
    root, journey = tmp_path / "w", JOURNEYS["undo"]
    prepared(journey, root)
    before = memory_of(root).read_text()
    newest, tea = "- quartz viburnum jackdaw sphinx\n", "- alice likes tea\n"
    editor = Editor(memory_of(root), RENAME, EARLY, random.Random(1))
    for line, column in ((newest, AMBIGUOUS), (tea, BACK)):
        editor.deleted, editor.saved = line, before.replace(line, "")
        found = judged(root, before, editor, Ended("done", ()), [before.replace(newest, "")])
        assert {loss.column for loss in found} == {column}
