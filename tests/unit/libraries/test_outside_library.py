"""A library that another package registers supports every feature, with a single folder.

The tests are in the order of `docs/extending.md`.
"""

from __future__ import annotations

import re
from dataclasses import MISSING, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import planted_tiles
import pytest
from ciguard_planted.tiles.adapter import TAG_ROWS, TilesAdapter
from ciguard_planted.tiles.description import FOLDER, LIBRARY
from finding_examples import call, crash

from ciguard.domain.api_calls import CallKind
from ciguard.domain.records import ApiRecord, record_from_json
from ciguard.domain.values import CallValue, Constant, ListValue, LiteralValue, TensorValue
from ciguard.errors import RegistrationError
from ciguard.knowledge import mined
from ciguard.knowledge.clues import ClueSource
from ciguard.levels.api.forms import form_mutator
from ciguard.levels.code.blocks import BlockTensor
from ciguard.levels.code.calling import rank_of
from ciguard.levels.code.dialects import dialect_of
from ciguard.levels.code.running import recorder_statements, run_statements
from ciguard.levels.code.seeds import SeedProgram
from ciguard.libraries import LIBRARIES, Library, description_version
from ciguard.oracles import equivalent_call
from ciguard.oracles.equivalents import join_rows, parse_equivalences
from ciguard.oracles.relations import RELATIONS
from ciguard.planning.api_names import ApiNames
from ciguard.planning.requirement_files import read_pins
from ciguard.trackers.disclosure import SecurityCrash
from ciguard.triage import EnvironmentHint, script
from ciguard.triage.reach import is_raw

if TYPE_CHECKING:
    from collections.abc import Mapping

ROOT = Path(__file__).parents[3]
X = TensorValue("float32", (2, 3), Constant(-1.0))
ROW = TensorValue("float32", (3,), Constant(2.0))


def records_by_api() -> Mapping[str, ApiRecord]:
    records = [record_from_json(record) for record in TilesAdapter().describe()]
    return {record.api: record for record in records}


def test_library_of_another_package_is_registered_under_its_name() -> None:
    assert LIBRARIES.get("tiles") is LIBRARY


def test_documentation_lists_every_field_of_a_description() -> None:
    section = (ROOT / "docs" / "extending.md").read_text("utf-8").partition("\n## A library\n")[2]
    documented = set(re.findall(r"^\| `(\w+)` \|", section.partition("\n## ")[0], re.MULTILINE))
    parts = {field.name for field in fields(Library) if is_set(field.name)}

    assert documented <= parts, "the example lacks parts that the documentation names"
    assert parts - documented <= {
        "name",
        "distributions",
        "module",
        "adapter",
        "forks",
        "case_limit_s",
    }


def is_set(name: str) -> bool:
    field = next(field for field in fields(Library) if field.name == name)
    default = field.default_factory() if field.default_factory is not MISSING else field.default
    return bool(getattr(LIBRARY, name) != default)


def test_adapter_describes_the_apis_with_their_tags() -> None:
    records = records_by_api()

    assert records["planted_tiles.store"].tags == {"files"}
    assert records["planted_tiles.noise"].tags == {"random"}
    assert records["planted_tiles.absolute"].tags == frozenset()
    assert records["planted_tiles.nn.Linear"].kind is CallKind.LAYER
    assert all(row.reason for row in TAG_ROWS)


def test_version_of_the_description_changes_with_the_rules_for_documentation() -> None:
    other = replace(LIBRARY, documentation="tensorflow")

    assert description_version(other) != description_version(LIBRARY)


def test_documentation_is_parsed_with_the_rules_of_the_library() -> None:
    record = records_by_api()["planted_tiles.outline"]
    width = next(parameter for parameter in record.parameters if parameter.name == "width")

    clues = mined.read(record, width)

    assert ClueSource.MINED_RULE in {clue.source for clue in clues}
    assert not mined.read(replace(record, api="unknown.outline"), width)


def test_script_has_tensors_of_the_library_and_runs() -> None:
    finding = crash(case=call(X, api="planted_tiles.absolute"))
    finding = replace(finding, library="tiles")

    text = script(finding, environment_hint=EnvironmentHint(install=("ciguard-planted==1.0",)))

    assert "import planted_tiles as pt" in text
    assert "pt.absolute(" in text
    namespace: dict[str, Any] = {"__name__": "__main__"}
    exec(compile(text, "script.py", "exec"), namespace)
    assert type(namespace["result"]) is planted_tiles.Tile


