"""Every guard against loss, switched off in turn: a named test must notice."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

import pytest
from pipimem.notes.operations import Decision
from pipimem.store.channel import ChannelStore
from pipimem.store.commit import acknowledge, publish, working_copy
from pipimem.store.disk import files, folder_lock
from pipimem.store.disk.editor_saves import Lease
from pipimem.store.disk.files import TextFile
from pipimem.store.journal import state

from tests.faults import test_crashes as crashes
from tests.faults import test_power_cuts as cuts
from tests.store import test_channel as channels
from tests.store.commit import test_publish as publish_tests

Switch = Callable[[pytest.MonkeyPatch], None]


def off(module: Any, name: str, instead: Any) -> Switch:
    """Puts something harmless-looking in the place of a guard."""
    return lambda patch: patch.setattr(module, name, instead)


def kept_at_sight(patch: pytest.MonkeyPatch) -> None:
    """A person's text counts as known as soon as it is seen, merged or not."""
    real = working_copy.WorkingCopy.merged_text

    def taken_in(self: working_copy.WorkingCopy, file: Any, reading: TextFile) -> str:
        text = real(self, file, reading)
        self.state.versions.keep(file, reading.text)
        return text

    patch.setattr(working_copy.WorkingCopy, "merged_text", taken_in)


def prepared_counts(patch: pytest.MonkeyPatch) -> None:
    """Texts that only lay prepared count as if they had stood in the file."""
    real = state.State.recent_changes
    patch.setattr(
        state.State,
        "recent_changes",
        lambda *args: deque(replace(each, unseen=False) for each in real(*args)),
    )


def no_lock(patch: pytest.MonkeyPatch) -> None:
    """Everybody gets the lock, and nobody asks whether it holds."""
    patch.setattr(folder_lock, "try_lock", lambda _: True)
    patch.setattr(folder_lock, "locks_hold", lambda _: True)


# Also without a lock processes may happen to go one after the other, on a busy machine now and
# then.
_RACES = 10

GUARDS: tuple[tuple[str, Switch, Callable[..., None], dict[str, object]], ...] = (
    (
        "what an exchange displaces is looked at",
        off(publish, "_merge_displaced", lambda _copy, _file, path, *_, **__: path.unlink()),
        publish_tests.test_a_save_right_before_the_exchange_is_merged,
        {"save": publish_tests.typed, "kill": False, "exchanges": True},
    ),
    (
        "what a crash left displaced is looked at",
        off(publish, "_is_prepared", lambda *_: True),
        publish_tests.test_a_save_right_before_the_exchange_is_merged,
        {"save": publish_tests.typed, "kill": True, "exchanges": True},
    ),
    (
        "both sides are merged",
        off(publish, "merged", lambda _base, ours, _theirs: ours),
        publish_tests.test_a_save_right_before_the_exchange_is_merged,
        {"save": publish_tests.renamed_over, "kill": False, "exchanges": True},
    ),
    (
        "a lease shows an editor at work",
        off(files, "leased", lambda _: Lease.NONE),
        publish_tests.test_a_file_somebody_keeps_open_is_left_alone,
        {},
    ),
    (
        "a displaced file is read when nobody writes to it",
        off(publish, "read_when_closed", files.read),
        publish_tests.test_a_slow_save_into_the_displaced_file_is_waited_for,
        {},
    ),
    (
        "half of a save deletes nothing",
        off(publish, "merged_displaced", publish.merged),
        publish_tests.test_half_of_a_save_deletes_nothing,
        {"left": "# Memory\n\n## Fa"},
    ),
    (
        "an empty or cut file is waited for",
        off(working_copy, "may_be_half_saved", lambda *_: False),
        channels.test_an_editor_at_work_is_waited_for,
        {"text": ""},
    ),
    (
        "a stale buffer is recognised",
        off(working_copy, "merge_base", lambda _, past: "".join(next(iter(past)).lines)),
        publish_tests.test_an_older_buffer_is_merged_from_where_it_began,
        {},
    ),
    (
        "a text counts as known only once it is merged",
        kept_at_sight,
        publish_tests.test_a_text_seen_but_not_merged_is_no_ancestor,
        {},
    ),
    (
        "a text that only lay prepared was never on disk",
        prepared_counts,
        publish_tests.test_a_text_that_never_reached_the_file_is_no_ancestor,
        {},
    ),
    (
        "names are synced before the record that rests on them",
        off(acknowledge, "sync_folder", lambda _: None),
        cuts.test_texts_and_names_are_synced_before_the_record_that_rests_on_them,
        {},
    ),
    (
        "an exchange is synced before what it displaced goes",
        off(publish, "sync_folder", lambda _: None),
        cuts.test_texts_and_names_are_synced_before_the_record_that_rests_on_them,
        {},
    ),
    (
        "one holder of the lock at a time",
        no_lock,
        crashes.test_two_processes_commit_at_once_and_lose_nothing,
        {},
    ),
)


@pytest.mark.parametrize(
    ("guard", "switch", "test", "given"), GUARDS, ids=[guard[0] for guard in GUARDS]
)
def test_a_guard_that_is_off_is_noticed(
    channel: ChannelStore, tmp_path: Path, now: datetime, add: Callable[..., Decision],
    guard: str, switch: Switch, test: Callable[..., None], given: dict[str, object],
) -> None:  # fmt: skip
    """The named test passes with the guard, and fails without it."""
    wanted = test.__code__.co_varnames[: test.__code__.co_argcount]
    with pytest.MonkeyPatch.context() as patch:
        switch(patch)
        here = {"channel": channel, "now": now, "add": add, "monkeypatch": patch, **given}

        def run() -> None:
            for turn in range(_RACES if switch is no_lock else 1):
                own = tmp_path / f"own{turn}"
                own.mkdir()
                test(**{name: own if name == "tmp_path" else here[name] for name in wanted})

        with pytest.raises((AssertionError, OSError, RuntimeError, KeyError, ValueError)):
            run()
