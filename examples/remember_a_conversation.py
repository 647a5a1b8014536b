"""Keep the turns of a conversation, and find what was said, by whom and when.

python examples/remember_a_conversation.py
"""

import tempfile
from pathlib import Path

from scrubjay import Memory, NewMemory

TURNS = (
    ("user", "We moved the harbour office to Vela on Monday."),
    ("assistant", "Noted. Does the phone number stay?"),
    ("user", "Yes. Only the invoices go to the new address."),
)


def main() -> None:
    with tempfile.TemporaryDirectory() as place, Memory.open(Path(place) / "memory.db") as memory:
        memory.add_many(
            NewMemory(content=text, session="2026-03-02", turn=number, role=role, date="2026-03-02")
            for number, (role, text) in enumerate(TURNS)
        )
        best = memory.search("where do invoices go?", since="2026-03").results[0]
        print(f"{best.role}, {best.date}: {best.snippet}")
        again = memory.add(TURNS[0][1], session="2026-03-02", turn=0, role="user", date="2026-03-02")
        print("already known" if again.existed else "new")


if __name__ == "__main__":
    main()
