"""The defects that benchmarks plant into a compiler: each one in the table is written somewhere."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from graph_defects import DEFECTS, defect_named_by

FOLDER = Path(__file__).parents[3] / "benchmarks" / "graph_defects"


def written(module: str) -> set[str]:
    """Return the keys of the table `WRONG` in a module that needs torch."""
    tree = ast.parse((FOLDER / f"{module}.py").read_text("utf-8"))
    tables = [
        node.value
        for node in tree.body
        if isinstance(node, ast.AnnAssign)
        and isinstance(node.target, ast.Name)
        and node.target.id == "WRONG"
    ]
    (table,) = tables
    assert isinstance(table, ast.Dict)
    return {ast.literal_eval(key) for key in table.keys if key is not None}


def test_every_defect_in_the_table_can_be_planted() -> None:
    names = [defect.name for defect in DEFECTS]

    assert len(names) == len(set(names)) == 30
    assert set(names) == written("decompositions") | written("lowerings")
    assert not written("decompositions") & written("lowerings")


def test_every_defect_names_the_operators_that_it_breaks() -> None:
    assert all(defect.operators and defect.says for defect in DEFECTS)


@pytest.mark.parametrize(
    ("api", "named"),
    [
        ("torch.log_softmax", "log-softmax-sum"),
        ("torch.Tensor.mean", "mean-scale"),
        ("torch.Tensor.sum", "sum-identity"),
        ("torch.linalg.matmul", ""),
    ],
)
def test_an_api_names_the_defect_of_the_longest_operator_in_it(api: str, named: str) -> None:
    assert defect_named_by(api, DEFECTS) == named
