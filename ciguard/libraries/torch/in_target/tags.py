"""Tags of PyTorch's APIs."""

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

_TORCH = r"^torch\."
_METHOD = r"^torch\.Tensor\."
_TORCH_ANY = r"^torch\.(?:\w+\.)*"

ROWS = (
    TagRow(
        FILES,
        _TORCH,
        "read and write files; loading also runs pickled code",
        (r"(?:save|load|from_file)$", r"serialization\.", r"package\.", r"classes\.", r"ops\."),
    ),
    TagRow(
        NETWORK,
        _TORCH,
        "download or connect",
        (r"hub\.", r"distributed\.", r"monitor\.", r"futures\."),
    ),
    TagRow(
        PROCESS,
        _TORCH,
        "threads, compilers, other processes",
        (
            r"set_num_\w*threads$",
            r"(?:compile|export)$",
            r"compiler\.",
            r"jit\.",
            r"fork$|wait$",
            r"multiprocessing\.",
            r"utils\.cpp_extension\.",
            r"cuda\.|xpu\.|mps\.|mtia\.|accelerator\.",
            r"_dynamo\.|_inductor\.",
            r"init_num_threads$",
        ),
    ),
    TagRow(
        CALLBACK,
        _TORCH_ANY,
        "take Python functions",
        (r"(?:cond|vmap|while_loop)$", r"Tensor\.(?:apply_|map_|map2_|register_\w*hook)$"),
    ),
    TagRow(PROCESS, _METHOD, "shared memory", (r"share_memory_$", r"is_shared$")),
    TagRow(
        GLOBAL_STATE,
        _TORCH_ANY,
        "switch modes of the library",
        (
            r"set_(?!$)\w+",
            r"(?:seed|manual_seed|initial_seed|get_rng_state|set_rng_state|fork_rng)$",
            r"use_deterministic_algorithms$",
            r"autocast_(?:in|de)crement_nesting$|clear_autocast_cache$",
            r"(?:import_ir_module\w*|init|merge_type_from_type_comment)$",
            r"(?:enable|disable)_\w+$",
            r"register_\w+$",
            r"rename_privateuse1_backend$",
            r"(?:\w+_)?(?:utils_)?(?:install|uninstall)_\w+$",
            r"random\.",
            r"backends\.",
            r"profiler\.",
        ),
    ),
    TagRow(
        RANDOM,
        _TORCH_ANY,
        "draw from a generator",
        (
            r"(?:rand|randn|randint|randperm|bernoulli|multinomial|binomial)\w*$",
            r"(?:normal_?|poisson)$",
            r"(?:uniform|exponential|geometric|cauchy|log_normal|random)_$",
            r"(?:kaiming|xavier|trunc_normal)\w*_?$",
            r"nn\.(?:init|utils)\.(?:\w+\.)*(?:orthogonal|sparse|uniform)_?$",
            r"\w*[dD]ropout\w*$",
            r"(?:rrelu|RReLU|gumbel_softmax|fractional_max_pool\w*|FractionalMaxPool\w*)_?$",
            r"(?:pca_lowrank|svd_lowrank|lobpcg|native_dropout|_sample_dirichlet)$",
            r"(?:Transformer\w*|MultiheadAttention|multi_head_attention_forward)$",
            r"scaled_dot_product_attention$",
        ),
    ),
    TagRow(
        UNSTABLE,
        _TORCH_ANY,
        "uninitialised memory",
        (
            r"(?:new_)?empty\w*$",
            r"resize(?:_as)?(?:_sparse)?_?$",
            r"(?:data_ptr|const_data_ptr|storage|untyped_storage|storage_type|_typed_storage)$",
            r"(?:bitwise_)?hash_tensor$",
            r"fbgemm_pack_\w+$",  # the output has addresses and unused bytes
        ),
    ),
    TagRow(DEBUG, _TORCH_ANY, "print or assert", (r"(?:_assert\w*|typename|log_api_usage\w*)$",)),
)

tags_of = tagger(*ROWS)
