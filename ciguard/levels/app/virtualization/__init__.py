"""Engines that answer requests in place of a cognitive service, in its provider's JSON.

`engine` has their protocol. Real recognisers, each with an optional package, are `written_text`,
`faces`, `sentiment` and `speech`. `simulated` generates answers from the specification of each
input, from the `relations` of labels, and optionally from a confusion matrix. `recording` records
the answers of a service, and replays them in later runs. `faults` reads the faults to inject;
`faulty` injects them. `choosing` builds the chain of engines. `validation` refuses invalid
requests as services do; `pictures` and `sounds` decode files that may be damaged.
"""

from ciguard.levels.app.virtualization.engine import Engine

__all__ = [
    "Engine",
]
