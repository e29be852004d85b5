"""Conventions imply ranges by the names of parameter and API, unless the documentation differs."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.records import ApiRecord, ParameterRecord
from ciguard.domain.values import LiteralValue
from ciguard.oracles.specifications import (
    Specification,
    source_in_words,
    specifications_of,
    violated_specifications,
    with_conventions,
)


def specifications(api: str, parameter: ParameterRecord) -> tuple[Specification, ...]:
    record = ApiRecord(api=api, kind=CallKind.FUNCTION, parameters=(parameter,), source="signature")
    return with_conventions(record, specifications_of(record)).get(parameter.name, ())


def is_forbidden(api: str, name: str, number: float) -> bool:
    case = ApiCall(api=api, kind=CallKind.FUNCTION, arguments=(LiteralValue(number),))
    stated = specifications(api, ParameterRecord(name=name))
    return bool(violated_specifications(case, stated))


@pytest.mark.parametrize(
    ("api", "name", "legal", "forbidden"),
    [
        ("keras.layers.GaussianDropout", "rate", 0.5, 1.5),
        ("tensorflow.nn.atrous_conv2d", "rate", 2, 0),
        ("torch.nn.functional.feature_alpha_dropout", "p", 1.0, -0.1),
        ("torch.nn.LSTM", "dropout", 0.0, 2.0),
        ("torch.nn.BatchNorm2d", "momentum", 1.0, -1.0),
        ("torch.nn.functional.layer_norm", "eps", 0.0, -1.0),
        ("torch.nn.functional.triplet_margin_loss", "margin", 0.0, -1.0),
        ("keras.layers.GaussianNoise", "stddev", 0.0, -1.0),
        ("torch.nn.functional.max_pool2d", "kernel_size", 1, 0),
        ("torch.nn.functional.max_pool2d", "padding", 0, -1),
        ("torch.nn.MultiheadAttention", "num_heads", 1, 0),
        ("torch.nn.Linear", "in_features", 0, -1),
    ],
)
def test_a_name_implies_a_range(api: str, name: str, legal: float, forbidden: float) -> None:
    assert not is_forbidden(api, name, legal)
    assert is_forbidden(api, name, forbidden)


@pytest.mark.parametrize(
    ("doc", "other_doc"),
    [
        ("", "the scores"),  # as deprecated parameters
        ("Small value to avoid log(0) when :attr:`log_input = False`. Default: 1e-8", "a flag"),
        ("Small value, used if ``log_input`` == ``False``.", ""),
    ],
)
def test_a_parameter_that_may_be_ignored_has_no_conventions(doc: str, other_doc: str) -> None:
    parameters = (
        ParameterRecord(name="log_input", doc=other_doc),
        ParameterRecord(name="eps", doc=doc),
    )
    record = ApiRecord(
        api="torch.nn.loss", kind=CallKind.FUNCTION, parameters=parameters, source="signature"
    )

    assert "eps" not in with_conventions(record, specifications_of(record))
    used = replace(record, parameters=(parameters[0], replace(parameters[1], doc="Small value.")))
    assert "eps" in with_conventions(used, specifications_of(used))


@pytest.mark.parametrize(
    ("api", "name", "number"),
    [
        ("torch.optim.SGD", "momentum", 5.0),
        ("torch.distributions.Exponential", "rate", 5.0),
        ("torch.nn.functional.pad", "padding", -1),
        ("keras.utils.convert_format", "padding", -1),
        ("torch.lp_norm", "p", 3.0),
    ],
)
def test_a_name_implies_nothing_for_other_apis(api: str, name: str, number: float) -> None:
    assert not is_forbidden(api, name, number)


@pytest.mark.parametrize(
    "parameter",
    [
        ParameterRecord(name="margin", doc="A number from -1 to 1."),
        ParameterRecord(name="margin", default="-0.5", required=False),
    ],
    ids=["description", "default"],
)
def test_the_documentation_refutes_a_convention(parameter: ParameterRecord) -> None:
    assert not any(s.is_convention for s in specifications("torch.nn.F", parameter))


def test_what_the_documentation_states_takes_precedence() -> None:
    parameter = ParameterRecord(name="margin", doc="Must be at least 2.")

    (stated,) = specifications("torch.nn.F", parameter)

    assert (stated.is_convention, source_in_words(stated)) == (False, "the documentation")


def test_a_convention_is_named_as_the_source() -> None:
    (stated,) = specifications("torch.nn.F", ParameterRecord(name="margin"))

    assert stated.is_convention
    assert source_in_words(stated) == "convention"
    assert (stated.words, stated.sentence) == ("at least 0", "a margin is not negative")
