"""Refinement: constraints learned from the outcomes of calls, beyond the documentation.

`Experience` summarises the outcomes of an API's calls. `refined` applies it to the constraints, and
`refinements` describes the changes. All functions are pure, and none has a table of APIs. `files`
encodes and decodes experience, `unwrap` takes what each message has out of one.
"""

from ciguard.knowledge.refinement.experience import Experience, experience_from_json
from ciguard.knowledge.refinement.files import experience_lines, read_experience
from ciguard.knowledge.refinement.messages import unwrap
from ciguard.knowledge.refinement.refine import Refinement, refined, refinements

__all__ = [
    "Experience",
    "Refinement",
    "experience_from_json",
    "experience_lines",
    "read_experience",
    "refined",
    "refinements",
    "unwrap",
]
