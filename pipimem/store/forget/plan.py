"""The plan of a forgetting, as `.pipimem/forget.json` holds it until it is carried out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from pipimem.notes.entry import content_id
from pipimem.notes.files import NOTE_FILES
from pipimem.notes.notes import Notes
from pipimem.store.commit.working_copy import WorkingCopy
from pipimem.store.disk import json_lines
from pipimem.store.disk.files import put_whole
from pipimem.store.disk.json_codec import CodecError, decoded, encoded
from pipimem.store.disk.json_lines import checked_line, checked_value
from pipimem.store.disk.syscalls import read_if_there, sync_folder
from pipimem.store.forget.learnt_from import learnt_before, learnt_from
from pipimem.store.forget.targets import ForgetTargets, messages_among, resolve_targets, without
from pipimem.store.transcript.log import Transcript

NAME = "forget.json"


@dataclass(frozen=True, slots=True)
class Plan:
    """The texts, messages and ids of entries to be removed, and `lines` of past texts.

    A plan without `inside_words` was written when texts were looked for inside words, too.
    """

    texts: tuple[str, ...]
    messages: tuple[str, ...]
    ids: tuple[str, ...]
    keep_transcript: bool
    actor: str
    inside_words: bool = True
    lines: tuple[str, ...] = ()

    @property
    def targets(self) -> ForgetTargets:
        """What is looked for."""
        messages, lines = frozenset(self.messages), frozenset(self.lines)
        return ForgetTargets(self.texts, messages, self.inside_words, lines)


def plan_for(
    working_copy: WorkingCopy,
    log: Transcript,
    what: str | Sequence[str],
    keep_transcript: bool,
    actor: str,
    *,
    inside_words: bool,
    with_learnt: bool,
) -> Plan:
    """The plan of forgetting a text, or the entries and messages of some ids.

    With `with_learnt` also what was learnt from these messages. Raises `NothingFound` for an id of
    nothing.
    """
    notes, key = working_copy.fresh_view().current, working_copy.key
    if with_learnt and not isinstance(what, str):
        what = _with_what_was_learnt(notes, log, what)
    targets, ids = resolve_targets(notes, what, inside_words=inside_words)
    all_ids = set(ids)
    for file in NOTE_FILES:
        all_ids.update(without(notes.note(file).text, targets, key)[1])
    if not ids and isinstance(what, str):
        all_ids.add(content_id(key, what))
    said = [one for one in log.messages() if one.id in targets.messages] if targets.messages else []
    return Plan(
        targets.texts,
        tuple(sorted(targets.messages)),
        tuple(sorted(all_ids)),
        keep_transcript,
        actor,
        inside_words,
        tuple(sorted(learnt_before(working_copy, notes, said))),
    )


def _with_what_was_learnt(notes: Notes, log: Transcript, what: Sequence[str]) -> list[str]:
    """What is to go, with what was learnt from its messages since somebody looked that up."""
    named = messages_among(what)
    said = [one for one in log.messages() if one.id in named] if named else []
    return list(dict.fromkeys([*what, *(learnt_from(notes, said) if said else ())]))


def save(own: Path, plan: Plan) -> None:
    """Writes the plan into a channel's `.pipimem/`, synced with its name."""
    put_whole(own / NAME, checked_line(encoded(plan)))
    # A power cut must not take the plan and leave what it began.
    sync_folder(own)


def load(own: Path) -> Plan | None:
    """Reads the plan in a channel's `.pipimem/`; `None` where there is none, or a damaged one.

    Carried out with one wrong byte it would remove what nobody named.
    """
    data = read_if_there(own / NAME)
    if data is None:
        return None
    value = checked_value(data)
    if value is None:
        value = _of_format_1(data)
    try:
        plan = decoded(Plan, value)
    except CodecError:
        return None
    # Nothing is in everything.
    return plan if all(text.strip() for text in plan.texts) else None


def _of_format_1(data: bytes) -> dict[str, object] | None:
    """The plan of a forgetting that was cut off in pipimem 0.1, which wrote no checksum."""
    found = json_lines.value(data)
    return found if found is not None and "sum" not in found else None
