"""The version stands in four places, and says the same in each."""

from __future__ import annotations

import re
import subprocess
import tomllib
from pathlib import Path

import pipimem
import yaml
from packaging.specifiers import SpecifierSet

from tests.cases import each
from tests.release.conftest import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
_PREFIX = "Programming Language :: Python :: 3."
WORKFLOWS = sorted((ROOT / ".github" / "workflows").glob("*.yml"))


def test_the_version_is_the_same_everywhere() -> None:
    """The package, its metadata, how it is cited, and the newest section of the changes."""
    changes = (ROOT / "CHANGELOG.md").read_text("utf-8")
    (newest, *_older) = re.findall(r"^## (\S+) \(", changes, re.MULTILINE)
    cited = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    told = {pipimem.__version__, PROJECT["version"], newest, cited["version"]}
    assert told == {pipimem.__version__}
    assert (cited["title"], cited["license"]) == (PROJECT["name"], PROJECT["license"])


def test_every_python_that_is_named_is_tested() -> None:
    """In the workflow's matrix, with the next one; the oldest is the one that pip asks for."""
    named = [
        f"3.{line.removeprefix(_PREFIX)}"
        for line in PROJECT["classifiers"]
        if line.startswith(_PREFIX)
    ]
    jobs = yaml.safe_load((ROOT / ".github" / "workflows" / "test.yml").read_text("utf-8"))["jobs"]
    *tested, following = jobs["core"]["strategy"]["matrix"]["python"]
    assert tested == named
    assert following not in named
    accepted = SpecifierSet(PROJECT["requires-python"])
    assert named[0] in accepted
    assert "3.10" not in accepted


@each("workflow", WORKFLOWS)
def test_a_workflow_runs_scripts_that_there_are(workflow: Path) -> None:
    """And no job may do more than it says: all of them begin with no permission at all."""
    text = workflow.read_text("utf-8")
    known = yaml.safe_load(text)
    assert known["permissions"] == {}
    assert all("permissions" in job for job in known["jobs"].values())
    scripts = re.findall(r"(?:bash|python) ([\w./-]+\.(?:sh|py))", text)
    assert scripts
    assert [script for script in scripts if not (ROOT / script).is_file()] == []


def test_a_tag_of_another_version_is_not_built() -> None:
    """It is refused before anything is made."""
    done = subprocess.run(
        ["bash", ROOT / "requirements" / "package.sh", "dist", "v99.0.0"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
    )
    assert (done.returncode, done.stdout) == (1, "")
    assert done.stderr == f"the tag is v99.0.0, pyproject.toml has {PROJECT['version']}\n"
