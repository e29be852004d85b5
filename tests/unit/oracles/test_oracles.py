"""The contract of oracles, and the oracles of single calls."""

from __future__ import annotations

import binascii
import math
import struct
from dataclasses import replace
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st
from outcome_examples import NEW, OLD, case, identity, passed, subject

from ciguard.domain.findings import PairKind, Severity
from ciguard.domain.intent import Intent
from ciguard.domain.outcomes import (
    Crashed,
    Errored,
    Exhausted,
    Frame,
    Hung,
    Outcome,
    Passed,
    Rejected,
    Resource,
    Stage,
)
from ciguard.domain.values import (
    CallValue,
    Constant,
    DictValue,
    DtypeValue,
    Explicit,
    ListValue,
    LiteralValue,
    Special,
    TensorValue,
    TupleValue,
    Uniform,
    Value,
)
from ciguard.libraries import NO_KERNEL, NONDETERMINISTIC, OPEN_INDICES, OPEN_VALUES
from ciguard.oracles import ORACLES, Identity, Subject, judge, pair_kind
from ciguard.oracles.comparing import outcome_difference
from ciguard.oracles.contract import Oracle, headline

if TYPE_CHECKING:
    from collections.abc import Mapping

STACK = (Frame("torch/functional.py", "fold"),)
ON_DEVICES = {OLD: identity(), NEW: identity(device="cuda:0")}
NUMBER = LiteralValue(3)
EVERY_OUTCOME: tuple[Outcome, ...] = (
    passed(1.0),
    passed(2.0),
    Passed(b"not written by a healthy worker", 0.1),
    Rejected("ValueError", "no"),
    Rejected("TypeError", "no"),
    Rejected("TypeError", "no such dtype", Stage.BUILD),
    Rejected("Unsupported", "a graph has no values", Stage.MODE),
    Errored("SystemError", "slot 0x7f", STACK),
    Crashed("SIGSEGV", STACK, "log"),
    Crashed("exit 3"),
    Hung(5.0, STACK),
    Exhausted(Resource.MEMORY, "out of memory"),
    Exhausted(Resource.MEMORY, was_killed=True),
    Exhausted(Resource.OUTPUT, was_killed=True),
)
any_outcomes = st.fixed_dictionaries({OLD: st.sampled_from(EVERY_OUTCOME)}).flatmap(
    lambda old: st.sampled_from(EVERY_OUTCOME).map(lambda new: {**old, NEW: new})
)


def summaries(
    outcomes: Mapping[str, Outcome], *, tags: tuple[str, ...] = (), argument: Value = NUMBER
) -> list[tuple[str, str, Severity, tuple[str, ...]]]:
    findings = judge(case(argument), outcomes, subject(*tags))
    return [(f.oracle, f.kind, f.severity, f.targets) for f in findings]


# --- the contract, over everything registered -------------------------------------------------


@pytest.fixture(scope="module", params=sorted(ORACLES.items()))
def oracle(request: pytest.FixtureRequest) -> Oracle:
    return ORACLES.get(request.param)


def test_the_built_in_oracles_are_registered() -> None:
    assert set(ORACLES.items()) >= {
        "crash", "differential", "exhaustion", "hang", "internal-error",
    }  # fmt: skip


@given(outcomes=any_outcomes, names=st.permutations([OLD, NEW]))
def test_the_same_input_gives_the_same_findings(
    oracle: Oracle, outcomes: dict[str, Outcome], names: list[str]
) -> None:
    tested = subject(names=names)
    before = dict(outcomes)

    first = oracle.judge(case(), outcomes, tested)
    second = oracle.judge(case(), dict(outcomes), tested)

    assert list(first) == list(second)
    assert outcomes == before


@given(outcomes=any_outcomes)
@pytest.mark.lengthy
def test_a_finding_has_the_targets_that_ran_the_case_with_their_outcomes(
    oracle: Oracle, outcomes: dict[str, Outcome]
) -> None:
    for finding in oracle.judge(case(), outcomes, subject()):
        assert finding.targets
        assert set(finding.targets) <= set(finding.outcomes) <= set(outcomes)
        assert all(finding.outcomes[name] == outcomes[name] for name in finding.outcomes)
        assert (finding.library, finding.api, finding.case) == ("torch", "torch.fold", case())
        assert finding.message
        assert ORACLES.get(finding.oracle) is oracle


def test_no_outcomes_or_a_single_pass_are_not_findings(oracle: Oracle) -> None:
    assert not oracle.judge(case(), {}, subject())
    assert not oracle.judge(case(), {OLD: passed(1.0)}, subject())


