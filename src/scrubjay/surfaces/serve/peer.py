"""Peer: a connection within this machine -> whether the account of this server made it.

Linux tells of every socket which account holds it. A reverse proxy under an account of its own (www-data, nginx,
haproxy) is told from the person by it, whatever it sends, and so is any other account of the machine. It is asked by
netlink (sock_diag(7)): .01 ms a question, where /proc/net/tcp takes 8 to 24 ms to read.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
from functools import cache
from typing import Final, NamedTuple

ROOT: Final = 0
"""May read the store anyway, and relays connections of this machine's person (WSL passes a browser of Windows on)."""

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST: Final = 1
_HEAD: Final = struct.Struct("=IHHII")
"""Length, type, flags, number, port of a message."""
_ASKED: Final = struct.Struct("=BBBxIHH16s16sIII")
"""Family, protocol, extensions, states; then a socket: ports, addresses, interface, cookie (all ones for any)."""
_TOLD: Final = struct.Struct("=BBxx48x12xII")
"""Family, state; then the account and the inode."""
_ESTABLISHED, _LISTEN = 1, 10
_ANY: Final = 0xFFFFFFFF

End = tuple[str, int]


class Row(NamedTuple):
    """What the system tells of a socket."""

    state: int
    account: int
    inode: int


def ours(near: End, far: End) -> bool:
    """Return whether this account, or root, holds the far end of a connection; True where the system does not say.

    Args:
        near: Address and port of the server's end.
        far: The same of the client's.
    """
    if not told():
        return True
    try:
        row = _socket(far, near)
        if row is None:
            # A client outside of this system (Windows under WSL) has no socket here, but our end is connected. Where it
            # is not, the client has gone, and nobody can tell any more whose it was.
            own = _socket(near, far)
            return own is not None and own.state == _ESTABLISHED
    except OSError:  # such as too many open files: a moment ago it could be asked
        return False
    # A socket that its program has closed is listed without an inode, as root's.
    return row.inode != 0 and row.account in (os.geteuid(), ROOT)


@cache
def told() -> bool:
    """Return whether this system tells whose a connection is; tried with one of our own."""
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.create_connection(server.getsockname()) as client,
        ):
            return _socket(client.getsockname(), client.getpeername()) is not None
    except (OSError, AttributeError):
        return False


def _socket(one: End, other: End) -> Row | None:
    """Return what is told of the connected socket with these ends, its own first; None where there is none.

    Raises:
        OSError: The system cannot be asked.
        AttributeError: It is not Linux.
    """
    own, theirs = ipaddress.ip_address(one[0]).packed, ipaddress.ip_address(other[0]).packed
    family = socket.AF_INET if len(own) == 4 else socket.AF_INET6
    ports = socket.htons(one[1]), socket.htons(other[1])
    body = _ASKED.pack(family, socket.IPPROTO_TCP, 0, _ANY, *ports, own, theirs, 0, _ANY, _ANY)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as wire:
        wire.send(_HEAD.pack(_HEAD.size + len(body), _BY_FAMILY, _REQUEST, 0, 0) + body)
        said = wire.recv(8_192)
    if _HEAD.unpack_from(said)[1] != _BY_FAMILY:
        return None
    _, state, account, inode = _TOLD.unpack_from(said, _HEAD.size)
    # Where no connection is found, whoever listens on that port is told of.
    return None if state == _LISTEN else Row(state, account, inode)
