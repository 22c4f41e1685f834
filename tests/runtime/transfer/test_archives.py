"""Archives of whole channels: the same bytes on the other side, and nothing of what is unsound."""

from __future__ import annotations

import json
import shutil
import stat
import zipfile
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from hashlib import blake2b
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pipimem.errors import ArchiveError, ChannelError
from pipimem.notes.kinds import Kind
from pipimem.notes.message import Message
from pipimem.notes.operations import Add, Author, Decision, Evidence, Progress, Trust
from pipimem.notes.usage import Usage
from pipimem.runtime.transfer.archives import export_archive, import_archive
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

NOW = datetime(2026, 3, 2, 9, 10, tzinfo=timezone(timedelta(hours=8)))
FIXTURES = Path(__file__).parents[2] / "fixtures"
LOCKS = ("lock", "lock.turnstile", "log.lock", "log.lock.turnstile")


def workspace(root: Path) -> WorkspaceStore:
    """An empty workspace."""
    (root / "channels").mkdir(parents=True)
    return WorkspaceStore.open(root)


def remembered(text: str) -> Decision:
    """The decision to add a text to MEMORY.md."""
    add = Add(Kind.FACT, text, Trust.EXPLICIT, Evidence(speaker="alice", when=NOW))
    return Decision("remember", Author.PERSON, (add,))


def filled(root: Path) -> WorkspaceStore:
    """A workspace with two channels, of which one has talk and an entry."""
    made = workspace(root)
    channel = ChannelStore.open(made, "群/上线", create=True, kind="group", title="上线")
    channel.append([Message.user("上线窗口定在周四", id="m7", time=NOW, speaker="林晓")])
    channel.commit(remembered("上线窗口定在周四"), NOW)
    ChannelStore.open(made, "dm", create=True).commit(remembered("The port is 8080"), NOW)
    return made


def tree(root: Path) -> dict[str, bytes]:
    """Every file of the channels below a workspace, but the locks and caches."""
    below = root / "channels"
    found = {}
    for path in sorted(below.rglob("*")):
        if path.is_file() and path.name not in LOCKS and not path.name.endswith(".idx"):
            found[path.relative_to(below).as_posix()] = path.read_bytes()
    return found


def exported(made: WorkspaceStore, target: Path, *names: str) -> Path:
    """The workspace's channels in an archive."""
    export_archive(made, names, target, NOW, "0.2.0")
    return target


names = st.text(st.characters(exclude_categories=["Cs"]), min_size=1, max_size=40)
texts = st.text(st.characters(exclude_categories=["Cs", "Cc"]), min_size=1, max_size=60)
channels = st.dictionaries(
    names, st.tuples(st.lists(texts, max_size=4), st.lists(texts, max_size=4)), max_size=3
)


@settings(max_examples=40, deadline=None)
@given(channels)
def test_a_round_trip_is_byte_identical(wanted: dict[str, tuple[list[str], list[str]]]) -> None:
    """Whatever the channels are called and hold: each file, and what a reader sees of them."""
    with TemporaryDirectory() as folder:
        made, other = workspace(Path(folder, "a")), workspace(Path(folder, "b"))
        for name, (entries, talk) in wanted.items():
            channel = ChannelStore.open(made, name, create=True, title=name)
            channel.append(Message.user(text, time=NOW, speaker="alice") for text in talk)
            for text in entries:
                channel.commit(remembered(text), NOW)
        archive = exported(made, Path(folder, "x.zip"))
        before = tree(made.root)
        done = import_archive(other, archive, NOW)
        assert set(done.new) == set(wanted)
        assert tree(other.root) == before
        for name in wanted:
            here = ChannelStore.open(made, name, create=False)
            there = ChannelStore.open(other, name, create=False)
            assert there.notes().memory == here.notes().memory
            assert there.notes().ledger == here.notes().ledger
            assert list(there.transcript.messages()) == list(here.transcript.messages())


def test_an_imported_channel_goes_on(tmp_path: Path) -> None:
    """It is written to, and its older changes are still known."""
    archive = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    other = workspace(tmp_path / "b")
    import_archive(other, archive, NOW)
    channel = ChannelStore.open(other, "dm", create=False)
    channel.commit(remembered("The port is 9090 now"), NOW)
    assert [record.sequence for record in channel.changes()] == [1, 2]
    assert "8080" in channel.notes().memory.text


def test_some_channels_alone(tmp_path: Path) -> None:
    """Only those that were named, and nothing of the workspace; an unknown one makes no archive."""
    made = filled(tmp_path / "a")
    (made.root / "SOUL.md").write_text("I am Pipi.\n")
    archive = exported(made, tmp_path / "x.zip", "dm")
    members = zipfile.ZipFile(archive).namelist()
    assert {name.split("/")[0] for name in members} == {"channels", "manifest.json"}
    assert {name.split("/")[1] for name in members if "/" in name} == {"dm"}
    with pytest.raises(ChannelError, match="There is no channel 'nobody'"):
        exported(made, tmp_path / "y.zip", "nobody")
    assert not (tmp_path / "y.zip").exists()


