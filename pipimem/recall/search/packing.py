"""What an index knows as bytes and back, so that a start need not cut the whole talk into words again.

The length of a head, the head (JSON: the names, and the length of each row), then the rows: numbers as this machine has
them, at last the words.
"""

from __future__ import annotations

import json
from array import array
from collections.abc import Sequence
from itertools import accumulate, pairwise

from pipimem.recall.search.known import Known
from pipimem.recall.search.threads import Threads
from pipimem.recall.search.volume import joined, read, vocabulary

_HEAD = 8
# What the rows are made of: of messages, of their threads, of days, of words.
_KINDS = "iBBBiiiqiiiIIIII"
# So many of them have a number for each message.
_OF_MESSAGES = 9


def packed(known: Known) -> bytes:
    """All of it; what it is stamped with is the matter of who keeps it."""
    threads, volume = known.threads, known.volume
    ends, slots = joined(known.days.values())
    rows: tuple[Sequence[int], ...] = (
        known.spoken_by, known.lengths, known.shapes, known.roles,
        threads.of, threads.before, threads.after, threads.times, threads.speakers,
        array("i", threads.last.keys()), array("i", threads.last.values()),
        array("I", known.days), ends, slots,
        volume.ends, volume.slots,
    )  # fmt: skip
    pieces = [_as_bytes(row, kind) for row, kind in zip(rows, _KINDS, strict=True)]
    pieces.append(vocabulary(volume.words))
    head = {
        "speakers": list(known.speakers),
        "roles": list(known.role_names),
        "rows": [*map(len, pieces)],
    }
    told = json.dumps(head).encode()
    return b"".join((len(told).to_bytes(_HEAD, "big"), told, *pieces))


def unpacked(data: memoryview) -> Known:
    """What was packed; the words' places stay where they lie. Raises `ValueError` where it is not that."""
    speakers, role_names, sizes, start = _head(data)
    bounds = [start, *accumulate(sizes, initial=start)][1:]
    if len(sizes) != len(_KINDS) + 1 or bounds[-1] != len(data):
        raise ValueError("rows are missing")
    pieces = [data[low:high] for low, high in pairwise(bounds)]
    rows = [_row(piece, kind) for piece, kind in zip(pieces[:-3], _KINDS[:-2], strict=True)]
    (
        spoken_by,
        lengths,
        shapes,
        roles,
        of,
        before,
        after,
        times,
        by,
        names,
        newest,
        days,
        ends,
        slots,
    ) = rows
    if len({len(row) for row in rows[:_OF_MESSAGES]}) != 1:
        raise ValueError("rows of different lengths")
    volume = read(bytes(pieces[-1]), _numbers(pieces[-3]), _numbers(pieces[-2]))
    by_day = {
        day: slots[low:high] for day, (low, high) in zip(days, pairwise((0, *ends)), strict=True)
    }
    threads = Threads(of, before, after, times, by, dict(zip(names, newest, strict=True)))
    return Known(speakers, role_names, spoken_by, lengths, shapes, roles, threads, by_day, volume)


def _head(data: memoryview) -> tuple[list[str], list[str], list[int], int]:
    end = _HEAD + int.from_bytes(data[:_HEAD], "big")
    match json.loads(bytes(data[_HEAD:end])):
        case {"speakers": list(speakers), "roles": list(roles), "rows": list(sizes)}:
            return speakers, roles, sizes, end
    raise ValueError("no head")


def _as_bytes(row: Sequence[int], kind: str) -> bytes:
    return row.tobytes() if isinstance(row, array | memoryview) else array(kind, row).tobytes()


def _numbers(piece: memoryview) -> memoryview:
    try:
        return piece.cast("I")
    except TypeError as error:
        raise ValueError("half a number") from error


def _row(piece: memoryview, kind: str) -> array[int]:
    row = array(kind)
    row.frombytes(piece)
    return row
