"""Where servers listen: the names that reach them, and which addresses others reach."""

from __future__ import annotations

import socket

from pipimem.serving.access import bound, host_headers, is_loopback

from tests.cases import each, table


def test_a_name_without_a_port_is_one_on_port_80_alone() -> None:
    """Clients leave it out there."""
    assert host_headers(["memory.lan"], 8377) == ["memory.lan:8377"]
    assert host_headers(["memory.lan"], 80) == ["memory.lan:80", "memory.lan"]


@each(
    ("host", "is_own"),
    table(__file__, "which_addresses_only_this_machine_reaches"),
)
def test_which_addresses_only_this_machine_reaches(host: str, is_own: bool) -> None:
    """Others are warned of."""
    assert is_loopback(host) is is_own


def test_answers_do_not_wait_for_an_acknowledgement() -> None:
    """asyncio sets TCP_NODELAY for sockets of this protocol number alone."""
    with bound("127.0.0.1", 0) as listening:
        assert listening.proto == socket.IPPROTO_TCP
        with socket.create_connection(listening.getsockname()):
            accepted, _ = listening.accept()
            with accepted:
                assert accepted.proto == socket.IPPROTO_TCP
