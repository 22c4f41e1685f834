"""What the bot knows after a restart, changed by many conversations at once."""

from __future__ import annotations

import threading
from pathlib import Path

from pipimem.bots.dingtalk.state import BotState, OpenCard


def test_changes_of_many_conversations_at_once_are_all_kept(tmp_path: Path) -> None:
    """Each is made in a thread of its own; what is off the record stays so over a restart."""
    state = BotState.load(tmp_path)
    card = OpenCard("channel", ("entry",))
    gate = threading.Barrier(16)
    problems: list[OSError] = []

    def change(number: int) -> None:
        gate.wait()
        try:
            state.set_private(f"channel-{number}", on=True)
            state.set_card(f"card-{number}", card)
        except OSError as error:
            problems.append(error)

    threads = [threading.Thread(target=change, args=(number,)) for number in range(16)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    again = BotState.load(tmp_path)
    assert problems == []
    assert again.private == state.private == dict.fromkeys(map("channel-{}".format, range(16)), "")
    assert again.cards == {f"card-{number}": card for number in range(16)}
