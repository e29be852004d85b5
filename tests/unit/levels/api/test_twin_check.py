"""Scripts of metamorphic findings are valid Python, with imports and the relation's statement."""

from __future__ import annotations

import ast
from dataclasses import replace

import pytest
from finding_examples import call, crash, finding

from ciguard.domain.api_calls import CallKind
from ciguard.domain.outcomes import Passed
from ciguard.domain.values import LiteralValue, TensorValue, Uniform
from ciguard.oracles.relations import RELATIONS
from ciguard.triage import EnvironmentHint, script
from ciguard.triage.reductions import reductions

HINT = EnvironmentHint(install=("torch==2.13.0",))
FLAT = TensorValue("float32", (2, 2), Uniform(1, 0.5, 2.0))
IMAGE = TensorValue("float32", (2, 4, 4, 4), Uniform(1, 0.5, 2.0))
CALLS = {
    "empty batch": call(IMAGE, LiteralValue(2), api="torch.nn.functional.avg_pool2d"),
    "broadcasting by hand": call(replace(FLAT, shape=(2, 1)), FLAT, api="torch.add"),
    "promotion by hand": call(replace(FLAT, dtype="int32"), FLAT, api="torch.add"),
    "number as tensor": call(FLAT, LiteralValue(2.0), api="torch.add"),
    "function and layer": call(FLAT, api="torch.nn.functional.relu"),
}
OF_TORCH = sorted(name for name in RELATIONS.items() if not name.startswith(("tf.", "jax.")))


def script_of(relation: str) -> str:
    case = replace(CALLS.get(relation, call(FLAT, api="torch.relu")), relation=relation)
    broken = replace(
        finding(Passed(b"[]", 0.1), case=case), oracle="metamorphic", kind=relation, detail="values"
    )
    return script(broken, environment_hint=HINT)


@pytest.mark.parametrize("relation", OF_TORCH)
def test_a_script_states_the_relation_and_imports_all_names(relation: str) -> None:
    text = script_of(relation)

    tree = ast.parse(text)
    imported = {
        alias.asname or alias.name.partition(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
    }
    owners = {
        node.value.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name)
    }
    bound = {
        node.id
        for node in ast.walk(tree)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    assert f"# {RELATIONS.get(relation).law}" in text
    assert owners - bound - {"value", "self"} <= imported
    assert "DIFFERENT" in text


def test_a_script_about_arguments_assigns_them_before_the_call() -> None:
    text = script_of("arguments stay as they are")

    assert text.index("arguments = [") < text.index("result = ") < text.index("kept = ")


def test_the_script_of_a_crash_runs_the_twin_too() -> None:
    case = replace(call(FLAT, api="torch.relu"), relation="strided memory")

    text = script(crash(case=case), environment_hint=HINT)

    assert text.index("result = torch.relu(") < text.index("twin = torch.relu(torch.select(")
    assert "twin = " not in script(crash(case=replace(case, relation="")), environment_hint=HINT)


def test_the_first_simpler_case_has_no_relation() -> None:
    case = replace(call(FLAT, api="torch.relu"), relation="strided memory")

    assert replace(case, relation="") in reductions(case)


def test_only_a_failed_check_is_a_difference() -> None:
    text = script_of("numeric gradient")

    assert "if type(error).__name__ != 'GradcheckError':\n        raise" in text
    assert "def difference" not in text
    assert text.count("torch.tensor(") == 1


def test_a_pickled_layer_is_called_by_its_own_name() -> None:
    layer = call(LiteralValue(2), api="torch.nn.Softmax", kind=CallKind.LAYER)
    case = replace(layer, inputs=(FLAT,), relation="written and read back")
    broken = replace(
        finding(Passed(b"[]", 0.1), case=case), oracle="metamorphic", kind=case.relation
    )

    text = script(broken, environment_hint=HINT)

    assert "twin = pickle.loads(pickle.dumps(torch.nn.Softmax(2)))(" in text
    assert "import pickle" in text


def test_call_and_twin_use_the_same_seed() -> None:
    text = script_of("same call twice")

    assert text.count("torch.manual_seed(0)") == 2
    assert text.index("result = ") < text.rindex("torch.manual_seed(0)") < text.index("twin = ")
