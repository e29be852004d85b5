from __future__ import annotations

from typing import TYPE_CHECKING

from annotated import Annotated

from ciguard.functions.checking import module_with_functions

if TYPE_CHECKING:
    from ciguard.functions.specs import ModuleSpec

NESTED = """
@arg("size", ints(2, 4))
def build(size):
    made = object()
    @arg("n", ints(0, ref("3")))
    @arg("what", froms([made]))
    @require("n < size")
    @ensure("result is made")
    def inner(n, what):
        return what
    raise ValueError("after it is defined")
"""


def with_nested(program: Annotated, outer: str) -> ModuleSpec:
    call = program.calls(outer, 1)[0]
    assert call is not None
    return module_with_functions(program.spec, program.caller.describe_nested(call.to_json()))


def test_a_nested_function_is_found_during_a_call_of_the_outer_function() -> None:
    program = Annotated(NESTED)

    inner = with_nested(program, "build").function("build.<locals>.inner")

    assert program.spec.function("build").has_nested_functions
    assert inner.outer == "build"
    assert [parameter.name for parameter in inner.parameters] == ["n", "what"]


def test_each_call_of_a_nested_function_calls_the_outer_function_first() -> None:
    program = Annotated(NESTED)
    program.spec = with_nested(program, "build")

    assert program.statuses("build.<locals>.inner", 60) == {"passed", "discarded"}
    assert program.statuses("build", 5) == {"failed"}


def test_an_outer_function_without_parameters_needs_no_annotation() -> None:
    program = Annotated(
        """
        def main():
            @arg("n", ints(0, 3))
            def inner(n):
                return 1 / n
        """
    )
    program.spec = with_nested(program, "main")

    assert [function.name for function in program.spec.tested()] == ["main.<locals>.inner"]
    assert program.statuses("main.<locals>.inner", 60) == {"passed", "failed"}


def test_an_outer_function_with_unannotated_parameters_is_a_problem() -> None:
    program = Annotated("def main(x):\n    @arg('n', ints())\n    def inner(n): pass\n")

    assert program.problems == ["argument 'x' of main is not annotated; add @arg(\"x\", …)"]
