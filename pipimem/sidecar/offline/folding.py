"""A month's bullets into the weightiest of them, as they stand: repetitions go, the order of time stays."""

from __future__ import annotations

from pipimem.notes.operations import Bullet
from pipimem.sidecar.contracts import Fold, Folded
from pipimem.sidecar.offline.choosing import weighed
from pipimem.sidecar.offline.sentences import Sentence
from pipimem.text.quotes import words_said
from pipimem.text.similarity import same_thought
from pipimem.text.words import Words

# A month on half a page, and never much more than half of what was there.
_MOST_BULLETS = 12
_SHARE = 0.6
_LEAST_BULLETS = 3


def folded(task: Fold, words: Words) -> Folded:
    """The month's bullets, each with the ids it stands for; no title."""
    once: list[Bullet] = []
    for name, text in task.bullets:
        twin = next(
            (place for place, known in enumerate(once) if same_thought(known.text, text)), None
        )
        if twin is None:
            once.append(Bullet(text, (name,)))
        else:
            once[twin] = Bullet(max(once[twin].text, text, key=len), (*once[twin].sources, name))
    room = min(_MOST_BULLETS, max(_LEAST_BULLETS, round(len(task.bullets) * _SHARE)))
    weightiest = sorted(
        range(len(once)), key=lambda place: (-_weight(once[place].text, words), place)
    )[:room]
    return Folded("", tuple(once[place] for place in sorted(weightiest)))


def _weight(text: str, words: Words) -> float:
    choice = weighed(Sentence(words_said(text), (), "", "user", None, 0), words)
    return choice.weight if choice else 0.0
