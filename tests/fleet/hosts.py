"""Processes that stand for hosts: each opens the workspace anew, and does one thing after the other."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path

_HOST = """
import sys
from pathlib import Path
from benchmarks.faults.journeys import NOW, adding
from pipimem import Message
from pipimem.errors import PipimemError
from pipimem.store.channel import ChannelStore
from pipimem.store.workspace import WorkspaceStore

store = ChannelStore.open(WorkspaceStore.open(Path(sys.argv[1])), "team", create=True)
print("ready", flush=True)
for line in sys.stdin:
    what, _, text = line.strip().partition(" ")
    try:
        if what == "say":
            store.append([Message.user(text, id=text.replace(" ", "-"))])
        elif what == "learn":
            store.commit(adding(text), NOW)
        elif what == "hold":
            with store.channel_folder.lock.held():
                print("held", flush=True)
                sys.stdin.readline()
                store.channel_folder.lock.check()
        elif what == "chatter":
            number = 0
            while True:
                store.commit(adding(f"{text} {number}"), NOW)
                print("done", flush=True)
                number += 1
        print("done", flush=True)
    except PipimemError as error:
        print(f"{type(error).__name__} {error}", flush=True)
"""


@dataclass(frozen=True, slots=True)
class Host:
    """A process on the workspace."""

    process: subprocess.Popen[str]

    @classmethod
    def on(cls, root: Path) -> Host:
        """Started, and ready."""
        command = [sys.executable, "-c", _HOST, str(root)]
        process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=dict(os.environ)
        )
        host = cls(process)
        assert host.line() == "ready"
        return host

    def tell(self, what: str) -> None:
        """Has it do something, without waiting."""
        assert self.process.stdin is not None
        self.process.stdin.write(f"{what}\n")
        self.process.stdin.flush()

    def line(self) -> str:
        """What it says next."""
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def ask(self, what: str) -> str:
        """What comes of it."""
        self.tell(what)
        return self.line()

    def stop(self) -> None:
        """Suspends it, with all its threads, and waits until it is."""
        self.process.send_signal(signal.SIGSTOP)
        while " T " not in Path(f"/proc/{self.process.pid}/stat").read_text():
            time.sleep(0.01)

    def wake(self) -> None:
        """Lets it go on."""
        self.process.send_signal(signal.SIGCONT)

    def kill(self) -> None:
        """Ends it at once."""
        self.process.kill()
        self.process.wait()
        for stream in (self.process.stdin, self.process.stdout):
            assert stream is not None
            stream.close()
