from __future__ import annotations

from dataclasses import replace

from baseline_examples import record, sighting

from ciguard.baseline import Decision, State, histories
from ciguard.domain.events import BucketHistory


def test_histories_holds_all_changes_of_a_record() -> None:
    fixed = Decision(changed=sighting(2).time, state=State.FIXED)
    again = Decision(changed=sighting(3).time)
    kept = replace(record(), history=(record().decision, fixed, again), last_seen=sighting(4))

    history = BucketHistory(
        first_seen=sighting(1).time,
        last_seen=sighting(4).time,
        states=(
            (sighting(1).time, "open"),
            (sighting(2).time, "fixed"),
            (sighting(3).time, "open"),
        ),
    )
    assert histories({kept.fingerprint: kept}) == {kept.fingerprint: history}


def test_histories_of_a_record_without_history_holds_its_state() -> None:
    (history,) = histories({"": record(state=State.ACCEPTED)}).values()

    assert history.states == ((sighting(1).time, "accepted"),)
