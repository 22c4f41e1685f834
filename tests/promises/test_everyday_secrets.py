"""Promise 4: passwords and codes as people type them are never written."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.promises import front_door
from tests.promises.front_door import Message

pytestmark = pytest.mark.anyio
MASKED = (
    ("the password is hunter2Xy", "hunter2Xy"),
    ("密码是 hunter2x9", "hunter2x9"),
    ("门锁密码 8823", "8823"),
    ("密碼是 hunter2x", "hunter2x"),
    ("ｐａｓｓｗｏｒｄ：hunter2", "hunter2"),
    ("root密码从Old#2025改成了New#2026", "New#2026"),
    ("I changed my password from Old2025! to New2026!", "New2026!"),
    ("the new password? New2026!", "New2026!"),
    ("密 码：Hunter2026!", "Hunter2026!"),
    ("Your Google verification code is G-593021", "593021"),
    ("| 账号 | 密码 |\n|---|---|\n| admin | Hunter2026! |", "Hunter2026!"),
    ("账号,密码\nadmin,Hunter2026!", "Hunter2026!"),
    ("车库门密码1379", "1379"),
    ("公司wifi改了，新的是 Moonlight2026，别发群外", "Moonlight2026"),
    ("recovery code ABCD-EFGH-IJKL-MNOP", "ABCD-EFGH-IJKL-MNOP"),
    ("PW hunter2!", "hunter2!"),
    ("mot de passe: hunter2x", "hunter2x"),
    ("Passwort: hunter2x", "hunter2x"),
    ("contraseña: hunter2x", "hunter2x"),
    ("パスワードは hunter2x", "hunter2x"),
)


@pytest.mark.parametrize(("said", "secret"), MASKED)
async def test_a_password_that_somebody_types_is_in_no_file(
    workspace: Path, said: str, secret: str
) -> None:
    """Neither in the transcript nor anywhere else below the workspace."""
    async with front_door.quiet(workspace) as pipimem:
        channel = await pipimem.channel("room", kind="dm")
        await front_door.after_turn(channel, None, [Message.user(said, speaker="Ann")])
        await front_door.before_compaction(channel)
    files = [path for path in workspace.rglob("*") if path.is_file()]
    assert [path.name for path in files if secret.encode() in path.read_bytes()] == []
