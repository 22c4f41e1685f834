"""The hand-written questions of `cases/`, asked on the automatic path of a turn.

usage: python -m benchmarks.recall.asked [--fresh | --unseen | --blind | --third | --fourth | --general]
[--local] [--misses]

`cases/workspace` is a workspace of three channels, `cases/questions.jsonl` what people ask of it:
synonyms, the other language, acronyms, word forms, typos, one word, a hundred words, newer values,
the session, history, people, dates; and talk that memory must be silent on. `gold_text` are texts
of which one must be found. `--fresh` asks those of `cases/fresh/` instead: two channels of other
trades, written when all of recall stood, and changed nothing in it. `--unseen` asks those of
`cases/unseen/`: a product team, a software team and two people's lives, written by someone who had
looked at no list of synonyms. `--blind` asks those of `cases/blind/`, written later in the same
way: a restaurant's staff, an open-source team, a freelancer and a household. Its talk is of two
kinds, `none` (nothing in memory is near) and `none-near` (of the memory's own world, but without an
answer in it). `--third` asks those of `cases/third/`, written in the same way again: an animal
hospital, an amateur theatre, a family that cares for a grandmother and a maker of beehive scales;
its kind `state` asks how far a work has come. `--fourth` asks those of `cases/fourth/`: a community
radio, people who organise a trail race, a bookbinder on a boat and a pottery; there `state` is a
message that says how something stands and touches what is remembered. A question may have a `speaker`: whose message it is.
`--general` asks `cases/general.txt`, what anybody asks anybody, of each of the nine memories before
the blind set: how often they stay silent. `--local` asks by meaning, too, with the local embedder.
"""

from __future__ import annotations

import json
import sys
from collections import defaultdict
from collections.abc import Callable, Mapping
from datetime import datetime
from pathlib import Path

from pipimem.notes.files import File
from pipimem.notes.ledger import Ledger
from pipimem.notes.notes import Note, Notes
from pipimem.recall.index import Index
from pipimem.recall.recall import Recall, recall
from pipimem.recall.sync import IndexSync
from pipimem.recall.synonyms import load_synonyms
from pipimem.text.words.index_words import Words
from pipimem.text.words.segmentation import Segmenter

from benchmarks.recall.near import ByMeaning, Near, nowhere

CASES = Path(__file__).parent / "cases"
FRESH = CASES / "fresh"
UNSEEN = CASES / "unseen"
BLIND = CASES / "blind"
THIRD = CASES / "third"
FOURTH = CASES / "fourth"
# A Thursday: what "last Thursday" and "last month" in the questions are counted from.
NOW = datetime.fromisoformat("2026-08-20T12:00:00+08:00")
_KEY = b"benchmark"

Question = dict[str, object]
Ask = Callable[[Question], Recall]


