from __future__ import annotations

import contextlib
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.errors import CiguardError
from ciguard.knowledge.mining.parameter_texts import TextSource
from ciguard.knowledge.mining.shared_format import labelled_sentences, parameter_texts
from ciguard.knowledge.mining.training import training_samples

SENTENCE = {
    "library": "pytorch",
    "version": "1.5.0",
    "api": "torch.f",
    "parameter": "x",
    "source": "description",
    "sentence": "the input `Tensor",
    "normalised": "the input D_STRUCTURE",
    "abstract": {"structure": ["D_STRUCTURE"]},
    "concrete": {"structure": ["tensor"]},
}
INPUT = {
    "library": "pytorch",
    "api": "torch.f",
    "parameter": "x",
    "description": "Of 2 kinds. the input `Tensor`.",
    "doc_dtype": None,
    "default": None,
    "api_parameters": ["x", "y"],
}


def test_the_label_of_a_span_applies_to_the_whole_sentence() -> None:
    spans = labelled_sentences([json.dumps(SENTENCE)], name="s")
    texts = parameter_texts([json.dumps(INPUT)], name="d")

    samples = training_samples(spans, texts)

    (only,) = samples["pytorch", "torch.f", "x"]
    assert only.words == ("the", "input", "D_STRUCTURE")
    assert only.labels == {("structure", "D_STRUCTURE")}


def test_a_span_counts_as_a_sentence_without_the_documentation() -> None:
    default = {**SENTENCE, "source": "default", "sentence": "True", "abstract": {}, "concrete": {}}

    samples = training_samples(
        labelled_sentences([json.dumps(SENTENCE), "", json.dumps(default)], name="s")
    )

    words = [sentence.words for sentence in samples["pytorch", "torch.f", "x"]]
    assert words == [("the", "input", "D_STRUCTURE"), ("DEFAULT", "CONSTANT_BOOL")]


def test_a_span_missing_in_the_text_is_matched_by_its_words() -> None:
    without_text = {**SENTENCE, "sentence": None}

    samples = training_samples(
        labelled_sentences([json.dumps(without_text)], name="s"),
        parameter_texts([json.dumps(INPUT)], name="d"),
    )

    assert [sentence.words[-1] for sentence in samples["pytorch", "torch.f", "x"]] == [
        "D_STRUCTURE"
    ]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"library": None}, "f:1: 'library' is missing. Set 'library' to a string"),
        ({"api": 7}, "f:1: api = 7. Use a string or null"),
        ({"source": "body"}, "f:1: source = 'body'. Use one of description, doc_dtype, default"),
        ({"source": []}, "f:1: source = []. Use one of description"),
        ({"abstract": []}, None),
        ({"abstract": [1]}, "f:1: abstract = [1]. Use an object"),
        ({"abstract": {"colour": []}}, "f:1: abstract.colour = []. Use only the fields dtype"),
        ({"concrete": {"dtype": "int"}}, "f:1: concrete.dtype = 'int'. Use a list of strings"),
        ({"concrete": {"dtype": [1] * 99}}, "…. Use a list of strings"),
    ],
)
def test_a_malformed_sentence_names_file_line_key_value_and_remedy(
    changes: dict[str, object], message: str | None
) -> None:
    line = json.dumps({**SENTENCE, **changes})

    if message is None:
        assert list(labelled_sentences([line], name="f"))
        return
    with pytest.raises(CiguardError) as error:
        list(labelled_sentences([line], name="f"))
    assert message in str(error.value)


@pytest.mark.parametrize("line", ["{", "[]", "7", "[" * 100_000, '{"library": "x"}', "\x00"])
def test_a_line_that_is_not_an_object_is_rejected(line: str) -> None:
    with pytest.raises(CiguardError, match=r"^d:2: "):
        list(parameter_texts(["", line], name="d"))


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
)


@given(st.dictionaries(st.sampled_from([*SENTENCE, *INPUT]), JSON))
@pytest.mark.lengthy
def test_any_object_is_read_or_rejected(record: dict[str, object]) -> None:
    for read in (labelled_sentences, parameter_texts):
        with contextlib.suppress(CiguardError):
            assert list(read([json.dumps({**SENTENCE, **record})], name="f"))


def test_text_sources_have_the_names_of_the_file_format() -> None:
    assert [*TextSource] == ["description", "doc_dtype", "default"]