def test_a_second_import_adds_nothing(tmp_path: Path) -> None:
    """The channels that are there with the same bytes are passed over."""
    archive = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    other = workspace(tmp_path / "b")
    import_archive(other, archive, NOW)
    before = tree(other.root)
    done = import_archive(other, archive, NOW)
    assert (done.new, set(done.same), tree(other.root)) == ((), {"群/上线", "dm"}, before)


def test_a_channel_with_other_content_is_never_touched(tmp_path: Path) -> None:
    """Nothing at all is written then, and the sentence names it."""
    archive = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    other = workspace(tmp_path / "b")
    ChannelStore.open(other, "dm", create=True).commit(remembered("mine"), NOW)
    before = tree(other.root)
    with pytest.raises(ArchiveError, match=r"'dm' stands in .* already, with other content"):
        import_archive(other, archive, NOW)
    assert tree(other.root) == before


def test_a_dry_run_writes_nothing(tmp_path: Path) -> None:
    """It says what would come in."""
    archive = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    other = workspace(tmp_path / "b")
    assert set(import_archive(other, archive, NOW, is_dry=True).new) == {"群/上线", "dm"}
    assert sorted(path.name for path in other.root.rglob("*")) == ["channels"]


def test_a_dry_run_finds_what_is_damaged(tmp_path: Path) -> None:
    """It reads all of it, and writes nothing."""
    source = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    damaged = remade(source, tmp_path / "y.zip", _other_bytes)
    with pytest.raises(ArchiveError, match="not what its checksum says"):
        import_archive(workspace(tmp_path / "b"), damaged, NOW, is_dry=True)


def test_files_of_the_workspace_take_the_place_of_nothing_but_the_template(tmp_path: Path) -> None:
    """What a person wrote in the other workspace stays, and is told."""
    made = filled(tmp_path / "a")
    for name in ("SOUL.md", "words.txt", "pipimem.toml"):
        (made.root / name).write_text(f"# ours: {name}\n")
    WorkspaceStore.init(tmp_path / "b")
    (tmp_path / "b" / "SOUL.md").write_text("theirs\n")
    done = import_archive(
        WorkspaceStore.open(tmp_path / "b"), exported(made, tmp_path / "x.zip"), NOW
    )
    assert (set(done.shared), done.left) == ({"words.txt", "pipimem.toml"}, ("SOUL.md",))
    assert (tmp_path / "b" / "SOUL.md").read_text() == "theirs\n"
    assert (tmp_path / "b" / "words.txt").read_text() == "# ours: words.txt\n"


def test_an_archive_is_for_its_owner_and_takes_no_name_that_is_taken(tmp_path: Path) -> None:
    """Mode 0600; a file that is there stays."""
    made = filled(tmp_path / "a")
    archive = exported(made, tmp_path / "x.zip")
    assert stat.S_IMODE(archive.stat().st_mode) == 0o600
    (tmp_path / "y.zip").write_text("mine")
    with pytest.raises(ArchiveError, match="is there already"):
        exported(made, tmp_path / "y.zip")
    assert (tmp_path / "y.zip").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["a", "x.zip", "y.zip"]


# ── archives that somebody made to do harm, or that are damaged ───────────────────────────────────

Remade = Callable[[dict[str, bytes], dict[str, object]], None]


def remade(source: Path, target: Path, change: Remade) -> Path:
    """An archive with the members and the manifest that `change` leaves."""
    with zipfile.ZipFile(source) as packed:
        members = {name: packed.read(name) for name in packed.namelist()}
    manifest = json.loads(members.pop("manifest.json"))
    change(members, manifest)
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as packed:
        for name, data in members.items():
            packed.writestr(name, data)
        packed.writestr("manifest.json", json.dumps(manifest))
    return target


def _file(manifest: dict[str, object], name: str, data: bytes) -> None:
    """Adds a file to the first channel of a manifest."""
    digest = blake2b(data, digest_size=32).hexdigest()
    entry = {"path": name, "size": len(data), "digest": digest}
    manifest["channels"][0]["files"].append(entry)  # type: ignore[index]


def _with(path: str, data: bytes = b"x") -> Remade:
    def change(members: dict[str, bytes], manifest: dict[str, object]) -> None:
        folder = manifest["channels"][0]["folder"]  # type: ignore[index]
        members[f"channels/{folder}/{path}"] = data
        _file(manifest, path, data)

    return change


def _other_bytes(members: dict[str, bytes], _: dict[str, object]) -> None:
    name = next(name for name in members if name.endswith("MEMORY.md"))
    members[name] = bytes(reversed(members[name]))