def questions(cases: Path = CASES) -> list[Question]:
    """The questions, in the order of the file."""
    return [
        json.loads(line)
        for line in (cases / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    ]


def indexes_of(cases: Path, words: Words) -> dict[str, Index]:
    """The channels of a workspace, indexed."""
    indexes: dict[str, Index] = {}
    for folder in sorted((cases / "workspace" / "channels").iterdir()):
        index_sync = IndexSync(Index(words))
        index_sync.update(notes_of(folder, cases / "workspace"))
        indexes[folder.name] = index_sync.index
    return indexes


def own_words(cases: Path) -> str:
    """The workspace's words.txt."""
    path = cases / "workspace" / "words.txt"
    return path.read_text(encoding="utf-8") if path.exists() else ""


def asking(cases: Path = CASES, near: Near = nowhere) -> Ask:
    """A function that asks the channels, with every part of recall at work."""
    segmenter = Segmenter()
    words = Words(segmenter)
    synonyms = load_synonyms(own_words(cases), segmenter, words)
    indexes = indexes_of(cases, words)

    def ask(asked: Question) -> Recall:
        index, text = indexes[str(asked["channel"])], str(asked["query"])
        nearness = near(index, text)
        return recall(
            index, text, now=NOW, speaker=speaker_of(asked), synonyms=synonyms, nearness=nearness
        )

    return ask


def place(asked: Question, found: Recall) -> int:
    """The rank of the first candidate that holds the answer, 0 if none does."""
    gold = [str(text) for text in asked.get("gold_text", ())]  # type: ignore[attr-defined]
    ranks = (one.rank for one in found.candidates if any(text in one.item.text for text in gold))
    return next(ranks, 0)


def speaker_of(asked: Mapping[str, object]) -> str:
    """Whose message the question is, empty where that makes no difference."""
    return str(asked.get("speaker", ""))


def notes_of(folder: Path, root: Path) -> Notes:
    """The notes of a channel's folder and the workspace's MEMORY.md."""

    def note(file: File, path: Path) -> Note:
        return Note.read(file, path.read_text(encoding="utf-8") if path.exists() else "", _KEY)

    files = (note(file, folder / file) for file in (File.SESSION, File.MEMORY, File.HISTORY))
    return Notes(_KEY, *files, note(File.MEMORY, root / "MEMORY.md"), Ledger())


def main(cases: Path, near: Near, *, misses: bool) -> None:
    """Ask everything and print what was found, by kind and by language."""
    ask, rows = asking(cases, near), defaultdict[str, list[int]](list)
    silent = defaultdict[str, list[bool]](list)
    for asked in questions(cases):
        found = ask(asked)
        groups = (str(asked["kind"]), f"all {asked['lang']}", "all")
        if "gold_text" not in asked:
            for group in groups:
                silent[group].append(not found.candidates)
            wrong = bool(found.candidates)
        else:
            for group in groups:
                rows[group].append(place(asked, found))
            wrong = not 0 < place(asked, found) <= 5
        if misses and wrong:
            print(
                f"{asked['qid']} {asked['query']}: "
                f"{[one.item.text[:40] for one in found.candidates[:3]]}"
            )
    print(f"{'kind':14}{'n':>5}{'R@1':>8}{'R@5':>8}{'silent':>14}")
    for group in sorted(dict.fromkeys((*rows, *silent)), key=lambda group: group.startswith("all")):
        ranks, quiet = rows.get(group, []), silent.get(group, [])
        shares = (
            f"{sum(0 < rank <= most for rank in ranks) / len(ranks):.3f}" if ranks else ""
            for most in (1, 5)
        )
        still = f"{sum(quiet)} of {len(quiet)}" if quiet else ""
        print(
            f"{group:14}{len(ranks) or len(quiet):5}"
            + "".join(f"{share:>8}" for share in shares)
            + f"{still:>14}"
        )


def general(near: Near, *, misses: bool) -> None:
    """Ask what no memory has an answer to, and print for each memory the share on which it stays
    silent.
    """
    texts = (CASES / "general.txt").read_text(encoding="utf-8").splitlines()
    total: list[bool] = []
    for cases in (CASES, FRESH, UNSEEN):
        ask = asking(cases, near)
        for channel in sorted(
            folder.name for folder in (cases / "workspace" / "channels").iterdir()
        ):
            silent = [not ask({"channel": channel, "query": text}).candidates for text in texts]
            total += silent
            print(f"{channel:14}{sum(silent) / len(silent):8.3f}")
            if misses:
                print(
                    *(text for text, is_silent in zip(texts, silent, strict=True) if not is_silent),
                    sep="; ",
                )
    print(f"{'all':14}{sum(total) / len(total):8.3f}")


if __name__ == "__main__":
    sets = {
        "--fresh": FRESH,
        "--unseen": UNSEEN,
        "--blind": BLIND,
        "--third": THIRD,
        "--fourth": FOURTH,
    }
    nearness = ByMeaning() if "--local" in sys.argv[1:] else nowhere
    if "--general" in sys.argv[1:]:
        general(nearness, misses="--misses" in sys.argv[1:])
    else:
        wanted = next((sets[one] for one in sys.argv[1:] if one in sets), CASES)
        main(wanted, nearness, misses="--misses" in sys.argv[1:])
