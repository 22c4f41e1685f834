"""Adds to the wheel what is made from the source tree: the compiled thesaurus and the SBOM."""

from __future__ import annotations

import json
import re
import sys
import tempfile
from pathlib import Path
from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

# What installing the wheel brings along, and what for: `requirements/lock.sh` makes it.
LOCKED = Path("requirements/wheel.txt")
_PINNED = re.compile(r"(?P<name>[\w.-]+)==(?P<version>[^\s;]+)(?: ; (?P<marker>.+))?")


class WheelHook(BuildHookInterface[Any]):
    """Puts `data/synonyms/compiled` and `sboms/pipimem.cdx.json` into the wheel.

    An editable install reads the checkout, which compiles for itself.
    """

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Write both into a temporary folder, from where hatchling takes them."""
        if version == "editable":
            return
        self._folder = tempfile.TemporaryDirectory()
        folder = Path(self._folder.name)
        thesaurus = folder / "compiled"
        thesaurus.write_text(self._thesaurus(), encoding="utf-8")
        build_data["force_include"][str(thesaurus)] = "pipimem/data/synonyms/compiled"
        bill = folder / "pipimem.cdx.json"
        text = json.dumps(self._bill(), ensure_ascii=False, indent=1, sort_keys=True)
        bill.write_text(text + "\n", encoding="utf-8")
        build_data["sbom_files"].append(str(bill))

    def finalize(self, version: str, _build_data: dict[str, Any], _artifact_path: str) -> None:
        """Take the temporary folder away."""
        if version != "editable":
            self._folder.cleanup()

    def _thesaurus(self) -> str:
        sys.path.insert(0, self.root)
        from pipimem import resources
        from pipimem.recall.thesaurus import compiled
        from pipimem.text.words.index_words import Words
        from pipimem.text.words.segmentation import Segmenter

        return compiled(resources.thesaurus_texts(), Words(Segmenter()))

    def _bill(self) -> dict[str, Any]:
        core = self.metadata.core
        own = {
            "type": "library",
            "name": core.name,
            "version": core.version,
            "licenses": [{"expression": core.license_expression}],
        }
        locked = (Path(self.root) / LOCKED).read_text("utf-8")
        return bill_of_materials(own, locked, self.config.get("bundled", []))


def bill_of_materials(own: dict[str, Any], locked: str, bundled: list[Any]) -> dict[str, Any]:
    """Returns a CycloneDX 1.6 document without a time or serial number: the same for the same text.

    `own` is the component that the document is about; `locked` is a lock file of `uv pip compile`
    with its `# via` comments, which become the dependencies; `bundled` are tables with `name`,
    `licence`, `file` and `note`: what stands in the wheel itself and is somebody else's.
    """
    packages, needed_by = _packages(locked)
    references = {package["name"]: package["purl"] for package in packages}
    references[own["name"]] = f"pkg:pypi/{own['name']}@{own['version']}"
    needs: dict[str, list[str]] = {reference: [] for reference in references.values()}
    for name, parents in needed_by.items():
        for parent in parents:
            needs[references[parent]].append(references[name])
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "version": 1,
        "metadata": {"component": own | _named(references[own["name"]])},
        "components": [*packages, *map(_bundled, bundled)],
        "dependencies": [
            {"ref": reference, "dependsOn": sorted(needed)} for reference, needed in needs.items()
        ],
    }


def _named(purl: str) -> dict[str, str]:
    return {"purl": purl, "bom-ref": purl}


def _packages(locked: str) -> tuple[list[dict[str, Any]], dict[str, list[str]]]:
    """Returns the components of a lock file, and for each name the names that need it."""
    packages: list[dict[str, Any]] = []
    needed_by: dict[str, list[str]] = {}
    for line in locked.splitlines():
        found = _PINNED.fullmatch(line)
        if found:
            packages.append(_package(found))
            needed_by[found["name"]] = []
        elif words := line.strip(" #").split():
            needed_by[packages[-1]["name"]].append(words[0])
    return packages, needed_by


def _package(found: re.Match[str]) -> dict[str, Any]:
    purl = f"pkg:pypi/{found['name']}@{found['version']}"
    package = {"type": "library", "name": found["name"], "version": found["version"]}
    package |= _named(purl)
    if not found["marker"]:
        return package
    # Installed on some systems or Pythons alone.
    return package | {"properties": [{"name": "marker", "value": found["marker"]}]}


def _bundled(table: dict[str, str]) -> dict[str, Any]:
    return {
        "type": "data",
        "name": table["name"],
        "bom-ref": table["file"],
        "description": table["note"],
        "licenses": [{"expression": table["licence"]}],
        "evidence": {"occurrences": [{"location": table["file"]}]},
    }
