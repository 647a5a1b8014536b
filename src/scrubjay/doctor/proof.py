"""Proof: an agent's commands -> a marker taken in by them, recalled, forgotten, and gone, step by step.

It goes into the person's own store, since what holds for another one proves nothing, in a session and project that
nothing else is in. Whatever fails, the marker is taken away.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any, Final

from scrubjay.agents.agent import Agent
from scrubjay.doctor import logged, marks, speak
from scrubjay.doctor.case import Case
from scrubjay.doctor.samples import SAMPLES, Marker, Sample, generic
from scrubjay.doctor.wires import Wires
from scrubjay.errors import ScrubjayError
from scrubjay.memory.checks import PROBLEM, Check, ok, problem, warning

if TYPE_CHECKING:
    from pathlib import Path

    from scrubjay.engine import Memory

CAPTURING: Final = ("stop", "session-end", "pre-compact")
"""Events at which a conversation is taken in, the one that comes most often first."""
WAIT: Final = 30.0
"""Seconds for a process that is started behind the agent's back: it loads a model, and others may be writing."""
LOOK: Final = 0.25
TRIES: Final = 3
PATIENT: Final = {"SCRUBJAY_HOOKS_BUDGET_MS": "8000"}
"""For a last try, that tells a hook that is late from one that finds nothing."""


def prove(agent: Agent, wires: Wires, case: Case) -> list[Check]:
    """Return what became of a marker, step by step; steps after one that failed are left out."""
    try:
        with marks.alone(case) as mine:
            if not mine:
                return [
                    warning(
                        f"{agent.name} proof", "another doctor is at it now", f"scrubjay doctor {agent.name}"
                    )
                ]
            with case.memory() as memory:
                marker = marks.new(case)
                try:
                    return list(_Proof(agent, wires, case, memory, marker).steps())
                finally:
                    marks.take_away(memory, marker)
    except ScrubjayError as error:
        return [problem(f"{agent.name} proof", str(error), error.hint)]
    except OSError as error:
        return [problem(f"{agent.name} proof", f"{marks.place(case)} cannot be used ({error.strerror})")]


