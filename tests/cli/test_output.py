"""What commands print."""

from __future__ import annotations

import click
import pytest
from pipimem.cli.output import counted, one_line, progress, record, say, shown, table


def test_a_terminal_is_shown_nothing_it_would_obey() -> None:
    """Escape sequences, direction marks and lone surrogates become U+FFFD; letters, tabs and
    newlines stay.
    """
    assert (
        shown("\x1b[31mred\x07 \u202egnp.exe \ud800") == "\ufffd[31mred\ufffd \ufffdgnp.exe \ufffd"
    )
    assert shown("一\t二\r\nthree 👍🏽") == "一\t二\nthree 👍🏽"


def test_one_line_folds_and_cuts() -> None:
    """White space becomes one blank; what is cut ends in an ellipsis."""
    assert one_line("a\n\n b\tc") == "a b c"
    assert one_line("上线窗口定在周四", 5) == "上线窗口…"


def test_one_is_singular() -> None:
    """And many have their thousands set apart."""
    assert [counted(n, "message") for n in (0, 1, 2000)] == [
        "0 messages",
        "1 message",
        "2,000 messages",
    ]


def test_json_is_not_escaped_and_bears_any_string(
    capfdbinary: pytest.CaptureFixture[bytes],
) -> None:
    """People grep it; a lone surrogate becomes the JSON escape of itself."""
    record({"text": "上线\ud800"})
    assert capfdbinary.readouterr().out == '{"text": "上线\\ud800"}\n'.encode()


def test_a_table_is_tab_separated_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    """A tab or newline inside a cell does not break the columns."""
    table(("name", "text"), [("a", "x\ty\nz"), ("b", "上线")])
    assert capfd.readouterr().out == "name\ttext\na\tx y z\nb\t上线\n"


def test_a_table_on_a_terminal_keeps_eighty_columns(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Chinese counts two columns a character, and square brackets are no mark-up."""
    from rich.cells import cell_len

    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    table(("id", "text"), [("memory:abcd2345", "上线窗口定在周四晚上九点[secret:key]" * 6)])
    lines = click.unstyle(capfd.readouterr().out).splitlines()
    assert max(map(cell_len, lines)) <= 80
    assert "".join(line[17:].strip() for line in lines[1:]).count("[secret:") == 6


def test_a_terminal_cuts_no_text_off(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Long texts in several columns are folded, each of them, while names stay on one line."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    before, after = "the 旧 window is Tuesday " * 5, "the new window is Thursday " * 5
    table(("job", "before", "after"), [("consolidate", before, after)])
    out = click.unstyle(capfd.readouterr().out)
    assert (out.count("Tuesday"), out.count("Thursday"), out.count("consolidate")) == (5, 5, 1)


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (
            ("channel", "kind", "entries", "log", "backlog", "last learnt", "due", "recall"),
            "release-room|group|33|1250|12|2026-03-12 18:20|"
            "refresh, consolidate, fold|0.6 / 1.1 ms",
        ),
    ],
    ids=["status"],
)
def test_a_narrow_terminal_folds_between_words(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    head: tuple[str, ...],
    row: str,
) -> None:
    """No word is cut at 80 columns, and numbers stand under each other's last digit."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    table(head, [row.split("|"), row.replace("1250", "7").split("|")])
    lines = click.unstyle(capfd.readouterr().out).splitlines()
    shown = {word for line in lines for word in line.split()}
    assert max(map(len, lines)) <= 80
    assert {*row.replace("|", " ").split(), *" ".join(head).split()} <= shown
    place = [
        line.rindex(number) + len(number)
        for line in lines
        for number in ("1250", "   7")
        if number in line
    ]
    assert len(place) == 2
    assert place[0] == place[1]


def test_a_row_without_numbers_leaves_the_others_on_the_right(
    capfd: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """A channel that cannot be read has none."""
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    table(("channel", "entries"), [("good", 5), ("bad", ""), ("better", 1250)])
    lines = click.unstyle(capfd.readouterr().out).splitlines()
    (five,), (many,) = ([line for line in lines if end in line] for end in (" 5", "1250"))
    assert five.rstrip().endswith("   5")
    assert len(five.rstrip()) == len(many.rstrip())


def test_no_bar_is_drawn_where_nobody_looks(capfd: pytest.CaptureFixture[str]) -> None:
    """A log file gets no progress bar."""
    with progress("replaying", 3) as moved:
        moved(2)
    say("done")
    assert capfd.readouterr() == ("done\n", "")


@pytest.mark.parametrize(
    ("head", "row"),
    [
        (
            ("when", "who", "messages", "from", "by", "where", "entry"),
            "2026-03-02 09:04|Priya|1250|rr-038 rr-039 +2|12 (consolidate), back by 14|"
            "MEMORY.md · Decisions|the release window is on Thursday 12 March",
        ),
        (
            ("id", "kind", "trust", "since", "recalls", "expires", "entry"),
            "vf5ernpw|constraint|inferred|2026-03-02|2|2028-11-21|"
            "Dana (2026-03-02): we never deploy on Fridays, whatever it is",
        ),
    ],
    ids=["blame", "list"],
)
def test_where_a_text_would_have_no_room_each_row_stands_in_lines_of_its_own(
    capfd: pytest.CaptureFixture[str],
    monkeypatch: pytest.MonkeyPatch,
    head: tuple[str, ...],
    row: str,
) -> None:
    """Seven columns at 80: no word is cut, the cells have their heads, and the text is whole."""
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("sys.stdout.isatty", lambda: True)
    table(head, [row.split("|")])
    lines = click.unstyle(capfd.readouterr().out).splitlines()
    first, *_, text = row.split("|")
    shown = {word for line in lines for word in line.split()}
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith(first)
    assert {*row.replace("|", " ").split(), *" ".join(head[1:-1]).split()} <= shown
    assert " ".join(" ".join(lines).split()).endswith(text)
