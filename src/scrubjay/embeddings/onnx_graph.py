"""ONNX graph writer: nodes and constants -> the bytes that onnxruntime loads.

Only what a BERT needs of https://github.com/onnx/onnx/blob/main/onnx/onnx.proto, so that no package for writing ONNX
has to be installed beside the runtime.
"""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from numpy.typing import NDArray

IR_VERSION: Final = 9
OPERATORS: Final = {"": 17, "com.microsoft": 1}
"""Version of each operator set; the second is onnxruntime's own."""
ELEMENT_TYPES: Final = {"float32": 1, "int8": 3, "int32": 6}
_FLOAT, _INT = 1, 2


class OnnxGraph:
    """A graph under construction; names are those of values, and each value has one."""

    def __init__(self) -> None:
        self._nodes: list[bytes] = []
        self._constants: list[bytes] = []

    def constant(self, name: str, values: NDArray[Any]) -> str:
        """Add a constant and return its name."""
        sizes = [_field(1, size) for size in values.shape]
        kind = _field(2, ELEMENT_TYPES[values.dtype.name])
        self._constants.append(b"".join([*sizes, kind, _field(8, name), _field(9, values.tobytes())]))
        return name

    def node(self, operator: str, inputs: Iterable[str], output: str, **attributes: float) -> str:
        """Add an operator of ``com.microsoft`` and return its output's name; an empty input is left out."""
        parts = [_field(1, name) for name in inputs]
        parts += [_field(2, output), _field(4, operator), _field(7, "com.microsoft")]
        for name, value in attributes.items():
            number, kind = (3, _INT) if isinstance(value, int) else (2, _FLOAT)
            parts.append(_field(5, _field(1, name) + _field(number, value) + _field(20, kind)))
        self._nodes.append(b"".join(parts))
        return output

    def serialize(self, inputs: Iterable[bytes], outputs: Iterable[bytes]) -> bytes:
        """Return the model as bytes; ``inputs`` and ``outputs`` are made by `tensor_type`."""
        graph = [_field(1, node) for node in self._nodes]
        graph += [_field(2, "graph"), *(_field(5, constant) for constant in self._constants)]
        graph += [_field(11, one) for one in inputs] + [_field(12, one) for one in outputs]
        sets = [_field(8, _field(1, name) + _field(2, version)) for name, version in OPERATORS.items()]
        return b"".join([_field(1, IR_VERSION), _field(7, b"".join(graph)), *sets])


def tensor_type(name: str, element: str, sizes: Iterable[int | str]) -> bytes:
    """Describe an input or output; a size that is a name may differ from call to call."""
    shape = b"".join(_field(1, _field(2 if isinstance(size, str) else 1, size)) for size in sizes)
    return _field(1, name) + _field(2, _field(1, _field(1, ELEMENT_TYPES[element]) + _field(2, shape)))


def _field(number: int, value: float | str | bytes) -> bytes:
    """Encode one field of a protocol buffer: a number, or bytes with their length before them.

    >>> _field(1, 300).hex(), _field(2, "ab").hex(), _field(2, 1.0).hex()
    ('08ac02', '12026162', '150000803f')
    """
    if isinstance(value, int):
        return _varint(number << 3) + _varint(value)
    if isinstance(value, float):
        return _varint(number << 3 | 5) + struct.pack("<f", value)
    data = value.encode() if isinstance(value, str) else value
    return _varint(number << 3 | 2) + _varint(len(data)) + data


def _varint(value: int) -> bytes:
    parts = bytearray()
    while value > 127:
        parts.append(value & 127 | 128)
        value >>= 7
    parts.append(value)
    return bytes(parts)
