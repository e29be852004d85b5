"""Tags of Jittor's APIs."""

from __future__ import annotations

from ciguard.libraries.in_target.tag_names import (
    CALLBACK,
    DEBUG,
    FILES,
    GLOBAL_STATE,
    NETWORK,
    PROCESS,
    RANDOM,
    UNSTABLE,
    TagRow,
)
from ciguard.libraries.in_target.tags import tagger

_JITTOR = r"^jittor\.(?:\w+\.)*"

ROWS = (
    TagRow(
        FILES,
        _JITTOR,
        "read and write files; loading also runs pickled code",
        (
            r"(?:save|load|pickle\w*|safepickle|safeload|safeunpickle\w*|load_\w+|save_\w+)$",
            r"(?:dataset|models|transform|utils|test|demo)\.",
        ),
    ),
    TagRow(
        NETWORK,
        _JITTOR,
        "download, or talk to other processes",
        (r"(?:download\w*|jittorhub\w*|hub|mpi_\w+|mpi|in_mpi|distributed\w*)$",),
    ),
    TagRow(
        PROCESS,
        _JITTOR,
        "compile C++ given as text, start and end processes",
        (
            r"(?:reindex\w*|candidate|index_var|numpy_code|code|make_module|auto_parallel)$",
            r"(?:compile\w*|jit_\w+|custom_\w*|launch\w*|python_pass_wrapper)$",
            r"(?:exit|jittor_exit|do_exit|cleanup|core|init|jt_init_subprocess|fork\w*)$",
            r"(?:migrate\w*|to_cpu|to_gpu|attrs|graph_check|LOG|log_\w+capture\w*)$",
        ),
    ),
    TagRow(
        CALLBACK,
        _JITTOR,
        "take Python functions",
        (r"(?:fetch|callback|inplace_wrapper|grad_hooker|register_hook|vmap)$",),
    ),
    TagRow(
        GLOBAL_STATE,
        _JITTOR,
        "settings, graph and memory of the process",
        (
            r"(?:set_\w+|flags|clean\w*|gc|sync|sync_all|no_grad|enable_grad|no_fuse|hooks)$",
            r"(?:profile_\w+|register\w*|dirty\w*|tape\w*|single_process_scope|var_scope|vtos)$",
            r"(?:liveness_info|number_of_\w+|dump_\w+|get_mem_info|get_len|seed|get_seed)$",
            r"(?:clear_trace_data|get_max_memory_\w+|runtime_\w+|release_from_holders)$",
        ),
    ),
    TagRow(
        RANDOM,
        _JITTOR,
        "draw from a generator",
        (
            r"(?:rand\w*|normal|multinomial|bernoulli|shuffle\w*|uniform|gauss)_?$",
            r"(?:[dD]ropout\w*|[dD]rop_?[pP]ath|xavier\w*|kaiming\w*|trunc_normal|curand\w*)_?$",
            r"(?:invariant_uniform|relu_invariant_gauss|gumbel_softmax|RReLU|rrelu)_?$",
            r"get_init_var_rand$|distributions\.",
        ),
    ),
    TagRow(
        UNSTABLE,
        _JITTOR,
        "uninitialised memory, addresses, other Vars' memory",
        (
            r"(?:new_)?empty\w*$|new$",
            r"(?:raw_ptr|var_ptr|location|share_with|swap|_?update|assign|wrap_var_addr|array_)$",
            r"(?:reuse_np_array|numpy2cupy|peek\w*|debug_msg|name)$",
        ),
    ),
    TagRow(DEBUG, _JITTOR, "print", (r"(?:print\w*|debug_\w+|display\w*)$",)),
)

tags_of = tagger(*ROWS)
