"""The SBOM of the wheel is a CycloneDX document, by the schema of CycloneDX's own library."""

from __future__ import annotations

import zipfile

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

from tests.release.conftest import Built


def test_it_keeps_to_the_schema(here: Built) -> None:
    """And one with a wrong field does not."""
    with zipfile.ZipFile(here.wheel) as archive:
        (name,) = [name for name in archive.namelist() if "/sboms/" in name]
        text = archive.read(name).decode()
    validator = JsonStrictValidator(SchemaVersion.V1_6)
    assert validator.validate_str(text) is None
    assert validator.validate_str(text.replace('"type": "data"', '"type": "words"')) is not None
