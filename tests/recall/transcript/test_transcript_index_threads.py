"""Who goes on from whom."""

from __future__ import annotations

from pipimem.recall.transcript.transcript_index import END, PAUSE_SECONDS, ROOM, Threads

ANA, BO = 0, 1


def threads(*said: tuple[int, bool], pause: int = 30) -> Threads:
    """Speakers, and whether it was the bot, so many seconds apart."""
    made = Threads()
    for place, (speaker, by_bot) in enumerate(said):
        made.add(speaker, 1_000 + place * pause, by_bot=by_bot)
    return made


def test_people_who_talk_to_each_other_share_the_room() -> None:
    """One after the other."""
    made = threads((ANA, False), (BO, False), (ANA, False))
    assert list(made.of) == [ROOM] * 3
    assert list(made.before) == [END, 0, 1]
    assert list(made.after) == [1, 2, END]


def test_what_a_person_has_with_the_bot_is_their_own() -> None:
    """Ana and Bo ask in turns; each goes on from the bot's last answer to them."""
    made = threads((ANA, False), (9, True), (BO, False), (9, True), (ANA, False), (9, True))
    assert list(made.of) == [ANA, ANA, BO, BO, ANA, ANA]
    assert list(made.before) == [END, 0, END, 2, 1, 4]
    assert list(made.after) == [1, 4, 3, END, 5, END]


def test_all_that_was_said_in_one_go_is_answered() -> None:
    """Two messages of Ana before the answer, after one of Bo to nobody."""
    made = threads((BO, False), (ANA, False), (ANA, False), (9, True), (BO, False))
    assert list(made.of) == [ROOM, ANA, ANA, ANA, ROOM]
    assert list(made.before) == [END, END, 1, 2, 0]
    assert list(made.after) == [4, 2, 3, END, END]


def test_silence_ends_a_thread_for_the_next_message() -> None:
    """The bot's answer after it is still an answer to that person, from nowhere."""
    made = threads((ANA, False), (9, True), pause=PAUSE_SECONDS + 1)
    assert list(made.of) == [ANA, ANA]
    assert list(made.before) == [END, END]


def test_a_bot_that_begins_talks_to_the_room() -> None:
    """Nobody has said anything yet."""
    assert list(threads((9, True), (9, True)).of) == [ROOM, ROOM]
