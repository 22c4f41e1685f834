"""`pipimem maintain`."""

from __future__ import annotations

from pathlib import Path

from tests.cli.conftest import Call, snapshot


def jobs(call: Call, *words: str) -> dict[str, bool]:
    """Which jobs ran, or would."""
    return {job["job"]: job["ran"] for job in call("maintain", "room", "--json", *words).object["jobs"]}  # type: ignore[attr-defined]


def test_a_dry_run_tells_the_gates_and_writes_nothing(call: Call, bot: Path, conversation: Path) -> None:
    """Talk that nobody consolidated yet opens two gates."""
    call("replay", "room", str(conversation), model="nosuch/model")
    before = snapshot(bot)
    told = jobs(call, "--dry-run")
    assert (told["refresh"], told["consolidate"], told["tidy"], told["fold"]) == (True, True, False, False)
    assert snapshot(bot) == before
    assert "room\ttidy\tno\tshort enough" in call("maintain", "--dry-run").out


def test_every_channel_is_maintained_when_none_is_named(call: Call, conversation: Path) -> None:
    """What a dry run promised is done; then nothing is left."""
    for name in ("room", "hall"):
        call("replay", name, str(conversation), model="nosuch/model")
    told = call("maintain", "--json").lines
    assert [(line["channel"], line["jobs"][1]["ran"]) for line in told] == [("hall", True), ("room", True)]  # type: ignore[index]
    assert not any(jobs(call).values())


def test_a_job_that_fails_is_exit_one(call: Call, conversation: Path) -> None:
    """The reason names what to do."""
    call("replay", "room", str(conversation), model="nosuch/model")
    told = call("maintain", model="nosuch/model")
    assert (told.code, "refresh was not done: 'nosuch/model'" in told.err) == (1, True)


def test_no_channel_at_all_is_fine(call: Call) -> None:
    """A fresh workspace has nothing to do."""
    assert call("maintain").err == "there are no channels yet\n"
