"""Words for dtypes and structures in documentation, each with its canonical name."""

from __future__ import annotations

import re

_DTYPES = {
    "bool": "bool boolean bools booleans",
    "int": "int integer integers ints python:int python:ints python:integer python:integers",
    "uint": "uint",
    "float": "float floats floating python:float python:floats",
    "string": "string strings str strs",
    "numeric": "numeric",
    "complex": "complex",
    "float64": "double doubletensor",
    "float16": "half halftensor",
    "int64": "longtensor",
    "int32": "inttensor",
    "int16": "shorttensor",
    "uint8": "bytetensor",
    "int8": "chartensor",
    "booltensor": "booltensor",
    "float32": "fp32 floattensor",
}
_EXACT = (
    "bfloat16", "float16", "float32", "float64", "complex64", "complex128", "int8", "int16",
    "int32", "int64", "uint8", "uint16", "uint32", "uint64", "qint8", "qint16", "qint32",
    "quint8", "quint16", "quint32",
)  # fmt: skip
DTYPES = {word: name for name, words in _DTYPES.items() for word in words.split()} | {
    name: name for name in _EXACT
}
"""Names of dtypes by words in lower case."""

QUALIFIED_ONLY = {"long": "int64", "short": "int16", "byte": "uint8", "char": "int8"}
"""Dtypes by words that are dtypes only after a library's name, as in `torch.long`."""

_STRUCTURES = {
    "tensor": "tensor tensors ndarray ndarrays array arrays array_like array-like",
    "list": "list lists iterable iterables sequence sequences vector vectors",
    "tuple": "tuple tuples",
    "dict": "dict dictionary dictionaries dicts",
    "sparsetensor": "sparsetensor sparsetensors",
}
STRUCTURES = {word: name for name, words in _STRUCTURES.items() for word in words.split()}
"""Names of structures by words in lower case."""

DTYPE_OBJECTS = frozenset(
    ("tf.dtype", "tf.dtypes", "torch.dtype", "np.dtype", "numpy.dtype", "tf.dtypes.dtype")
)
"""Names of the classes of dtypes. They document that the argument itself is a dtype."""

_LIBRARY_PREFIX = re.compile(r"^(?:~?tf|torch|np|numpy|mx|mxnet)\.(?:dtypes\.|n(?:d|darray)\.)?")


def dtype_name(word: str) -> str:
    """Return the dtype that a word names: `dtype` for a class of dtypes, empty for other words."""
    word = word.lower()
    if word in DTYPE_OBJECTS:
        return "dtype"
    bare_word = _LIBRARY_PREFIX.sub("", word)
    if bare_word != word and bare_word in QUALIFIED_ONLY:
        return QUALIFIED_ONLY[bare_word]
    return DTYPES.get(bare_word, "")


def structure_name(word: str) -> str:
    """Return the structure that a word names; empty for other words."""
    word = word.lower()
    return STRUCTURES.get(word) or STRUCTURES.get(word.rpartition(".")[2], "")
