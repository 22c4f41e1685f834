"""A channel lives: people edit, decisions come, processes crash and start again, in any order."""

from __future__ import annotations

import os
import tempfile
from datetime import datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, precondition, rule
from pipimem.notes.kinds import Kind
from pipimem.notes.operations import Add, Author, Decision, Evidence, Invalidate, SetSection, Trust
from pipimem.state.channel_state import ChannelState
from pipimem.store.channel import ChannelStore
from pipimem.store.commit import publish
from pipimem.store.workspace import WorkspaceStore

NOW = datetime(2026, 3, 2, 9, 10, tzinfo=timezone(timedelta(hours=8)))
# Words that resemble one another as little as bullets do.
WORDS = [
    "quartz",
    "viburnum",
    "jackdaw",
    "oxbow",
    "lymph",
    "zephyr",
    "fjord",
    "mango",
    "kiwi",
    "plinth",
    "scuba",
    "dwarf",
    "hyacinth",
    "obelisk",
    "tuxedo",
]


class Living(RuleBasedStateMachine):
    """One channel's folder, and what must stand in its MEMORY.md."""

    def __init__(self) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        (self.root / "channels").mkdir()
        for name in ("SOUL.md", "AGENTS.md", "MEMORY.md"):
            (self.root / name).write_text(f"# {name}\n\n- people's own\n")
        self.channel = self.opened()
        self.path = self.channel.folder / "MEMORY.md"
        self.number = 0
        self.stands: set[str] = set()
        self.gone: set[str] = set()
        self.buffer = ""
        self.in_buffer: set[str] = set()
        self.was_emptied = False
        self.saved: set[str] = set()

    def teardown(self) -> None:
        self.folder.cleanup()

    def opened(self) -> ChannelStore:
        return ChannelStore.open(WorkspaceStore.open(self.root), "team", create=True)

    def fresh_words(self) -> str:
        self.number += 1
        return f"{WORDS[self.number % len(WORDS)]} {self.number} {WORDS[(self.number * 7) % len(WORDS)]}"

    def on_screen(self) -> str:
        return self.path.read_text() if self.path.exists() else "# Memory\n\n## Facts\n\n"

    # ── the runtime
    # ───────────────────────────────────────────────────────────────────────────────────────

    @rule()
    def a_fact_is_learnt(self) -> None:
        said = self.fresh_words()
        self.channel.commit(learnt(said), NOW)
        self.stands.add(said)

    @rule()
    def a_section_is_set(self) -> None:
        self.channel.commit(
            Decision("refresh", Author.MODEL, (SetSection("Next Steps", (self.fresh_words(),)),)),
            NOW,
        )

    @precondition(lambda self: self.stands)
    @rule(data=st.data())
    def an_entry_is_taken_out(self, data: st.DataObject) -> None:
        said = data.draw(st.sampled_from(sorted(self.stands)))
        entry = next(entry for entry in self.channel.notes().memory.entries if entry.text == said)
        self.channel.commit(
            Decision("forget", Author.PERSON, (Invalidate(entry.target, "over"),)), NOW
        )
        self.stands.discard(said)
        self.gone.add(said)

    @rule()
    def it_is_closed_and_opened(self) -> None:
        self.channel.close()
        self.channel = self.opened()

    @rule(where=st.sampled_from(["prepared", "recorded", "displaced", "looked at"]))
    def it_crashes_in_a_commit(self, where: str) -> None:
        """Killed there, all of it is done or nothing; what had been acknowledged stands."""
        said = self.fresh_words()
        with pytest.MonkeyPatch.context() as patch:
            killed_after(patch, where)
            try:
                self.channel.commit(learnt(said), NOW)
            except KeyboardInterrupt:
                pass
        self.channel = self.opened()
        if any(entry.text == said for entry in self.channel.notes().memory.entries):
            self.stands.add(said)

    # ── people
    # ────────────────────────────────────────────────────────────────────────────────────────────

    @rule(in_place=st.booleans())
    def somebody_types(self, in_place: bool) -> None:
        said = self.fresh_words()
        self.save(self.on_screen() + f"- {said}\n", in_place=in_place)
        self.stands.add(said)

    @rule()
    def a_line_is_appended(self) -> None:
        said = self.fresh_words()
        text = self.on_screen()
        with self.path.open("a") as file:
            file.write(
                f"- {said}\n" if text == "" or self.path.stat().st_size else text + f"- {said}\n"
            )
        self.stands.add(said)
        self.saved.add(self.path.read_text())

    @precondition(lambda self: len(self.stands) > 1)
    @rule(data=st.data(), in_place=st.booleans())
    def somebody_deletes(self, data: st.DataObject, in_place: bool) -> None:
        self.runtime_looks()
        said = data.draw(st.sampled_from(sorted(self.stands)))
        text = self.on_screen()
        if f"- {said}\n" not in text:
            return  # a text of ours that a crash kept from its file: nobody sees it there yet
        if text.replace(f"- {said}\n", "") in self.saved:
            return  # an editor that saves its buffer once more leaves the same bytes: it counts as that
        self.save(text.replace(f"- {said}\n", ""), in_place=in_place)
        self.stands.discard(said)
        self.gone.add(said)
        self.runtime_looks()

    @rule(in_place=st.booleans())
    def somebody_empties_the_file(self, in_place: bool) -> None:
        """Headings and all, longer ago than an editor would take for a save."""
        self.runtime_looks()
        gone = {said for said in self.stands if f"- {said}\n" in self.on_screen()}
        self.save("", in_place=in_place)
        os.utime(self.path, (1_700_000_000, 1_700_000_000))
        self.stands -= gone
        self.gone |= gone
        self.was_emptied = True
        self.runtime_looks()

    @rule()
    def an_editor_loads(self) -> None:
        self.channel.commit(learnt(said := self.fresh_words()), NOW)
        self.stands.add(said)
        self.buffer = self.on_screen()
        self.in_buffer = {said for said in self.stands if f"- {said}\n" in self.buffer}
        self.was_emptied = False

    @precondition(lambda self: self.buffer)
    @rule(in_place=st.booleans())
    def an_old_buffer_is_saved(self, in_place: bool) -> None:
        """With one more line: nothing the runtime wrote meanwhile is lost, nothing deleted
        meanwhile is back.

        But where the file was emptied meanwhile: that may have been the first half of this very save, so all of it stands.
        """
        self.runtime_looks()
        said = self.fresh_words()
        if self.was_emptied:
            self.stands |= self.in_buffer
            self.gone -= self.in_buffer
        self.buffer += f"- {said}\n"
        self.save(self.buffer, in_place=in_place)
        self.stands.add(said)
        self.buffer = ""

    def save(self, text: str, *, in_place: bool) -> None:
        self.saved.add(text)
        if in_place:
            self.path.write_text(text)
        else:
            other = self.path.with_name(".saved")
            other.write_text(text)
            other.replace(self.path)

    def runtime_looks(self) -> None:
        """Between a deletion and other saves, else nobody can tell what was meant.

        See docs/design/reliability.md.
        """
        self.channel.commit(
            Decision("look", Author.RULE, (SetSection("Worklog", (self.fresh_words(),)),)), NOW
        )

    # ── what holds at any time
    # ────────────────────────────────────────────────────────────────────────────

    @invariant()
    def everybody_sees_what_must_stand(self) -> None:
        """Here and in a process of its own: each line once, nothing that is gone."""
        for channel in (self.channel, self.opened()):
            texts = [entry.text for entry in channel.notes().memory.entries]
            assert sorted(texts) == sorted(self.stands)

    @invariant()
    def the_workspace_is_untouched(self) -> None:
        for name in ("SOUL.md", "AGENTS.md", "MEMORY.md"):
            assert (self.root / name).read_text() == f"# {name}\n\n- people's own\n"

    @invariant()
    def every_change_is_kept(self) -> None:
        numbers = [record.sequence for record in self.channel.changes()]
        assert numbers == list(range(1, len(numbers) + 1))


def learnt(text: str) -> Decision:
    """One fact of a model's."""
    return Decision(
        "consolidate", Author.MODEL, (Add(Kind.FACT, text, Trust.INFERRED, Evidence(("m1",), 1)),)
    )


def killed_after(patch: pytest.MonkeyPatch, where: str) -> None:
    """The process ends right after a step of the next commit."""
    module, name = {
        "prepared": (publish, "prepare"),
        "recorded": (ChannelState, "append"),
        "displaced": (publish, "displace"),
        "looked at": (publish, "_merge_displaced"),
    }[where]
    real = getattr(module, name)

    def killed(*args: object, **rest: object) -> object:
        real(*args, **rest)
        raise KeyboardInterrupt

    patch.setattr(module, name, killed)


TestLiving = Living.TestCase
TestLiving.settings = settings(
    max_examples=20, stateful_step_count=12, deadline=None, derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
)  # fmt: skip
