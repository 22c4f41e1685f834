"""An editor saves MEMORY.md at each call of the C library, in every journey.

Afterwards all that was typed is there once, nothing that was acknowledged is lost, nothing is
there twice, and what was forgotten does not come back.
"""

from __future__ import annotations

import random
import threading
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import pytest

from tests.promises.journeys import BY_NAME, TEAM, memory_of
from tests.promises.libc_shim import kill_after, pause_at
from tests.promises.trials import Stage, Stages, Trial, chosen
from tests.promises.zygote import Ended

TYPED = "typed in an editor, giraffe"
# An editor may have to wait for the process that is paused, if that one holds a lease.
_PATIENCE = 0.5
# So many calls later an editor goes on with a save that has two steps.
_LATER = 4

Steps = Iterator[None]
"""What an editor does: it is resumed for its second step, if it has one."""


def add_line(text: str) -> str:
    """The text with a line more, as a person types it at the end."""
    return text.rstrip("\n") + f"\n- {TYPED}\n"


def read(path: Path) -> str:
    """The text of a note, empty where there is none."""
    return path.read_text("utf-8") if path.exists() else ""


def in_place(path: Path, loaded: str) -> Steps:
    """nano: truncate and write the text as it is now."""
    yield
    path.write_text(add_line(read(path)), "utf-8")


def by_rename(path: Path, loaded: str) -> Steps:
    """vim: write another file and rename it over this one."""
    yield
    replace(path, add_line(read(path)))


def old_buffer_in_place(path: Path, loaded: str) -> Steps:
    """A window that has been open since before the journey."""
    yield
    path.write_text(add_line(loaded), "utf-8")


def old_buffer_by_rename(path: Path, loaded: str) -> Steps:
    """The same, saved by rename."""
    yield
    replace(path, add_line(loaded))


