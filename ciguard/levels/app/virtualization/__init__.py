"""Engines that answer in the place of a cognitive service, with the fields of its messages.

`engine` is what all of them are. Real ones, each with an optional package: `written_text`, `faces`,
`feelings`, `speech`. `simulated` makes answers up, from what inputs were made to show and what
`relations` says of labels. `recording` asks a service once and answers from a file from then on;
`habits` says what a simulated one confuses; `faults` says what goes wrong on purpose, and `faulty`
puts it before an engine; `choosing` composes. `validation` refuses what services refuse, `pictures`
and `sounds` read what may be damaged. The messages are written by the provider.
"""

from ciguard.levels.app.virtualization.engine import Engine

__all__ = [
    "Engine",
]