@given(outcomes=any_outcomes)
def test_the_quick_check_does_not_lose_findings(
    outcomes: dict[str, Outcome],
) -> None:
    one_by_one = [
        finding
        for oracle in ORACLES.items().values()
        for finding in oracle.judge(case(), outcomes, subject())
    ]

    assert judge(case(), outcomes, subject()) == one_by_one


def test_a_case_without_outcomes_has_no_finding() -> None:
    assert judge(case(), {}, subject()) == []


# --- deaths, hangs, internal errors -----------------------------------------------------------


def test_a_crash_on_both_targets_is_one_finding_with_both() -> None:
    outcomes: dict[str, Outcome] = {OLD: Crashed("SIGSEGV"), NEW: Crashed("SIGABRT")}

    assert summaries(outcomes) == [("crash", "signal", Severity.CRITICAL, (OLD, NEW))]


def test_a_crash_on_one_target_is_not_a_differential_finding() -> None:
    outcomes: dict[str, Outcome] = {OLD: passed(1.0), NEW: Crashed("SIGSEGV")}

    assert summaries(outcomes) == [("crash", "signal", Severity.CRITICAL, (NEW,))]


def test_an_exit_is_a_crash_of_kind_exit() -> None:
    assert summaries({OLD: Crashed("exit 3")}) == [("crash", "exit", Severity.CRITICAL, (OLD,))]


def test_an_internal_error_has_the_kind_of_its_exception_class() -> None:
    outcomes = {NEW: Errored("SystemError", "  slot 7\nmore\n" + "x" * 999)}

    (finding,) = judge(case(), outcomes, subject())

    assert (finding.oracle, finding.kind) == ("internal-error", "SystemError")
    assert finding.message == "torch.fold fails internally: SystemError: slot 7"


def test_an_out_of_memory_exception_is_not_a_finding_but_an_abort_is() -> None:
    clean, aborted = Exhausted(Resource.MEMORY), Exhausted(Resource.MEMORY, was_killed=True)

    assert summaries({OLD: clean, NEW: clean}) == []
    assert summaries({OLD: clean, NEW: aborted}) == [
        ("exhaustion", "memory", Severity.MEDIUM, (NEW,))
    ]


def test_exhaustion_by_a_large_request_has_low_severity() -> None:
    outcomes: dict[str, Outcome] = {OLD: Exhausted(Resource.MEMORY, was_killed=True)}

    assert [severity for *_, severity, _ in summaries(outcomes, argument=LiteralValue(HUGE))] == [
        Severity.LOW
    ]


def test_too_much_output_is_an_exhaustion() -> None:
    outcomes = {OLD: Exhausted(Resource.OUTPUT, was_killed=True)}

    assert summaries(outcomes) == [("exhaustion", "output", Severity.MEDIUM, (OLD,))]


def test_a_hang_on_small_arguments_is_a_finding() -> None:
    outcomes: dict[str, Outcome] = {OLD: Hung(5.0), NEW: passed(1.0)}

    assert summaries(outcomes) == [("hang", "hang", Severity.HIGH, (OLD,))]


HUGE = 2**31
NAN, INF = math.nan, math.inf
SMALL = TensorValue("int32", (2,), Constant(1))


@pytest.mark.parametrize(
    "value",
    [
        LiteralValue(HUGE),
        LiteralValue(-HUGE),
        LiteralValue(1e9),
        ListValue((LiteralValue(1), LiteralValue(HUGE))),
        TupleValue((ListValue((LiteralValue(HUGE),)),)),
        TupleValue((LiteralValue(65_536), LiteralValue(65_536))),
        DictValue((("size", LiteralValue(HUGE)),)),
        CallValue("torch.Size", (ListValue((LiteralValue(HUGE),)),)),
        CallValue("torch.Size", (), (("n", LiteralValue(HUGE)),)),
        TensorValue("int64", (2,), Constant(HUGE)),
        TensorValue("int64", (2,), Explicit((1, HUGE))),
        TensorValue("float32", (2,), Uniform(0, 0.0, 1e6)),
        TensorValue("float32", (2,), Uniform(0, float("nan"), 1e30)),
        TensorValue("int32", (2,), Special(0)),
        TensorValue("float32", (1000, 1000), Constant(1.0)),
    ],
)
def test_a_hang_of_a_large_request_is_not_a_finding(value: Value) -> None:
    assert summaries({OLD: Hung(5.0)}, argument=value) == []


