"""Triage: turns findings into confirmed buckets, each with a standalone script.

`fingerprint` identifies findings of one bug, `Buckets` groups them, `script` writes the reproducer.
"""

from ciguard.triage.buckets import Buckets, Simplicity, simplicity, united
from ciguard.triage.causes import cause_of, first_of_each_cause, is_cause_name, with_causes
from ciguard.triage.confirm import Confirmer, Settled
from ciguard.triage.fingerprint import (
    fingerprint,
    is_fingerprint,
    newest_recipe,
    recipe_number,
    same_symptom,
)
from ciguard.triage.hint import EnvironmentHint
from ciguard.triage.levels import (
    PresentableLevel,
    PresentationDefaults,
    derivation_diff,
    one_of,
    origin_rows,
    presentable,
)
from ciguard.triage.minimise import Minimiser
from ciguard.triage.native import native_frames
from ciguard.triage.neighbours import neighbours
from ciguard.triage.origins import LayerOrigin, TreeOrigin, rate_text
from ciguard.triage.reach import depends_on_reach, is_raw, with_reach
from ciguard.triage.realism import is_plain, realism
from ciguard.triage.reproducer import read_script, script
from ciguard.triage.scripting.timing import measures_alike
from ciguard.triage.symptom import symptom_of, telling_line
from ciguard.triage.text_diff import DiffLine, program_diff
from ciguard.triage.wording import without_local_paths

__all__ = [
    "Buckets",
    "Confirmer",
    "DiffLine",
    "EnvironmentHint",
    "LayerOrigin",
    "Minimiser",
    "PresentableLevel",
    "PresentationDefaults",
    "Settled",
    "Simplicity",
    "TreeOrigin",
    "cause_of",
    "depends_on_reach",
    "derivation_diff",
    "fingerprint",
    "first_of_each_cause",
    "is_cause_name",
    "is_fingerprint",
    "is_plain",
    "is_raw",
    "measures_alike",
    "native_frames",
    "neighbours",
    "newest_recipe",
    "one_of",
    "origin_rows",
    "presentable",
    "program_diff",
    "rate_text",
    "read_script",
    "realism",
    "recipe_number",
    "same_symptom",
    "script",
    "simplicity",
    "symptom_of",
    "telling_line",
    "united",
    "with_causes",
    "with_reach",
    "without_local_paths",
]
