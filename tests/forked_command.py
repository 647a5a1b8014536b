"""Stands for `python -m scrubjay` in a test: has a fork of `fork_server` run the command, and ends as the fork does.

Signals that end a process are handed on; if this process is killed, the fork is. It imports next to nothing:
`json`, `signal` and `socket` would take longer than all the rest.
"""

import _signal
import _socket
import marshal
import os
import sys

HANDED_ON = (_signal.SIGINT, _signal.SIGTERM)


def relay(address: str, args: list[str]) -> int:
    _signal.pthread_sigmask(_signal.SIG_BLOCK, HANDED_ON)
    line = _socket.socket(_socket.AF_UNIX)
    line.connect(address)
    streams = b"".join(stream.to_bytes(4, sys.byteorder) for stream in range(3))
    line.sendmsg([b"-"], [(_socket.SOL_SOCKET, _socket.SCM_RIGHTS, streams)])
    line.sendall(marshal.dumps([args, dict(os.environ), os.getcwd()]))
    with open(line.detach()) as answer:
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # the fork alone holds them, so that its ends of pipes close with it
            os.dup2(nothing, stream)
        pid = int(answer.readline())
        for number in HANDED_ON:
            _signal.signal(number, lambda got, _: os.kill(pid, got))
        _signal.pthread_sigmask(_signal.SIG_UNBLOCK, HANDED_ON)
        code = os.waitstatus_to_exitcode(int(answer.readline()))
    if code < 0:
        _signal.signal(-code, _signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(relay(sys.argv[1], sys.argv[2:]))
