"""Counts of planted defects, and the interval of their share."""

from __future__ import annotations

import json
from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ciguard.domain.detection import (
    DefectKind,
    Detection,
    PlantedDefect,
    detection_from_json,
    detection_to_json,
    merged_detection,
    wilson_interval,
)
from ciguard.domain.untrusted import Untrusted

DETECTION = Detection(
    caught=(PlantedDefect(DefectKind.VALUE, "a"), PlantedDefect(DefectKind.CRASH, "b")),
    missed=(PlantedDefect(DefectKind.VALUE, "c"),),
    uncalled=(PlantedDefect(DefectKind.SHAPE, "d"),),
)


@given(st.integers(1, 10_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_the_interval_contains_the_share_and_narrows(counts: tuple[int, int]) -> None:
    successes, trials = counts

    low, high = wilson_interval(successes, trials)
    low_of_more, high_of_more = wilson_interval(100 * successes, 100 * trials)

    assert 0 <= low <= successes / trials + 1e-12
    assert successes / trials - 1e-12 <= high <= 1
    assert high_of_more - low_of_more < high - low


def test_the_interval_is_that_of_the_formula() -> None:
    assert wilson_interval(44, 50) == pytest.approx((0.762, 0.944), abs=0.001)
    assert wilson_interval(0, 0) == (0.0, 1.0)


def test_every_planted_defect_counts() -> None:
    assert DETECTION.planted == 4
    assert DETECTION.rate == 0.5
    assert DETECTION.by_kind() == {
        DefectKind.VALUE: (1, 2),
        DefectKind.SHAPE: (0, 1),
        DefectKind.CRASH: (1, 1),
    }


def test_the_json_form_has_the_counts_and_what_was_missed() -> None:
    encoded = detection_to_json(DETECTION)

    assert (encoded["planted"], encoded["caught"], encoded["rate"]) == (4, 2, 0.5)
    assert encoded["kinds"]["values"] == {"caught": 1, "planted": 2}
    assert encoded["missed"] == [["values", "c"]]
    assert encoded["uncalled"] == [["shapes", "d"]]


DEFECTS = st.lists(
    st.builds(PlantedDefect, st.sampled_from(DefectKind), st.sampled_from(["a.b", "a.c", "a.é"])),
    max_size=5,
).map(lambda defects: tuple(sorted(defects)))
DETECTIONS = st.builds(Detection, caught=DEFECTS, missed=DEFECTS, uncalled=DEFECTS)


@given(DETECTIONS)
def test_a_detection_round_trips_through_its_json_form(detection: Detection) -> None:
    encoded = json.loads(json.dumps(detection_to_json(detection)))

    assert detection_from_json(Untrusted(encoded, "the part")) == detection


@pytest.mark.parametrize(
    "noticed",
    [
        "values",
        [["values"]],
        [["values", "os.system('id')"]],
        [["values", "](javascript:alert(1))"]],
        [["no kind", "a.b"]],
        [["values", 3]],
        [None],
    ],
)
def test_a_malformed_detection_is_refused(noticed: object) -> None:
    encoded = {**detection_to_json(DETECTION), "noticed": noticed}

    with pytest.raises(ValueError, match=r"noticed|DefectKind"):
        detection_from_json(Untrusted(encoded, "the part"))


@given(st.lists(DETECTIONS, max_size=4))
def test_a_merged_detection_sums_the_kinds_of_its_parts(every: list[Detection]) -> None:
    merged = merged_detection(every)

    caught, planted = Counter[DefectKind](), Counter[DefectKind]()
    for one in every:
        for kind, (caught_of_one, planted_of_one) in one.by_kind().items():
            caught[kind] += caught_of_one
            planted[kind] += planted_of_one
    assert (merged is None) is (not every)
    if merged is not None:
        assert merged == merged_detection(reversed(every))
        assert dict(merged.by_kind()) == {kind: (caught[kind], planted[kind]) for kind in planted}
