"""How findings are attributed to planted defects of programs, and what the tables hold."""

from __future__ import annotations

import json
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from code_defects import DEFECTS, GROUPS, Defect, Kind
from code_known import KNOWN, Known, flags_of, found_of
from code_planted import OTHERS, restriction
from code_recall import Recall, calls_at_line, recall_of
from program_examples import REPLACED, positive

from ciguard.domain.findings import Bucket, Confirmation, Finding, Severity
from ciguard.levels.code.seed_sources import shipped_programs

if TYPE_CHECKING:
    from pathlib import Path

    from ciguard.domain.programs import ProgramCase

PLANTED = "torch==2.13.0 + code_defects"
STRIDE = Defect("stride", Kind.LEGAL, "Conv2d", "…", "stride")
PADDING = Defect("padding", Kind.LEGAL, "Conv2d", "…", "padding")
LEAK = Defect("leak", Kind.LEAK, "Conv2d", "…")


def bucket(
    case: ProgramCase | None = None, *, oracle: str = "derivation", target: str = PLANTED
) -> Bucket:
    case = case or positive()
    finding = Finding(
        oracle=oracle,
        kind="positive-failed",
        severity=Severity.MEDIUM,
        library="torch",
        api=case.api,
        case=case,
        outcomes={},
        targets=(target,),
        message="torch.nn.Conv2d with stride=3 (was 1) runs alone but not in a program",
    )
    return Bucket(
        fingerprint="v1:1",
        grouping=(),
        finding=finding,
        confirmation=Confirmation.CONFIRMED,
    )


def lined(case: ProgramCase, line: int) -> ProgramCase:
    *before, step = case.ancestry.path
    path = (*before, replace(step, line=line))
    return replace(case, ancestry=replace(case.ancestry, path=path))


@pytest.fixture
def results(tmp_path: Path) -> Path:
    rows = [{"type": "progress", "streams": {"a": {"cases": 9}}, "counts": {"v1:1": 1}}]
    (tmp_path / "journal.jsonl").write_text("\n".join(map(json.dumps, rows)), "utf-8")
    return tmp_path


def recall(results: Path, *buckets: Bucket) -> Recall:
    return recall_of(buckets, (STRIDE, PADDING, LEAK), results, planted=PLANTED)


def test_a_bucket_finds_the_defect_of_the_layer_and_the_parameter_that_it_names(
    results: Path,
) -> None:
    stride, padding, leak = recall(results, bucket()).defects

    assert (stride.is_found, stride.programs) == (True, 9)
    assert not padding.is_found
    assert not leak.is_found


def test_a_leak_is_found_by_what_grows_and_by_nothing_else(results: Path) -> None:
    found = recall(results, bucket(oracle="growth"))

    assert [one.defect.name for one in found.defects if one.is_found] == ["leak"]


def test_a_layer_put_in_place_of_another_is_about_the_arguments_that_it_is_given(
    results: Path,
) -> None:
    step = replace(REPLACED, api="torch.nn.Conv2d", line=5)

    found = recall(results, bucket(positive(step)))

    assert [one.defect.name for one in found.defects if one.is_found] == ["stride"]


def test_a_defect_is_located_where_its_layer_is_called() -> None:
    assert calls_at_line(positive(), STRIDE)
    assert not calls_at_line(lined(positive(), 6), STRIDE)
    assert not calls_at_line(positive(), STRIDE._replace(layer="Conv1d"))


def test_what_names_no_defect_is_misplaced_and_other_targets_and_doubts_are_apart(
    results: Path,
) -> None:
    elsewhere = bucket(replace(positive(), api="torch.nn.Linear"))
    healthy = bucket(target="torch==2.13.0")
    unsure = replace(bucket(), confirmation=Confirmation.FLAKY)

    found = recall(results, elsewhere, healthy, unsure)

    assert not any(one.is_found for one in found.defects)
    assert found.misplaced == (elsewhere,)
    assert found.own == (healthy,)
    assert found.unsettled == (unsure,)


def test_the_table_has_enough_defects_of_every_kind() -> None:
    counts = Counter(defect.kind for defect in DEFECTS)

    assert len(DEFECTS) == len({defect.name for defect in DEFECTS}) >= 24
    assert set(counts) == set(Kind)
    assert min(counts.values()) >= 3


def test_no_two_defects_of_a_group_leave_the_same_trace() -> None:
    for group in GROUPS:
        assert set(group.programs) <= set(shipped_programs("torch"))
        about = Counter((one.layer, one.parameter) for one in group.defects)
        assert max(about.values()) == 1


def test_programs_are_made_of_layers_with_a_defect_and_those_that_lead_to_them() -> None:
    flags = list(restriction(["lenet"], ["Conv2d", "ELU"]))

    apis = [value.rpartition(".")[2] for flag, value in flags if flag == "--api"]
    assert ("--program", "lenet") in flags
    assert apis == [*OTHERS, "ELU"]


def test_a_reported_defect_is_found_by_api_and_argument() -> None:
    known = Known(
        name="x", target="torch==2.0.1", api="torch.nn.Conv2d", words="stride=", program="lenet"
    )
    unsure = replace(bucket(), confirmation=Confirmation.FLAKY)

    assert found_of(known, [bucket(), unsure]) == [bucket()]
    assert found_of(replace(known, words="padding="), [bucket()]) == []
    assert found_of(replace(known, api="torch.nn.Conv1d"), [bucket()]) == []


@pytest.mark.parametrize("known", KNOWN, ids=lambda known: known.name)
def test_what_leads_to_a_reported_defect_exists(known: Known) -> None:
    (program,) = [value for flag, value in flags_of(known) if flag == "--program"]
    library = known.target.partition("==")[0].removesuffix("-cpu")

    assert program.endswith(".py") or program in shipped_programs(library)
