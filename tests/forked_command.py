"""Stands for `python -m scrubjay` in a test: has a fork of `fork_server` run the command, and ends as the fork does.

Signals that end a process are handed on; if this process is killed, the fork is. It imports next to nothing.
"""

import json
import os
import signal
import socket
import sys

HANDED_ON = (signal.SIGINT, signal.SIGTERM)


def relay(address: str, args: list[str]) -> int:
    signal.pthread_sigmask(signal.SIG_BLOCK, HANDED_ON)
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        socket.send_fds(line, [b"-"], [0, 1, 2])
        line.sendall(json.dumps([args, dict(os.environ), os.getcwd()]).encode() + b"\n")
        answer = line.makefile()
        nothing = os.open(os.devnull, os.O_RDWR)
        for stream in range(3):  # the fork alone holds them, so that its ends of pipes close with it
            os.dup2(nothing, stream)
        pid = int(answer.readline())
        for number in HANDED_ON:
            signal.signal(number, lambda got, _: os.kill(pid, got))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, HANDED_ON)
        code = os.waitstatus_to_exitcode(int(answer.readline()))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    return code


if __name__ == "__main__":
    sys.exit(relay(sys.argv[1], sys.argv[2:]))