@pytest.mark.parametrize(
    "value",
    [
        LiteralValue(99_999),
        LiteralValue("100000000"),
        TupleValue((LiteralValue(65_536), LiteralValue(-65_536))),
        LiteralValue(value=True),
        LiteralValue(float("nan")),
        TensorValue("float32", (2,), Constant(float("nan"))),
        SMALL,
        ListValue((SMALL, LiteralValue(None))),
        TensorValue("float32", (3,), Uniform(0, -1.0, 1.0)),
    ],
)
def test_a_hang_on_small_numbers_is_a_finding(value: Value) -> None:
    assert [oracle for oracle, *_ in summaries({OLD: Hung(5.0)}, argument=value)] == ["hang"]


# --- differences --------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mine", "theirs", "kind", "severity"),
    [
        (passed(1.0), passed(2.0), "values", Severity.HIGH),
        (passed(1.0), passed(float("nan")), "nan", Severity.MEDIUM),
        (passed(1.0), passed(1.0, dtype="float64"), "dtype", Severity.HIGH),
        (passed(1.0), passed(1.0, 2.0), "shape", Severity.HIGH),
        (passed(1.0), Passed(b"null", 0.0), "structure", Severity.HIGH),
        (passed(1.0), Rejected("ValueError", "no"), "refused", Severity.MEDIUM),
        (Rejected("ValueError", "no"), passed(1.0), "accepted", Severity.INFO),
        (Rejected("ValueError", "no"), Rejected("TypeError", "no"), "exception", Severity.LOW),
    ],
)
def test_a_difference_has_a_kind_and_a_severity(
    mine: Outcome, theirs: Outcome, kind: str, severity: Severity
) -> None:
    outcomes = {OLD: mine, NEW: theirs}

    assert summaries(outcomes) == [("differential", kind, severity, (OLD, NEW))]
    (finding,) = judge(case(), outcomes, subject())
    assert finding.pair is PairKind.VERSION


@pytest.mark.parametrize(
    ("mine", "theirs", "message"),
    [
        (passed(1.0), passed(2.0), "torch.fold differs in values: 1 vs 2"),
        (passed(1.0), passed(math.nan), "torch.fold differs in NaN: 1"),
        (
            passed(1.0),
            Rejected("ValueError", "no"),
            "torch.fold is refused with ValueError: no",
        ),
        (
            Rejected("ValueError", "no"),
            passed(1.0),
            "torch.fold is accepted, but was refused with ValueError: no",
        ),
    ],
)
def test_the_message_of_a_difference_is_a_sentence(
    mine: Outcome, theirs: Outcome, message: str
) -> None:
    (finding,) = judge(case(), {OLD: mine, NEW: theirs}, subject())

    assert finding.message.startswith(message)


@pytest.mark.parametrize(
    ("mine", "theirs"),
    [
        (passed(1.0), Passed(passed(1.0).encoded, 9.0)),
        (Rejected("ValueError", "one wording"), Rejected("ValueError", "another")),
        (passed(1.0), Rejected("TypeError", "no float8 here", Stage.BUILD)),
        (Rejected("TypeError", "no float8 here", Stage.BUILD), passed(1.0)),
        (passed(1.0), Passed(b"garbage", 0.0)),
        (passed(1.0), Exhausted(Resource.MEMORY)),
        (passed(1.0), Crashed("SIGSEGV")),
        (passed(1.0), Hung(1.0)),
        (passed(1.0), Errored("SystemError", "")),
    ],
)
def test_equal_outcomes_and_crashes_are_not_differences(mine: Outcome, theirs: Outcome) -> None:
    assert outcome_difference(mine, theirs) is None


@pytest.mark.parametrize("tag", ["random", "time", "unstable"])
def test_only_types_and_shapes_of_an_unstable_api_are_compared(tag: str) -> None:
    assert summaries({OLD: passed(1.0), NEW: passed(2.0)}, tags=(tag,)) == []
    assert summaries({OLD: passed(1.0), NEW: passed(float("nan"))}, tags=(tag,)) == []
    assert [
        kind for _, kind, *_ in summaries({OLD: passed(1.0), NEW: passed(1.0, 2.0)}, tags=(tag,))
    ]


@pytest.mark.parametrize(
    ("api", "is_compared"),
    [
        ("tensorflow.keras.layers.RandomHeight", False),
        ("keras.layers.RandomWidth", False),
        ("tensorflow.keras.layers.RandomCrop", True),  # to a given size
    ],
)
def test_shapes_that_an_api_draws_at_random_are_not_compared(
    api: str, *, is_compared: bool
) -> None:
    met = replace(case(), api=api)
    of_layer = replace(subject("random"), api=api)

    found = judge(met, {OLD: passed(1.0), NEW: passed(1.0, 2.0)}, of_layer)

    assert bool(found) is is_compared


