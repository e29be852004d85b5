"""Where the catalogue of a target comes from."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import pytest

from ciguard.campaign.catalogue import Catalogue, CatalogueOrigin, catalogue
from ciguard.campaign.lookup import knowledge_for
from ciguard.campaign.shipped import shipped_files
from ciguard.domain.api_calls import ApiCall
from ciguard.errors import ConfigurationError, ConstraintsFileError
from ciguard.levels.api.level import ApiLevel
from ciguard.libraries import LIBRARIES, description_version
from ciguard.targets import Environment, parse_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from ciguard.execution import Dispatcher

RECORDS: list[dict[str, Any]] = [
    {
        "api": "torch.abs",
        "kind": "function",
        "doc": "Computes.",
        "parameters": [{"name": "input", "doc": "A 4-D tensor."}],
    },
    {"skipped": "torch.broken", "reason": "ImportError: planted"},
    {"api": "torch.Abs", "kind": "layer", "parameters": [], "aliases": ["torch.nn.Abs"]},
]


class _Library:
    """A dispatcher that counts descriptions."""

    def __init__(self) -> None:
        self.asked = 0

    def tasks(self, target: str) -> _Library:
        assert target == "t"
        return self

    def describe(self) -> Iterator[dict[str, Any]]:
        self.asked += 1
        yield from RECORDS


def environment(folder: Path, text: str = "torch==2.12.0") -> Environment:
    return Environment(
        target=parse_target(text),
        library=LIBRARIES.get("torch"),
        python=Path("python"),
        root=folder,
        packages={},
        version="2.12.0+cpu",
        python_version="3.11.7",
        readable=(),
        cache=None,
        variables={},
        key="key",
    )


def found_in(where: Environment, library: _Library, **how: bool) -> Catalogue:
    return catalogue("t", where, cast("Dispatcher", library), **how)


def test_a_library_is_described_once_and_cached(tmp_path: Path) -> None:
    library = _Library()

    first = found_in(environment(tmp_path), library)
    again = found_in(environment(tmp_path), library)

    assert library.asked == 1
    assert (first.origin, again.origin) == (CatalogueOrigin.DESCRIBED, CatalogueOrigin.KEPT)
    assert again.known.records == first.known.records
    assert [item.name for item in again.known.skipped] == ["torch.broken"]
    assert again.known.provenance.version == "2.12.0"


def test_a_description_can_be_refreshed(tmp_path: Path) -> None:
    library = _Library()
    found_in(environment(tmp_path), library)

    assert (
        found_in(environment(tmp_path), library, refresh=True).origin is CatalogueOrigin.DESCRIBED
    )
    assert library.asked == 2


def test_the_active_environment_is_described_every_time(tmp_path: Path) -> None:
    library = _Library()
    active = environment(tmp_path, "current[torch]")

    found_in(active, library)
    found_in(active, library)

    assert library.asked == 2
    assert list(tmp_path.iterdir()) == []


def test_a_damaged_cache_is_reported_and_replaced(tmp_path: Path) -> None:
    library = _Library()
    found_in(environment(tmp_path), library)
    (cached,) = tmp_path.glob("*.jsonl")
    cached.write_text(cached.read_text("utf-8")[:-20], "utf-8")

    found = found_in(environment(tmp_path), library)

    assert found.origin is CatalogueOrigin.DESCRIBED
    (notice,) = found.notices
    assert str(cached) in notice
    assert "describes the library again" in notice
    assert found_in(environment(tmp_path), library).notices == ()


def test_a_cache_of_another_adapter_is_not_used(tmp_path: Path) -> None:
    library = _Library()
    found_in(environment(tmp_path), library)
    (cached,) = tmp_path.glob("*.jsonl")
    version = description_version(LIBRARIES.get("torch"))
    cached.write_text(cached.read_text("utf-8").replace(version, "0" * 12), "utf-8")

    found = found_in(environment(tmp_path), library)

    assert (found.origin, found.notices) == (CatalogueOrigin.DESCRIBED, ())


def test_a_cache_that_cannot_be_written_is_ignored(tmp_path: Path) -> None:
    library = _Library()

    found = found_in(environment(tmp_path / "absent"), library)

    assert found.origin is CatalogueOrigin.DESCRIBED
    assert "torch.abs" in found.known.records


def test_a_campaign_describes_its_library_even_if_constraints_are_shipped(tmp_path: Path) -> None:
    shipped = shipped_files("torch")[0].stem.replace("-", "==")
    library = _Library()

    found = found_in(environment(tmp_path, shipped), library)

    # What is shipped has no words, and laws and findings are read in them.
    assert found.origin is CatalogueOrigin.DESCRIBED
    assert found.known.records["torch.abs"].doc == "Computes."


def test_a_cached_description_has_the_documentation(tmp_path: Path) -> None:
    first = found_in(environment(tmp_path), _Library())
    again = found_in(environment(tmp_path), _Library())

    assert again.known.records["torch.abs"].parameters[0].doc == "A 4-D tensor."
    assert again.known.api("torch.abs") == first.known.api("torch.abs")


def test_one_seed_gives_the_same_cases_from_a_cached_description(tmp_path: Path) -> None:
    found = [found_in(environment(tmp_path), _Library()) for _ in range(2)]

    described, cached = (
        [batch.cases for batch in map(ApiLevel([*one.known.records.values()], 7).cases, range(9))]
        for one in found
    )

    assert [one.origin for one in found] == [CatalogueOrigin.DESCRIBED, CatalogueOrigin.KEPT]
    assert described == cached
    assert any(case.arguments for cases in cached for case in cases if isinstance(case, ApiCall))


# --- by name --------------------------------------------------------------------------------------


@pytest.fixture
def file(tmp_path: Path) -> Path:
    found_in(environment(tmp_path), _Library())
    (cached,) = tmp_path.glob("*.jsonl")
    return cached


@pytest.mark.parametrize(
    ("name", "listed"), [("torch.abs", "torch.abs"), ("torch.nn.Abs", "torch.Abs")]
)
def test_an_api_is_found_by_each_of_its_names(file: Path, name: str, listed: str) -> None:
    known, found = knowledge_for(name, target=None, file=file, on_step=print)

    assert found == listed
    assert known.api(found).record.api == listed


@pytest.mark.parametrize(
    ("name", "close"), [("torch.aps", "torch.abs"), ("abs", "torch.abs"), ("nn.Abs", "torch.Abs")]
)
def test_an_unknown_name_gets_the_closest_ones(file: Path, name: str, close: str) -> None:
    with pytest.raises(ConfigurationError, match=f"no such API. Did you mean .*'{close}'"):
        knowledge_for(name, target=None, file=file, on_step=print)


def test_a_library_that_is_not_shipped_needs_a_target() -> None:
    with pytest.raises(ConfigurationError, match="--target"):
        knowledge_for("numpy.add", target=None, file=None, on_step=print)


def test_a_missing_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(ConstraintsFileError, match=r"absent\.jsonl: cannot be read"):
        knowledge_for("f", target=None, file=tmp_path / "absent.jsonl", on_step=print)


def test_a_file_that_is_not_text_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "bytes.jsonl"
    path.write_bytes(json.dumps({"schema": 1}).encode("utf-16"))

    with pytest.raises(ConstraintsFileError, match=r"bytes\.jsonl"):
        knowledge_for("f", target=None, file=path, on_step=print)
