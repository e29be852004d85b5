from __future__ import annotations

import json
import re

import pytest

from ciguard.domain.plan import Plan, PlanMode
from ciguard.errors import PlanError
from ciguard.planning import Runners, matrix
from ciguard.planning.rows import (
    MAX_BYTES,
    MAX_JOBS,
    TargetGroup,
    group_by_library,
    rows,
)

TORCH = TargetGroup(targets=("torch==2.13.0",), base=("torch==2.12.0",))
GPU = Runners(devices=("cpu", "cuda"), gpu=("self-hosted", "gpu"))


def test_targets_of_one_library_form_a_group() -> None:
    groups = group_by_library(
        ("torch==2.13.0", "tensorflow-cpu==2.12.0", "tensorflow==2.21.0"), ("tensorflow==2.11.0",)
    )

    assert groups == [
        TargetGroup(targets=("torch==2.13.0",)),
        TargetGroup(
            targets=("tensorflow-cpu==2.12.0", "tensorflow==2.21.0"), base=("tensorflow==2.11.0",)
        ),
    ]


def test_there_is_a_row_per_device_and_shard() -> None:
    jobs, skipped, sentence = rows([TORCH], Runners(**{**_fields(GPU), "shards": 2}))  # type: ignore[arg-type]

    assert (skipped, sentence) == ([], "")
    assert [(job.device, job.shard, job.targets, job.base) for job in jobs] == [
        ("cpu", "1/2", ("torch==2.13.0",), ("torch==2.12.0",)),
        ("cpu", "2/2", ("torch==2.13.0",), ("torch==2.12.0",)),
        ("cuda", "1/2", ("torch==2.13.0@cuda",), ("torch==2.12.0@cuda",)),
        ("cuda", "2/2", ("torch==2.13.0@cuda",), ("torch==2.12.0@cuda",)),
    ]
    assert [job.runs_on for job in jobs[1:3]] == [("ubuntu-latest",), ("self-hosted", "gpu")]
    assert len({job.name for job in jobs}) == 4
    assert all(re.fullmatch(r"[A-Za-z0-9.-]+", job.name) for job in jobs)


def _fields(runners: Runners) -> dict[str, object]:
    return {name: getattr(runners, name) for name in ("devices", "cpu", "gpu", "shards")}


def test_without_a_base_a_gpu_is_compared_with_the_cpu_of_its_machine() -> None:
    jobs, _, _ = rows([TargetGroup(targets=("torch==2.13.0",))], GPU)

    assert jobs[1].targets == ("torch==2.13.0", "torch==2.13.0@cuda")


@pytest.mark.parametrize(
    ("devices", "targets"),
    [
        (("cuda:0", "cuda:1"), ("torch==2.13.0@cuda", "torch==2.13.0@cuda:1")),
        (
            ("cpu", "cuda:0", "cuda:1"),
            ("torch==2.13.0", "torch==2.13.0@cuda", "torch==2.13.0@cuda:1"),
        ),
        (("cuda:1",), ("torch==2.13.0", "torch==2.13.0@cuda:1")),
    ],
)
def test_gpus_of_one_machine_share_a_row_with_a_requested_cpu_as_reference(
    devices: tuple[str, ...], targets: tuple[str, ...]
) -> None:
    runners = Runners(devices=devices, gpu=("two-gpus",))

    jobs, _, _ = rows([TargetGroup(targets=("torch==2.13.0",))], runners)

    assert [job.device for job in jobs] == (["cpu", "cuda"] if "cpu" in devices else ["cuda"])
    assert jobs[-1].targets == targets


def test_a_base_runs_on_each_gpu() -> None:
    (job,), _, _ = rows([TORCH], Runners(devices=("cuda:0", "cuda:1"), gpu=("two-gpus",)))

    assert job.targets == ("torch==2.13.0@cuda", "torch==2.13.0@cuda:1")
    assert job.base == ("torch==2.12.0@cuda", "torch==2.12.0@cuda:1")


def test_a_target_with_a_gpu_keeps_it_if_several_are_requested() -> None:
    group = TargetGroup(targets=("torch==2.13.0", "torch==2.12.0@cuda:1"))

    (job,), _, _ = rows([group], Runners(devices=("cuda:0", "cuda:1"), gpu=("two-gpus",)))

    assert job.targets == (
        "torch==2.13.0@cuda",
        "torch==2.12.0@cuda:1",
        "torch==2.13.0@cuda:1",
    )


