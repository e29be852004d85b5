from __future__ import annotations

import pytest
from annotated import IMPORTS, Annotated

PROBLEMS = {
    "unknown argument": (
        "@arg('y', ints())\ndef f(x=1): pass",
        1,
        "f has no argument 'y'; arguments: x",
    ),
    "annotated twice": (
        "@arg('x', ints())\n@arg('x', bools())\ndef f(x): pass",
        1,
        "argument 'x' of f is annotated twice",
    ),
    "argument without values": (
        "@arg('x', ints())\ndef f(x, y, z=1): pass",
        2,
        "argument 'y' of f is not annotated; add @arg(\"y\", …)",
    ),
    "reference to an unknown name": (
        "@arg('x', ints(max=ref('n')))\ndef f(x): pass",
        1,
        "argument 'x' of f: ref('n') names 'n', which is not an argument",
    ),
    "reference with a syntax error": (
        "@arg('x', ints(max=ref('n +')))\ndef f(x): pass",
        1,
        "argument 'x' of f: ref('n +') is not an expression",
    ),
    "references in a cycle": (
        "@arg('x', ints(max=ref('y')))\n@arg('y', ints(max=ref('x')))\ndef f(x, y): pass",
        1,
        "f: arguments refer to each other in a cycle: x → y → x",
    ),
    "empty range by reference": (
        "@arg('x', ints(ref('n + 3'), 4))\n@arg('n', ints(2, 5))\ndef f(x, n): pass",
        1,
        "argument 'x' of f: the annotation allows no value",
    ),
    "range without a float of its width": (
        "@arg('x', floats(0, 1e-60, exclude_min=True, exclude_max=True, width=32))\ndef f(x): pass",
        1,
        "argument 'x' of f: the annotation allows no value",
    ),
    "more keys than possible": (
        "@arg('x', dicts(froms(['a']), ints(), min_size=2))\ndef f(x): pass",
        1,
        "argument 'x' of f: the annotation allows no value",
    ),
    "precondition with an unknown name": (
        "@arg('x', ints())\n@require('y > 0')\ndef f(x): pass",
        2,
        "f: require names 'y', which is not an argument; arguments: x",
    ),
    "precondition with a syntax error": (
        "@arg('x', ints())\n@require('x >')\ndef f(x): pass",
        2,
        "f: require: 'x >' is not an expression: invalid syntax",
    ),
    "precondition function with unknown arguments": (
        "@arg('x', ints())\n@require(lambda z: z > 0)\ndef f(x): pass",
        2,
        "f: require names 'z', which is not an argument; arguments: x",
    ),
    "precondition that never holds": (
        "@arg('x', ints())\n@require('1 > 2')\ndef f(x): pass",
        2,
        "f: require('1 > 2') never holds for any arguments",
    ),
    "precondition that contradicts the ranges": (
        "@arg('x', ints(1, 4))\n@arg('y', ints(5, 9))\n@require('x >= y')\ndef f(x, y): pass",
        3,
        "f: require('x >= y') never holds for the annotated values",
    ),
    "preconditions that contradict each other": (
        (
            "@arg('xs', int_lists(0, 9))\n@require('len(xs) > 5')\n@require('len(xs) < 5')\n"
            "def f(xs): pass"
        ),
        2,
        "f: require('len(xs) > 5') never holds for the annotated values",
    ),
    "unknown generator": (
        "@arg('x', objs('models'))\ndef f(x): pass",
        1,
        "argument 'x' of f: objs: module annotated_program has no function models",
    ),
    "generator that is a builtin": (
        "@arg('x', objs(len))\ndef f(x): pass",
        1,
        "argument 'x' of f: objs: module annotated_program has no function len",
    ),
    "generator without values": (
        "@generator\n@exclude\ndef made(n): return n\n@arg('x', objs(made))\ndef f(x): pass",
        3,
        "argument 'n' of made is not annotated; add @arg(\"n\", …)",
    ),
    "generator class of another module": (
        "import decimal\n@arg('x', objs(decimal.Decimal))\ndef f(x): pass",
        2,
        (
            "argument 'x' of f: objs: class Decimal is defined in another module; name an "
            "annotated function of this module that returns an instance"
        ),
    ),
    "reference to a generated value": (
        (
            "@generator\n@exclude\n@arg('n', ints(1, 3))\ndef made(n): return [n]\n"
            "@arg('x', objs(made))\n@arg('y', ints(max=ref('len(x)')))\ndef f(x, y): pass"
        ),
        6,
        (
            "argument 'y' of f: ref('len(x)'): the result of made is unknown before the call; "
            "use @require instead"
        ),
    ),
    "generator that needs itself": (
        (
            "@generator\n@exclude\n@arg('n', objs('made'))\ndef made(n): return n\n"
            "@arg('x', objs(made))\ndef f(x): pass"
        ),
        6,
        "f: generators of objs need each other in a cycle: f → made → made",
    ),
    "constructor without values": (
        (
            "class C:\n    def __init__(self, n): pass\n    @arg('x', ints())\n"
            "    def m(self, x): pass"
        ),
        2,
        "argument 'n' of C.__init__ is not annotated; add @arg(\"n\", …)",
    ),
    "example with too many arguments": (
        "class C:\n    @arg('n', ints())\n    @cc_example([1, 2])\n    def __init__(self, n): pass",
        4,
        "cc_example of C.__init__: too many positional arguments",
    ),
    "unknown dtype": (
        "@arg('x', np_arrays('float33'))\ndef f(x): pass",
        1,
        "argument 'x' of f: ciguard cannot make arrays of dtype 'float33'",
    ),
}


@pytest.mark.parametrize(("source", "line", "message"), PROBLEMS.values(), ids=PROBLEMS)
def test_an_invalid_annotation_is_reported_with_its_line(
    source: str, line: int, message: str
) -> None:
    program = Annotated(source)

    (problem,) = program.spec.problems

    assert problem.message == message
    assert problem.line == line + IMPORTS.count("\n")
    assert problem.file == program.module.__file__
    assert problem.function not in {function.name for function in program.spec.tested()}


def test_an_excluded_function_may_have_arguments_without_values() -> None:
    program = Annotated("@exclude\ndef f(x): pass\n@arg('x', ints())\ndef g(x): pass")

    assert program.problems == []
    assert [function.name for function in program.spec.tested()] == ["g"]


def test_an_excluded_class_is_not_tested() -> None:
    program = Annotated("@exclude\nclass C:\n    @arg('x', ints())\n    def m(self, x): pass")

    assert program.spec.tested() == ()


def test_conditions_may_name_globals_and_builtins_of_the_function() -> None:
    program = Annotated(
        "LIMIT = 3\n@arg('x', ints(0, 5))\n@require('x < LIMIT and len([x]) == 1')\n"
        "@ensure('result is None and x < LIMIT')\ndef f(x): pass"
    )

    assert program.problems == []
    assert program.statuses("f") == {"passed", "discarded"}
