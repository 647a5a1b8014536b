"""HTTP API: embed texts with the bundled models, in the format of OpenAI's embeddings endpoint.

https://platform.openai.com/docs/api-reference/embeddings/create
"""

from __future__ import annotations

import base64
import struct
from functools import partial
from typing import TYPE_CHECKING, Annotated, Any, Final, Literal

from pydantic import Field
from starlette.responses import Response

from scrubjay.api.tools import MAX_INTEGER
from scrubjay.errors import InputError
from scrubjay.server.http.schemas import (
    CompactJSONResponse,
    RequestModel,
    describe_responses,
    list_of,
    object_model,
)
from scrubjay.server.requests import ApiRouter, ReadAccess

if TYPE_CHECKING:
    from scrubjay.memory import Memory


router = ApiRouter(prefix="/v1", tags=["embeddings"])

EMBEDDINGS_PATH: Final = "/v1/embeddings"
"""OpenAI's clients always send a key; one that is not our token is ignored."""
MAX_TEXTS: Final = 2_048
"""OpenAI's limit."""
BATCH: Final = 16
"""Texts embedded before other requests get their turn and a disconnected client is noticed."""
CLIENT_CLOSED: Final = 499
"""The usual status for a client that disconnected."""
TokenId = Annotated[int, Field(ge=-MAX_INTEGER, le=MAX_INTEGER)]


class Texts(
    RequestModel,
    json_schema_extra={"examples": [{"model": "bge", "input": ["The engine is a Volvo D1-30."]}]},
):
    """Texts to embed."""

    input: Annotated[
        str | list[str] | list[TokenId] | list[list[TokenId]],
        Field(
            description="A text or a list of up to 2,048 texts; token ids are rejected because each model has its own."
        ),
    ]
    model: Annotated[
        str, Field(description="`wordllama-l2-supercat`, or `bge` (`bge-small-en-v1.5`).", examples=["bge"])
    ]
    encoding_format: Annotated[
        Literal["float", "base64"], Field(description="Numbers, or little-endian float32 as base64.")
    ] = "float"
    dimensions: Annotated[int | None, Field(description="Must equal the model's own.")] = None
    user: Annotated[str | None, Field(description="Accepted and ignored.")] = None


_ROW: Final = object_model(
    "Embedding", "The vector of one text.", object=str, index=int, embedding=list[float] | str
)
_USAGE: Final = object_model("Usage", "Token counts.", prompt_tokens=int, total_tokens=int)
_ROWS: Final = object_model(
    "Embeddings", "Unit vectors, in the order of the texts.", object=str, data=list_of(_ROW), model=str, usage=_USAGE
)  # fmt: skip


@router.post("/embeddings", responses=describe_responses(_ROWS, "The vectors.", 404))
async def embeddings(texts: Texts, access: ReadAccess) -> Response:
    """Embed texts with a bundled model; compatible with OpenAI's clients."""
    inputs = _input_texts(texts.input)
    packed: list[bytes] = []
    tokens, model = 0, ""
    for start in range(0, len(inputs), BATCH):
        if await access.request.is_disconnected():
            return Response(status_code=CLIENT_CLOSED)
        batch = partial(_embed_packed, texts=inputs[start : start + BATCH], request=texts)
        rows, count, model = await access.session.embed(access.who, batch)
        packed += rows
        tokens += count
    data = [
        {"object": "embedding", "index": index, "embedding": _encode_vector(row, texts.encoding_format)}
        for index, row in enumerate(packed)
    ]
    usage = {"prompt_tokens": tokens, "total_tokens": tokens}
    return CompactJSONResponse({"object": "list", "data": data, "model": model, "usage": usage})


def _embed_packed(memory: Memory, texts: list[str], request: Texts) -> tuple[list[bytes], int, str]:
    """Return the vectors as little-endian float32, the token count and the model's name."""
    vectors = memory.vectors(texts, model=request.model)
    length = len(vectors.rows[0])
    if request.dimensions not in (None, length):
        raise InputError(
            f"dimensions is {request.dimensions}, but {vectors.model} has {length}; vectors "
            "cannot be truncated.",
            hint="omit dimensions",
        )
    return [struct.pack(f"<{length}f", *row) for row in vectors.rows], vectors.tokens, vectors.model


def _input_texts(value: Any) -> list[str]:
    texts = [value] if isinstance(value, str) else value
    if not texts or len(texts) > MAX_TEXTS:
        raise InputError(f"input has {len(texts):,} texts; it must have 1 to {MAX_TEXTS:,}.")
    if not isinstance(texts[0], str):
        raise InputError(
            "input contains token ids, which depend on the tokenizer.", hint="send the text itself"
        )
    if "" in texts:
        raise InputError("input contains an empty text.", hint="omit it")
    return list(texts)


def _encode_vector(row: bytes, form: str) -> Any:
    """Encode a packed vector as floats or base64.

    >>> _encode_vector(struct.pack("<2f", 1.0, 0.5), "base64")
    'AACAPwAAAD8='
    """
    if form == "base64":
        return base64.b64encode(row).decode("ascii")
    return list(struct.unpack(f"<{len(row) // 4}f", row))
