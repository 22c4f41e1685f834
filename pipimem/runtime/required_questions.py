"""Questions that memory must go on answering: lines of `recall.must`, added for a person."""

from __future__ import annotations

from collections.abc import Sequence

from pipimem.errors import ArgumentError, require_type
from pipimem.settings import Settings
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.markdown.lines import white_folded
from pipimem.text.private import without_private
from pipimem.text.secrets import redacted

_ARROW = "=>"
_COMMAS = (",", "，")


def add_required_question(
    workspace: WorkspaceStore, settings: Settings, question: str, words: Sequence[str] = ()
) -> bool:
    """Add a question, and the words that must be found for it; whether it was not there yet.

    Idle work then refuses a tidying after which they are not found. Call it for a person alone: the
    file is theirs. Raises `ArgumentError` for what no line of the file can say, and for a secret.
    """
    require_type(question, str, "question")
    line = _line(white_folded(question), [white_folded(word) for word in words])
    if redacted(without_private(line, settings.private), own=settings.secrets) != line:
        raise ArgumentError("It has a secret or a private stretch in it, and the file is kept.")
    return workspace.add_required_question(line)


def _line(question: str, words: Sequence[str]) -> str:
    """The line of the file. Raises `ArgumentError`."""
    if not question or question.startswith("#") or _ARROW in question:
        raise ArgumentError("The question is empty, begins with # or has => in it: reword it.")
    for word in words:
        if not word or any(comma in word for comma in _COMMAS):
            raise ArgumentError("Give words without commas, none of them empty.")
    return f"{question} {_ARROW} {', '.join(words)}" if words else question
