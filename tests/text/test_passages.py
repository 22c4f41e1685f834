"""Long texts cut into passages, each under its heading."""

from __future__ import annotations

import time

from hypothesis import given
from hypothesis import strategies as st
from pipimem.text.passages import passages

from tests.cases import each

SENTENCE = "The kettle in the office kitchen is broken again, and nobody has ordered another. "
STEPS = "\n".join(f"- step {number}: {SENTENCE}" for number in range(6))


def test_a_text_of_150_words_is_one_passage() -> None:
    """In Chinese, one of 300 characters."""
    assert [passage.text for passage in passages(SENTENCE * 10)] == [SENTENCE * 10]
    assert len(passages("水壶又坏了。" * 50)) == 1
    assert len(passages("水壶又坏了。" * 100)) == 3


def test_a_longer_text_is_cut_into_passages_of_120_words() -> None:
    """At the end of a sentence."""
    found = passages(SENTENCE * 40)
    assert [len(passage.text.split()) for passage in found] == [112] * 5
    assert all(passage.text.endswith("another. ") for passage in found)


@each("heading", ["## Repairs", "**Repairs**", "2. **Repairs**:"])
def test_each_passage_has_the_heading_above_it(heading: str) -> None:
    """A passage that begins with its heading has it already."""
    found = passages(f"{SENTENCE * 5}\n{heading}\n{STEPS}\n{STEPS}\n")
    assert found[0].heading == ""
    assert found[1].text.startswith(heading)
    assert [passage.heading for passage in found[1:]] == ["", heading]
    assert found[2].headed.startswith(f"{heading}\n- step")


def test_a_comment_in_code_is_no_heading() -> None:
    """Between fences a line that begins with # is code."""
    code = "```python\n# settings\n" + "value = 1\n" * 200 + "```\n"
    assert {passage.heading for passage in passages(code)} == {""}


@given(st.text(alphabet="ab .!?。\n#*`号😀", max_size=3_000))
def test_nothing_is_lost_between_passages(text: str) -> None:
    """Joined, they are the text."""
    assert "".join(passage.text for passage in passages(text)) == text


@each("text", ["." * 10**6, "a" * 10**6, "# " * 10**6, "。" * 10**5, "\n" * 10**5, "** a " * 10**5])
def test_no_text_takes_long(text: str) -> None:
    """A megabyte takes well under a second, whatever stands in it."""
    began = time.process_time()
    found = passages(text)
    assert "".join(passage.text for passage in found) == text
    assert time.process_time() - began < 2
