"""A month's bullets into its weightiest: repetitions go, the order of time stays."""

from __future__ import annotations

from collections.abc import Sequence

from pipimem.notes.operations import Bullet
from pipimem.sidecar.contracts import Fold, Folded
from pipimem.sidecar.offline.cues import hit
from pipimem.sidecar.offline.summarising import topics
from pipimem.sidecar.offline.tidying import same
from pipimem.sidecar.offline.titling import titled
from pipimem.sidecar.offline.weights import Weights
from pipimem.sidecar.offline.wording import core
from pipimem.text.words import Words

# A month on half a page, and never more than half of what was there.
_MOST_BULLETS = 12
_SHARE = 0.6
_MOST_CHARS = 200
_CUE_BONUS = 1.8
_SAID_ALREADY = 0.3


def folded(task: Fold, words: Words) -> Folded:
    """The month's title and bullets, each with the ids it stands for."""
    bullets = _once(task.bullets, words)
    weights = Weights(words, (bullet.text for bullet in bullets))
    room = min(_MOST_BULLETS, max(3, round(len(task.bullets) * _SHARE)))
    kept = _weightiest(bullets, weights, room)
    # A bullet begins with the name of who did it; a title says what it was about.
    names = {words_[0] for bullet in bullets if (words_ := words.words(bullet.text))}
    texts = [bullet.text for bullet in kept]
    weightiest = sorted(texts, key=lambda text: -_score(Bullet(text, ()), weights, set()))
    return Folded(titled([(text, "") for text in weightiest]) or topics(texts, weights, names) or task.month, kept)


def _once(bullets: Sequence[tuple[str, str]], words: Words) -> list[Bullet]:
    """Each thing once, with all its sources, in the words that say most."""
    once: list[Bullet] = []
    for name, text in bullets:
        twin = next((n for n, known in enumerate(once) if same(known.text, text, words)), None)
        if twin is None:
            once.append(Bullet(text, (name,)))
        else:
            known = once[twin]
            once[twin] = Bullet(max(known.text, text, key=len), (*known.sources, name))
    return once


def _weightiest(bullets: Sequence[Bullet], weights: Weights, room: int) -> tuple[Bullet, ...]:
    covered: set[str] = set()
    left = dict(enumerate(bullets))
    kept: list[int] = []
    while left and len(kept) < room:
        best = max(left, key=lambda n: (_score(left[n], weights, covered), -n))
        covered |= weights.bag(left.pop(best).text)
        kept.append(best)
    return tuple(_short(bullets[n]) for n in sorted(kept))


def _score(bullet: Bullet, weights: Weights, covered: set[str]) -> float:
    bag = weights.bag(bullet.text)
    return weights.news(bag, covered, _SAID_ALREADY) * (_CUE_BONUS if hit(bullet.text) else 1.0)


def _short(bullet: Bullet) -> Bullet:
    return Bullet(core(bullet.text, 0, _MOST_CHARS) or bullet.text, bullet.sources)