def _missing(members: dict[str, bytes], _: dict[str, object]) -> None:
    members.pop(next(name for name in members if name.endswith("MEMORY.md")))


def _unnamed(members: dict[str, bytes], _: dict[str, object]) -> None:
    members["../../evil"] = b"x"


def _absolute(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    members["shared//etc/evil"] = b"x"
    digest = blake2b(b"x", digest_size=32).hexdigest()
    shared = manifest.setdefault("shared", [])
    shared.append({"path": "/etc/evil", "size": 1, "digest": digest})  # type: ignore[attr-defined]


def _other_folder(_: dict[str, bytes], manifest: dict[str, object]) -> None:
    manifest["channels"][0]["folder"] = "../elsewhere"  # type: ignore[index]


def _other_id(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    channel = next(one for one in manifest["channels"] if one["id"] == "dm")  # type: ignore[attr-defined]
    channel["id"] = channel["folder"] = "dn"
    for name in [name for name in members if name.startswith("channels/dm/")]:
        members[name.replace("/dm/", "/dn/")] = members.pop(name)


def _newer(_: dict[str, bytes], manifest: dict[str, object]) -> None:
    manifest["format"] = 99


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_with("../../../evil"), "no file of a channel"),
        (_with(".pipimem/../../../evil"), "no file of a channel"),
        (_with("/etc/passwd"), "no file of a channel"),
        (_with("..\\evil"), "no file of a channel"),
        (_with("SOUL.md"), "no file of a channel"),
        (_with(".pipimem/lock"), "no file of a channel"),
        (_with(".pipimem/versions/../x.0123456789abcdef"), "no file of a channel"),
        (_with(".pipimem/journal.jsonl"), "no file of a channel"),
        (_with(".pipimem/ledger.json"), "no file of a channel"),
        (_with(".pipimem/state.db-journal"), "no file of a channel"),
        (_with("MEMORY.md"), "twice"),
        (_other_bytes, "not what its checksum says"),
        (_missing, "is missing"),
        (_unnamed, "of which its manifest.json says nothing"),
        (_absolute, "no file of a workspace"),
        (_other_folder, "is not the folder of channel"),
        (_other_id, "are another's"),
        (_newer, "a newer pipimem made it"),
        (_with("log-0001.jsonl", b"\0" * (80 << 20)), "times its size"),
    ],
)
def test_a_hostile_archive_writes_nothing(tmp_path: Path, change: Remade, says: str) -> None:
    """One sentence, and the workspace is as it was."""
    source = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    other = workspace(tmp_path / "b")
    archive = remade(source, tmp_path / "y.zip", change)
    with pytest.raises(ArchiveError, match=says) as refused:
        import_archive(other, archive, NOW)
    assert str(refused.value).startswith(str(archive))
    assert tree(other.root) == {}
    assert list((other.root / "channels").iterdir()) == []
    assert not (other.root / ".pipimem" / "incoming").exists()
    assert not (tmp_path / "evil").exists()


def test_a_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    """Whatever it leads to."""
    source = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    with zipfile.ZipFile(source) as packed, zipfile.ZipFile(tmp_path / "y.zip", "w") as target:
        for member in packed.infolist():
            if member.filename.endswith("dm/MEMORY.md"):
                member.external_attr = (stat.S_IFLNK | 0o777) << 16
            target.writestr(member, packed.read(member.filename))
    with pytest.raises(ArchiveError, match="is a link or a folder"):
        import_archive(workspace(tmp_path / "b"), tmp_path / "y.zip", NOW)


def _understated(members: dict[str, bytes], manifest: dict[str, object]) -> None:
    name = ".pipimem/recall.json"
    folder = manifest["channels"][0]["folder"]  # type: ignore[index]
    members[f"channels/{folder}/{name}"] = b"0" * _BOMB
    _file(manifest, name, b"0" * 10)


_BOMB = 50 << 20


def test_a_file_that_unpacks_to_more_than_it_says_is_cut_off(tmp_path: Path) -> None:
    """Manifest and tables of contents say 10 bytes, the data are 50 MB: no more are unpacked."""
    source = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    bomb = remade(source, tmp_path / "y.zip", _understated)
    data = bomb.read_bytes()
    size, told = _BOMB.to_bytes(4, "little"), (10).to_bytes(4, "little")
    assert data.count(size) == 2
    bomb.write_bytes(data.replace(size, told))
    other = workspace(tmp_path / "b")
    with pytest.raises(ArchiveError, match="damaged or cut short"):
        import_archive(other, bomb, NOW)
    assert tree(other.root) == {}


