"""The protocol of judged levels, and the oracles that levels register."""

from __future__ import annotations

import subprocess
import sys
from dataclasses import dataclass

import pytest
from outcome_examples import NEW, OLD, case, passed, subject

from ciguard.domain.case import OpaqueCase
from ciguard.domain.outcomes import Hung, Outcome
from ciguard.errors import RegistrationError
from ciguard.levels import LEVELS
from ciguard.oracles import ORACLES, JudgedLevel, JudgingDefaults, judge, judged_level_of, traits_of


@pytest.mark.parametrize("name", LEVELS.names())
def test_every_level_implements_the_protocol_of_judged_levels(name: str) -> None:
    assert isinstance(LEVELS.get(name), JudgedLevel)


@pytest.mark.parametrize("name", ["derivation", "growth", "function", "application", "layer-runs"])
def test_an_oracle_of_a_level_is_registered_when_oracles_are_listed(name: str) -> None:
    script = f"from ciguard.oracles import ORACLES; print(ORACLES.get({name!r}))"

    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, encoding="utf-8", check=True
    )

    assert "ciguard.levels." in done.stdout


def test_an_unknown_oracle_has_default_traits() -> None:
    assert traits_of("of-another-package") == traits_of("")


def test_a_claim_is_a_sentence_about_kind_and_detail() -> None:
    for name in ORACLES.items():
        traits = traits_of(name)

        assert all(
            claim.format(kind="k", detail="d").endswith(".")
            for claim in filter(None, [traits.claim, *traits.claims.values()])
        )


def test_a_case_of_an_uninstalled_level_is_judged_as_a_call() -> None:
    gone = OpaqueCase("planted.checked", "stride", '["planted.checked", "stride"]')

    assert judged_level_of(gone).compares_targets
    assert not judged_level_of(gone).is_large_request(gone)


@dataclass(frozen=True, slots=True)
class _Silent:
    name: str = "silent"


def test_a_level_without_the_protocol_is_an_error(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(type(case()), "level", "silent")
    monkeypatch.setattr(LEVELS, "_items", {**LEVELS._items, "silent": _Silent()})

    with pytest.raises(RegistrationError, match=r"level 'silent' .* ciguard\.oracles\.JudgedLevel"):
        judged_level_of(case())


class _Patient(JudgingDefaults[OpaqueCase]):
    name = "patient"

    def is_repeated(self, case: OpaqueCase) -> bool:
        del case
        return True


def test_a_repeated_program_is_not_a_hang(monkeypatch: pytest.MonkeyPatch) -> None:
    outcomes: dict[str, Outcome] = {OLD: passed(), NEW: Hung(5.0)}
    (hang,) = judge(case(), outcomes, subject(names=(OLD, NEW)))
    assert hang.oracle == "hang"

    monkeypatch.setattr(type(case()), "level", "patient")
    monkeypatch.setattr(LEVELS, "_items", {**LEVELS._items, "patient": _Patient()})

    assert judge(case(), outcomes, subject(names=(OLD, NEW))) == []
