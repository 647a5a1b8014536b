"""Cards: digits -> numbers of payment cards, in their printed groups or without."""

from collections.abc import Iterator

from scrubjay.ingest.scrub_values import Span, positions

_DIGIT_CLASS = bytes(
    ord("0") if 48 <= byte <= 57 else 32 if chr(byte) in " -" else ord(".") for byte in range(256)
)
# Every shop's tests pay with it.
_TEST_CARD = b"4242" * 4
_CARDS = (b"0000 0000 0000 0000", b"0000 000000 00000")


def cards(data: bytes) -> Iterator[Span]:
    """Payment cards in their printed groups; nine in ten other numbers fail the check digit."""
    classes = data.translate(_DIGIT_CLASS)
    for form in _CARDS:
        for at in positions(classes, form):
            end = at + len(form)
            apart = data[at - 1 : at].isdigit() or data[end : end + 1].isdigit()
            digits = data[at:end].replace(b" ", b"").replace(b"-", b"")
            if not apart and digits != _TEST_CARD and valid(digits):
                yield Span(at, end, "credit-card", True)


def valid(digits: bytes) -> bool:
    """Whether the number has an issuer's beginning and a right check digit (Luhn, ISO/IEC 7812-1)."""
    if not digits.startswith(
        (b"4", b"5", b"34", b"37", b"6011", b"65", b"22", b"23", b"24", b"25", b"26", b"27")
    ):
        return False
    values = [byte - 48 for byte in reversed(digits)]
    doubled = (sum(divmod(2 * value, 10)) for value in values[1::2])
    return (sum(values[::2]) + sum(doubled)) % 10 == 0
