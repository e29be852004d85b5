from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.execution import (
    Measurement,
    Quantity,
    decode_measured,
    decode_outputs,
    growth_request,
    peak_request,
    time_request,
)

measurements = st.builds(
    Measurement,
    quantity=st.sampled_from(Quantity),
    values=st.lists(st.floats(-1e12, 1e12), min_size=1).map(tuple),
    calls=st.integers(1, 1000),
    tests=st.integers(1, 10**6),
)


@given(measurements)
def test_a_measurement_round_trips_through_text(measured: Measurement) -> None:
    assert decode_measured(measured.encoded()) == measured


@given(measurements)
def test_a_measurement_does_not_decode_as_an_output(measured: Measurement) -> None:
    assert decode_outputs(measured.encoded()) is None


@pytest.mark.parametrize(
    "text",
    [
        b"",
        b"{",
        b"null",
        b'["f","1.0"]',
        b"{}",
        b'{"measured":"time","calls":1,"values":[]}',
        b'{"measured":"time","calls":0,"values":[1]}',
        b'{"measured":"time","calls":1,"values":[NaN]}',
        b'{"measured":"time","calls":1,"values":["x"]}',
        b'{"measured":"speed","calls":1,"values":[1]}',
        b'{"measured":"time","calls":1,"values":[1e999]}',
        b'{"measured":"time","calls":1,"values":7}',
        b"{\xff",
    ],
)
def test_malformed_text_is_not_a_measurement(text: bytes) -> None:
    assert decode_measured(text) is None


def test_a_request_contains_plan_and_case() -> None:
    case = b'["torch.add","function",[],[],[],0]'
    requests = (
        time_request(case, calls=5, repetitions=2),
        peak_request(case),
        growth_request(case, calls=7, checkpoints=9),
    )

    plans = [json.loads(request)[0] for request in requests]

    assert plans == [["time", 5, 2], ["peak"], ["growth", 7, 9]]
    assert all(json.loads(request)[1] == json.loads(case) for request in requests)
