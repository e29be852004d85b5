"""Descriptions of the registered libraries."""

from __future__ import annotations

import importlib
from pathlib import Path

import pytest

from ciguard import libraries
from ciguard.libraries import LIBRARIES, Companion, Library, library_of_distribution
from ciguard.targets.variables import refusal
from ciguard.writing import writer_of

BUILT_IN = Path(libraries.__file__).parent
REGISTERED = sorted(LIBRARIES.items().values(), key=lambda library: library.name)


@pytest.mark.parametrize("library", REGISTERED, ids=lambda library: library.name)
def test_every_library_is_complete_and_logs_the_messages_of_crashes(library: Library) -> None:
    variables = {**library.environment, **library.cpu_environment}

    assert library.distributions
    assert library.adapter.suffix == ".py"
    assert library.case_limit_s > 0
    assert int(variables.get("TF_CPP_MIN_LOG_LEVEL", "0")) <= 2
    assert set(library.backends) <= set(LIBRARIES.items())


@pytest.mark.parametrize(
    "library",
    [library for library in REGISTERED if library.adapter.is_relative_to(BUILT_IN)],
    ids=lambda library: library.name,
)
def test_every_mode_is_implemented_by_the_adapter_and_the_writer(library: Library) -> None:
    relative = library.adapter.relative_to(BUILT_IN).with_suffix("")
    adapter = importlib.import_module(".".join(("ciguard.libraries", *relative.parts))).ADAPTER

    assert set(adapter().modes()) == set(library.modes) == set(writer_of(library.name).modes)
    for mode, description in library.modes.items():
        assert tuple(adapter().stages(mode)) == description.stages
        assert tuple(adapter().options(mode)) == description.options
        assert set(description.options) <= set(writer_of(library.name).options)


@pytest.mark.parametrize("library", REGISTERED, ids=lambda library: library.name)
def test_no_library_sets_a_variable_that_targets_must_not_set(library: Library) -> None:
    variables = {
        **library.environment,
        **library.cuda_environment,
        **library.backend_environment,
    }

    assert not [name for name in variables if refusal(name)]


@pytest.mark.parametrize(
    ("distribution", "name"),
    [("tf_nightly.cpu", "tensorflow"), ("Torch", "torch"), ("keras-nightly", "keras")],
)
def test_a_library_is_found_by_any_spelling_of_its_distributions(
    distribution: str, name: str
) -> None:
    library = library_of_distribution(distribution)

    assert library is not None
    assert library.name == name


@pytest.mark.parametrize(
    ("version", "extras"),
    [
        (None, ["cuda13", "cuda12"]),
        ("0.10.2", ["cuda13", "cuda12"]),
        ("0.7.2.dev20250901", ["cuda12"]),
        ("0.7.1", ["cuda12"]),
        ("0.4.20", []),
    ],
)
def test_the_extras_with_cuda_depend_on_the_version(version: str | None, extras: list[str]) -> None:
    jax = LIBRARIES.get("jax")

    assert [extra.name for extra in jax.cuda_extras if extra.is_available_in(version)] == extras


@pytest.mark.parametrize("library", REGISTERED, ids=lambda library: library.name)
def test_the_extras_with_cuda_are_sorted_from_the_newest_cuda(library: Library) -> None:
    majors = [extra.cuda for extra in library.cuda_extras]

    assert majors == sorted(majors, reverse=True)
    assert set(library.cpu_distributions) <= set(library.distributions)


def test_a_distribution_with_a_similar_name_is_not_a_library() -> None:
    assert library_of_distribution("torchvision") is None


@pytest.mark.parametrize(
    ("versions", "version", "is_needed"),
    [("", None, True), ("<2.3", "2.2.1", True), ("<2.3", "2.3.0", False), ("<2.3", None, False)],
)
def test_a_companion_is_needed_by_its_versions(
    versions: str, version: str | None, *, is_needed: bool
) -> None:
    companion = Companion(requirement="numpy<2", versions=versions)

    assert companion.is_needed_by(version) is is_needed