@pytest.mark.parametrize(
    "value",
    [
        TensorValue("float32", (2,), Special(1)),
        TensorValue("float32", (2,), Constant(float("nan"))),
        TensorValue("float32", (2,), Explicit((1.0, float("inf")))),
        ListValue((TensorValue("float32", (2,), Special(1)),)),
        TupleValue((DictValue((("x", TensorValue("float32", (2,), Special(1))),)),)),
        CallValue("torch.abs", (TensorValue("float32", (2,), Special(1)),)),
        CallValue("torch.abs", (), (("x", LiteralValue(float("-inf"))),)),
    ],
)
def test_results_of_special_elements_are_not_compared(value: Value) -> None:
    assert summaries({OLD: passed(1.0), NEW: passed(2.0)}, argument=value) == []
    assert summaries({OLD: passed(1.0), NEW: Crashed("SIGSEGV")}, argument=value)


NOT_A_NUMBER = TensorValue("float32", (2,), Explicit((1.0, float("nan"))))


@pytest.mark.parametrize(
    ("theirs", "kind"),
    [
        (passed(1.0, NAN), ""),
        (passed(1.0, INF), ""),  # which of the two comes of NaN may depend on the order
        (passed(1.0, 0.0), "nan"),
        (passed(2.0, NAN), "values"),
        (passed(NAN, NAN), "nan"),
    ],
)
def test_results_of_nan_are_compared_in_special_cases(theirs: Outcome, kind: str) -> None:
    special = case(NOT_A_NUMBER, intent=Intent.SPECIAL)

    findings = judge(special, {OLD: passed(1.0, NAN), NEW: theirs}, subject())

    assert [finding.kind for finding in findings] == [kind] * bool(kind)


@pytest.mark.parametrize("api", ["torch.sort", "torch.linalg.inv", "tensorflow.math.top_k"])
def test_exempted_results_of_nan_are_not_compared(api: str) -> None:
    special = case(NOT_A_NUMBER, intent=Intent.SPECIAL)
    tested = replace(subject(), api=api)

    assert judge(special, {OLD: passed(NAN), NEW: passed(1.0)}, tested) == []
    assert judge(case(SMALL), {OLD: passed(2.0), NEW: passed(1.0)}, tested)


def outcome_with_effects(changed: list[int], shared: list[int]) -> Passed:
    """Return the outcome of a call that changed arguments, or whose result shares their memory."""
    text = passed(1.0).encoded.decode()
    return Passed(f'["E",{changed},{shared},{text}]'.encode(), 0.1)


@pytest.mark.parametrize(
    ("theirs", "kind", "severity", "text"),
    [
        (
            outcome_with_effects([1], []),
            "mutation",
            Severity.HIGH,
            "changes no argument vs changes tensor 2",
        ),
        (
            outcome_with_effects([], [0]),
            "aliasing",
            Severity.LOW,
            "shares memory with no argument vs shares memory with tensor 1",
        ),
    ],
)
def test_effects_on_arguments_are_compared(
    theirs: Outcome, kind: str, severity: Severity, text: str
) -> None:
    (finding,) = judge(case(), {OLD: passed(1.0), NEW: theirs}, subject())

    assert (finding.kind, finding.severity) == (kind, severity)
    assert finding.message == f"torch.fold differs in {kind}: {text}"
    assert outcome_difference(theirs, theirs) is None


def test_a_wrong_result_takes_precedence_over_a_changed_argument() -> None:
    found_ = judge(case(), {OLD: passed(2.0), NEW: outcome_with_effects([0], [0])}, subject())

    assert [finding.kind for finding in found_] == ["values"]


def test_a_copy_made_on_the_way_to_another_device_is_not_a_difference() -> None:
    tested = replace(subject(), targets={OLD: identity(), NEW: identity(device="cuda")})

    assert judge(case(), {OLD: outcome_with_effects([], [0]), NEW: passed(1.0)}, tested) == []
    assert judge(case(), {OLD: outcome_with_effects([0], []), NEW: passed(1.0)}, tested)


@pytest.mark.parametrize(
    ("message", "severity"),
    [
        ("\"addmm_cuda\" not implemented for 'Long'", Severity.INFO),
        ("Could not run 'aten::histogram' with arguments from the 'CUDA' backend.", Severity.INFO),
        ("can't convert cuda:0 device type tensor to numpy.", Severity.INFO),
        ("CUDA error: device-side assert triggered\nSearch for it", Severity.HIGH),
        ("the sizes do not fit", Severity.MEDIUM),
        ("Expected all tensors to be on the same device, cuda:0 and cpu", Severity.MEDIUM),
    ],
)
def test_the_severity_of_a_devices_rejection_depends_on_its_reason(
    message: str, severity: Severity
) -> None:
    tested = replace(subject(), targets=ON_DEVICES)
    refused: dict[str, Outcome] = {OLD: passed(1.0), NEW: Rejected("RuntimeError", message)}

    assert [finding.severity for finding in judge(case(), refused, tested)] == [severity]


