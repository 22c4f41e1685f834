"""What recall and search found, as commands tell it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pipimem.cli.printing import fields, one_line
from pipimem.recall.explaining import explained
from pipimem.recall.items import Item, Source
from pipimem.recall.ranking import Candidate
from pipimem.recall.search.hits import Hit
from pipimem.text.secrets import redacted

# At 80 columns three lines of a terminal hold it.
_TEXT = 200


def candidate_json(candidate: Candidate | Hit, rank: int) -> dict[str, object]:
    """A candidate for scripts; a message goes by its own id, a secret typed into a file is masked."""
    item = candidate.item
    return {
        "rank": rank,
        "id": plain_id(item),
        **fields(item, "source", "section"),
        "score": round(candidate.score, 6),
        "content": redacted(item.text),
        "when": item.when,
    }


def plain_id(item: Item) -> str:
    """The id as the transcript or the notes have it: a message's own, an entry's with its source."""
    return item.id.removeprefix(f"{Source.LOG}:")


def candidate_rows(
    candidates: Sequence[Candidate | Hit], injected: Collection[str] = (), *, explain: bool = False
) -> Iterator[tuple[str, ...]]:
    """A row for each candidate: rank (`*` if injected), score, id, text; below it the parts of the score."""
    for rank, candidate in enumerate(candidates, 1):
        item = candidate.item
        mark = "*" if item.id in injected else ""
        speaker = "" if item.text.startswith(item.speaker) else item.speaker
        place = " ".join(part for part in (item.section, speaker) if part)
        text = f"{place}: {redacted(item.text)}" if place else redacted(item.text)
        yield f"{rank}{mark}", f"{candidate.score:.3f}", plain_id(item), one_line(text, _TEXT)
        if explain:
            yield "", "", "", f"= {explained(candidate.parts)}"
