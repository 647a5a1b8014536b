"""Embeddings: texts -> their vectors, in the form that OpenAI's clients know.

https://platform.openai.com/docs/api-reference/embeddings/create, with the bundled models alone: nothing is sent away.
"""

from __future__ import annotations

import base64
import struct
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from fastapi import APIRouter, Request
from pydantic import ConfigDict, Field
from starlette.responses import Response

from scrubjay.errors import InputError
from scrubjay.surfaces.http.answered import Told, answers
from scrubjay.surfaces.http.forms import LARGEST, Form
from scrubjay.surfaces.http.schemas import whole
from scrubjay.surfaces.serve.asked import Reader, Working

if TYPE_CHECKING:
    from scrubjay.engine import Memory

router = APIRouter(prefix="/v1", tags=["embeddings"])

PATH: Final = "/v1/embeddings"
"""OpenAI's clients always send a key. One that is no token of ours opens nothing here, and keeps nobody out either."""
MOST_TEXTS: Final = 2_048
"""Texts of one request, as OpenAI has it."""
BATCH: Final = 16
"""Texts that are embedded in one turn; after each the others have theirs, and one whose client has gone ends."""
GONE: Final = 499
"""The status that nobody reads, as others count a client that went away."""
Ahead = Annotated[int, Field(ge=-LARGEST, le=LARGEST)]


class Texts(Form):
    """Texts to embed."""

    model_config = ConfigDict(
        json_schema_extra={"examples": [{"model": "minilm", "input": ["The engine is a Volvo D1-30."]}]}
    )

    input: Annotated[
        str | list[str] | list[Ahead] | list[list[Ahead]],
        Field(
            description="A text, or a list of up to 2,048; tokens are refused, for each model has its own."
        ),
    ]
    model: Annotated[
        str,
        Field(description="`wordllama-l2-supercat`, or `minilm` (`all-MiniLM-L6-v2`).", examples=["minilm"]),
    ]
    encoding_format: Annotated[
        Literal["float", "base64"], Field(description="Numbers, or float32 little-endian as base64.")
    ] = "float"
    dimensions: Annotated[int | None, Field(description="Only the model's own.")] = None
    user: Annotated[str | None, Field(description="Taken and not used.")] = None


_ROW: Final = whole("Row", "One text's vector.", object=str, index=int, embedding=list[float] | str)
_USAGE: Final = whole("Usage", "What the texts take.", prompt_tokens=int, total_tokens=int)
_ROWS: Final = whole(
    "Rows", "Unit vectors, in the texts' order.", object=str, data=list[_ROW], model=str, usage=_USAGE  # type: ignore[valid-type]
)  # fmt: skip


@router.post("/embeddings", responses=answers(_ROWS, about="The vectors.", more=(404,)))
async def embeddings(request: Request, texts: Texts, who: Reader, session: Working) -> Response:
    """Return what a bundled model makes of texts; OpenAI's clients can be pointed here."""
    wanted = _texts(texts.input)
    packed: list[bytes] = []
    tokens, model = 0, ""
    for start in range(0, len(wanted), BATCH):
        if await request.is_disconnected():
            return Response(status_code=GONE)
        batch = partial(_packed, texts=wanted[start : start + BATCH], wanted=texts)
        rows, count, model = await session.do(who, batch, embeds=True)
        packed += rows
        tokens += count
    data = [
        {"object": "embedding", "index": index, "embedding": _encoded(row, texts.encoding_format)}
        for index, row in enumerate(packed)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return Told({"object": "list", "data": data, "model": model, "usage": usage})


def _packed(memory: Memory, texts: list[str], wanted: Texts) -> tuple[list[bytes], int, str]:
    """Return the vectors of some texts as float32, little-endian; their tokens; and the model's name.

    Raises:
        InputError: The vectors have another length than the one that is wanted.
    """
    found = memory.vectors(texts, model=wanted.model)
    length = len(found.rows[0])
    if wanted.dimensions not in (None, length):
        raise InputError(
            f"dimensions is {wanted.dimensions}, but {found.model} makes {length}, and a vector that was cut is "
            "another one.",
            hint="leave dimensions out",
        )
    return [struct.pack(f"<{length}f", *row) for row in found.rows], found.tokens, found.model


def _texts(given: Any) -> list[str]:
    """Return the texts of an input.

    Raises:
        InputError: It is empty, too many, or tokens.
    """
    texts = [given] if isinstance(given, str) else given
    if not texts or len(texts) > MOST_TEXTS:
        raise InputError(f"input has {len(texts):,} texts; it must have 1 to {MOST_TEXTS:,}.")
    if not isinstance(texts[0], str):
        raise InputError(
            "input holds tokens, which mean something to one model's tokenizer alone.",
            hint="send the text itself",
        )
    if "" in texts:
        raise InputError("input holds an empty text, which has no vector.", hint="leave it out")
    return list(texts)


def _encoded(row: bytes, form: str) -> Any:
    """Return a packed vector as it was asked for.

    >>> _encoded(struct.pack("<2f", 1.0, 0.5), "base64")
    'AACAPwAAAD8='
    """
    return (
        list(struct.unpack(f"<{len(row) // 4}f", row))
        if form == "float"
        else base64.b64encode(row).decode("ascii")
    )