def test_exceptions_and_acceptance_are_not_compared_between_devices() -> None:
    tested = replace(subject(), targets=ON_DEVICES)
    refused, otherwise = Rejected("IndexError", "no"), Rejected("AcceleratorError", "no")

    assert judge(case(), {OLD: refused, NEW: otherwise}, tested) == []
    assert judge(case(), {OLD: refused, NEW: passed(1.0)}, tested) == []
    assert judge(case(), {OLD: refused, NEW: otherwise}, subject())


def test_a_rejection_without_a_kernel_informs_whatever_its_message() -> None:
    tested = replace(subject(), targets=ON_DEVICES, on_devices=frozenset({NO_KERNEL}))
    refused: dict[str, Outcome] = {OLD: passed(1.0), NEW: Rejected("RuntimeError", "no")}

    assert [finding.severity for finding in judge(case(), refused, tested)] == [Severity.INFO]
    assert judge(case(), {OLD: passed(1.0), NEW: passed(2.0)}, tested)


@pytest.mark.parametrize(
    ("api", "note"), [("torch.Tensor.argsort", OPEN_VALUES), ("torch.Tensor.get_device", "")]
)
def test_exemptions_between_devices_do_not_apply_between_versions(api: str, note: str) -> None:
    outcomes = {OLD: passed(1.0), NEW: passed(2.0)}
    tested = replace(subject(), api=api, on_devices=frozenset({note}))

    assert judge(case(), outcomes, replace(tested, targets=ON_DEVICES)) == []
    assert judge(case(), outcomes, tested)


def test_versions_on_a_gpu_are_compared_unless_each_call_may_return_other_values() -> None:
    on_gpu = {name: replace(one, device="cuda:0") for name, one in subject().targets.items()}
    tested = replace(subject(), targets=on_gpu, on_devices=frozenset({OPEN_VALUES}))
    outcomes = {OLD: passed(1.0), NEW: passed(2.0)}

    assert judge(case(), outcomes, tested)
    both = frozenset({OPEN_VALUES, NONDETERMINISTIC})
    assert judge(case(), outcomes, replace(tested, on_devices=both)) == []
    assert judge(case(), outcomes, replace(subject(), on_devices=both))  # on a CPU


def pair_of(first: float, second: float) -> Passed:
    items = ",".join(_item(number) for number in (first, second))
    return Passed(f'["L","tuple",[{items}],2]'.encode(), 0.1)


def _item(number: float) -> str:
    encoded = binascii.b2a_base64(struct.pack("<f", number), newline=False).decode()
    return f'["T","float32",[],"{encoded}"]'


@pytest.mark.parametrize(
    ("api", "other", "is_open"),
    [
        ("torch.mode", pair_of(1.0, 9.0), True),
        ("torch.mode", pair_of(2.0, 3.0), False),
        ("torch.linalg.cholesky_ex", pair_of(2.0, 1.0), True),
        ("torch.add", pair_of(1.0, 9.0), False),
    ],
    ids=["indices of ties", "values", "incomplete", "no exemption"],
)
def test_devices_are_compared_in_the_documented_part(
    api: str, other: Passed, *, is_open: bool
) -> None:
    outcomes: dict[str, Outcome] = {OLD: pair_of(1.0, 3.0), NEW: other}
    findings = judge(case(), outcomes, replace(subject(), api=api, targets=ON_DEVICES))

    assert (findings == []) is is_open


@pytest.mark.parametrize(("other", "is_open"), [((1.0, 9.0), True), ((2.0, 3.0), False)])
def test_indices_of_ties_are_left_out_where_documentation_says_so(
    other: tuple[float, float], *, is_open: bool
) -> None:
    tested = replace(subject(), targets=ON_DEVICES, on_devices=frozenset({OPEN_INDICES}))
    findings = judge(case(), {OLD: pair_of(1.0, 3.0), NEW: pair_of(*other)}, tested)

    assert (findings == []) is is_open


def test_complete_decompositions_are_compared_between_devices() -> None:
    tested = replace(subject(), api="torch.linalg.inv_ex", targets=ON_DEVICES)

    assert judge(case(), {OLD: pair_of(1.0, 0.0), NEW: pair_of(2.0, 0.0)}, tested)


