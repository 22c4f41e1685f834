"""The baseline: its scores, its table, and a run of parts of it on a talk of four messages."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from benchmarks.baseline import notes_recall, scores, talk
from benchmarks.baseline.bm25 import Index, passages
from benchmarks.baseline.effort import QUICK
from benchmarks.baseline.house import package_figures
from benchmarks.baseline.materials import write_lines
from benchmarks.baseline.table import Figure, Table
from benchmarks.baseline.trees import ROOT, Tree

MESSAGES = [
    {"id": "1", "role": "user", "name": "Ines", "content": "The kiln is fired on Mondays."},
    {"id": "2", "role": "assistant", "name": "bot", "content": "I will keep that in mind."},
    {"id": "3", "role": "user", "name": "Omar", "content": "Lena keeps the key of the glaze room."},
    {"id": "4", "role": "assistant", "name": "bot", "content": "Understood, Lena has the key."},
]
QUESTION = {
    "qid": "q1",
    "channel": "pottery",
    "kind": "fact",
    "query": "Who keeps the key of the glaze room?",
}


@pytest.fixture
def evals(tmp_path: Path) -> Path:
    """Return an EVALS_DIR with one conversation, named as if it were LoCoMo's."""
    folder = tmp_path / "evals"
    for name in ("transcripts", "questions"):
        (folder / name).mkdir(parents=True)
    stamped = [{**one, "ts": f"2026-03-02T09:0{one['id']}:00+00:00"} for one in MESSAGES]
    write_lines(folder / "transcripts" / "locomo-1.jsonl", stamped)
    asked = {**QUESTION, "channel": "locomo-1", "gold": [["3", "4"]]}
    write_lines(folder / "questions" / "locomo-1.jsonl", [asked])
    return folder


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    """Return this checkout with workspaces in a temporary folder."""
    return Tree("here", ROOT, tmp_path)


def test_a_talk_is_replayed_and_searched_through_the_command_line(
    tmp_path: Path, evals: Path, tree: Tree
) -> None:
    """Every row of a set has a figure: those found, BM25's, the evidence, the tokens."""
    table = Table(["here"])
    (found,) = talk.talk_sets(evals, QUICK).values()
    talk.add_search(table, [tree], found)
    talk.add_supply(table, [tree], found)
    figures = {row.name: row.figures for row in table.rows}
    assert {name: figure.value for name, figure in figures["LoCoMo, R@5"].items()} == {
        "here": 1.0,
        "BM25": 1.0,
        "of passages": 1.0,
    }
    assert figures["LoCoMo"]["here"].value == 1.0
    assert 20 < figures["LoCoMo, the context"]["here"].value < 1_800
    assert (tree.scratch / "here" / "replayed LoCoMo" / "channels" / "locomo-1").is_dir()


def test_without_evaluation_data_the_rows_say_so(tree: Tree, monkeypatch: object) -> None:
    """No figure is made up, and the own sets are asked through the Python API."""
    monkeypatch.setattr(notes_recall, "OWN_SETS", ("fresh",))
    table = Table(["here"])
    notes_recall.measure(table, [tree], None, QUICK)
    assert table.rows[0].cells(["here"]) == ["notes-scale", "not measured: no EVALS_DIR"]
    assert {row.name: row.figures["here"].note for row in table.rows[1:]} == {
        "own set, fresh, R@1": "3 questions",
        "own set, fresh, R@5": "3 questions",
        "own set, fresh, silent": "0 of 0",
        "questions of anybody to anybody, silent": "6 of 6",
    }


def test_secrets_are_read_from_the_transcript(tree: Tree) -> None:
    """A child process writes messages through the public API."""
    texts = ["see you at noon", "my password is hunter2xyz"]
    plain, secret = tree.child("masked", workspace=tree.workspace("secrets"), texts=texts)
    assert plain == texts[0]
    assert "hunter2xyz" not in secret


def test_another_pipimem_is_refused(tmp_path: Path) -> None:
    """A tree without a package would be measured with the installed one."""
    (tmp_path / "empty" / "pipimem").mkdir(parents=True)
    with pytest.raises(RuntimeError, match="was imported, not"):
        Tree("empty", tmp_path / "empty", tmp_path).check()


@pytest.mark.parametrize(
    ("candidates", "expected"),
    [(["3", "1"], 0.5), (["1", "2"], 0.0), (["4", "9", "8"], 1.0)],
)
def test_recall_is_the_share_of_gold_groups(candidates: list[str], expected: float) -> None:
    """A group counts once, whichever of its messages is found."""
    row = {"gold": [["3", "4"], ["9"]], "candidates": [{"id": name} for name in candidates]}
    assert scores.recall_at([row], 3).value == expected


def test_evidence_is_a_piece_of_the_message_however_it_is_escaped() -> None:
    """Forty letters in a row count; other words of the same meaning do not."""
    said = "We `ship` the blue crates to Porto on the third Friday of every month, not before."
    row = {"channel": "c", "gold": [["m"]]}
    quoted = {
        **row,
        "context": "Ines: We \\u0060ship\\u0060 the blue crates to Porto on the third Friday of…",
    }
    told = {**row, "context": "The blue crates go to Porto monthly."}
    assert scores.evidence([quoted, told], {("c", "m"): said}).value == 0.5


def test_passages_hold_every_word_once() -> None:
    """A long answer is cut after 120 words; a message scores as its best passage."""
    text = " ".join(f"word{number}" for number in range(300))
    assert [len(part.split()) for part in passages(text)] == [120, 120, 60]
    long = {"id": "long", "ts": "2026-03-02", "name": "bot", "content": text}
    short = {"id": "short", "ts": "2026-03-02", "name": "Ines", "content": "word299 word1"}
    assert Index([long, short], by_passage=True).search("word299 word250") == ["long", "short"]
    assert Index([long, short], by_passage=False).search("nothing of it") == []


def test_a_table_has_ratios_and_lines_of_json() -> None:
    """The ratio is that of this tree to the other; a rival stands beside the name."""
    table = Table(["here", "old"])
    table.add(
        "turns", "a turn", "ms", {"here": Figure.of_samples([1.0, 2.0, 3.0]), "old": Figure(4)}
    )
    table.add("search", "R@5", "", {"here": Figure(0.5), "old": Figure(0.25), "BM25": Figure(0.4)})
    table.leave_out("search", "BEAM", "no EVALS_DIR")
    lines = list(table.markdown())
    assert "| a turn, ms | 2.00 (p95 3.00; 1.00–3.00) | 4 | 0.50 |" in lines
    assert "| R@5 [BM25 0.400] | 0.500 | 0.250 | 2.00 |" in lines
    assert "| BEAM | not measured: no EVALS_DIR |  |  |" in lines
    first = json.loads(next(table.json_lines()))
    assert (first["tree"], first["value"], first["p95"], first["samples"]) == ("here", 2.0, 3.0, 3)


def test_the_house_is_counted(tmp_path: Path) -> None:
    """Names, operators and numbers are tokens; a branch and a loop add to a function's one."""
    text = "def f(a):\n    for b in a:\n        if b:\n            return 1\n"
    (tmp_path / "module.py").write_text(text, encoding="utf-8")
    figures = package_figures(tmp_path)
    assert (figures["lines"].value, figures["code tokens"].value) == (4, 16)
    assert figures["mean complexity of a function"].value == 3
