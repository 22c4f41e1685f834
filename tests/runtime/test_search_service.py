"""The search indexes of the channels, kept fresh."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pipimem.errors import ChannelError
from pipimem.notes.message import Message
from pipimem.recall.transcript.hits import Filters
from pipimem.runtime import transcript_recall as module
from pipimem.runtime.channel import upkeep_of
from pipimem.runtime.search_service import SearchService
from pipimem.runtime.transcript_recall import TranscriptSearch, update_search_cache
from pipimem.runtime.vocabulary import Vocabulary
from pipimem.store.caches import search_index as search_file
from pipimem.store.channel import ChannelStore
from pipimem.store.forget.traces import traces
from pipimem.store.workspace import WorkspaceStore
from pipimem.text.words.index_words import Bag

from tests.runtime.building import opened, say, workspace

ANY = Filters()
NOON = datetime(2026, 3, 12, 12, tzinfo=UTC)


@pytest.fixture
def room(tmp_path: Path) -> ChannelStore:
    """A channel in which one thing was said."""
    (tmp_path / "pipimem.toml").touch()
    store = ChannelStore.open(WorkspaceStore.open(tmp_path), "room", create=True)
    store.transcript.append([Message.user("the ferry leaves at nine", id="a", time=NOON)])
    return store


def found(service: SearchService, query: str) -> list[str]:
    """The ids a search gives."""
    return [hit.item.id for hit in service.found("room", query, 5, ANY)]


def test_what_is_said_later_is_found(room: ChannelStore) -> None:
    """Without reading again what was there."""
    service = SearchService(room.workspace)
    assert found(service, "ferry") == ["log:a"]
    channel_search = service.channel_search("room")
    room.transcript.append([Message.user("the tram leaves at ten", id="b", time=NOON)])
    assert found(service, "tram")[0] == "log:b"
    assert service.channel_search("room") is channel_search


def test_a_rewritten_transcript_is_read_anew(room: ChannelStore) -> None:
    """What `forget` took away is not found any more."""
    service = SearchService(room.workspace)
    assert found(service, "ferry") == ["log:a"]
    path = room.transcript.path
    other = path.with_suffix(".new")
    other.write_text(path.read_text().replace("ferry", "[gone]"))
    other.replace(path)
    assert found(service, "ferry") == []


def test_words_txt_counts(room: ChannelStore) -> None:
    """Its synonyms, beside those everybody knows."""
    (room.workspace.root / "words.txt").write_text("blue whale, ferry\n")
    assert found(SearchService(room.workspace), "blue whale") == ["log:a"]


def test_an_unknown_channel_is_said(room: ChannelStore) -> None:
    """And not made."""
    with pytest.raises(ChannelError):
        SearchService(room.workspace).channel_search("rome")


@pytest.fixture
def always(monkeypatch: pytest.MonkeyPatch) -> None:
    """One message is worth keeping."""
    monkeypatch.setattr(module, "_WORTH_KEEPING", 1)


def cut(service: SearchService, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The texts that are cut into words from here on."""
    texts: list[str] = []
    bag = service.words.bag

    def counted(text: str) -> Bag:
        texts.append(text)
        return bag(text)

    monkeypatch.setattr(service.words, "bag", counted)
    return texts


def kept_file(room: ChannelStore) -> Path:
    """Where the index is kept."""
    return room.folder / ".pipimem" / search_file.NAME