def test_an_integer_too_large_for_a_float_is_not_special() -> None:
    value = TensorValue("int64", (1,), Explicit((10**400,)))

    assert summaries({OLD: passed(1.0), NEW: passed(2.0)}, argument=value)


@pytest.mark.parametrize("intent", [Intent.VIOLATING, Intent.BOUNDARY])
def test_values_of_one_version_are_compared_for_conforming_cases_only(intent: Intent) -> None:
    bent = case(LiteralValue(3), intent=intent)
    one = identity(NEW)
    same = replace(subject(), targets={OLD: one, NEW: replace(one, device="cuda")})

    assert judge(bent, {OLD: passed(1.0), NEW: passed(2.0)}, same) == []
    assert judge(bent, {OLD: passed(1.0), NEW: passed(1.0, 2.0)}, same)


@pytest.mark.parametrize(
    ("value", "is_compared"),
    [
        (LiteralValue(3), True),
        (LiteralValue(0.0), True),
        (LiteralValue(float("inf")), True),
        (LiteralValue(float("nan")), False),
        (LiteralValue(2**31), False),
        (ListValue((LiteralValue(2**31),)), False),
        (TensorValue("int64", (2,), Constant(2)), True),
        (TensorValue("int64", (2,), Constant(2**40)), False),
        (TensorValue("float32", (2,), Constant(float("inf"))), False),
        (TensorValue("float32", (2,), Special(1)), False),
    ],
)
def test_values_at_a_boundary_are_compared_between_versions_unless_they_may_overflow(
    value: Value,
    is_compared: bool,  # noqa: FBT001 - a column
) -> None:
    outcomes = {OLD: passed(1.0), NEW: passed(2.0)}

    findings = judge(case(value, intent=Intent.BOUNDARY), outcomes, subject())

    assert [one.kind for one in findings] == ["values"] * is_compared
    assert judge(case(value, intent=Intent.VIOLATING), outcomes, subject()) == []


@pytest.mark.parametrize("integers", [TensorValue("uint8", (2,), Constant(1)), DtypeValue("int32")])
def test_infinity_that_may_become_an_integer_is_not_compared(integers: Value) -> None:
    infinite = case(LiteralValue(float("inf")), integers, intent=Intent.BOUNDARY)

    assert judge(infinite, {OLD: passed(1.0), NEW: passed(2.0)}, subject()) == []


def test_every_target_is_compared_with_the_first_one_that_ran() -> None:
    third = "torch==2.14.0"
    tested = subject(names=(OLD, NEW, third))

    all_ran = judge(case(), {third: passed(3.0), NEW: passed(1.0), OLD: passed(1.0)}, tested)
    first_absent = judge(case(), {NEW: passed(1.0), third: passed(3.0)}, tested)

    assert [f.targets for f in all_ran] == [(OLD, third)]
    assert [f.targets for f in first_absent] == [(NEW, third)]


ONE, TWO, THREE = passed(1.0), passed(2.0), passed(3.0)
NO = Rejected("ValueError", "no")


@pytest.mark.parametrize(
    ("outcomes", "pairs"),
    [
        ((ONE, TWO, TWO), [("b", "a")]),
        ((TWO, ONE, TWO), [("a", "b")]),
        ((TWO, TWO, ONE), [("a", "c")]),
        ((ONE, TWO, THREE), [("a", "b"), ("a", "c")]),
        ((NO, ONE, ONE), [("b", "a")]),
        ((NO, ONE, TWO), [("b", "a"), ("b", "c")]),
        ((Crashed("SIGSEGV"), ONE, TWO), []),
    ],
    ids=["first", "second", "third", "none", "refusal", "refusal of unequal results", "crash"],
)
def test_the_odd_one_of_three_backends_deviates(
    outcomes: tuple[Outcome, ...], pairs: list[tuple[str, str]]
) -> None:
    names = ("a", "b", "c")
    backends = {name: identity(packages=(name,)) for name in names}
    tested = replace(subject(), targets=backends)

    found = judge(case(), dict(zip(names, outcomes, strict=True)), tested)

    assert [f.targets for f in found if f.oracle == "differential"] == pairs


@pytest.mark.parametrize(
    "outcomes", [(TWO, ONE, ONE), (NO, ONE, ONE), (ONE, ONE, NO)], ids=["result", "first", "last"]
)
def test_a_finding_of_a_vote_is_the_same_when_it_is_judged_again(
    outcomes: tuple[Outcome, ...],
) -> None:
    names = ("a", "b", "c")
    backends = {name: identity(packages=(name,), engine=name) for name in names}
    tested, special = replace(subject(), targets=backends), replace(case(), intent=Intent.BOUNDARY)
    call = special if NO in outcomes else case()

    (found,) = judge(call, dict(zip(names, outcomes, strict=True)), tested)

    assert judge(call, found.outcomes, tested) == [found]


