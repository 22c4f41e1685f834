"""What search costs a reader in tokens, step by step, against whole messages; whether a clear hit
is the answer, and what copies do.

usage: python -m benchmarks.recall.disclosure EVALS_DIR
"""

from __future__ import annotations

import statistics
import sys
from pathlib import Path

from pipimem.cli.results import tokens_of
from pipimem.recall.transcript.excerpts import excerpt, headed
from pipimem.recall.transcript.hits import Hit, grouped, is_clear, thread_around
from pipimem.text.token_count import estimate
from pipimem.text.words.index_words import Words

from benchmarks.machine import heading
from benchmarks.recall.talks import Talk, talks
from benchmarks.segmenting import loaded_segmenter

# As `timeline` and `search --smart` show it, and how much of a session a tool without steps hands
# over with a hit.
_AROUND, _SMART, _CONTEXT = 2, 2, 10
_SHOWN = 10


def main(evals: Path) -> None:
    """Print the tables."""
    words = Words(loaded_segmenter())
    loaded = talks(evals, words)
    print(heading("Tokens of an answer: mean over the questions, ten hits each"))
    print(
        "| | index | a hit of it | timeline of one | smart | ten hits whole | "
        "… with ten messages on both sides |"
    )
    print("|---|---|---|---|---|---|---|")
    clear: dict[tuple[bool, bool], list[bool]] = {}
    for chinese in (False, True):
        costs: list[tuple[float, ...]] = []
        for talk in loaded:
            if talk.chinese is chinese:
                for question in talk.questions:
                    if not (hits := talk.hits(question["query"])):
                        continue  # not one word of it was ever said
                    costs.append(_costs(talk, hits, words.words(question["query"]), words))
                    is_it = _stands_there(talk, hits, question)
                    clear.setdefault((chinese, is_clear(hits, talk.index)), []).append(is_it)
        means = (statistics.fmean(column) for column in zip(*costs, strict=True))
        print(f"| {_language(chinese)} | " + " | ".join(f"{mean:.0f}" for mean in means) + " |")
    print("\n| | questions | answered in or beside the first hit |\n|---|---|---|")
    for (chinese, sure), right in sorted(clear.items()):
        print(
            f"| {_language(chinese)}, {'clear' if sure else 'unclear'} | {len(right)} | "
            f"{statistics.fmean(right):.2f} |"
        )
    print(
        "\n| R@5 / R@10 | as ranked | copies grouped | answers that hold a copy |\n"
        "|---|---|---|---|"
    )
    for chinese in (False, True):
        _copies([talk for talk in loaded if talk.chinese is chinese], words)


def _copies(talks: list[Talk], words: Words) -> None:
    """What it would do to the ranking if what was said again were left out there, too."""
    questions = [(talk, question) for talk in talks for question in talk.questions]
    sums, copied = [0.0] * 4, 0
    for talk, question in questions:
        hits = talk.hits(question["query"], limit=4 * _SHOWN)
        said = grouped(hits, words)
        copied += any(one.again for one in said[:_SHOWN])
        orders = [[hit.item.id for hit in hits], [one.hit.item.id for one in said]]
        for place, (ids, k) in enumerate((ids, k) for ids in orders for k in (5, 10)):
            found = [any(f"log:{one}" in ids[:k] for one in group) for group in question["gold"]]
            sums[place] += sum(found) / len(found)
    means = [value / len(questions) for value in sums]
    ranked, copies = (f"{one:.3f} / {two:.3f}" for one, two in (means[:2], means[2:4]))
    row = f"{ranked} | {copies} | {copied} of {len(questions)}"
    print(f"| {_language(talks[0].chinese)} | {row} |")


def _language(chinese: bool) -> str:
    return "Chinese" if chinese else "English"


def _costs(talk: Talk, hits: tuple[Hit, ...], wanted: list[str], words: Words) -> tuple[float, ...]:
    item = talk.index.item
    lines = [estimate(headed(hit.item, excerpt(hit.item.text, wanted, words))) for hit in hits]
    timelines = [
        tokens_of(map(item, thread_around(talk.index, hit.slot, _AROUND, _AROUND))) for hit in hits
    ]
    smart = tokens_of(map(item, thread_around(talk.index, hits[0].slot, _SMART, _SMART)))
    whole = sum(estimate(headed(hit.item, hit.item.text)) for hit in hits)
    slots = {
        slot for hit in hits for slot in thread_around(talk.index, hit.slot, _CONTEXT, _CONTEXT)
    }
    context = sum(estimate(headed(item(slot), item(slot).text)) for slot in slots)
    shown = sum(lines)
    more = smart if is_clear(hits, talk.index) else 0
    return shown, shown / len(hits), statistics.fmean(timelines), shown + more, whole, context


def _stands_there(talk: Talk, hits: tuple[Hit, ...], question: dict) -> bool:
    """Whether a gold message is the first hit or within two of it in its thread."""
    slots = thread_around(talk.index, hits[0].slot, _SMART, _SMART)
    ids = {talk.index.item(slot).id.removeprefix("log:") for slot in slots}
    return any(one in ids for group in question["gold"] for one in group)


if __name__ == "__main__":
    if len(sys.argv) != 2:
        raise SystemExit(__doc__)
    main(Path(sys.argv[1]))
