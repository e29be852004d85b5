"""Rules for operator families: a pattern for APIs, and fields of a clue by parameter pattern.

There is one module per library and theme. The first rule that states an aspect decides it, so
specific rules come before general ones. `ciguard.knowledge.families` reads the tables.
"""

from ciguard.knowledge.family_rules.fields import RECURRENT_SIZES, Table
from ciguard.knowledge.family_rules.tensorflow_arrays import ARRAY_RULES
from ciguard.knowledge.family_rules.tensorflow_codecs import CODEC_RULES
from ciguard.knowledge.family_rules.tensorflow_handles import HANDLE_RULES
from ciguard.knowledge.family_rules.tensorflow_images import IMAGE_RULES
from ciguard.knowledge.family_rules.torch_calls import TORCH_RULES

RULES: Table = (*CODEC_RULES, *HANDLE_RULES, *IMAGE_RULES, *ARRAY_RULES, *TORCH_RULES)
"""All rules, in order of precedence."""

__all__ = ["RECURRENT_SIZES", "RULES", "Table"]