@pytest.mark.parametrize(
    ("outcomes", "pairs"),
    [
        ((ONE, TWO, TWO), [(NEW, OLD)]),
        ((NO, ONE, ONE), [(OLD, NEW), (OLD, "torch==2.14.0")]),
        ((ONE, NO, NO), [(OLD, NEW), (OLD, "torch==2.14.0")]),
    ],
    ids=["results", "accepted", "refused"],
)
def test_versions_vote_on_results_but_not_on_what_they_refuse(
    outcomes: tuple[Outcome, ...], pairs: list[tuple[str, str]]
) -> None:
    names = (OLD, NEW, "torch==2.14.0")

    found = judge(case(), dict(zip(names, outcomes, strict=True)), subject(names=names))

    assert [f.targets for f in found] == pairs


@pytest.mark.parametrize(
    ("other", "kind"),
    [
        (identity(), PairKind.SAME),
        (identity(device="cuda"), PairKind.DEVICE),
        (identity(NEW), PairKind.VERSION),
        (identity(NEW, device="cuda"), PairKind.DEVICE),
        (identity(packages=("torch==2.12.0", "numpy==1.26")), PairKind.BACKEND),
        (identity(environment=(("A", "1"),)), PairKind.ENVIRONMENT),
        (identity(mode="trace"), PairKind.MODE),
        (identity(NEW, mode="trace"), PairKind.MODE),
        (identity(mode="trace", device="cuda"), PairKind.DEVICE),
    ],
)
def test_a_pair_has_the_kind_of_its_first_difference(other: Identity, kind: PairKind) -> None:
    assert pair_kind(identity(), other) is kind


OLD_TRACED, NEW_TRACED = f"{OLD} trace", f"{NEW} trace"
IN_MODES = Subject(
    library="torch",
    api="torch.fold",
    targets={
        NEW_TRACED: identity(NEW, mode="trace"),
        OLD: identity(OLD),
        OLD_TRACED: identity(OLD, mode="trace"),
        NEW: identity(NEW),
    },
)


def test_a_mode_is_compared_with_the_same_target_without_it() -> None:
    outcomes = {
        NEW_TRACED: passed(2.0), OLD: passed(1.0), OLD_TRACED: passed(3.0), NEW: passed(2.0)
    }  # fmt: skip

    found_in = judge(case(), outcomes, IN_MODES)

    assert [(f.targets, f.pair) for f in found_in] == [
        ((OLD, OLD_TRACED), PairKind.MODE),
        ((OLD, NEW), PairKind.VERSION),
    ]
    assert found_in[0].detail == "trace"


def test_a_mode_without_its_eager_target_is_compared_with_the_first_one() -> None:
    beside_old = judge(case(), {NEW_TRACED: passed(2.0), OLD: passed(1.0)}, IN_MODES)
    among_modes = judge(case(), {NEW_TRACED: passed(2.0), OLD_TRACED: passed(1.0)}, IN_MODES)

    assert [(f.targets, f.pair) for f in beside_old] == [((OLD, NEW_TRACED), PairKind.MODE)]
    assert [(f.targets, f.pair) for f in among_modes] == [
        ((NEW_TRACED, OLD_TRACED), PairKind.VERSION)
    ]


NUMBER_RETURNED = Passed(b'["i","1"]', 0.1)


@pytest.mark.parametrize(
    ("eager", "traced", "kinds"),
    [
        (passed(1.0), Rejected("RuntimeError", "no"), ["refused"]),
        (passed(1.0), Rejected("Unsupported", "no values", Stage.MODE), []),
        (Rejected("ValueError", "no"), passed(1.0), []),
        (Rejected("ValueError", "no"), Rejected("TypeError", "no"), []),
        (NUMBER_RETURNED, passed(1.0), []),
        (passed(1.0), passed(1.0, 2.0), ["shape"]),
        (passed(1.0), passed(1, dtype="int32"), ["dtype"]),
        (passed(1.0), Errored("InternalError", "missing output"), ["InternalError"]),
    ],
)
def test_results_of_a_mode_are_compared_and_exceptions_are_not(
    eager: Outcome, traced: Outcome, kinds: list[str]
) -> None:
    assert [f.kind for f in judge(case(), {OLD: eager, OLD_TRACED: traced}, IN_MODES)] == kinds


