"""Every command block of README and guide runs as it stands, on the workspace of README."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from tests.journeys.readme import ROOT, run

PAGES = [ROOT / "README.md", ROOT / "README.zh-CN.md", *sorted((ROOT / "docs/guide").rglob("*.md"))]
_BLOCK = re.compile(r"^```(?:bash|sh)\n(.*?)^```", re.DOTALL | re.MULTILINE)
_SAMPLE = re.compile(r"^```markdown\n(# .*?)^```", re.DOTALL | re.MULTILINE)
# These go on until they are stopped: tests/cli/commands/test_watch.py and tests/interfaces run them.
_STAYS = ("watch", "dingtalk", "mcp", "ui")
_SAYS = {
    "undo": "taken back",
    "restore": "the notes stand as they stood",
    "forget": "",
    "timeline": "rr-046",
    "detail": "rr-043",
}


def blocks(page: Path) -> list[list[list[str]]]:
    """The calls of pipimem in each block of a page, without their comments."""
    found = []
    for block in _BLOCK.findall(page.read_text("utf-8")):
        lines = [line for line in block.splitlines() if line.startswith("pipimem ")]
        calls = [shlex.split(line, comments=True) for line in lines]
        found.append([call for call in calls if not set(_STAYS) & set(call)])
    return list(filter(None, found))


@pytest.mark.parametrize("page", PAGES[:2], ids=lambda page: page.name)
def test_what_readme_shows_of_the_files_stands_in_them(page: Path, readme_folder: Path) -> None:
    """Line by line and in this order; `…` at the end of a line stands for the rest of it."""
    (sample,) = _SAMPLE.findall(page.read_text("utf-8"))
    parts = re.split(r"^(# .*?) +\((\w+\.md)\)$", sample, flags=re.MULTILINE)[1:]
    assert parts[1::3] == ["MEMORY.md", "HISTORY.md", "SESSION.md"]
    for title, name, text in zip(parts[::3], parts[1::3], parts[2::3], strict=True):
        written = (readme_folder / "workspace/channels/release-room" / name).read_text("utf-8")
        lines = iter(written.splitlines())
        for shown in filter(None, [title, *text.splitlines()]):
            assert any(line == shown or _is_cut(shown, line) for line in lines), (name, shown)


def _is_cut(shown: str, line: str) -> bool:
    return shown.endswith("…") and line.startswith(shown.removesuffix("…").rstrip())


@pytest.mark.parametrize(
    "page", [page for page in PAGES if blocks(page)], ids=lambda page: str(page.relative_to(ROOT))
)
def test_every_command_block_runs_as_it_stands(
    page: Path, readme_folder: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each ends with 0 and does what stands beside it."""
    monkeypatch.delenv("PIPIMEM_MODEL", raising=False)
    monkeypatch.setenv("PIPIMEM_WORKSPACE", "workspace")
    failed = {}
    for number, block in enumerate(blocks(page)):
        folder = tmp_path / str(number)
        shutil.copytree(readme_folder, folder)
        monkeypatch.chdir(folder)
        if page.name.startswith("README"):
            shutil.rmtree("workspace")
        for call in block:
            done = run(call)
            says = next((words for name, words in _SAYS.items() if name in call[1:3]), "")
            if call[1] == "remember":
                says = call[3]
            if done.exit_code or says not in done.output:
                failed[shlex.join(call)] = done.output[-500:]
    assert failed == {}