def test_tensors_have_the_forms_of_the_library() -> None:
    reform = form_mutator("planted_tiles")

    assert reform is not None
    assert LIBRARY.forms[0].make(X) == CallValue(
        "planted_tiles.Tile.cast", (X, LiteralValue("float32"))
    )


SOURCE = """
import planted_tiles as pt
from planted_tiles import nn

images = pt.normal((8, 3, 2))
model = nn.Sequential(
    nn.Flatten(),
    nn.Linear(6, 4),
    nn.ReLU(),
    nn.Linear(4, 2),
)
output = model(images)
"""


def test_programs_of_the_library_are_disassembled_in_its_style() -> None:
    seed = SeedProgram.of(SOURCE, "tiles", name="small")

    apis = {called.api for block in seed.blocks for called in block.calls}
    assert "planted_tiles.nn.Linear" in apis
    assert rank_of("planted_tiles.nn.Flatten") == 3


@pytest.mark.parametrize("dtype", ["float32", "int64", "bool", "complex64"])
def test_statements_of_the_style_run_in_the_library(dtype: str) -> None:
    namespace: dict[str, Any] = {"planted_tiles": planted_tiles, "model": planted_tiles.absolute}

    exec(run_statements("tiles", "model", BlockTensor((2, 3), dtype)), namespace)
    exec(recorder_statements("tiles"), namespace)

    assert namespace["y"].shape == (2, 3)
    namespace["_Seen"](1)(namespace["x"])
    assert namespace["_fed"] == {1: namespace["x"]}


def test_adapters_of_the_style_reshape_in_the_library() -> None:
    adapter = dialect_of("tiles").adapter((4, 6), 4, 1)

    assert adapter is not None
    text, shape = adapter
    assert eval(text, {"x": planted_tiles.normal((4, 6))}).shape == shape  # noqa: S307 - likewise
    assert dialect_of("tiles").element("x.flatten(1)") == ["planted_tiles.nn.Flatten(1)"]


def test_relations_compute_with_the_operations_of_the_library() -> None:
    relation = RELATIONS.get("broadcasting by hand")
    record = ApiRecord(api="planted_tiles.add", kind=CallKind.FUNCTION, parameters=())

    twin = relation.twin(call(X, ROW, api="planted_tiles.add"))

    sizes = ListValue((LiteralValue(2), LiteralValue(3)))
    broadcast = CallValue("planted_tiles.broadcast_to", (ROW, sizes))
    assert relation.applies(record, ())
    assert twin == CallValue("planted_tiles.add", (X, broadcast))
    assert not RELATIONS.get("double precision").applies(record, ())


def test_equivalent_calls_join_the_row_of_the_other_libraries() -> None:
    own = call(X, api="planted_tiles.absolute")

    for library, api in (("torch", "torch.abs"), ("jax", "jax.numpy.abs")):
        other = equivalent_call(own, library)
        assert other is not None
        assert other.api == api
        round_trip = equivalent_call(other, "tiles")
        assert round_trip is not None
        assert round_trip.api == own.api


def test_equivalent_call_that_another_row_has_in_another_form_is_rejected() -> None:
    known = parse_equivalences('[[equivalent]]\ntorch = "torch.abs(x)"\njax = "jax.numpy.abs(x)"')
    added = parse_equivalences(
        '[[equivalent]]\ntorch = "torch.abs(input=x)"\ntiles = "t.absolute(x)"'
    )

    with pytest.raises(RegistrationError, match=r"torch\.abs of 'torch' differs from the call"):
        join_rows(known, added)


def test_planning_recognises_the_library_in_requirements_and_sources() -> None:
    (pin,) = read_pins("environment.yml", b"dependencies:\n  - tiles-cpu=1.0\n")
    names = ApiNames()

    assert pin.package == LIBRARY.distributions[0]
    assert names.is_library("planted_tiles")
    assert names.library_of("planted_tiles.absolute") == "tiles"
    assert names.with_public_prefix("planted_tiles.array.Tile") == "planted_tiles.Tile"


def test_raw_entry_point_of_the_library_is_recognised() -> None:
    assert is_raw("planted_tiles.raw.absolute")
    assert not is_raw("planted_tiles.absolute")


def test_security_crash_has_the_security_policy_of_the_library() -> None:
    report: Any = None

    assert SecurityCrash(report=report, library="tiles", apis=()).policy == LIBRARY.security_policy


def test_all_files_of_the_library_are_in_one_folder() -> None:
    assert LIBRARY.adapter.parent == LIBRARY.equivalents.parent == FOLDER  # type: ignore[union-attr]
