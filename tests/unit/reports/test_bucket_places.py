from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from finding_examples import call, crash

from ciguard.domain.findings import Bucket
from ciguard.domain.plan import PackageChange, Place, Plan, PlanMode
from ciguard.reports.places import NOWHERE, Places, find_library_places

if TYPE_CHECKING:
    from pathlib import Path

HERE = Place(path="model/net.py", line=12)
REQUIRED = Place(path="requirements.txt", line=3)


def bucket(api: str = "torch.fold") -> Bucket:
    return Bucket(fingerprint="v1:0", grouping=(), finding=crash(case=call(api=api)))


def changed(package: str) -> Plan:
    change = PackageChange(package=package, base="1", head="2", place=REQUIRED)
    return Plan(mode=PlanMode.PULL_REQUEST, changes=(change,))


def test_places_are_ordered_by_use_then_requirement_then_name() -> None:
    library_places = {"torch": Place(path="ciguard.toml", line=2)}
    used = replace(changed("torch"), uses={"torch.fold": (HERE, HERE)})

    assert Places(plan=used, library_places=library_places).locate(bucket()) == (HERE, REQUIRED)
    assert Places(plan=used, library_places=library_places).locate(bucket("torch.add")) == (
        REQUIRED,
    )
    assert Places(library_places=library_places).locate(bucket()) == (library_places["torch"],)
    assert Places().locate(bucket()) == (NOWHERE,)


@pytest.mark.parametrize(
    ("package", "targets", "is_meant"),
    [
        ("torch", ("torch==2.13.0",), True),
        ("numpy", ("torch==2.13.0",), False),
        ("Torch_Nightly", ("torch-nightly==2.14.0@cuda compile",), True),
        ("torch", ("current",), True),
        ("", ("./dist/torch.whl",), False),
    ],
)
def test_changed_requirement_is_the_place_of_buckets_on_its_target(
    package: str,
    targets: tuple[str, ...],
    is_meant: bool,  # noqa: FBT001 - a column of the table
) -> None:
    one = bucket()
    found = replace(one, finding=replace(one.finding, targets=targets))

    assert (Places(plan=changed(package)).locate(found) == (REQUIRED,)) is is_meant


@pytest.mark.parametrize("path", ["", "a\nb", "a\u202eb", "x" * 501, "\ud800"])
def test_invalid_path_is_not_a_place(path: str) -> None:
    plan = Plan(mode=PlanMode.BATCH, uses={"torch.fold": (Place(path=path, line=1),)})

    assert Places(plan=plan).locate(bucket()) == (NOWHERE,)


def test_line_that_names_the_library_is_its_place(tmp_path: Path) -> None:
    (tmp_path / "requirements.txt").write_text("# torch\nnumpy\npytorch-x\nTorch>=2\n", "utf-8")
    (tmp_path / "pyproject.toml").write_text(
        '[project]\ndependencies = [\n  "tensorflow_cpu==2.12.0",\n]\n', "utf-8"
    )

    library_places = find_library_places(
        {"torch": ["current"], "tensorflow": ["tensorflow-cpu==2.12.0"], "jax": ["jax==0.10.2"]},
        tmp_path,
    )

    assert library_places == {
        "torch": Place(path="requirements.txt", line=4),
        "tensorflow": Place(path="pyproject.toml", line=3),
        "": Place(path="pyproject.toml", line=1),
    }


def test_the_configuration_comes_first_and_paths_begin_at_the_root_of_the_repository(
    tmp_path: Path,
) -> None:
    (tmp_path / ".git").mkdir()
    package = tmp_path / "packages" / "one"
    package.mkdir(parents=True)
    (tmp_path / "requirements.txt").write_text("torch\njax\n", "utf-8")
    (package / "ciguard.toml").write_text('targets = ["torch==2.13.0"]\n', "utf-8")

    library_places = find_library_places({"torch": [], "jax": []}, package)

    assert library_places["torch"] == Place(path="packages/one/ciguard.toml", line=1)
    assert library_places["jax"] == Place(path="requirements.txt", line=2)


def test_repository_with_only_a_readme_has_a_place(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("\n# Title\n", "utf-8")
    (tmp_path / "setup.py").mkdir()

    assert find_library_places({}, tmp_path) == {"": Place(path="README.md", line=1)}
    assert find_library_places({}, tmp_path / "setup.py") == {"": NOWHERE}