@pytest.mark.parametrize(
    ("message", "severity"),
    [
        ("Shape must be rank 1 for '{{node Reverse}} = Reverse[T=DT_INT8](x0, x1)'", Severity.LOW),
        ("no kernel for int8", Severity.MEDIUM),
    ],
)
def test_a_rejection_by_shape_inference_has_low_severity(message: str, severity: Severity) -> None:
    refused: dict[str, Outcome] = {OLD: passed(1.0), OLD_TRACED: Rejected("ValueError", message)}
    between_versions: dict[str, Outcome] = {OLD: passed(1.0), NEW: Rejected("ValueError", message)}

    assert [f.severity for f in judge(case(), refused, IN_MODES)] == [severity]
    assert [f.severity for f in judge(case(), between_versions, IN_MODES)] == [Severity.MEDIUM]


def test_random_results_are_not_compared_between_modes() -> None:
    random = replace(IN_MODES, tags=frozenset({"random"}))

    assert judge(case(), {OLD: passed(1.0), OLD_TRACED: passed(1.0, 2.0)}, random) == []
    assert judge(case(), {OLD: passed(1.0), OLD_TRACED: Rejected("E", "")}, random) == []
    assert judge(case(), {OLD: passed(1.0), OLD_TRACED: passed(1, dtype="int8")}, random)


def test_exemptions_between_modes_do_not_apply_between_versions() -> None:
    clipping = replace(IN_MODES, api="tensorflow.clip_by_value")
    clipped = {OLD: passed(1.0), OLD_TRACED: passed(2.0), NEW: passed(2.0)}

    assert [f.pair for f in judge(case(), clipped, clipping)] == [PairKind.VERSION]


def test_an_exempted_rejection_by_a_mode_is_not_a_finding() -> None:
    memory = replace(IN_MODES, api="jax.numpy.from_dlpack")
    refused: dict[str, Outcome] = {OLD: passed(1.0), OLD_TRACED: Rejected("TypeError", "no memory")}

    assert judge(case(), refused, memory) == []
    assert judge(case(), refused, IN_MODES)


@pytest.mark.parametrize("api", ["tensorflow.linalg.svd", "tensorflow.raw_ops.Eig", "torch.svd"])
def test_the_phase_of_singular_vectors_and_eigenvectors_is_not_compared(api: str) -> None:
    outcomes = {OLD: passed(1.0), NEW: passed(-1.0)}

    assert judge(case(), outcomes, replace(subject(), api=api)) == []
    assert judge(case(), outcomes, replace(subject(), api="torch.linalg.svdvals"))


def test_a_subject_without_targets_has_no_finding() -> None:
    tested = Subject(library="torch", api="torch.fold", targets={})

    assert judge(case(), {OLD: passed(1.0), NEW: passed(2.0)}, tested) == []


def test_a_headline_has_no_boilerplate() -> None:
    graph = "{{function_node __wrapped__Fold_device_/job:localhost}} no such axis: 3 [Op:Fold]"
    layer = (
        "Exception encountered when calling RandomFlip.call().\n\n"
        "\x1b[1mExpected an image of rank 3\x1b[0m\n\nArguments received:\n  • training=True"
    )

    assert headline(graph) == "no such axis: 3 [Op:Fold]"
    assert headline(layer) == "Expected an image of rank 3"


@pytest.mark.parametrize(
    ("intent", "is_reported"), [(Intent.BOUNDARY, False), (Intent.SPECIAL, True)]
)
def test_a_shape_that_depends_on_an_unchecked_index_is_not_compared(
    intent: Intent,
    is_reported: bool,  # noqa: FBT001 - a column
) -> None:
    special_case = case(NOT_A_NUMBER, intent=intent)

    findings = judge(special_case, {OLD: passed(1.0), NEW: passed(1.0, 2.0)}, subject())

    assert bool(findings) is is_reported
    plain = case(LiteralValue(1), intent=Intent.BOUNDARY)
    assert judge(plain, {OLD: passed(1.0), NEW: passed(1.0, 2.0)}, subject())


def test_an_unchecked_kernels_shape_is_compared_only_for_conforming_cases() -> None:
    kernel = replace(subject(), api="tensorflow.raw_ops.SparseAdd")
    beyond, within = (case(intent=i) for i in (Intent.BOUNDARY, Intent.CONFORMING))
    outcomes = {OLD: passed(1.0), NEW: passed(1.0, 2.0)}

    assert judge(beyond, outcomes, kernel) == []
    assert [f.kind for f in judge(within, outcomes, kernel)] == ["shape"]
