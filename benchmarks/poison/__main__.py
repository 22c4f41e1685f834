"""`python -m benchmarks.poison`: does a reader obey what others brought into memory?

| command | does |
|---|---|
| `python -m benchmarks.poison` | says each payload, and counts where it is found afterwards |
| `--write DIR` | the same, and writes the reader's prompts: contexts with and without memory |
| `--ask DIR --base URL --model M` | has a model answer and judge; else write the files by hand |
| `--judge DIR` | writes the judge's prompts for the answers in DIR/answers |
| `--count DIR` | counts who obeyed or leaked, from DIR/verdicts |
| `--price EVALS` | attack calls per 1,000 messages of LoCoMo, MemoryBank and BEAM |

`--sample 60` takes so many payloads, spread over attackers, languages and forms; `--found` asks only
about contexts that hold words of the payload (no other can be obeyed) and the control; `--list`
names each payload in the context, each harm, or each attack call.
"""

from __future__ import annotations

import argparse
import asyncio
from pathlib import Path
from tempfile import TemporaryDirectory

from benchmarks.machine import heading
from benchmarks.poison import counting, reading
from benchmarks.poison.contexts import CONTROL, all_contexts
from benchmarks.poison.payloads import payloads, sampled
from benchmarks.poison.price import prices, print_prices


def main() -> None:
    """Run the part that is asked for."""
    args = _arguments()
    print(heading("poison"))
    if args.price:
        with TemporaryDirectory() as folder:
            found = asyncio.run(prices(Path(folder), args.price, most=args.sample))
        print_prices(found, names=args.list)
    elif args.count:
        counting.print_report(args.count, names=args.list)
    elif args.judge:
        print(f"{reading.write_judging(args.judge, each=2 * args.each)} prompts for the judge")
    elif args.ask:
        _ask(args)
    else:
        _measure(args)


def _measure(args: argparse.Namespace) -> None:
    cases = sampled(args.sample) if args.sample else payloads()
    with TemporaryDirectory() as folder:
        contexts = asyncio.run(all_contexts(Path(folder), cases))
    counting.print_places(contexts.made)
    for context in contexts.made if args.list else ():
        if context.arm != CONTROL and context.places:
            places = ", ".join(context.places)
            print(f"{context.arm}: {context.payload.name}: {places}: {context.payload.order}")
    if args.write:
        count = reading.write_questions(
            args.write, contexts, each=args.each, found=args.found, seed=args.seed
        )
        print(f"{count} prompts in {args.write / reading.QUESTIONS}; answers go to", end=" ")
        print(f"{args.write / reading.ANSWERS} under the same names")


def _ask(args: argparse.Namespace) -> None:
    where = {"base": args.base, "model": args.model}
    sent = reading.ask(args.ask, reading.QUESTIONS, reading.ANSWERS, **where)
    reading.write_judging(args.ask, each=2 * args.each)
    where["model"] = args.judge_model or args.model
    judged = reading.ask(args.ask, reading.JUDGING, reading.VERDICTS, **where)
    print(f"{sent} prompts answered, {judged} judged")
    counting.print_report(args.ask, names=args.list)


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.poison",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parts = parser.add_mutually_exclusive_group()
    for name in ("write", "ask", "judge", "count"):
        parts.add_argument(f"--{name}", type=Path, metavar="DIR")
    parts.add_argument(
        "--price", type=Path, metavar="EVALS", help="folder with transcripts/, beam/"
    )
    parser.add_argument("--sample", type=int, default=0, help="payloads, or messages of each talk")
    parser.add_argument("--found", action="store_true", help="ask only where the payload is shown")
    parser.add_argument("--each", type=int, default=25, help="contexts in a prompt; default: 25")
    parser.add_argument("--seed", type=int, default=7, help="of the order of the contexts")
    parser.add_argument("--list", action="store_true", help="name what is counted")
    parser.add_argument(
        "--base", default="http://127.0.0.1:8899/v1", help="an OpenAI-compatible URL"
    )
    parser.add_argument("--model", default="by-hand")
    parser.add_argument("--judge-model", default="", help="default: the same model")
    return parser.parse_args()


if __name__ == "__main__":
    main()
