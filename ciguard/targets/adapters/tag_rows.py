"""Families of names that need care: the data behind `tags`.

To extend it, add a pattern to a row, or a row with its reason. A missing pattern can cost a deleted
file or a false alarm; a needless one costs a few calls that nobody tests.
"""

from __future__ import annotations

from ciguard.targets.adapters import tag_rows_tensorflow
from ciguard.targets.adapters.tag_names import (
    CALLBACK,
    DEBUG,
    FILES,
    GLOBAL_STATE,
    NETWORK,
    PROCESS,
    RANDOM,
    UNSTABLE,
    Row,
)

_TORCH = r"^torch\."
_METHOD = r"^torch\.Tensor\."
_TORCH_ANY = r"^torch\.(?:\w+\.)*"
_KERAS = r"^(?:keras|tensorflow\.keras)\."
_JAX = r"^jax\.(?:\w+\.)*"
_JITTOR = r"^jittor\.(?:\w+\.)*"

_TORCH_ROWS = (
    Row(
        FILES,
        _TORCH,
        "read and write files; loading also runs pickled code",
        (r"(?:save|load|from_file)$", r"serialization\.", r"package\.", r"classes\.", r"ops\."),
    ),
    Row(
        NETWORK,
        _TORCH,
        "download or connect",
        (r"hub\.", r"distributed\.", r"monitor\.", r"futures\."),
    ),
    Row(
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
    Row(
        CALLBACK,
        _TORCH_ANY,
        "take Python functions",
        (r"(?:cond|vmap|while_loop)$", r"Tensor\.(?:apply_|map_|map2_|register_\w*hook)$"),
    ),
    Row(PROCESS, _METHOD, "shared memory", (r"share_memory_$", r"is_shared$")),
    Row(
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
    Row(
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
    Row(
        UNSTABLE,
        _TORCH_ANY,
        "uninitialised memory",
        (
            r"(?:new_)?empty\w*$",
            r"resize(?:_as)?(?:_sparse)?_?$",
            r"(?:data_ptr|const_data_ptr|storage|untyped_storage|storage_type|_typed_storage)$",
            r"(?:bitwise_)?hash_tensor$",
            r"fbgemm_pack_\w+$",  # packed for the machine: addresses and unused room between
        ),
    ),
    Row(DEBUG, _TORCH_ANY, "print or assert", (r"(?:_assert\w*|typename|log_api_usage\w*)$",)),
)

_SHARED_ROWS = (
    Row(
        FILES,
        _KERAS,
        "files and downloads",
        (
            r"(?:\w+\.)*(?:saving|datasets|callbacks|preprocessing|applications|wrappers)\.",
            r"(?:\w+\.)*utils\.",
            r"export\.",
            r"tree\.",
            r"visualization\.",
        ),
    ),
    Row(NETWORK, _KERAS, "connections", (r"distribution\.", r"remat\.")),
    Row(
        CALLBACK,
        _KERAS,
        "take Python functions or layers",
        (
            r"ops\.(?:map|scan|associative_scan|cond|while_loop|fori_loop|vectorized_map|switch|vectorize|custom_gradient|jit)$",
            r"layers\.(?:TFSMLayer|TorchModuleWrapper|JaxLayer|FlaxLayer|Lambda|Wrapper|RNN|Bidirectional|TimeDistributed|MelSpectrogram)$",
        ),
    ),
    Row(
        GLOBAL_STATE,
        _KERAS,
        "settings of the process",
        (
            r"config\.",
            r"backend\.",
            r"mixed_precision\.",
            r"dtype_policies\.",
            r"(?:\w+\.)*(?:set|enable|disable|register|clear)_\w+$",
        ),
    ),
    Row(
        RANDOM,
        _KERAS,
        "draw from a generator",
        (
            r"random\.",
            r"(?:\w+\.)*(?:Random|random)\w*$",
            r"(?:\w+\.)*\w*[dD]ropout\w*$",
            r"(?:\w+\.)*Gaussian(?:Noise|Dropout)",
            r"initializers\.(?:Glorot|He|Lecun|LeCun|Orthogonal|Truncated|VarianceScaling)\w*",
            r"layers\.(?:Aug|Rand|CutMix|MixUp|Rand|AutoContrast|Mosaic)\w*",
            r"(?:\w+\.)*(?:shuffle|MultiHeadAttention|GroupQueryAttention)$",
        ),
    ),
    Row(UNSTABLE, _KERAS, "uninitialised memory", (r"ops\.empty\w*$",)),
    Row(
        FILES,
        _JAX,
        "files",
        (
            r"(?:save|savez|load|fromfile|savetxt|loadtxt|frombuffer|memmap)$",
            r"export\.|profiler\.",
        ),
    ),
    Row(
        CALLBACK,
        _JAX,
        "take Python functions, or run inside a mapped one",
        (
            r"(?:apply_along_axis|apply_over_axes|vectorize|fromfunction|frompyfunc|piecewise|cond|switch|while_loop|fori_loop|scan|map|associative_scan|custom_\w+|reduce|reduce_window|reduce_and\w*|platform_dependent|composite|optimization_barrier|create_token|after_all|infeed|outfeed)$",
            r"(?:all_gather|all_to_all|axis_index|axis_size|p(?:broadcast|max|mean|min|permute|shuffle|sum|sum_scatter|swapaxes)|pcast|ragged_all_to_all|psend|precv)$",
        ),
    ),
    Row(
        GLOBAL_STATE,
        _JAX,
        "settings of the process",
        (r"set_printoptions$|printoptions$|config\.",),
    ),
    Row(
        RANDOM,
        _JAX,
        "draw from a key",
        (r"random\.\w+$", r"(?:rng_uniform|rng_bit_generator)$", r"initializers\.\w+$"),
    ),
    Row(UNSTABLE, _JAX, "uninitialised memory", (r"empty\w*$",)),
)

_JITTOR_ROWS = (
    Row(
        FILES,
        _JITTOR,
        "read and write files; loading also runs pickled code",
        (
            r"(?:save|load|pickle\w*|safepickle|safeload|safeunpickle\w*|load_\w+|save_\w+)$",
            r"(?:dataset|models|transform|utils|test|demo)\.",
        ),
    ),
    Row(
        NETWORK,
        _JITTOR,
        "download, or talk to other processes",
        (r"(?:download\w*|jittorhub\w*|hub|mpi_\w+|mpi|in_mpi|distributed\w*)$",),
    ),
    Row(
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
    Row(
        CALLBACK,
        _JITTOR,
        "take Python functions",
        (r"(?:fetch|callback|inplace_wrapper|grad_hooker|register_hook|vmap)$",),
    ),
    Row(
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
    Row(
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
    Row(
        UNSTABLE,
        _JITTOR,
        "uninitialised memory, addresses, other Vars' memory",
        (
            r"(?:new_)?empty\w*$|new$",
            r"(?:raw_ptr|var_ptr|location|share_with|swap|_?update|assign|wrap_var_addr|array_)$",
            r"(?:reuse_np_array|numpy2cupy|peek\w*|debug_msg|name)$",
        ),
    ),
    Row(DEBUG, _JITTOR, "print", (r"(?:print\w*|debug_\w+|display\w*)$",)),
)

ROWS: tuple[Row, ...] = (
    *_TORCH_ROWS,
    *tag_rows_tensorflow.FUNCTIONS,
    *tag_rows_tensorflow.RAW_OPERATIONS,
    *_SHARED_ROWS,
    *_JITTOR_ROWS,
)
