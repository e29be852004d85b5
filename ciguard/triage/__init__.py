"""Triage: findings become confirmed and minimised buckets, each with a standalone script.

`fingerprint` identifies the findings of one defect, `Buckets` groups them, `Confirmer` and
`Minimiser` run their cases, and `script` returns the source of the reproducer.
"""

from ciguard.triage.buckets import Buckets, Simplicity, merge_buckets, simplicity
from ciguard.triage.causes import cause_of, distinct_causes_first, is_cause_name, with_causes
from ciguard.triage.confirm import ConfirmationResult, Confirmer
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
    origin_rows,
    presentable,
    subject_phrase,
    tested_part,
)
from ciguard.triage.minimise import Minimiser
from ciguard.triage.native import native_frames
from ciguard.triage.neighbours import neighbours
from ciguard.triage.origins import LayerOrigin, TreeOrigin, deviation_text
from ciguard.triage.reach import apply_reachability, depends_on_reachability, is_raw
from ciguard.triage.realism import is_plain, realism
from ciguard.triage.reproducer import read_script, script
from ciguard.triage.scripting.timing import reproduces_measurement
from ciguard.triage.symptom import summary_line, symptom_of
from ciguard.triage.text_diff import DiffLine, program_diff
from ciguard.triage.wording import without_local_paths

__all__ = [
    "Buckets",
    "ConfirmationResult",
    "Confirmer",
    "DiffLine",
    "EnvironmentHint",
    "LayerOrigin",
    "Minimiser",
    "PresentableLevel",
    "PresentationDefaults",
    "Simplicity",
    "TreeOrigin",
    "apply_reachability",
    "cause_of",
    "depends_on_reachability",
    "derivation_diff",
    "deviation_text",
    "distinct_causes_first",
    "fingerprint",
    "is_cause_name",
    "is_fingerprint",
    "is_plain",
    "is_raw",
    "merge_buckets",
    "native_frames",
    "neighbours",
    "newest_recipe",
    "origin_rows",
    "presentable",
    "program_diff",
    "read_script",
    "realism",
    "recipe_number",
    "reproduces_measurement",
    "same_symptom",
    "script",
    "simplicity",
    "subject_phrase",
    "summary_line",
    "symptom_of",
    "tested_part",
    "with_causes",
    "without_local_paths",
]
