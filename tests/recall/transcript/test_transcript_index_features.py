"""What messages have and questions want."""

from __future__ import annotations

from pipimem.recall.transcript.transcript_index import SHAPELESS, Shape, shape_of, wanted

from tests.cases import each


@each(
    ("text", "shape"),
    [
        ("how are you?", Shape.QUESTION),
        ("你好吗？", Shape.QUESTION),
        ("we met last week", Shape.TIME),
        ("去年搬的家", Shape.TIME),
        ("there were 40 of them", Shape.NUMBER),
        ("一共三箱", Shape.NUMBER),
        ("we flew to Oslo", Shape.NAME),
        ("在看《活着》", Shape.NAME),
        ("my badge code is on the blue card. don't note that", Shape.OFF_THE_RECORD),
        ("工资的事先别记", Shape.OFF_THE_RECORD),
        ("nice", SHAPELESS),
    ],
)
def test_what_a_message_has(text: str, shape: Shape) -> None:
    """One thing each."""
    assert shape_of(text) == shape


@each(
    ("text", "shape"),
    [
        ("When did it happen?", Shape.TIME),
        ("什么时候去的", Shape.TIME),
        ("How many boats?", Shape.NUMBER),
        ("一共多少钱", Shape.NUMBER),
        ("Where was it?", Shape.NAME),
        ("谁来了", Shape.NAME),
        ("Is it good?", SHAPELESS),
    ],
)
def test_what_a_question_wants(text: str, shape: Shape) -> None:
    """A time, a number, a name or nothing special."""
    assert wanted(text) == shape
