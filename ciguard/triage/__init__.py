"""Triage: from findings to confirmed buckets, each with a standalone script.

`fingerprint` says which findings are one bug, `Buckets` folds them, `script` writes the reproducer.
"""

from ciguard.triage.buckets import Buckets, Simplicity, simplicity
from ciguard.triage.confirm import Confirmer, Settled
from ciguard.triage.fingerprint import Fingerprint, fingerprint, is_fingerprint
from ciguard.triage.minimise import Minimiser
from ciguard.triage.normalise import normalise
from ciguard.triage.reductions import reductions
from ciguard.triage.reproducer import EnvironmentHint, script
from ciguard.triage.symptom import Symptom, symptom_of, telling_line
from ciguard.triage.timing import measures_alike
from ciguard.triage.wording import without_local_paths

__all__ = [
    "Buckets",
    "Confirmer",
    "EnvironmentHint",
    "Fingerprint",
    "Minimiser",
    "Settled",
    "Simplicity",
    "Symptom",
    "fingerprint",
    "is_fingerprint",
    "measures_alike",
    "normalise",
    "reductions",
    "script",
    "simplicity",
    "symptom_of",
    "telling_line",
    "without_local_paths",
]
