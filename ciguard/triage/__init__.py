"""Triage: from findings to confirmed buckets, each with a standalone script.

`fingerprint` says which findings are one bug, `Buckets` folds them, `script` writes the reproducer.
"""

from ciguard.triage.buckets import Buckets, Simplicity, simplicity, united
from ciguard.triage.case_words import (
    checked_text,
    one_of,
    origin_rows,
    rate_text,
    suspect,
)
from ciguard.triage.causes import cause_of, first_of_each_cause, is_cause_name, with_causes
from ciguard.triage.confirm import Confirmer, Settled
from ciguard.triage.fingerprint import (
    RECIPES,
    Fingerprint,
    Grouping,
    fingerprint,
    is_fingerprint,
    newest_recipe,
    recipe_number,
    same_symptom,
)
from ciguard.triage.minimise import Minimiser
from ciguard.triage.native import native_frames
from ciguard.triage.neighbours import neighbours
from ciguard.triage.normalise import normalise
from ciguard.triage.program_diff import DiffLine, LineKind, derivation_diff, program_diff
from ciguard.triage.reach import with_reach
from ciguard.triage.realism import Realism, is_plain, realism
from ciguard.triage.reductions import reductions
from ciguard.triage.reproducer import EnvironmentHint, read_script, script
from ciguard.triage.symptom import FAILED_CHECK, Symptom, symptom_of, telling_line
from ciguard.triage.timing import measures_alike
from ciguard.triage.wording import without_local_paths

__all__ = [
    "FAILED_CHECK",
    "RECIPES",
    "Buckets",
    "Confirmer",
    "DiffLine",
    "EnvironmentHint",
    "Fingerprint",
    "Grouping",
    "LineKind",
    "Minimiser",
    "Realism",
    "Settled",
    "Simplicity",
    "Symptom",
    "cause_of",
    "checked_text",
    "derivation_diff",
    "fingerprint",
    "first_of_each_cause",
    "is_cause_name",
    "is_fingerprint",
    "is_plain",
    "measures_alike",
    "native_frames",
    "neighbours",
    "newest_recipe",
    "normalise",
    "one_of",
    "origin_rows",
    "program_diff",
    "rate_text",
    "read_script",
    "realism",
    "recipe_number",
    "reductions",
    "same_symptom",
    "script",
    "simplicity",
    "suspect",
    "symptom_of",
    "telling_line",
    "united",
    "with_causes",
    "with_reach",
    "without_local_paths",
]
