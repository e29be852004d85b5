"""Of what library, in which build, a description is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ciguard.campaign.provenance import pinned_requirement, provenance_of
from ciguard.libraries import LIBRARIES, description_version
from ciguard.targets import Environment, parse_target


def environment(text: str, version: str) -> Environment:
    return Environment(
        target=parse_target(text),
        library=LIBRARIES.get("torch"),
        python=Path("python"),
        root=Path(),
        packages={},
        version=version,
        python_version="3.11.7",
        readable=(),
        cache=None,
        variables={},
        key="key",
    )


@pytest.mark.parametrize("version", ["2.13.0", "2.13.0+cpu", "2.13.0+cu129"])
def test_builds_of_one_version_for_several_devices_have_one_version(version: str) -> None:
    found = provenance_of(environment("torch==2.13.0", version))

    assert (found.library, found.version, found.device) == ("torch", "2.13.0", "cpu")
    assert found.requirement == "torch==2.13.0"
    assert found.adapter == description_version(LIBRARIES.get("torch"))


@pytest.mark.parametrize("version", ["2.13.0a0+git1234567", "2.13.0+my.build"])
def test_custom_builds_keep_their_local_version(version: str) -> None:
    assert provenance_of(environment("torch==2.13.0", version)).version == version


def test_a_description_names_the_device_of_its_target() -> None:
    assert provenance_of(environment("torch==2.13.0@cuda", "2.13.0")).device == "cuda"


@pytest.mark.parametrize(
    "text",
    [
        "torch",
        "torch>=2.13",
        "torch==2.13.*",
        "./torch-2.13.0-cp311-cp311-linux_x86_64.whl",
        "current[torch]",
    ],
)
def test_a_target_that_may_be_another_build_has_no_pinned_requirement(text: str) -> None:
    assert provenance_of(environment(text, "2.13.0")).requirement == ""


def test_builds_of_one_library_have_different_provenances() -> None:
    tensorflow = LIBRARIES.get("tensorflow")

    assert pinned_requirement(parse_target("tensorflow_cpu==2.21.0"), tensorflow) == (
        "tensorflow-cpu==2.21.0"
    )
    assert pinned_requirement(parse_target("tensorflow==2.21.0"), tensorflow) == (
        "tensorflow==2.21.0"
    )
