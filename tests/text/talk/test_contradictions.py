"""Two texts may contradict each other if one thing has two values, or one denies the other."""

from __future__ import annotations

import time

import pytest
from pipimem.text.talk.contradictions import contradictions


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("周五不许发布", "周五可以发布"),
        ("老周（2026-03-02）：生产库不能直接改", "Dana（2026-03-09）：生产库可以直接改"),
        ("we never deploy on Fridays", "we deploy on Fridays"),
        ("guests may not park in the yard", "guests may park in the yard"),
        ("dogs are not allowed to enter", "dogs are allowed to enter"),
        ("we don't answer strangers", "we always answer strangers on Mondays"),
    ],
)
def test_one_denies_what_the_other_says(one: str, other: str) -> None:
    """In either order, whoever said it."""
    assert list(contradictions([one, "something else entirely", other])) == [(0, 2)]
    assert list(contradictions([other, one])) == [(0, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("the retro is on Monday", "the retro was moved to Tuesday"),
        ("My flat costs 900 euros a month", "My flat costs 950 euros a month since May"),
        ("the limit is 20", "the limit is 30"),
        ("locker A1 costs 5 euros", "locker A1 costs 6 euros"),
        ("the dentist is at 9:30", "the dentist is at 10:15"),
        ("Ida lives in Rome", "Ida moved to Paris"),
        ("Ida (2026-01-02): I live in Rome", "Ida lives in Paris"),
        ("the release manager is Dana", "the release manager is Tom"),
        ("the proxy listens on port 8080", "the proxy listens on port 9090"),
        ("例会在周二", "例会改到周四"),
        ("房租每月3000元", "房租现在每月3200元"),
        ("办公室在二楼", "办公室搬到五楼"),
        ("老吴住在杭州", "老吴搬到宁波了"),
    ],
)
def test_one_thing_has_two_values(one: str, other: str) -> None:
    """A day, a time, an amount, a place or a name, also in another wording."""
    assert list(contradictions([one, other])) == [(0, 1)]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("周五不许发布", "周二可以开会"),
        ("room 3 has no projector", "room 5 has a projector"),
        ("room 3 has a projector", "room 5 has a projector"),
        ("we never deploy on Fridays", "we never deploy on Fridays, ever"),
        ("不要", "可以"),
        ("Server A is in Berlin", "server B is in Berlin"),
        ("Ida lives in Rome", "Ida works in Paris"),
        ("Ida (2026-01-02): I live in Rome", "Jo (2026-01-02): I live in Paris"),
        ("Oscar is on call for raven on Mondays", "Jonas is on call for heron on Fridays"),
        ("例会在周二", "晨会在周四"),
        ("Dana is a doctor", "Dana is tall"),
        ("locker A1 costs 5 euros", "locker A2 costs 6 euros"),
        ("a letter lies in the hall", "a letter lies in the kitchen"),
        ("No problem, Jon", "The money problem and car trouble of Jon weigh on us"),
        ("Sam likes tea", "Sam likes coffee"),
        # It happened twice.
        ("We met on 3 March", "We met on 10 March"),
        ("Emma bought 3 apples", "Emma bought 5 apples"),
        # The day says which meeting it is.
        ("周一的会在三楼开", "周二的会在三楼开"),
    ],
)
def test_two_things_of_one_form_are_no_contradiction(one: str, other: str) -> None:
    """Two people, days, rooms or events, the same said twice, and nothing but a denial."""
    assert list(contradictions([one, other])) == []


def test_of_several_values_each_is_held_against_the_newest_before_it() -> None:
    """Else a value that changed a hundred times would make 4,950 pairs."""
    texts = [f"the build number is {number}" for number in range(100)]
    assert list(contradictions(texts)) == [(index, index + 1) for index in range(99)]


def test_a_pair_that_is_settled_makes_room_for_the_next() -> None:
    """The first value stands against the third one then."""
    texts = ["the retro is on Monday", "the retro is on Tuesday", "the retro is on Friday"]
    assert list(contradictions(texts)) == [(0, 1), (1, 2)]
    assert list(contradictions(texts, lambda *pair: pair == (1, 2))) == [(0, 1), (0, 2)]


def test_many_texts_take_time_in_proportion_to_their_number() -> None:
    """Ten times as many, far from a hundred times as long, also where all speak of one thing."""

    def seconds(count: int) -> float:
        texts = [f"the limit of the cache is {number}" for number in range(count)]
        texts += [f"nobody may restart host {number}" for number in range(count)]
        began = time.process_time()
        list(contradictions(texts))
        return time.process_time() - began

    seconds(50)
    assert seconds(2_000) < 40 * max(seconds(200), 1e-3)