def test_gpu_rows_without_a_gpu_runner_are_skipped_with_a_reason() -> None:
    jobs, skipped, _ = rows([TORCH], Runners(devices=("cpu", "cuda")))

    assert len(jobs) == 1
    assert [(row.device, row.targets) for row in skipped] == [("cuda", ("torch==2.13.0@cuda",))]
    assert "--gpu-runner" in skipped[0].reason


def test_a_target_with_a_gpu_gets_a_gpu_row() -> None:
    jobs, skipped, _ = rows([TargetGroup(targets=("torch==2.13.0@cuda:1",))], Runners())

    assert jobs == []
    assert [row.targets for row in skipped] == [("torch==2.13.0@cuda:1",)]


def test_a_cpu_only_package_is_skipped_on_a_gpu() -> None:
    jobs, skipped, _ = rows([TargetGroup(targets=("tensorflow-cpu==2.12.0",))], GPU)

    assert len(jobs) == 1
    assert "CPUs only" in skipped[0].reason


@pytest.mark.parametrize(
    "group",
    [
        TargetGroup(targets=("tensorflow==2.21.0",), base=("tensorflow-cpu==2.20.0",)),
        TargetGroup(targets=("torch==2.13.0+cpu",)),
        TargetGroup(targets=("keras==3.15.1 + tf-nightly-cpu",)),
    ],
)
def test_a_group_with_any_cpu_only_package_is_skipped_on_a_gpu(group: TargetGroup) -> None:
    jobs, skipped, _ = rows([group], GPU)

    assert [job.device for job in jobs] == ["cpu"]
    assert [row.device for row in skipped] == ["cuda"]


def test_the_number_of_shards_is_reduced_to_the_limit_of_a_matrix() -> None:
    groups = [TargetGroup(targets=(f"torch==2.{minor}.0",)) for minor in range(100)]

    jobs, _, sentence = rows(groups, Runners(shards=4))

    assert len(jobs) == 200 <= MAX_JOBS
    assert sentence.startswith("2 shards instead of 4")


def test_too_many_rows_are_an_error_that_names_the_settings() -> None:
    groups = [TargetGroup(targets=(f"torch==2.{minor}.0",)) for minor in range(MAX_JOBS + 1)]

    with pytest.raises(PlanError, match=r"257 jobs.*setting targets, --target.*--device"):
        rows(groups, Runners())


def test_rows_of_the_same_targets_have_distinct_names() -> None:
    jobs, _, _ = rows([TORCH, TORCH], Runners())

    assert len({job.name for job in jobs}) == 2


def test_the_matrix_has_the_format_of_github() -> None:
    jobs, _, _ = rows([TargetGroup(targets=("torch==2.13.0", "torch==2.12.0"))], Runners())

    matrix_json = matrix(Plan(mode=PlanMode.BATCH, jobs=tuple(jobs)))

    assert matrix_json == {
        "include": [
            {
                "name": "torch-2.13.0-vs-torch-2.12.0-cpu",
                "targets": "torch==2.13.0\ntorch==2.12.0",
                "base": "",
                "device": "cpu",
                "runs_on": ["ubuntu-latest"],
                "shard": "1/1",
            }
        ]
    }


def test_a_matrix_beyond_the_limit_of_github_is_an_error() -> None:
    targets = tuple(f"torch==2.13.0 X{number}=1" for number in range(200))
    jobs, _, _ = rows([TargetGroup(targets=targets)], Runners(shards=256))

    assert len(json.dumps(targets)) * 256 > MAX_BYTES
    with pytest.raises(PlanError, match=r"GitHub allows.*--shards"):
        matrix(Plan(mode=PlanMode.BATCH, jobs=tuple(jobs)))


def test_cuda_extras_are_installed_only_on_gpu_rows() -> None:
    group = TargetGroup(
        targets=("keras==3.15.1 + jax[cuda12]==0.10.2",), base=("keras==3.14.0 + jax[cuda12]",)
    )

    jobs, _, _ = rows([group], GPU)

    assert [(job.targets[0], job.base[0]) for job in jobs] == [
        ("keras==3.15.1 + jax==0.10.2", "keras==3.14.0 + jax"),
        ("keras==3.15.1 + jax[cuda12]==0.10.2@cuda", "keras==3.14.0 + jax[cuda12]@cuda"),
    ]