def half_and_half(path: Path, loaded: str) -> Steps:
    """A slow disk: truncate and write a part; the rest comes later."""
    yield
    text = add_line(read(path))
    with path.open("r+", encoding="utf-8") as file:
        file.truncate(0)
        file.write(text[: len(text) // 2])
        file.flush()
        yield
        file.write(text[len(text) // 2 :])


def delete_and_create(path: Path, loaded: str) -> Steps:
    """An editor, or a sync client, that deletes a file before it makes it anew."""
    yield
    text = add_line(read(path))
    path.unlink()
    yield
    path.write_text(text, "utf-8")


def replace(path: Path, text: str) -> None:
    """Write a text by rename."""
    fresh = path.with_name("buffer~")
    fresh.write_text(text, "utf-8")
    fresh.replace(path)


STYLES = (
    in_place,
    by_rename,
    old_buffer_in_place,
    old_buffer_by_rename,
    half_and_half,
    delete_and_create,
)
# Of the others there is no MEMORY.md of the channel before, or none afterwards.
NAMES = [name for name, journey in BY_NAME.items() if journey.channel == TEAM]
SHORT = ("turns", "remember", "update", "compaction", "forget", "undo")


class Editor:
    """An editor whose steps are done in a thread, for it may have to wait for the journey."""

    def __init__(self, steps: Steps) -> None:
        """Open the file."""
        self._steps = steps
        next(steps)
        self._thread: threading.Thread | None = None
        self._error: BaseException | None = None

    def step(self) -> None:
        """Begin the next step; give it some time."""
        self.finish()
        self._thread = threading.Thread(target=self._run)
        self._thread.start()
        self._thread.join(_PATIENCE)

    def finish(self) -> None:
        """Wait for the end of a step that had to wait."""
        if self._thread is not None:
            self._thread.join()
        if self._error is not None:
            raise self._error

    def _run(self) -> None:
        try:
            next(self._steps, None)
        except BaseException as error:  # noqa: BLE001 - raised in the test
            self._error = error


def edited(stage: Stage, number: int, style: Callable[[Path, str], Steps]) -> list[Any]:
    """Do a journey with an editor that saves at a call; returns what was acknowledged."""
    stage.lay_out()
    path = memory_of(stage.root)
    editor = Editor(style(path, read(path)))
    child = stage.start([*pause_at(number), *pause_at(number + _LATER)])
    assert child.paused(), "the journey ended before its pause"
    editor.step()
    child.go_on()
    if child.paused():
        editor.step()
        child.go_on()
        ended = child.wait()
    else:
        ended = child.wait()
        editor.step()
    editor.finish()
    said: list[Any] = list(ended.said)
    if ended.how != "done" and not is_refusal(ended):
        said.append(["wrong", f"it {ended.how}: {ended.trace}"])
    return [*said, *go_on(stage), ["typed", TYPED]]


def is_refusal(ended: Ended) -> bool:
    """Whether a journey ended with an error of ours: an undo, say, of what was edited since."""
    raised = ended.of("raised")
    return bool(raised) and bool({"PipimemError", "CommandFailed"} & set(raised[-1][0]))


def go_on(stage: Stage) -> list[Any]:
    """Open the workspace, store a message and an entry; returns what was acknowledged."""
    ended = stage.zygote.run(
        "tests.promises.aftermath:go_on", name=stage.journey.name, root=str(stage.root)
    )
    return list(ended.raise_unless_done().said)


# Deleted before the exchange and made anew after it: today nothing counts as deleted then.
COMES_BACK = ("take-out", delete_and_create.__name__)


def judged_trials(stage: Stage, count_trials: Callable[..., None], found: Sequence[Trial]) -> str:
    """Play the editor in each trial; returns what was wrong, a line each."""
    wrong = []
    for trial in found:
        style = next(style for style in STYLES if style.__name__ == trial.fault)
        said = edited(stage, trial.number, style)
        count_trials()
        told = stage.inspect([line for line in said if line[0] != "wrong"], is_last=False)
        told += [line[1] for line in said if line[0] == "wrong"]
        wrong += stage.report(trial, told)
    return "\n".join(wrong)


@pytest.mark.parametrize("name", NAMES)
def test_an_editor_that_saves_at_any_call_loses_nothing(
    stages: Stages, name: str, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """In place, by rename, from an old buffer, in two halves, and deleted before it is made."""
    if not is_long and name not in SHORT:
        pytest.skip("the long form has every journey")
    stage = stages.of(BY_NAME[name])
    every = [trial for trial in trials(stage) if (name, trial.fault) != COMES_BACK]
    found = chosen(every, every if is_long else short_trials(every, name))
    assert judged_trials(stage, count_trials, found) == ""


@pytest.mark.xfail(strict=True, reason="a later change: what was taken out comes back")
def test_an_entry_that_was_taken_out_stays_out_of_a_file_that_is_made_anew(
    stages: Stages, is_long: bool, count_trials: Callable[..., None]
) -> None:
    """Deleted and made anew by an editor while the entry is taken out."""
    name, fault = COMES_BACK
    if not is_long:
        pytest.skip("the long form has this journey")
    stage = stages.of(BY_NAME[name])
    every = [trial for trial in trials(stage) if trial.fault == fault]
    assert judged_trials(stage, count_trials, chosen(every, every)) == ""


@pytest.mark.parametrize("name", ["remember", "compaction", "forget", "undo"])
@pytest.mark.parametrize("style", [half_and_half, delete_and_create], ids=lambda f: f.__name__)
def test_a_save_that_is_under_way_at_a_kill_loses_nothing(
    stages: Stages,
    name: str,
    style: Callable[[Path, str], Steps],
    is_long: bool,
    count_trials: Callable[..., None],
) -> None:
    """The editor ends its save when the process is dead, into whatever file it has open."""
    if not is_long and (name in ("compaction", "undo")):
        pytest.skip("the long form has these journeys")
    stage, wrong = stages.of(BY_NAME[name]), []
    found = [Trial(name, style.__name__, call.number) for call in stage.calls]
    for trial in chosen(found, found if is_long else [drawn(found)]):
        for later in range(0, 12, 3) if is_long else (5,):
            stage.lay_out()
            path = memory_of(stage.root)
            editor = Editor(style(path, read(path)))
            child = stage.start([*pause_at(trial.number), *kill_after(trial.number + later)])
            assert child.paused(), "the journey ended before its pause"
            editor.step()
            child.go_on()
            said: list[Any] = list(child.wait().said)
            editor.step()
            editor.finish()
            count_trials()
            said += go_on(stage)
            judged = stage.inspect([*said, ["typed", TYPED]], is_last=False)
            wrong += stage.report(trial, [f"killed {later} calls later: {each}" for each in judged])
    assert not wrong, "\n".join(wrong)


def trials(stage: Stage) -> list[Trial]:
    """Return each style at each call."""
    name = stage.journey.name
    return [Trial(name, style.__name__, call.number) for style in STYLES for call in stage.calls]


def short_trials(every: Sequence[Trial], name: str) -> list[Trial]:
    """Return a trial of two styles, others for each journey."""
    turn = SHORT.index(name)
    styles = [STYLES[(2 * turn + at) % len(STYLES)].__name__ for at in range(2)]
    return [drawn([trial for trial in every if trial.fault == style]) for style in styles]


def drawn(found: Sequence[Trial]) -> Trial:
    """One of some trials, always the same one."""
    return random.Random(str(found[0])).choice(found)