def test_an_archive_that_was_cut_short_writes_nothing(tmp_path: Path) -> None:
    """Wherever it ends; the last bytes, too, are needed."""
    source = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    other = workspace(tmp_path / "b")
    data = source.read_bytes()
    for end in (0, 1, 100, len(data) // 2, len(data) - 1):
        (tmp_path / "y.zip").write_bytes(data[:end])
        with pytest.raises(ArchiveError, match=r"damaged or cut short"):
            import_archive(other, tmp_path / "y.zip", NOW)
    assert tree(other.root) == {}


@settings(max_examples=60, deadline=None)
@given(st.lists(st.tuples(st.integers(0, 10**6), st.integers(0, 255)), min_size=1, max_size=4))
def test_flipped_bytes_never_come_in(flips: list[tuple[int, int]]) -> None:
    """Either it is refused in a sentence, or what comes in is what was exported."""
    with TemporaryDirectory() as folder:
        made = filled(Path(folder, "a"))
        source = exported(made, Path(folder, "x.zip"))
        before = tree(made.root)
        raw = bytearray(source.read_bytes())
        for place, value in flips:
            raw[place % len(raw)] = value
        source.write_bytes(bytes(raw))
        other = workspace(Path(folder, "b"))
        try:
            import_archive(other, source, NOW)
        except ArchiveError:
            assert tree(other.root) == {}
        else:
            assert {name: before.get(name) for name in tree(other.root)} == tree(other.root)


def test_a_workspace_without_room_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Before anything is unpacked."""
    source = exported(filled(tmp_path / "a"), tmp_path / "x.zip")
    monkeypatch.setattr("shutil.disk_usage", lambda _: _Usage)
    with pytest.raises(ArchiveError, match="are free; nothing was written"):
        import_archive(workspace(tmp_path / "b"), source, NOW)


class _Usage:
    free = 10


def test_an_archive_of_0_2_is_taken_in_and_then_taken_over(tmp_path: Path) -> None:
    """Its channel has an older format: its first writer brings it to this one."""
    made = workspace(tmp_path / "a")
    assert import_archive(made, FIXTURES / "workspace-0.2" / "archive.zip", NOW).new == ("alice",)
    channel = ChannelStore.open(made, "alice", create=False)
    assert [record.task for record in channel.changes()][:3] == ["consolidate"] * 3
    channel.commit(remembered("Plant 4 is an orchid"), NOW)
    tasks = [record.task for record in channel.changes()]
    assert tasks[-2:] == ["upgrade", "remember"]
    assert [entry.text for entry in channel.notes().memory.entries] == [
        "Plant 1 is a ficus",
        "Plant 2 is a 绿萝",
        "Plant 3 is a ficus",
        "Plant 4 is an orchid",
    ]


def test_the_export_of_an_older_channel_has_the_new_format(tmp_path: Path) -> None:
    """It is taken over before, and no file of the old state goes along."""
    root = tmp_path / "a"
    shutil.copytree(FIXTURES / "workspace-0.2" / "workspace", root)
    archive = exported(WorkspaceStore.open(root), tmp_path / "x.zip", "alice")
    with zipfile.ZipFile(archive) as packed:
        names = {name.removeprefix("channels/alice/") for name in packed.namelist()}
    assert names == {
        "manifest.json",
        "MEMORY.md",
        "HISTORY.md",
        "HISTORY.archive.md",
        "log.jsonl",
        ".pipimem/channel.json",
        ".pipimem/state.db",
    }


def test_another_state_is_told_by_its_content(tmp_path: Path) -> None:
    """A second import of what stands there adds nothing; after a change it is refused."""
    made = filled(tmp_path / "a")
    archive = exported(made, tmp_path / "x.zip", "dm")
    assert import_archive(made, archive, NOW).same == ("dm",)
    channel = ChannelStore.open(made, "dm", create=False)
    channel.commit(Decision("note", Author.RULE, progress=Progress(cursor=0, epoch=1)), NOW)
    with pytest.raises(ArchiveError, match=r"stands in .* already, with other content"):
        import_archive(made, archive, NOW)


def test_calls_of_models_move_along_once(tmp_path: Path) -> None:
    """By months: of one that the workspace has calls of, those of an archive are left out."""
    made, other = filled(tmp_path / "a"), workspace(tmp_path / "b")
    march, april = (
        Usage(f"2026-{month}-02T09:10:00+08:00", "dm", "tidy", "m", 1, 2, 0, 0.5, 1.5, "ok", "c1")
        for month in ("03", "04")
    )
    made.usage_store.append(march)
    import_archive(other, exported(made, tmp_path / "x.zip"), NOW)
    assert other.usages() == [march]
    made.usage_store.append(march)
    made.usage_store.append(april)
    done = import_archive(other, exported(made, tmp_path / "y.zip"), NOW)
    assert other.usages() == [march, april]
    assert done.left == (".pipimem/usage-2026-03.jsonl",)
