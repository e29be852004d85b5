"""What `ciguard doctor --confinement` reports of a machine."""

from __future__ import annotations

import pytest

from ciguard.actions.checkup import Health, confinement, examine_confinement
from ciguard.execution import Probe, probe_confinement


def test_each_attempt_of_a_worker_has_a_line() -> None:
    diagnoses = list(examine_confinement(is_required=True))

    assert len(diagnoses) == len(probe_confinement())
    by_name = {diagnosis.text.partition(":")[0]: diagnosis for diagnosis in diagnoses}
    assert by_name["file-write"].health is Health.OK
    assert "a worker cannot write a file outside its folders (EACCES)" in by_name["file-write"].text


@pytest.mark.parametrize(
    ("is_required", "health"), [(True, Health.PROBLEM), (False, Health.WARNING)]
)
def test_attack_that_is_not_blocked_is_reported_with_a_remedy(
    monkeypatch: pytest.MonkeyPatch, *, is_required: bool, health: Health
) -> None:
    open_door = Probe(name="network", attack="connect to a port", holds=False, detail="")
    monkeypatch.setattr(confinement, "probe_confinement", lambda: (open_door,))

    (diagnosis,) = examine_confinement(is_required=is_required)

    assert (diagnosis.health, diagnosis.text) == (health, "network: a worker can connect to a port")
    assert "docs/confinement.md" in diagnosis.remedy
