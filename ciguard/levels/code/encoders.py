"""Encoders of texts as vectors, whose cosines measure the similarity of the texts.

To add an encoder, register a class with `encode` under the entry-point group `ciguard.encoders`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable
from typing import TYPE_CHECKING, Protocol, TypeAlias

import numpy as np

from ciguard.errors import EncoderError
from ciguard.registry import Registry

if TYPE_CHECKING:
    from collections.abc import Sequence

    from numpy.typing import NDArray

_WORD = re.compile(r"[a-z]+|\d+[a-z]?")
_EXTRA = "embeddings"
_MODEL = "all-MiniLM-L6-v2"


class Encoder(Protocol):
    """Encoder of texts as vectors."""

    @property
    def threshold(self) -> float:
        """Minimum similarity of two APIs for one to replace the other.

        Each encoder has its own threshold, since cosines of different encoders are not comparable.
        """

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return one vector per text, shape (n, d); d may depend on the texts.

        Vectors of one call are comparable with each other, but not with those of another call.
        """


EncoderFactory: TypeAlias = Callable[[], Encoder]
"""Function that creates an encoder."""

ENCODERS: Registry[EncoderFactory] = Registry("encoder", group="ciguard.encoders", accepts=callable)
"""Registry of encoders."""
DEFAULT_ENCODER = "tf-idf"
"""Name of the encoder that is used by default."""


class TfIdf:
    """Encoder of texts as bags of words, weighted by inverse document frequency."""

    threshold = -1.0
    """Threshold below every similarity, since equivalent texts may have no word in common."""

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return unit vectors, or the zero vector for a text without words; shape (n, words).

        The weight of a word in a text is `count * (ln((1 + n) / (1 + df)) + 1)`. Here n is the
        number of texts, and df is the number of texts that contain the word.

        Source: G. Salton, C. Buckley, Term-weighting approaches in automatic text retrieval, 1988,
        with smoothing by one further text that contains every word.
        """
        counts = [Counter(_WORD.findall(text.lower())) for text in texts]
        columns = {word: column for column, word in enumerate(sorted(set().union(*counts)))}
        vectors = np.zeros((len(texts), len(columns)))
        for row, words in enumerate(counts):
            for word, count in words.items():
                vectors[row, columns[word]] = count
        document_counts = np.count_nonzero(vectors, axis=0)
        return normalised(vectors * (np.log((1 + len(texts)) / (1 + document_counts)) + 1))


class SentenceEmbeddings:
    """Encoder by a transformer for sentences; needs the extra `ciguard[embeddings]`."""

    threshold = 0.5
    """Threshold in MoCo's published code, whose encoder is of this kind."""

    def __init__(self, model: str = _MODEL) -> None:
        """Load the model.

        Args:
            model: the name or folder of a model for the package `sentence-transformers`.

        Raises:
            EncoderError: if the package is not installed or the model cannot be loaded.
        """
        try:
            from sentence_transformers import SentenceTransformer  # noqa: PLC0415 - an optional package
        except ImportError as error:
            msg = (
                "encoder 'sentence-embeddings' needs the package sentence-transformers, which is "
                f"not installed. Install it with `pip install 'ciguard[{_EXTRA}]'`."
            )
            raise EncoderError(msg) from error
        try:
            self._model = SentenceTransformer(model)
        except OSError as error:
            msg = (
                f"encoder 'sentence-embeddings': cannot load the model {model!r}: {error}. "
                "The first use downloads the model, which needs network access."
            )
            raise EncoderError(msg) from error

    def encode(self, texts: Sequence[str]) -> NDArray[np.float64]:
        """Return unit vectors of shape (n, d), where d is the model's dimension."""
        return normalised(np.asarray(self._model.encode(list(texts)), dtype=np.float64))


def normalised(vectors: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return vectors, shape (n, d), scaled to norm 1; zero vectors are unchanged."""
    norms = np.linalg.norm(vectors, axis=1, keepdims=True)
    return vectors / np.where(norms == 0, 1.0, norms)


ENCODERS.register(DEFAULT_ENCODER, TfIdf)
ENCODERS.register("sentence-embeddings", SentenceEmbeddings)
