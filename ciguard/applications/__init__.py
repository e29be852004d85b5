"""Applications around cognitive services: who calls them, and what branches make of the answers.

`providers` has one folder for each provider; `finding` reads an application's text, runs nothing of
it, and tells which functions call them and which branches depend on what they answer; `judging`
tells which of their conditions no answer can change; `exploring` calls them with one made answer
after the other, in a process where `in_target` stands between the application and its clients.
`inverting` makes inputs in which people recognise something, `answering` answers in the place of a
service, `emulating` as a service of its own, `assessing` runs functions with both and judges them,
`repairing` suggests what to change.
Here live no levels and no reports.
"""

from __future__ import annotations

from ciguard.applications.providers.description import read_provider
from ciguard.applications.providers.registered import known_providers, outside_hooks

__all__ = [
    "known_providers",
    "outside_hooks",
    "read_provider",
]
