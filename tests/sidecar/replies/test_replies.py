"""Scripted replies and mutations of them, by the real path to files on disk: nothing is lost
that nobody ended.
"""

from __future__ import annotations

from random import Random

import pytest
from pipimem.notes.kinds import File

from tests.sidecar.replies import judging
from tests.sidecar.replies.mutating import MUTATIONS, mutated
from tests.sidecar.replies.trial import Reply, Trial, entry_ids, facts, replies

pytestmark = pytest.mark.anyio
# Mutations: every reply is taken once or twice.
SAMPLE, SEED = 90, 7


@pytest.fixture
def anyio_backend() -> str:
    """Nothing here waits for anything: one event loop will do."""
    return "asyncio"


@pytest.fixture(scope="module")
def trial(tmp_path_factory: pytest.TempPathFactory) -> Trial:
    """The memory of sixty facts."""
    return Trial(tmp_path_factory.mktemp("replies"))


def test_the_replies_are_many_and_in_two_languages() -> None:
    """At least 44, of each kind, for each task that changes MEMORY.md or HISTORY.md."""
    found = replies()
    assert len(found) >= 44
    assert len(facts()) == 60
    assert {(reply.language, reply.verdict) for reply in found} == {
        (language, verdict) for language in ("en", "zh") for verdict in ("good", "bad", "mixed")
    }
    assert {reply.task for reply in found} == {"consolidate", "tidy", "fold"}


@pytest.mark.parametrize(
    "reply", replies(), ids=lambda reply: f"{reply.task} {reply.verdict} {reply.name}"
)
async def test_a_reply_does_what_its_heading_says(reply: Reply, trial: Trial) -> None:
    """Good ones are used, bad ones refused, and from all of them memory comes back without a
    loss.
    """
    tried = await trial.reply(reply.task, reply.text)
    assert tried.lost == ()
    assert bool(tried.refused) is (reply.verdict == "bad"), tried.refused
    if tried.refused:
        assert (tried.named, tried.added) == ((), 0)


async def test_mutations_of_them_lose_nothing(trial: Trial) -> None:
    """Cut, unbracketed, with swapped ids and worse: what is gone was named by a whole answer,
    within the cap.
    """
    chance, ids, found, lost = Random(SEED), entry_ids(), replies(), []
    for number in range(SAMPLE):
        reply = found[number % len(found)]
        names, text = mutated(reply.text, chance, ids)
        tried = await trial.reply(reply.task, text)
        lost += [(names, reply.name, loss) for loss in tried.lost]
    assert lost == []


async def test_ids_mixed_up_in_good_replies_cost_nothing_unrelated(trial: Trial) -> None:
    """Weak models name the wrong entry: what is not spoken of stays beside the newer value."""
    chance, ids = Random(SEED), entry_ids()
    swapped = dict(MUTATIONS)["ids swapped"]
    texts, tries = dict(zip(ids, facts(), strict=True)), 0
    good = [reply for reply in replies() if reply.task == "consolidate" and reply.verdict == "good"]
    for reply in good * 20:
        text = swapped(reply.text, chance, ids)
        ends = judging.named(text, reply.task)
        unrelated = {
            name for name, end in ends.items() if end and not judging.may_be_newer(texts[name], end)
        }
        if unrelated:
            tried = await trial.reply(reply.task, text)
            assert unrelated.isdisjoint(tried.named)
            tries += 1
    assert tries >= 5


def test_the_judge_sees_losses() -> None:
    """An entry that is gone counts, unless its words stand elsewhere or a whole answer named it
    within the cap.
    """
    before = {
        File.MEMORY: {f"e{n}": f"fact number {n} of many" for n in range(20)},
        File.HISTORY: {"h": "told"},
    }
    after = {
        File.MEMORY: dict(list(before[File.MEMORY].items())[8:]),
        File.HISTORY: {},
        File.ARCHIVE: {},
    }
    none = judging.losses(before, after, {}, frozenset())
    assert [loss.why for loss in none] == ["no answer named it"] * 8 + ["gone from history"]
    dropped = dict.fromkeys(before[File.MEMORY], "")
    capped = judging.losses(before, after, dropped, frozenset())
    assert [loss.why for loss in capped] == ["beyond the cap"] * 3 + ["gone from history"]
    assert len(judging.losses(before, after, {}, frozenset(before[File.MEMORY]))) == 1