class _Proof:
    """One agent's proof, as far as it has come."""

    def __init__(self, agent: Agent, wires: Wires, case: Case, memory: Memory, marker: Marker) -> None:
        self._agent = agent
        self._wires = wires
        self._case = case
        self._memory = memory
        self._marker = marker
        self._sample: Sample | None = SAMPLES.get(agent.name)
        self._wanted = case.settings.hooks.events
        self._event = next((name for name in CAPTURING if name in wires.hooks and name in self._wanted), "")
        self._began = marker.at
        self._env = dict(case.home.env)

    def steps(self) -> Iterator[Check]:
        for step in (self._capture, self._recall, self._search, self._forget):
            check = step()
            if check is not None:
                yield check
                if check.state == PROBLEM:
                    return

    def _about(self, step: str) -> str:
        return f"{self._agent.name} {step}"

    def _capture(self) -> Check:
        sample, marker = self._sample, self._marker
        if sample is None or not self._event:
            return self._put()
        file = sample.write(marker)
        env = {**self._env, **sample.variables(marker.folder)}
        if env.get("XDG_DATA_HOME") != self._env.get(
            "XDG_DATA_HOME"
        ):  # scrubjay's own folder is below it too
            env["SCRUBJAY_STORE"] = self._case.settings.store
        started = time.monotonic()
        try:
            command = self._wires.hooks[self._event]
            speak.hook(
                command,
                sample.said(self._event, marker, file),
                env,
                self._case.seconds,
                str(marker.project),
            )
        except speak.Unheard as error:
            return self._failed("capture", f"its {self._event} hook: {error}")
        while not (found := self._taken(file)) and time.monotonic() - started < WAIT:
            time.sleep(LOOK)
        took = time.monotonic() - started
        if not found:
            return self._failed(
                "capture", f"nothing was taken in within {WAIT:.0f} seconds of its {self._event} hook"
            )
        return ok(self._about("capture"), f"its {self._event} hook took a marker in, within {took:.1f} s")

    def _taken(self, file: Path) -> bool:
        """Whether the marker is stored. Files are not looked at: that would take it in without the agent."""
        fetched = self._memory.get(path=file, limit=2_000)
        return any(self._marker.word in record.content for record in fetched.records)

    def _put(self) -> Check:
        """Take the marker in without the agent, so that what its tools find can be proven all the same."""
        file = self._marker.folder / "talk.jsonl"
        file.write_text("".join(f"{json.dumps(line)}\n" for line in generic(self._marker)), encoding="utf-8")
        self._memory.sync(self._marker.folder)
        if not self._taken(file):
            return self._failed("capture", "a conversation put there by hand was not taken in")
        why = "its hooks cannot be shown a conversation from outside"
        if not self._event:
            there = any(name in self._wires.hooks for name in CAPTURING)
            why = "[hooks] events leaves it out" if there else "it has no hook that takes anything in"
        return ok(self._about("capture"), f"not proven: {why}; the marker was put there by hand")

    def _recall(self) -> Check | None:
        command = self._wires.hooks.get("prompt")
        if command is None or self._sample is None or "prompt" not in self._wanted:
            return None
        said = self._sample.said("prompt", self._marker, self._marker.folder)
        for env in (*[self._env] * TRIES, self._env | PATIENT):
            try:
                heard = speak.hook(command, said, env, self._case.seconds, str(self._marker.project))
            except speak.Unheard as error:
                return self._failed("recall", f"its prompt hook: {error}")
            if self._marker.word in heard.text:
                return self._recalled(heard, late=env is not self._env)
        return self._failed("recall", "its prompt hook said nothing of the marker")

    def _recalled(self, heard: speak.Heard, *, late: bool) -> Check:
        if not any(
            memory in heard.text for memory in [*marks.ids(self._memory, self._marker), self._marker.session]
        ):
            return self._failed("recall", "its prompt hook gave the marker without where it is from")
        if late:
            told = f"its prompt hook gave it back, but too late for an agent: given time it took {heard.ms:.0f} ms"
            return warning(
                self._about("recall"), told, "scrubjay resident start, or a larger [hooks] budget_ms"
            )
        return ok(
            self._about("recall"), f"its prompt hook gave it back with where it is from, in {heard.ms:.0f} ms"
        )

    def _search(self) -> Check | None:
        if not self._wires.server:
            return None
        started = time.monotonic()
        env = {**self._case.home.env, **self._wires.env}
        try:
            found = speak.tool(
                self._wires.server, "memory_search", {"query": self._marker.question}, env, WAIT
            )
        except speak.Unheard as error:
            return self._failed("search", f"its MCP server: {error}")
        cited = [hit for hit in _hits(found) if self._marker.word in json.dumps(hit) and hit.get("citation")]
        if not cited:
            return self._failed("search", "memory_search did not find the marker")
        took = time.monotonic() - started
        return ok(self._about("search"), f"memory_search found it with where it is from, in {took:.1f} s")

    def _forget(self) -> Check:
        memory, marker = self._memory, self._marker
        found = marks.ids(memory, marker)
        if not found:
            return self._failed("forget", "the marker cannot be found to be forgotten")
        memory.forget(found)
        if marks.ids(memory, marker):
            return self._failed("forget", "the marker is still found")
        for path in sorted(marker.folder.rglob("*.json*")):
            path.with_name(f"again-{path.name}").write_bytes(path.read_bytes())
        again = [memory.sync(source.root).forgotten for source in marks.sources(memory, marker)]
        if not any(again) or marks.ids(memory, marker):
            return self._failed("forget", "the marker came back when its conversation was read again")
        if self._lies_in_store():
            return warning(
                self._about("forget"),
                "it is not found and does not come back; its bytes go with the next write, since somebody reads now",
            )
        bytes_too = ", and no byte of it is in the store's file" if self._case.file is not None else ""
        return ok(self._about("forget"), f"it is not found and does not come back{bytes_too}")

    def _lies_in_store(self) -> bool:
        import mmap

        file = self._case.file
        for path in (file, file.with_name(f"{file.name}-wal")) if file is not None else ():
            if path.exists() and path.stat().st_size:
                with (
                    path.open("rb") as opened,
                    mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ) as view,
                ):
                    if view.find(self._marker.word.encode()) >= 0:
                        return True
        return False

    def _failed(self, step: str, why: str, fix: str = "") -> Check:
        told = logged.last(self._case.home.data, "warning", 1, self._began)
        if told:
            why += f"; the log says: {told[0].get('event')} {told[0].get('error', '')}".rstrip()
        return problem(
            self._about(step), why, fix or f"scrubjay install {self._agent.name}, then look into the log"
        )


def _hits(answer: dict[str, Any]) -> list[dict[str, Any]]:
    found = answer.get("results")
    return [hit for hit in found if isinstance(hit, dict)] if isinstance(found, list) else []
