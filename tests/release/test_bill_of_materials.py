"""The SBOM in the wheel: what an installation brings along, what needs it, what is bundled."""

from __future__ import annotations

import json
import re
import tomllib
import zipfile
from typing import Any

import pytest
from hatch_build import bill_of_materials
from packaging.requirements import Requirement

from tests.release.conftest import ROOT, Built

_LOCKED = """\
alpha==1.2
    #   own (pyproject.toml)
beta==3.0 ; sys_platform == 'win32'
    #   alpha
    #   own (pyproject.toml)
"""
_OWN = {"type": "library", "name": "own", "version": "0.1"}


@pytest.fixture(scope="module")
def bill(here: Built) -> dict[str, Any]:
    with zipfile.ZipFile(here.wheel) as archive:
        (name,) = [name for name in archive.namelist() if "/sboms/" in name]
        assert name.endswith(".dist-info/sboms/pipimem.cdx.json")
        found: dict[str, Any] = json.loads(archive.read(name))
    return found


def test_a_lock_file_becomes_components_and_what_needs_them() -> None:
    """A package that only some systems install says which."""
    made = bill_of_materials(_OWN, _LOCKED, [])
    alpha, beta = made["components"]
    assert (alpha["purl"], "properties" in alpha) == ("pkg:pypi/alpha@1.2", False)
    assert beta["properties"] == [{"name": "marker", "value": "sys_platform == 'win32'"}]
    assert made["dependencies"] == [
        {"ref": "pkg:pypi/alpha@1.2", "dependsOn": ["pkg:pypi/beta@3.0"]},
        {"ref": "pkg:pypi/beta@3.0", "dependsOn": []},
        {
            "ref": "pkg:pypi/own@0.1",
            "dependsOn": ["pkg:pypi/alpha@1.2", "pkg:pypi/beta@3.0"],
        },
    ]


def test_it_is_about_this_version(bill: dict[str, Any]) -> None:
    """And says nothing that would differ from build to build."""
    about = bill["metadata"]["component"]
    assert (about["name"], about["purl"]) == ("pipimem", f"pkg:pypi/pipimem@{about['version']}")
    assert about["licenses"] == [{"expression": "Apache-2.0"}]
    assert "serialNumber" not in bill
    assert "timestamp" not in bill["metadata"]


def test_it_has_each_dependency_of_the_project(bill: dict[str, Any]) -> None:
    """A new dependency without `requirements/lock.sh` is noticed here."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    wanted = {Requirement(line).name.lower() for line in project["dependencies"]}
    versions = {part["name"]: part["version"] for part in bill["components"] if "version" in part}
    (own,) = [each for each in bill["dependencies"] if each["ref"].startswith("pkg:pypi/pipimem@")]
    assert {re.split("[/@]", purl)[1] for purl in own["dependsOn"]} == wanted
    for line in project["dependencies"]:
        requirement = Requirement(line)
        assert versions[requirement.name.lower()] in requirement.specifier


def test_its_versions_are_those_that_the_tests_ran_with(bill: dict[str, Any]) -> None:
    """`requirements/run.txt`, which has besides what builds the wheel."""
    locked = (ROOT / "requirements" / "run.txt").read_text("utf-8")
    tested = set(re.findall(r"^([\w.-]+==[^\s;]+)", locked, re.MULTILINE))
    told = {
        f"{part['name']}=={part['version']}" for part in bill["components"] if "version" in part
    }
    assert told - tested == set()
    builders = {"editables", "hatchling", "pathspec", "pluggy", "tomlkit", "trove-classifiers"}
    assert {pin.split("==")[0] for pin in tested - told} == builders


def test_whatever_is_bundled_is_there_and_named_with_its_licence(
    here: Built, bill: dict[str, Any]
) -> None:
    """The table of characters is OpenCC's."""
    bundled = [part for part in bill["components"] if part["type"] == "data"]
    assert [(part["name"], part["licenses"]) for part in bundled] == [
        ("OpenCC: table of characters", [{"expression": "Apache-2.0"}])
    ]
    with zipfile.ZipFile(here.wheel) as archive:
        assert {part["bom-ref"] for part in bundled} <= set(archive.namelist())


def test_every_reference_leads_to_a_component(bill: dict[str, Any]) -> None:
    """And all but the project itself is needed by something."""
    parts = {part["bom-ref"] for part in bill["components"] if part["type"] == "library"}
    own = bill["metadata"]["component"]["bom-ref"]
    needed = {purl for each in bill["dependencies"] for purl in each["dependsOn"]}
    assert {each["ref"] for each in bill["dependencies"]} == parts | {own}
    assert needed == parts
