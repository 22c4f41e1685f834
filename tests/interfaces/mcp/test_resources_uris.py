"""A resource has one URI, whatever its channel's id holds."""

from __future__ import annotations

import pytest
from pipimem import File, NothingFound
from pipimem.mcp.resources import WORKSPACE_URI, ResourceUri, parsed, uris_of
from pydantic import AnyUrl

from tests.cases import each, table

IDS = (
    "release-room",
    "cid6KeBBLoveM/AZ==",
    "张三的群",
    "😀 party",
    "a%2Fb",
    "workspace",
    "dm:Tom?x=1#y",
    ".",
    "MiXed",
)


@each("channel", IDS)
def test_an_id_survives(channel: str) -> None:
    """What was written into a URI is read out of it again."""
    for uri in uris_of(channel):
        assert parsed(str(uri)) == uri


@each("section", ["Open loops", "未完成", "a/b", "100%", "C#?"])
def test_a_heading_survives(section: str) -> None:
    """Headings are people's own words."""
    uri = ResourceUri("a/b", File.MEMORY, section)
    assert parsed(str(uri)) == uri


@each("channel", IDS)
def test_the_url_type_of_older_clients_leaves_it_as_it_is(channel: str) -> None:
    """They match updates as exact strings."""
    for uri in uris_of(channel):
        assert str(AnyUrl(str(uri))) == str(uri)


def test_a_channel_called_workspace_is_not_the_workspace() -> None:
    """Both have a MEMORY.md."""
    assert str(WORKSPACE_URI) == "pipimem://workspace/memory"
    assert str(ResourceUri("workspace", File.MEMORY)) == "pipimem://%77orkspace/memory"
    assert parsed("pipimem://workspace/memory") == WORKSPACE_URI


def test_another_encoding_of_the_same_names_is_understood() -> None:
    """The canonical URI is told in the answer."""
    uri = parsed("pipimem://张三/memory/%e5%81%8f%e5%a5%bd")
    assert uri == ResourceUri("张三", File.MEMORY, "偏好")
    assert str(uri) == "pipimem://%E5%BC%A0%E4%B8%89/memory/%E5%81%8F%E5%A5%BD"


@each(
    "text",
    table(__file__, "a_foreign_uri_is_told_what_there_is"),
)
def test_a_foreign_uri_is_told_what_there_is(text: str) -> None:
    """The sentence names the forms and how a slash is written."""
    with pytest.raises(NothingFound, match=r"no resource of this server.*%2F"):
        parsed(text)
