"""Which account of this machine made a connection: the server's own, or another.

Linux knows the account that owns each socket. It separates the person's programs from a reverse proxy under an account
of its own (www-data, nginx, haproxy), whatever the proxy sends, and from every other account of the machine. A lookup
by netlink (sock_diag(7)) takes .01 ms; reading /proc/net/tcp takes 8 to 24 ms.
"""

from __future__ import annotations

import ipaddress
import os
import socket
import struct
from functools import cache
from typing import Final, NamedTuple

ROOT: Final = 0
"""Can read the store anyway, and relays the person's own connections: WSL does so for a browser of Windows."""

_SOCK_DIAG: Final = 4
_BY_FAMILY: Final = 20
_REQUEST: Final = 1
_HEAD: Final = struct.Struct("=IHHII")
"""Length, type, flags, number, port of a message."""
_QUESTION: Final = struct.Struct("=BBBxIHH16s16sIII")
"""Family, protocol, extensions, states; then a socket: ports, addresses, interface, cookie (all ones for any)."""
_ANSWER: Final = struct.Struct("=BBxx48x12xII")
"""Family, state; then the account and the inode."""
_ESTABLISHED, _LISTEN = 1, 10
_ANY: Final = 0xFFFFFFFF

End = tuple[str, int]


class Row(NamedTuple):
    """What the system knows of a socket."""

    state: int
    account: int
    inode: int


def same_account(near: End, far: End) -> bool:
    """Return whether this account, or root, owns the far end of a connection; True where the system cannot say.

    Args:
        near: Address and port of the server's end.
        far: The same of the client's.
    """
    if not supported():
        return True
    try:
        row = _socket(far, near)
        if row is None:
            # A client outside of this system (Windows, with WSL's mirrored network) has no socket here, while our end
            # is connected. Where it is not, the client has closed, and the owner is no longer known.
            own = _socket(near, far)
            return own is not None and own.state == _ESTABLISHED
    except OSError:  # such as too many open files: the system could answer before
        return False
    # A socket that its program has closed has no inode; older kernels say that root owns it.
    return row.inode != 0 and row.account in (os.geteuid(), ROOT)


@cache
def supported() -> bool:
    """Return whether this system knows who owns a connection, tried with one of this process."""
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as server,
            socket.create_connection(server.getsockname()) as client,
        ):
            return _socket(client.getsockname(), client.getpeername()) is not None
    except (OSError, AttributeError):
        return False


def _socket(one: End, other: End) -> Row | None:
    """Return the connected socket with these ends, its own first; None where there is none.

    Raises:
        OSError: The lookup is not possible.
        AttributeError: The system is not Linux.
    """
    own, theirs = ipaddress.ip_address(one[0]).packed, ipaddress.ip_address(other[0]).packed
    family = socket.AF_INET if len(own) == 4 else socket.AF_INET6
    ports = socket.htons(one[1]), socket.htons(other[1])
    body = _QUESTION.pack(family, socket.IPPROTO_TCP, 0, _ANY, *ports, own, theirs, 0, _ANY, _ANY)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, _SOCK_DIAG) as wire:
        wire.send(_HEAD.pack(_HEAD.size + len(body), _BY_FAMILY, _REQUEST, 0, 0) + body)
        said = wire.recv(8_192)
    if _HEAD.unpack_from(said)[1] != _BY_FAMILY:
        return None
    _, state, account, inode = _ANSWER.unpack_from(said, _HEAD.size)
    # Where there is no such connection, the kernel returns the socket that listens on the port.
    return None if state == _LISTEN else Row(state, account, inode)
