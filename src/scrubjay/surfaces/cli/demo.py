"""demo: a bundled folder of notes -> a store, three questions, their answers."""

from __future__ import annotations

import sys
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any

from scrubjay.surfaces.cli.command import Call, command
from scrubjay.surfaces.cli.output import BOLD, colourful, counted, duration, paint, write, write_json
from scrubjay.surfaces.cli.search import block
from scrubjay.verbs import shape

if TYPE_CHECKING:
    from scrubjay.engine import Memory

NOTES = Path(__file__).parent / "demo_notes"
QUESTIONS = (
    "why did we leave MongoDB?",
    "who takes over when Mara is away?",
    "ERR_TIDE_409 after a retry",
)
"""A reason, a person with a date, an identifier. The last is explained."""


@command("demo")
def demo(call: Call) -> None:
    """Take a small folder of notes in and ask it three questions.

    Uses a store that is gone afterwards, unless --store names one.
    """
    with ExitStack() as stack:
        store = call.store or str(Path(stack.enter_context(tempfile.TemporaryDirectory())) / "demo.db")
        memory = stack.enter_context(Call(store, call.user).open(new=True))
        done = memory.sync(NOTES, description="scrubjay's demo notes", trust="trusted", embed_seconds=60)
        found = [_asked(memory, question) for question in QUESTIONS]
    if call.json:
        answers = [
            {"query": question, **shape.answer(answer, explain=last)} for question, answer, last in found
        ]
        write_json({"summary": shape.plain(done), "answers": answers})
        return
    on = colourful(sys.stdout)
    write(
        f"{counted(done.files, 'note')} of a small team: {counted(done.passages, 'passage')} "
        f"taken in and embedded in {duration(done.seconds)}."
    )
    for question, answer, explain in found:
        flag = " --explain" if explain else ""
        write(f"\n{paint(f'$ scrubjay search{flag} {question!r}', BOLD, on=on)}")
        for number, result in enumerate(answer.results, 1):
            write(block(number, result, question, on=on))
    write("\nNow your own:\n  scrubjay sync ~/notes\n  scrubjay search 'what did we decide about …'")
    if call.store:
        write(
            f"The demo's notes stay in {store}; scrubjay sources remove {NOTES} --store {store} removes them."
        )


def _asked(memory: Memory, question: str) -> tuple[str, Any, bool]:
    explain = question == QUESTIONS[-1]
    return question, memory.search(question, limit=1 if explain else 2, explain=explain), explain
