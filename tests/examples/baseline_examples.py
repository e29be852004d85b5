"""Records to test with."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import strategies as st

from ciguard.baseline import BaselineRecord, Decision, Sighting, State
from ciguard.baseline.record import RepetitionCounts, Representative
from ciguard.domain.api_calls import ApiCall, CallKind
from ciguard.domain.findings import Severity
from ciguard.domain.values import LiteralValue

NAMES = tuple(f"v1:{digit * 16}" for digit in "0123456789")


def sighting(day: int = 1, commit: str = "c") -> Sighting:
    return Sighting(
        time=f"2026-01-{day:02}T00:00:00Z", commit=commit, versions=(("torch==2.13.0", "2.13.0"),)
    )


def record(
    name: str = NAMES[1],
    *,
    state: State = State.OPEN,
    day: int = 1,
    argument: object = 1,
    clean_runs: int = 0,
) -> BaselineRecord:
    case = ApiCall(
        api="torch.fold",
        kind=CallKind.FUNCTION,
        arguments=(LiteralValue(argument),),  # type: ignore[arg-type]
    )
    return BaselineRecord(
        fingerprint=name,
        decision=Decision(changed=sighting(day).time, state=state, clean_runs=clean_runs),
        representative=Representative(
            level="api",
            oracle="crash",
            kind="signal",
            severity=Severity.CRITICAL,
            library="torch",
            api="torch.fold",
            message=f"torch.fold({argument!r}) ends the process",
            case=case,
            grouping=(("api", "torch.fold"),),
        ),
        targets=("torch==2.13.0",),
        first_seen=sighting(day),
        last_seen=sighting(day),
    )


def _varied(
    base: BaselineRecord, aliases: set[str], issue: str, targets: set[str], seen: list[int]
) -> BaselineRecord:
    first, last, tried, shown = seen
    exhibit = replace(
        base.representative,
        severity=Severity(tried),
        message=f"m{shown}",
        grouping=(("api", str(last)),),
    )
    return replace(
        base,
        representative=exhibit,
        aliases=tuple(sorted(aliases)),
        issue=issue,
        targets=tuple(sorted(targets)),
        first_seen=sighting(min(first, last), commit=f"c{tried}"),
        last_seen=sighting(max(first, last), commit=f"c{shown}"),
        flakes=RepetitionCounts(shown=min(shown, tried), tried=tried),
    )


records = st.builds(
    _varied,
    st.builds(
        record,
        st.sampled_from(NAMES[:3]),
        state=st.sampled_from(State),
        day=st.integers(1, 4),
        argument=st.one_of(st.text(max_size=3), st.integers(0, 9)),
        clean_runs=st.integers(0, 3),
    ),
    st.sets(st.sampled_from(NAMES[5:]), max_size=2),
    st.sampled_from(["", "1", "2", "10"]),
    st.sets(st.sampled_from(["a", "b", "c"]), min_size=1),
    st.lists(st.integers(1, 3), min_size=4, max_size=4),
)
record_sets = st.lists(records, max_size=4).map(
    lambda items: {item.fingerprint: item for item in items}
)
