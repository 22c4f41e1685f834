"""A decision carried out on the texts as they stand: pure, all of it or what of it still fits."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from pipimem.notes import guards
from pipimem.notes.echoes import echoes
from pipimem.notes.entry import Entry, content_id
from pipimem.notes.files import File
from pipimem.notes.history import block_heading, blocks, month_heading
from pipimem.notes.kinds import HEADINGS, Kind, heading_for, kind_of
from pipimem.notes.ledger import Delta, Ledger, Record, Tombstone
from pipimem.notes.notes import Change, Note, Notes, Outcome, Refusal, etag
from pipimem.notes.operations import (
    Add,
    AddBlock,
    Bullet,
    Confirm,
    Decision,
    Evidence,
    FoldBlocks,
    Invalidate,
    Job,
    Move,
    Operation,
    Progress,
    SetSection,
    Supersede,
    Target,
    Trust,
)
from pipimem.notes.sections import Draft, bullet_text, heading_text, paragraph_text
from pipimem.notes.session import SECTIONS, section_of, title_for

_ORDER = tuple(headings[0] for headings in HEADINGS.values())
# Twenty sources say enough; the newest are kept, for they are what a person would look up.
_MOST_SOURCES = 20
_FRESH = {File.MEMORY: "# Memory", File.SESSION: "# Session", File.HISTORY: "# History"}


def applied(notes: Notes, decision: Decision, now: datetime) -> Outcome:
    """What the decision makes of the notes.

    Every operation finds its target in `notes` itself or is refused; an operation that would change nothing is
    dropped. A decision made on another cursor, or other holes, than today's is refused whole.
    """
    if reason := _outdated(notes.ledger, decision.progress):
        return Outcome(refused=tuple(Refusal(op, reason) for op in decision.operations))
    barred = guards.refusals(notes, decision)
    work = _Work(notes, now, refused=list(barred))
    stopped = {id(refusal.operation) for refusal in barred}
    for operation in decision.operations:
        if id(operation) not in stopped and (reason := work.carry_out(operation)):
            work.refused.append(Refusal(operation, reason))
    return work.outcome(decision)


def _outdated(ledger: Ledger, progress: Progress) -> str:
    if progress.expect_cursor not in (None, ledger.cursor):
        return f"the cursor moved from {progress.expect_cursor} to {ledger.cursor} meanwhile"
    if progress.expect_holes not in (None, ledger.holes):
        return "other messages are set aside now"
    return ""


@dataclass(slots=True)
class _Work:
    """One decision while it is carried out: drafts of the files, and what has been done so far."""

    notes: Notes
    now: datetime
    refused: list[Refusal]
    drafts: dict[File, Draft] = field(default_factory=dict)
    taken: set[Target] = field(default_factory=set)
    records: dict[str, Record | None] = field(default_factory=dict)
    tombstones: dict[str, Tombstone | None] = field(default_factory=dict)
    changes: list[Change] = field(default_factory=list)
    archived: str = ""

    def carry_out(self, operation: Operation) -> str:
        """Do one operation; the answer is why it was refused, empty when it was done."""
        match operation:
            case Add():
                return self._add(operation)
            case Supersede():
                return self._supersede(operation)
            case Move():
                return self._move(operation)
            case Invalidate():
                return self._invalidate(operation)
            case Confirm():
                return self._confirm(operation)
            case SetSection():
                return self._set_section(operation)
            case AddBlock():
                return self._add_block(operation)
            case FoldBlocks():
                return self._fold(operation)

    def outcome(self, decision: Decision) -> Outcome:
        texts = {
            file: text for file, draft in self.drafts.items() if (text := draft.text()) != self.notes.note(file).text
        }
        progress = replace(decision.progress, expect_cursor=None, expect_holes=None)
        delta = Delta(self.records, self.tombstones, self._jobs(decision, texts), progress)
        return Outcome(texts, self.archived, delta, tuple(self.changes), tuple(self.refused))

    def _jobs(self, decision: Decision, texts: Mapping[File, str]) -> dict[str, Job]:
        if decision.job is None:
            return {}
        seen = decision.looked_at
        stamp = decision.job.stamp if seen is None else etag(texts.get(seen, self.notes.note(seen).text))
        return {decision.task: replace(decision.job, stamp=stamp)}

    # ── entries of MEMORY.md ──────────────────────────────────────────────────────────────────────────────────

    def _add(self, op: Add) -> str:
        text = bullet_text(op.text)
        name = content_id(self.notes.key, text)
        if not text:
            return "the text is empty"
        if self._buried(name, op.evidence, op.trust):
            return "it was taken out, and nobody said it again since"
        standing = next((entry for entry in self.notes.memory.entries if entry.id == name and entry.bullet), None)
        if standing:
            return self._confirm(Confirm(standing.target, op.evidence))
        if name in self.records and self.records[name] is not None:
            return "the same decision adds it already"
        section = heading_for(op.kind, self._draft(File.MEMORY).titles)
        self._draft(File.MEMORY).put(section, [text], order=_ORDER)
        self._note_new(name, op.kind, op.trust, op.evidence, op.probation_until, op.confidence)
        self.changes.append(Change("added", File.MEMORY, section, after=text, id=name))
        return ""

    def _supersede(self, op: Supersede) -> str:
        found = [self._take(target) for target in op.targets]
        text = bullet_text(op.text)
        standing = [entry for entry in found if entry]
        if not text or not standing or len(standing) < len(op.targets):
            self.taken -= {entry.target for entry in standing}
            return "the text is empty" if not text else "an entry it replaces stands there no more"
        name = content_id(self.notes.key, text)
        if any(entry.id == name for entry in standing) and len(standing) == 1:
            return self._confirm(Confirm(op.targets[0], op.evidence))
        first, draft = standing[0], self._draft(File.MEMORY)
        kind = op.kind or kind_of(first.section) or Kind.FACT
        for entry in standing:
            self._bury(entry, op.reason or "superseded", op.evidence)
        home = first.section if op.kind is None or kind_of(first.section) is kind else heading_for(kind, draft.titles)
        if home == first.section:
            draft.replace(first.start, first.end, _bulleted(first.marker, text))
        else:
            draft.remove(first.start, first.end)
            draft.put(home, [text], order=_ORDER)
        for entry in standing[1:]:
            draft.remove(entry.start, entry.end)
        self._note_new(name, kind, op.trust, op.evidence, None, 1.0, predecessor=first.id, heirs_of=standing)
        self.changes += [
            Change("superseded", File.MEMORY, entry.section, entry.text, text, name, op.reason) for entry in standing
        ]
        return ""

    def _move(self, op: Move) -> str:
        entry = self._take(op.target)
        if entry is None:
            return "the entry stands there no more"
        draft = self._draft(File.MEMORY)
        home = heading_for(op.kind, draft.titles)
        if home == entry.section:
            return "it stands there already"
        draft.move(entry.start, entry.end, home, order=_ORDER)
        record = self.notes.ledger.records.get(entry.id) or Record(Trust.HUMAN)
        self.records[entry.id] = replace(record, kind=op.kind)
        self.changes.append(Change("moved", File.MEMORY, home, entry.section, entry.text, entry.id))
        return ""

    def _invalidate(self, op: Invalidate) -> str:
        entry = self._take(op.target)
        if entry is None:
            return "the entry stands there no more"
        self._draft(File.MEMORY).remove(entry.start, entry.end)
        self._bury(entry, op.reason, Evidence())
        self.changes.append(Change("invalidated", File.MEMORY, entry.section, entry.text, "", entry.id, op.reason))
        return ""

    def _confirm(self, op: Confirm) -> str:
        entry = self.notes.find(op.target)
        if entry is None:
            return "the entry stands there no more"
        record = self.notes.ledger.records.get(entry.id)
        if record is None or (not set(op.evidence.sources) - set(record.sources) and not record.probation_until):
            return ""
        sources = (
            *record.sources,
            *(source for source in op.evidence.sources if source not in record.sources),
        )
        self.records[entry.id] = replace(record, sources=sources[-_MOST_SOURCES:], probation_until="")
        self.changes.append(Change("confirmed", File.MEMORY, entry.section, entry.text, entry.text, entry.id))
        return ""

    # ── SESSION.md ────────────────────────────────────────────────────────────────────────────────────────────

    def _set_section(self, op: SetSection) -> str:
        draft = self._draft(File.SESSION)
        standard = section_of(op.title)
        title = title_for(standard, draft.titles) if standard else op.title
        plain = standard == "Session Title"
        readable = paragraph_text if plain else bullet_text
        items = list(dict.fromkeys(text for item in op.items if (text := readable(item))))
        names = {content_id(self.notes.key, text) for text in items}
        if draft.fill(title, items, self._wrote, order=tuple(SECTIONS), plain=plain):
            self.changes.append(Change("section", File.SESSION, title, after="\n".join(items)))
            self._forget_lines(title)
            self.records |= {f"session:{name}": Record(Trust.INFERRED, kind="session") for name in names}
        return ""

    def _forget_lines(self, title: str) -> None:
        """Records of the lines that go: without this the ledger would grow with every refresh."""
        gone = (f"session:{entry.id}" for entry in self.notes.session.entries if entry.section == title)
        self.records |= {name: None for name in gone if name in self.notes.ledger.records}

    def _wrote(self, text: str) -> bool:
        """Whether a line of SESSION.md is the runtime's own: a person's line has no record."""
        return f"session:{content_id(self.notes.key, text)}" in self.notes.ledger.records

    # ── HISTORY.md ────────────────────────────────────────────────────────────────────────────────────────────

    def _add_block(self, op: AddBlock) -> str:
        texts = [text for bullet in op.bullets if (text := bullet_text(bullet.text))]
        if not texts:
            return "the block has no bullets"
        heading = block_heading(op.start, op.end, heading_text(op.title))
        draft = self._draft(File.HISTORY)
        if heading in draft.titles:
            # Two boundaries within a minute, or a hole filled later: one block, nothing twice.
            told = {entry.text for entry in self.notes.history.entries if entry.section == heading}
            texts = [text for text in texts if text not in told]
            if not texts:
                return "the block stands there already"
            draft.put(heading, texts, order=())
        else:
            draft.append_section(heading, texts)
        self._note_bullets(op.bullets, op.end)
        self.changes.append(Change("block", File.HISTORY, heading, after="\n".join(texts)))
        return ""

    def _fold(self, op: FoldBlocks) -> str:
        note = self.notes.history
        wanted = [block for block in blocks(note) if block.heading in op.headings]
        if len({block.heading for block in wanted}) < len(op.headings):
            return "a block to fold stands there no more"
        texts = [text for bullet in op.bullets if (text := bullet_text(bullet.text))]
        draft = self._draft(File.HISTORY)
        heading = month_heading(op.month, heading_text(op.title))
        first = wanted[0].section
        draft.replace(first.start, first.end, [f"## {heading}", "", *(f"- {text}" for text in texts), ""])
        for block in wanted[1:]:
            draft.remove(block.section.start, block.section.end)
        originals = [block for block in wanted if not block.month]
        self.archived += "".join(_lines(note, block.section.start, block.section.end) for block in originals)
        self._note_bullets(op.bullets, wanted[-1].end)
        self.changes.append(Change("folded", File.HISTORY, heading, "\n".join(op.headings), "\n".join(texts)))
        return ""

    # ── shared ────────────────────────────────────────────────────────────────────────────────────────────────

    def _draft(self, file: File) -> Draft:
        if file not in self.drafts:
            self.drafts[file] = Draft(self.notes.note(file).document, _FRESH[file])
        return self.drafts[file]

    def _take(self, target: Target) -> Entry | None:
        """The entry of a target, once: two operations cannot both have it."""
        entry = None if target in self.taken else self.notes.find(target)
        if entry:
            self.taken.add(target)
        return entry

    def _buried(self, name: str, evidence: Evidence, trust: Trust) -> bool:
        """Whether it was taken out after all that this rests on; what a person asks for now rests on no message."""
        stone = self.notes.ledger.tombstones.get(name)
        if stone is None or trust is Trust.HUMAN or (trust is Trust.EXPLICIT and not evidence.newest):
            return False
        return evidence.newest <= stone.upto

    def _bury(self, entry: Entry, reason: str, evidence: Evidence) -> None:
        stone = Tombstone(reason, upto=max(evidence.newest, self.notes.ledger.cursor))
        self.records[entry.id] = None
        self.tombstones |= dict.fromkeys((entry.id, *echoes(self.notes, entry)), stone)

    def _note_new(
        self,
        name: str,
        kind: Kind,
        trust: Trust,
        evidence: Evidence,
        probation: datetime | None,
        confidence: float,
        *,
        predecessor: str = "",
        heirs_of: Sequence[Entry] = (),
    ) -> None:
        old = [record for entry in heirs_of if (record := self.notes.ledger.records.get(entry.id))]
        sources = dict.fromkeys(source for record in old for source in record.sources) | dict.fromkeys(evidence.sources)
        when = evidence.when or self.now
        self.records[name] = Record(
            trust=trust,
            kind=kind,
            sources=tuple(sources)[-_MOST_SOURCES:],
            speaker=evidence.speaker,
            when=max([when.isoformat(timespec="seconds")] if evidence.sources or not old else [r.when for r in old]),
            recalls=sum(record.recalls for record in old),
            recalled=max((r.recalled for r in old), default=""),
            probation_until=probation.isoformat(timespec="seconds") if probation else "",
            predecessor=predecessor,
            confidence=confidence,
        )
        if name in self.notes.ledger.tombstones:
            self.tombstones[name] = None

    def _note_bullets(self, bullets: Sequence[Bullet], when: datetime | None) -> None:
        stamp = when.isoformat(timespec="seconds") if when else ""
        for bullet in bullets:
            name = content_id(self.notes.key, bullet_text(bullet.text))
            sources = bullet.sources[-_MOST_SOURCES:]
            self.records[f"history:{name}"] = Record(Trust.INFERRED, "history", sources, when=stamp)


def _bulleted(marker: str, text: str) -> list[str]:
    return [f"{marker.rstrip()} {text}" if marker.strip() else f"- {text}"]


def _lines(note: Note, start: int, end: int) -> str:
    text = "".join(note.document.lines[start:end])
    return text if text.endswith(("\n", "\r")) else text + note.document.eol
