"""Description of Keras."""

from __future__ import annotations

from pathlib import Path

from ciguard.libraries.keras.script import SCRIPT
from ciguard.libraries.library import ForkPolicy, Library
from ciguard.libraries.operations import Operations
from ciguard.libraries.variables import ONE_THREAD

LIBRARY = Library(
    name="keras",
    distributions=("keras", "keras-nightly"),
    module="keras",
    adapter=Path(__file__).parent / "in_target" / "adapter.py",
    backends=("tensorflow", "torch", "jax"),
    backend_variable="KERAS_BACKEND",
    environment=ONE_THREAD,
    forks=ForkPolicy.AFTER_IMPORT,
    case_limit_s=20.0,
    script=SCRIPT,
    operations=Operations(broadcast="keras.ops.broadcast_to"),
    documentation="tensorflow",
    spellings={"keras.api.": "keras.", "keras.src.": "keras."},
    exported_as="tensorflow.keras",
    security_policy="https://github.com/keras-team/keras/security/policy",
)
