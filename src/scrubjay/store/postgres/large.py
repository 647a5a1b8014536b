"""Large: from which size on a scope is searched by what was made for large tenants, and how many are nominated."""

from __future__ import annotations

from math import sqrt
from typing import Final, NamedTuple


class Large(NamedTuple):
    """Bounds, in memories.

    Attributes:
        rows: A scope that sees more is large. Of one of so many all postings take about 25 MB; reading all takes little
            longer than reading some, for which the server looks through every memory: among 22,000 a search took six
            times as long (bench/LOG.md).
        nominated: Of those that pass, how many an index names for a search: .983 of the nearest ten are among them, of
            400 .957 (bench/LOG.md).
        alike: The same for each of the texts of a write, of which the very nearest are wanted.
        gathered: A filter that passes fewer than the root of so many times all rows is not put to the index, which
            would have to go through as many more: 24,500 among 100,000. Reading a vector took 2 to 5 µs there, and
            going through one in the index 30.
    """

    rows: int = 50_000
    nominated: int = 1_000
    alike: int = 200
    gathered: int = 6_000

    def few(self, passing: int, rows: int, most: int) -> bool:
        """Return whether so few of some rows pass that all of them are scored, where ``most`` would be nominated."""
        return passing <= max(most, sqrt(self.gathered * rows))


USUAL: Final = Large()