@pytest.mark.usefixtures("always")
def test_the_next_start_cuts_only_what_is_new(
    room: ChannelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """And answers the same."""
    first = SearchService(room.workspace)
    assert found(first, "ferry") == ["log:a"]
    first.keep()
    room.transcript.append([Message.user("the tram leaves at ten", id="b", time=NOON)])
    second = SearchService(room.workspace)
    texts = cut(second, monkeypatch)
    assert found(second, "leaves") == found(SearchService(room.workspace), "leaves")
    assert texts == ["the tram leaves at ten", "leaves"]


def test_a_little_talk_is_not_worth_a_file(room: ChannelStore) -> None:
    """It is cut in a moment; nor does a folder that people made become a channel of ours by a
    search.
    """
    service = SearchService(room.workspace)
    found(service, "ferry")
    service.keep()
    assert not kept_file(room).exists()


@pytest.mark.usefixtures("always")
def test_a_search_settles_in_no_folder_of_people(room: ChannelStore) -> None:
    """A transcript that was put there by hand is searched, and nothing is written."""
    folder = room.workspace.root / "channels" / "plain"
    folder.mkdir()
    (folder / "log.jsonl").write_bytes(room.transcript.path.read_bytes())
    service = SearchService(room.workspace)
    assert [hit.item.id for hit in service.found("plain", "ferry", 5, ANY)] == ["log:a"]
    service.keep()
    assert [path.name for path in folder.iterdir()] == ["log.jsonl"]


@pytest.mark.usefixtures("always")
def test_the_archive_stands_beside_the_kept_talk(room: ChannelStore) -> None:
    """Its bullets and the messages before and after it are found by their ids, and each in its
    place.
    """
    (room.folder / "HISTORY.archive.md").write_text(
        "## 2026-03-12 11:00–12:00 +00:00 · Boats\n\n- The ferry was sold\n- The brass sextant was sold to Ines\n"
    )
    for _ in range(2):
        service = SearchService(room.workspace, archive=True)
        channel_search = service.channel_search("room")
        service.keep()
    old = [channel_search.item(slot).id for slot in (1, 2)]
    assert [name.partition(":")[0] for name in old] == ["archive", "archive"]
    assert [channel_search.slot(name) for name in (*old, "a")] == [1, 2, 0]
    room.transcript.append([Message.user("the tram leaves at ten", id="b", time=NOON)])
    channel_search = service.channel_search("room")
    assert (channel_search.slot("b"), channel_search.item(3).id) == (3, "log:b")
    assert [item.id for item in service.around("room", 3, 2, 2)] == ["log:a", "log:b"]
    assert [item.id for item in service.around("room", 1, 2, 2)] == old


def test_an_archive_that_changed_is_read_again(room: ChannelStore) -> None:
    """What is folded, or written by hand, while a service is open is found by it."""
    path = room.folder / "HISTORY.archive.md"
    service = SearchService(room.workspace, archive=True)
    assert not any(name.startswith("archive:") for name in found(service, "sextant"))
    path.write_text(
        "## 2026-03-12 11:00–12:00 +00:00 · Boats\n\n- The brass sextant was sold to Ines\n"
    )
    assert found(service, "sextant")[0].startswith("archive:")
    assert service.channel_search("room") is service.channel_search("room")
    path.unlink()
    assert not any(name.startswith("archive:") for name in found(service, "sextant"))


@pytest.mark.usefixtures("always")
def test_what_is_forgotten_is_not_in_the_kept_index_either(room: ChannelStore) -> None:
    """It is taken away with the text, and the next one knows nothing of it."""
    room.transcript.append([Message.user("the zebra is called Hortensia", id="z", time=NOON)])
    service = SearchService(room.workspace)
    assert found(service, "zebra")[0] == "log:z"
    service.keep()
    assert b"hortensia" in kept_file(room).read_bytes()
    room.forget("the zebra is called Hortensia", keep_transcript=False, now=NOON)
    assert not kept_file(room).exists()
    service.keep()
    assert not kept_file(room).exists()
    again = SearchService(room.workspace)
    assert found(again, "zebra") == []
    again.keep()
    assert b"hortensia" not in kept_file(room).read_bytes()
    assert list(traces([room.folder], "the zebra is called Hortensia")) == []


@pytest.mark.usefixtures("always")
def test_other_words_of_peoples_own_make_it_anew(
    room: ChannelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`words.txt` decides how Chinese is cut."""
    first = SearchService(room.workspace)
    found(first, "ferry")
    first.keep()
    (room.workspace.root / "words.txt").write_text("蓝鲸号\n", encoding="utf-8")
    second = SearchService(room.workspace)
    texts = cut(second, monkeypatch)
    assert found(second, "ferry") == ["log:a"]
    assert "the ferry leaves at nine" in texts


@pytest.mark.slow
@pytest.mark.usefixtures("always")
@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(data=st.data())
def test_hostile_bytes_change_no_answer(room: ChannelStore, data: st.DataObject) -> None:
    """Whatever became of the file: the answers are those of an index made anew, which takes its
    place.
    """
    if not kept_file(room).exists():
        said = ("渡轮九点开", "which ferry, the blue one?", "the blue one at ten")
        room.transcript.append([Message.user(text, speaker="Ana", time=NOON) for text in said])
        service = SearchService(room.workspace)
        found(service, "x")
        service.keep()
    whole = kept_file(room).read_bytes()
    place = data.draw(st.integers(0, len(whole) - 1))
    flipped = (
        whole[:place] + bytes((whole[place] ^ data.draw(st.integers(1, 255)),)) + whole[place + 1 :]
    )
    kept_file(room).write_bytes(
        data.draw(st.one_of(st.just(flipped), st.just(whole[:place]), st.binary()))
    )
    service = SearchService(room.workspace)
    for question in ("blue ferry", "渡轮", "what did Ana say?"):
        fresh = SearchService(room.workspace)
        fresh._searches["room"] = TranscriptSearch(NoFile(room), fresh._vocabulary)
        assert service.found("room", question, 9, ANY) == fresh.found("room", question, 9, ANY)
    service.keep()
    assert kept_file(room).read_bytes() == whole


class NoFile:
    """A store in which no index is kept."""

    def __init__(self, store: ChannelStore) -> None:
        self.transcript, self.caches = store.transcript, self

    def kept_search(self, stamp: str) -> None:
        """Nothing."""


@pytest.mark.usefixtures("always")
def test_a_whole_file_that_is_none_of_ours_is_passed_over(room: ChannelStore) -> None:
    """A digest that fits says nothing about what is in it."""
    service = SearchService(room.workspace)
    channel_search = service.channel_search("room")
    read_position = channel_search._reader.read_position()
    assert read_position is not None
    assert room.caches.keep_search(service._vocabulary.stamp(), read_position, b"no index")
    assert found(SearchService(room.workspace), "ferry") == ["log:a"]


@pytest.mark.usefixtures("always")
def test_idle_work_keeps_it_up_a_little_at_a_time(room: ChannelStore) -> None:
    """So that neither a turn nor the next search pays for much."""
    room.transcript.append(
        [Message.user(f"tram {n} leaves", id=f"t{n}", time=NOON) for n in range(4)]
    )
    vocabulary = Vocabulary(room.workspace)
    sizes = []
    for _ in range(4):
        update_search_cache(room, vocabulary, most=2)
        sizes.append(len(TranscriptSearch(room, vocabulary, most=0).index))
    assert sizes == [2, 4, 5, 5]


def test_one_long_message_is_worth_keeping(
    room: ChannelStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Of a pasted file each start cut all the words anew."""
    room.transcript.append([Message.user("the tram leaves at ten, " * 2_000, id="b", time=NOON)])
    first = SearchService(room.workspace)
    assert "log:b" in found(first, "tram")
    first.keep()
    second = SearchService(room.workspace)
    texts = cut(second, monkeypatch)
    assert "log:b" in found(second, "tram")
    assert texts == ["tram"]


def test_how_far_the_reading_is_can_be_told(room: ChannelStore) -> None:
    """Every hundred messages, and at the end."""
    room.transcript.append([Message.user(f"tram {n}") for n in range(249)])
    told: list[tuple[int, int]] = []
    SearchService(
        room.workspace, report=lambda read, newest: told.append((read, newest))
    ).channel_search("room")
    assert told == [(100, 250), (200, 250), (250, 250)]


@pytest.mark.anyio
@pytest.mark.usefixtures("always")
async def test_a_turn_keeps_no_index_and_idle_work_does(tmp_path: Path) -> None:
    """Nor does a close wait for it."""
    root = workspace(tmp_path)
    kept = root / "channels" / "room" / ".pipimem" / search_file.NAME
    async with opened(root) as channel:
        await say(channel, "the ferry leaves at nine")
    assert not kept.exists()
    async with opened(root) as channel:
        await upkeep_of(channel).flush()
    assert b"ferri" in kept.read_bytes()
