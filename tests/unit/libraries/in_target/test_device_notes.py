"""What docstrings state about results on devices, in the words of the libraries."""

from __future__ import annotations

import pytest

from ciguard.libraries.in_target.device_notes import (
    NONDETERMINISTIC,
    OPEN_INDICES,
    OPEN_VALUES,
    notes_in,
)
from ciguard.libraries.torch.in_target.device_notes import nondeterministic_calls


@pytest.mark.parametrize(
    ("doc", "notes"),
    [
        ("The result is nondeterministic since it depends on which copy occurs last.", "VN"),
        ("The behavior is undefined if indices contain duplicate elements.", "V"),
        (
            "If indices are not unique, it is non-deterministic\n(a value is picked arbitrarily).",
            "VN",
        ),
        ("It may behave nondeterministically when the input indices has repeat values.", "VN"),
        ("The relative order of values which compare equal is not guaranteed.", "V"),
        ("In case of ties the identity of the return value is not guaranteed.", "V"),
        ("Multiple updates to the same index may be applied in any order.", "V"),
        ("the indices of tied elements are not guaranteed to be stable and may vary.", "I"),
        ("``indices`` does not necessarily contain the first occurrence of each value.", "I"),
        (
            "If multiple valid exist, it may nondeterministically return\n:attr:`indices` for any.",
            "I",
        ),
        ("the sorting becomes stable, preserving the order of equivalent elements.", "I"),
        ("Add two tensors. Duplicate entries are summed.", ""),
        ("It may behave nondeterministically when given tensors on a CUDA device.", ""),
        ("If set to True and indices are not unique, the result is non-deterministic.", ""),
        ("Repeated indices are summed if the output indices are not specified.", ""),
        ("Divides by arbitrary values.\n\nDuplicates are kept.", ""),
    ],
)
def test_notes_follow_from_single_sentences(doc: str, notes: str) -> None:
    letters = {"V": OPEN_VALUES, "N": NONDETERMINISTIC, "I": OPEN_INDICES}

    assert notes_in(f"First.\n\n    {doc} Last.") == sorted(letters[letter] for letter in notes)


def test_lists_of_nondeterministic_functions_are_read_without_those_of_gradients() -> None:
    doc = """
        * :class:`torch.nn.Conv1d` when called on CUDA tensor
        * :func:`torch.gather` when called on a CUDA tensor that requires grad
        * :func:`torch.Tensor.__getitem__` when attempting to differentiate a CPU tensor
          and the index is a list of tensors
        * :func:`torch.Tensor.put_` with ``accumulate=True`` when called on a CPU
          tensor
        * :class:`torch.nn.MaxUnpool1d`
        * :func:`torch.bincount` when called on a CUDA tensor and ``weights``
          tensor is given

    In addition, :func:`torch.add` is deterministic.
    """

    assert list(nondeterministic_calls(doc)) == ["nn.Conv1d", "nn.MaxUnpool1d", "bincount"]
