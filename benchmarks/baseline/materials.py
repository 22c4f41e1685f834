"""Channels and transcripts of any size, half Chinese and half English, the same each time."""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

# In each question the 7 becomes another number, so that no cache answers.
QUERIES = (
    "订单系统7号的值班是谁负责？",
    "Which port does billing-7 listen on?",
    "采购单据超过7000元找谁复核",
    "who owns the on-call rotation for gateway-7",
    "合同平台7号的数据库备份几点开始",
    "what did we decide about the snapshots of report-7",
    "支付引擎7号的负责人换成谁了",
    "Where does cache-7 keep its snapshots, and why?",
)
_SERVICES = [
    "billing",
    "gateway",
    "cache",
    "search",
    "mailer",
    "ledger",
    "report",
    "auth",
    "media",
    "queue",
]
_SYSTEMS = [
    "订单系统",
    "支付引擎",
    "合同平台",
    "库存后台",
    "客服系统",
    "推荐服务",
    "结算中心",
    "采购平台",
]
_PEOPLE_ZH = ("王芳", "李强", "张敏", "刘洋", "陈静", "赵磊")
_PEOPLE_EN = ("Ines", "Omar", "Ximena", "Tomas", "Aiko", "Lena")
_SHAPES = (
    "{service}-{n} listens on port {port} behind the shared proxy.",
    "{system}{n}号由{zh}负责值班，每周{day}交接。",
    "{en} owns the on-call rotation for {service}-{n}.",
    "{system}{n}号的采购单据由{zh}签字，超过{port}元需要复核。",
    "Decision: {service}-{n} keeps its snapshots for {day} days because restores must be quick.",
    "{zh}说{system}{n}号的数据库备份改到凌晨{day}点。",
)


def write_channel(root: Path, size: int, name: str = "") -> str:
    """Write a channel with `size` entries in two sections; returns its name, `n<size>` by default."""
    dice, name = random.Random(size), name or f"n{size}"
    lines = [f"- {_sentence(dice, n)}" for n in range(size)]
    folder = root / "channels" / name
    folder.mkdir(parents=True, exist_ok=True)
    parts = ["# Memory", "", "## Facts", "", *lines[: size // 2]]
    parts += ["", "## Decisions", "", *lines[size // 2 :], ""]
    (folder / "MEMORY.md").write_text("\n".join(parts), encoding="utf-8")
    return name


def _sentence(dice: random.Random, n: int) -> str:
    return dice.choice(_SHAPES).format(
        service=dice.choice(_SERVICES),
        system=dice.choice(_SYSTEMS),
        zh=dice.choice(_PEOPLE_ZH),
        en=dice.choice(_PEOPLE_EN),
        n=n,
        port=dice.randint(1000, 60000),
        day=dice.randint(1, 6),
    )


def questions(count: int, offset: int = 0) -> list[str]:
    """Return questions that differ from each other."""
    return [QUERIES[n % len(QUERIES)].replace("7", str(offset + n)) for n in range(count)]


def reworded(text: str, line: int, number: int) -> str:
    """Return a note with one line reworded, as a person would by hand."""
    lines = text.split("\n")
    lines[line] = f"{lines[line].partition(' reworded ')[0]} reworded {number}"
    return "\n".join(lines)


def long_transcript(count: int) -> Iterator[dict[str, Any]]:
    """Yield messages of a group, a minute apart; each has words and a number of its own."""
    dice, began = random.Random(count), datetime(2026, 1, 1, 9, tzinfo=UTC)
    for n in range(count):
        role = "assistant" if n % 3 == 2 else "user"
        name = "bot" if role == "assistant" else dice.choice((*_PEOPLE_EN, *_PEOPLE_ZH))
        said = " ".join(_sentence(dice, dice.randrange(count)) for _ in range(dice.randint(1, 3)))
        time = (began + timedelta(minutes=n)).isoformat()
        yield {"id": f"m{n}", "ts": time, "role": role, "name": name, "content": said}


def write_lines(path: Path, rows: Iterable[dict[str, Any]]) -> Path:
    """Write a JSON object a line."""
    with path.open("w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)
    return path


def read_lines(path: Path) -> list[dict[str, Any]]:
    """Read a JSON object a line."""
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line]
