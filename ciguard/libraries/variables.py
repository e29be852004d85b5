"""Environment variables of workers that several libraries need."""

from __future__ import annotations

# One thread per worker: campaigns scale by workers, and results must not depend on the machine.
ONE_THREAD = {"OMP_NUM_THREADS": "1", "MKL_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
# 2 keeps errors and messages of failed CHECKs, which bucketing needs; 3 would drop errors.
XLA_LOGS = {"TF_CPP_MIN_LOG_LEVEL": "2"}
