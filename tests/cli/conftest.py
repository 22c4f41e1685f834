"""A workspace and a way to call the command line as a person would."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest
from click.testing import CliRunner
from pipimem.cli.commands import pipimem


@dataclass(frozen=True)
class Ran:
    """What a call printed and how it ended."""

    code: int
    out: str
    err: str

    @property
    def lines(self) -> list[dict[str, object]]:
        """Standard output as JSON lines."""
        return [json.loads(line) for line in self.out.splitlines()]

    @property
    def object(self) -> dict[str, object]:
        """Standard output as one JSON object."""
        (line,) = self.lines
        return line


Call = Callable[..., Ran]


@pytest.fixture(autouse=True)
def _plain_environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No test depends on what is set where it runs."""
    for name in ("PIPIMEM_WORKSPACE", "PIPIMEM_MODEL", "OPENAI_API_KEY", "OPENAI_API_BASE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)


@pytest.fixture
def bot(tmp_path: Path) -> Path:
    """A workspace fresh from the template."""
    root = tmp_path / "bot"
    assert CliRunner().invoke(pipimem, ["init", str(root)]).exit_code == 0
    return root


@pytest.fixture
def call(bot: Path) -> Call:
    """`call("recall", "room", "when?")` on that workspace; bugs raise, as in a shell they would
    show a traceback.
    """

    def called(
        *words: str, typed: str | None = None, workspace: Path | None = None, model: str = ""
    ) -> Ran:
        options = ["--workspace", str(workspace or bot), *(["--model", model] if model else [])]
        result = CliRunner().invoke(
            pipimem, [*options, *words], input=typed, catch_exceptions=False
        )
        return Ran(result.exit_code, result.stdout, result.stderr)

    return called


@pytest.fixture
def conversation(tmp_path: Path) -> Path:
    """Three people plan a release, six messages in all."""
    said = [
        ("user", "alice", "Let's plan the release of the lantern service."),
        ("assistant", "pipi", "Sure. When shall it go out?"),
        ("user", "bob", "We decided: the lantern release is on Thursday 2026-03-12."),
        ("assistant", "pipi", "Noted: Thursday 2026-03-12."),
        ("user", "林晓", "上线窗口定在周四晚上九点。"),
        ("assistant", "pipi", "好的，周四晚上九点。"),
    ]
    path = tmp_path / "room.jsonl"
    rows = [
        {
            "id": f"r{n}",
            "ts": f"2026-03-02T09:0{n}:00+08:00",
            "role": role,
            "name": name,
            "content": content,
        }
        for n, (role, name, content) in enumerate(said)
    ]
    path.write_text(
        "".join(json.dumps(row, ensure_ascii=False) + "\n" for row in rows), encoding="utf-8"
    )
    return path


def snapshot(root: Path) -> dict[str, tuple[bytes, int]]:
    """Every file below a folder with its bytes and its time, every folder with its time."""
    return {
        str(path.relative_to(root)): (
            path.read_bytes() if path.is_file() else b"",
            path.stat().st_mtime_ns,
        )
        for path in sorted(root.rglob("*"))
    }
