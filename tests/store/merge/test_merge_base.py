"""Which past text a saved one was made of."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from pipimem.state.texts import PastText
from pipimem.store.merge.merge_base import merge_base, takes_lines_out
from pipimem.store.merge.three_way import merged
from pipimem.text.markdown.lines import split_lines

from tests.cases import each, table

OLD = "# Memory\n\n- alice likes tea\n"
NEW = OLD + "- the port is 8080\n"
NEWER = NEW + "- we ship on Thursday\n"
LINES = (
    "# Memory\n",
    "\n",
    "- alice likes tea\n",
    "- alice likes green tea\n",
    "- the port is 8080\n",
    "- the port is 9090\n",
)
TEXTS = st.lists(st.sampled_from(LINES), max_size=6).map("".join)


def base_of(text: str, *past: str, saved: str = "") -> str:
    """The base among these texts, the newest first; `saved` is what a person saved of them."""
    return merge_base(
        text,
        [PastText(split_lines(each), each == saved) for each in past or (NEWER, NEW, OLD)],
        str,
    )


@each(
    ("text", "base"),
    [
        (NEWER + "- typed\n", NEWER),
        (NEW + "- typed\n", NEW),
        (OLD + "- typed\n", OLD),
        (NEWER.replace("alice", "bob"), NEWER),
        (NEW.replace("alice", "bob"), NEW),
        (NEWER.replace("- the port is 8080\n", ""), NEWER),
        (NEWER.replace("\n", "\r\n") + "- typed\r\n", NEWER),
        (NEW.replace("- alice likes tea\n", ""), NEW),
    ],
)
def test_the_fewest_changes_tell(text: str, base: str) -> None:
    """Added, reworded, deleted, with other line ends: a person does little at once."""
    assert base_of(text) == base


def test_a_line_taken_out_meanwhile_is_not_typed_again() -> None:
    """The newest text is what it was before the buffer was loaded; the buffer still has the
    line.
    """
    assert base_of(NEW + "- typed\n", OLD, NEW, OLD) == NEW


def test_a_restore_was_made_of_the_newest() -> None:
    """An older text word for word shall stand as it is."""
    assert base_of(OLD) == base_of(NEW) == NEWER


def test_a_line_in_the_place_of_the_newest_looks_like_an_older_buffer() -> None:
    """However alike the two are: both stay. Unless the text has another line that came later."""
    for line in ("- something else entirely\n", "- we ship on Friday\n"):
        assert base_of(NEW + line) == NEW
    both = NEWER + "- dave likes cake\n"
    assert base_of(NEW + "- dave likes cake\n- bob\n", both, NEW) == both


def test_other_bullets_are_no_other_lines() -> None:
    """An editor may replace those of the whole file."""
    assert base_of(NEW.replace("- ", "* ") + "* typed\n") == NEW


@each("value", ["- the port is 80\n", "- the port is 8080 as of today\n"])
def test_a_newer_value_deleted_alone_stays_deleted(value: str) -> None:
    """It took the place of an older one: the text without both is no older text of which the
    older value was deleted.
    """
    newest = OLD + value
    assert base_of(OLD, newest, NEW) == newest


def test_the_only_line_of_the_newest_section_deleted_alone_stays_deleted() -> None:
    """Its heading stays: nobody typed just that into an older buffer."""
    newest = OLD + "\n## Decisions\n\n- we meet on Monday\n"
    assert base_of(newest.replace("- we meet on Monday\n", ""), newest, OLD) == newest
    typed = OLD + "\n## Decisions\n\n- rain on Friday\n"
    assert base_of(typed, newest, OLD) == OLD


def test_a_heading_that_two_people_typed_proves_nothing() -> None:
    """Also if the line that came below it is short."""
    newest = OLD + "\n## Decisions\n\n- tea\n"
    assert base_of(OLD + "\n## Decisions\n\n- rain on Friday\n", newest, OLD) == OLD


def test_several_lines_deleted_alone_stay_deleted() -> None:
    """One that came with them is left: nobody typed just that into an older buffer."""
    newest = OLD + "- bob likes cake\n- carol likes milk\n- dave likes rain\n"
    assert base_of(OLD + "- carol likes milk\n", newest, OLD) == newest


def test_a_newer_value_replaced_by_hand_stays() -> None:
    """The same bytes come from an older buffer in which the older value was replaced."""
    newest = OLD + "- tea\n"
    assert base_of(OLD + "- something else entirely\n", newest, NEW) == NEW


def test_lines_between_two_changes_are_not_taken_out() -> None:
    """Two neighbours differ at both ends; what they share in between tells as much as before."""
    ours = "- one\n" + NEW + "- two\n"
    assert base_of(OLD + "- typed\n", ours, NEW, OLD) == OLD


def test_a_person_who_saves_their_own_text_again_goes_on_from_it() -> None:
    """Word for word, or with the line out that is out by now, or with one more: what was merged
    into it is not deleted.
    """
    merge = NEW.replace("alice likes tea", "dave likes it") + "- carol\n"
    for text in (NEW, NEW.replace("- alice likes tea\n", ""), NEW + "- typed\n"):
        assert base_of(text, merge, NEW, OLD, saved=NEW) == NEW


def test_while_our_newest_text_waits_the_one_before_may_be_the_base() -> None:
    """What a person saved last comes first then."""
    saved = NEW + "- typed\n"
    assert base_of(NEW.replace("- alice likes tea\n", ""), saved, NEW, OLD, saved=saved) == NEW


@each("text", ["", "\n", " \n\n"])
def test_an_emptied_file_lost_all_that_stood_there(text: str) -> None:
    """However short an older text was."""
    assert base_of(text, "", NEW, OLD, "- tea\n") == NEW


def test_a_text_that_shares_no_line_with_what_came_since_began_with_an_empty_file() -> None:
    """Its editor was opened before our first text came, and loaded none of it: both stay."""
    assert base_of("- typed\n", NEWER, "") == ""
    assert base_of("- typed\n- more\n", NEWER, OLD, "") == ""
    assert base_of("- typed\n", "", NEWER) == ""


def test_with_a_single_line_of_ours_no_text_began_with_an_empty_file() -> None:
    """Nothing is nearer to a short text than an empty one was."""
    assert base_of("# Memory\n\n- typed\n", "# Memory\n\n- tea\n", "") == "# Memory\n\n- tea\n"


@each("newest", ["", OLD.replace("alice", "carol")])
def test_what_stood_before_the_file_was_emptied_is_no_base(newest: str) -> None:
    """Emptying it may have been the first half of this save: what it took out is not deleted."""
    assert base_of(NEW + "- typed\n", newest, "", NEW) == ""
    assert base_of(newest + "- typed\n", newest, "", NEW) == newest


def test_out_of_nothing() -> None:
    """Somebody typed into an empty window while our first text came: both stay."""
    assert base_of("- typed\n", "") == ""
    assert merge_base("- typed\n", (), str) == ""


@settings(max_examples=300, deadline=None)
@given(st.lists(TEXTS, max_size=7), TEXTS)
def test_neighbours_compared_by_what_differs_give_the_same(past: list[str], text: str) -> None:
    """Whether the texts share their lines, as those of a channel do, or were read anew."""
    shared = {line: line for line in LINES}
    rows = [PastText(tuple(shared[line] for line in split_lines(each))) for each in past]
    found = merge_base(text, rows, str)
    assert found == base_of(text, *past) if past else found == ""
    assert found in [*past, ""]


@st.composite
def histories(draw: st.DrawFn) -> list[list[str]]:
    """Texts of one file, oldest first: each adds a line to the one before, or replaces one."""
    texts = [["- line 0\n", "- line 1\n"]]
    for number in range(2, 2 + draw(st.integers(1, 8))):
        lines = list(texts[-1])
        place = draw(st.integers(0, len(lines) - 1))
        lines[place : place + draw(st.integers(0, 1))] = [f"- line {number}\n"]
        texts.append(lines)
    return texts


@settings(max_examples=300, deadline=None)
@given(texts=histories(), data=st.data())
def test_no_line_is_lost_to_an_older_buffer(texts: list[list[str]], data: st.DataObject) -> None:
    """However much was deleted in it, and however alike the lines are: what was typed into it is
    there, and so is what came since it was loaded.
    """
    newest = texts[-1]
    buffer = data.draw(st.sampled_from(texts))
    deleted = data.draw(st.sets(st.sampled_from(buffer)))
    saved = [line for line in buffer if line not in deleted]
    typed = [f"- line {number}0\n" for number in range(1, 1 + data.draw(st.integers(1, 3)))]
    for line in typed:
        saved.insert(data.draw(st.integers(0, len(saved))), line)
    text, past = "".join(saved), ["".join(lines) for lines in reversed(texts)]
    found = split_lines(merged(base_of(text, *past), past[0], text))
    came = [line for line in newest if line not in buffer]
    assert [line for line in (*typed, *came) if found.count(line) != 1] == []


def test_the_base_is_found_in_a_large_file_with_a_long_past() -> None:
    """5,000 entries, 200 changes: were lines and texts multiplied, it would take minutes."""
    lines = ["# Memory\n", *(f"- entry {number} of many\n" for number in range(5_000))]
    past = [PastText(tuple(lines))]
    for number in range(200):
        lines[100 + number * 7 : 101 + number * 7] = []
        past.append(PastText(tuple(lines)))
    text = "".join(past[150].lines) + "- typed\n"
    assert merge_base(text, past, str) == "".join(past[150].lines)


@each(
    ("new", "is_so"),
    table(__file__, "lines_taken_out_are_told_from_other_changes"),
)
def test_lines_taken_out_are_told_from_other_changes(new: str, is_so: bool) -> None:
    """Nothing added, nothing reworded, the order as it was; blank lines do not count."""
    assert takes_lines_out("# Memory\n\n- alice\n- bob\n- carol\n", new) is is_so
