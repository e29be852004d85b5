"""Parsing of torch's schemas and type stubs, and of Jittor's C++ declarations."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from ciguard.libraries.jittor.in_target import cpp_declarations
from ciguard.libraries.torch.in_target.schemas import Stubs, best_match, parse_schema

if TYPE_CHECKING:
    from pathlib import Path

CONV = (
    "aten::conv2d.padding(Tensor input, Tensor? bias=None, SymInt[2] stride=[1, 1], "
    'str padding="va,lid", *, Tensor(a!) out) -> Tensor(a!)'
)
REDUCE = """Document:
* Reduces.
Declaration:
VarHolder* reduce_max(VarHolder* x,  NanoVector dims=NanoVector(),  bool keep=false)
vector_to_tuple<VarHolder*> arg_reduce(VarHolder* x,  NanoString op,  int dim=-1)
Var* reindex(Var* x, vector<VarHolder*>&& extras={}, float64 v=0.5f, NanoString t=ns_int8)
"""


def test_a_schema_is_parsed_into_types_defaults_lengths_and_kinds() -> None:
    schema = parse_schema(CONV)

    assert schema is not None
    assert schema.operator == "aten::conv2d"
    assert [item["schema_type"] for item in schema.parameters] == [
        "Tensor",
        "Tensor?",
        "int[2]",
        "str",
        "Tensor",
    ]
    stride, padding, out = schema.parameters[2:]
    assert (stride["default"], stride["length"]) == ("[1, 1]", 2)
    assert padding["default"] == '"va,lid"'
    assert (out["kind"], out["required"]) == ("keyword_only", True)


def test_a_list_of_length_one_has_no_fixed_length() -> None:
    schema = parse_schema("aten::sum(Tensor self, int[1]? dim) -> Tensor")

    assert schema is not None
    assert "length" not in schema.parameters[1]


@pytest.mark.parametrize("text", ["", "aten::add", "add(Tensor self) -> Tensor", "aten::a(b) -> c"])
def test_a_text_that_is_not_a_schema_is_not_parsed(text: str) -> None:
    assert parse_schema(text) is None


def test_the_overload_with_most_common_names_is_chosen_then_the_shortest() -> None:
    short, long, other = ([{"name": name} for name in names] for names in ("ab", "abz", "ac"))

    assert best_match([long, other, short], ["a", "b"]) == short
    assert best_match([], ["a"]) is None


def test_the_hints_of_overloads_in_stubs_are_joined(tmp_path: Path) -> None:
    file = tmp_path / "x.pyi"
    file.write_text(
        "@overload\ndef add(input: Tensor, other: Tensor) -> Tensor: ...\n"
        "@overload\ndef add(input: Tensor, other: Number, *, out: Tensor | None = None): ...\n"
        "class Base:\n    def abs(self) -> Tensor: ...\n"
    )
    stubs = Stubs()

    stubs.read(file, prefix="torch.")
    stubs.read(file, prefix="torch.Tensor.", class_name="Base")
    stubs.read(tmp_path / "absent.pyi", prefix="torch.")

    assert stubs.hint("torch.add", "other") == "Tensor | Number"
    assert len(stubs.overloads("torch.add")) == 2
    assert stubs.overloads("torch.Tensor.abs")[0][0]["name"] == "self"


def test_a_declaration_is_found_by_name() -> None:
    parameters = cpp_declarations.declared_parameters(REDUCE, "arg_reduce") or []

    assert [(item["name"], item.get("schema_type")) for item in parameters] == [
        ("x", "Tensor"),
        ("op", "str"),
        ("dim", "int"),
    ]
    assert parameters[2]["default"] == "-1"


def test_defaults_of_cpp_are_converted_to_python() -> None:
    parameters = cpp_declarations.declared_parameters(REDUCE, "reindex") or []

    assert [item.get("default") for item in parameters] == [None, "()", "0.5", "'int8'"]
    assert parameters[1]["schema_type"] == "Tensor[]"


def test_an_alias_has_the_declaration_of_the_original() -> None:
    parameters = cpp_declarations.declared_parameters(REDUCE, "amax") or []

    assert [item["name"] for item in parameters] == ["x", "dims", "keep"]
    assert parameters[2]["default"] == "False"


def test_a_docstring_without_declaration_has_no_parameters() -> None:
    assert cpp_declarations.declared_parameters("Adds.", "add") is None
    assert cpp_declarations.without_declarations(REDUCE) == " Reduces."
