"""Engines that answer requests in place of a cognitive service.

`engine` has their protocol. Real recognisers, each with an optional package: `written_text`,
`faces`, `feelings`, `speech`. `simulated` generates answers from what inputs were made to show, the
`relations` of labels, and optionally a confusion matrix. `recording` calls a service once, and
replays its answers later. `faults` reads the faults to inject, and `faulty` injects them in front
of an engine. `choosing` builds the chain of engines. `validation` refuses what services refuse;
`pictures` and `sounds` decode files that may be damaged. Engines return the fields of the
provider's messages.
"""

from ciguard.levels.app.virtualization.engine import Engine

__all__ = [
    "Engine",
]
