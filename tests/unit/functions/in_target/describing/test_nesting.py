from __future__ import annotations

from typing import TYPE_CHECKING

from annotated import Annotated

from ciguard.functions.checking import with_functions

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


def explored(program: Annotated, outer: str) -> ModuleSpec:
    call = program.calls(outer, 1)[0]
    assert call is not None
    return with_functions(program.spec, program.caller.nested(call.to_json()))


def test_a_nested_function_is_found_while_the_outer_one_runs() -> None:
    program = Annotated(NESTED)

    found = explored(program, "build").function("build.<locals>.inner")

    assert program.spec.function("build").has_nested
    assert found.outer == "build"
    assert [parameter.name for parameter in found.parameters] == ["n", "what"]


def test_a_nested_function_is_called_within_a_new_call_of_the_outer_one() -> None:
    program = Annotated(NESTED)
    program.spec = explored(program, "build")

    assert program.statuses("build.<locals>.inner", 60) == {"passed", "discarded"}
    assert program.statuses("build", 5) == {"failed"}


def test_an_outer_function_needs_no_annotation_to_be_called_without_arguments() -> None:
    program = Annotated(
        """
        def main():
            @arg("n", ints(0, 3))
            def inner(n):
                return 1 / n
        """
    )
    program.spec = explored(program, "main")

    assert [f.name for f in program.spec.tested()] == ["main.<locals>.inner"]
    assert program.statuses("main.<locals>.inner", 60) == {"passed", "failed"}


def test_an_outer_function_that_cannot_be_called_is_a_problem() -> None:
    program = Annotated("def main(x):\n    @arg('n', ints())\n    def inner(n): pass\n")

    assert program.problems == [
        "argument 'x' of main has no values: annotate it with @arg(\"x\", …)"
    ]
