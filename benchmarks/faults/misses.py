"""The proof that no file call goes past the shim: a journey under strace, each call of the shim
between two marks.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

from benchmarks.faults.injection import prepared
from benchmarks.faults.journeys import JOURNEYS, Journey, silent
from benchmarks.faults.shim import Call, Shim

Tell = Callable[[object, list[str]], None]
_LINE = re.compile(r"^(\d+) +(\w+)\(")


def why_not() -> str:
    """Why this cannot be done here, empty where it can."""
    return "" if shutil.which("strace") else "strace is not installed"


class Marker:
    """Makes a harmless system call before and after each file call."""

    def around(self, look: Callable[[str], list[str]]) -> Callable[[str], list[str]]:
        """A look of the shim's own, marked as well."""

        def marked(path: str) -> list[str]:
            os.getppid()
            found = look(path)
            os.getuid()
            return found

        return marked

    def before(self, call: Call) -> int:  # noqa: ARG002 - a mark is a mark
        """The mark that one follows."""
        os.getppid()
        return 0

    def after(self, call: Call, result: Any) -> None:  # noqa: ARG002
        """The mark that it is over."""
        os.getuid()

    def failed(self, call: Call) -> None:  # noqa: ARG002
        """The same."""
        os.getuid()


def missed(journey: Journey, root: Path, tell: Tell) -> None:
    """Runs the journey under strace; tells each call below the folder, with what is wrong where no
    mark stands before it.
    """
    prepared(journey, root).laid(root)
    trace = root.with_name("trace")
    command = [sys.executable, "-m", __name__, journey.name, str(root)]
    subprocess.run(
        ["strace", "-f", "-y", "-s", "0", "-o", str(trace), "-e", "trace=file,desc,getppid,getuid",
        *command],
        check=True, capture_output=True,
    )  # fmt: skip
    inside: dict[str, bool] = {}
    for line in trace.read_text(errors="replace").splitlines():
        if not (found := _LINE.match(line)):
            continue
        process, name = found.groups()
        if name in ("getppid", "getuid"):
            inside[process] = name == "getppid"
        elif f"{root}/" in line and name != "execve":
            tell(
                name,
                [] if inside.get(process) else [f"{journey.name}: past the shim: {line[:200]}"],
            )
    trace.unlink()


def _child(name: str, root: Path) -> None:
    [journey] = [journey for journey in JOURNEYS if journey.name == name]
    shim, marker = Shim(root, Marker()), Marker()
    shim.peek = marker.around(shim.peek)
    shim.install()
    journey.run(root, silent)
    os._exit(0)


if __name__ == "__main__":
    _child(sys.argv[1], Path(sys.argv[2]))
