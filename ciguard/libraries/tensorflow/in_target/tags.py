"""Tags of TensorFlow's APIs, without Keras, whose tags are in `keras.in_target.tags`."""

from __future__ import annotations

from ciguard.libraries.in_target.tag_names import (
    BLOCKING,
    CALLBACK,
    DEBUG,
    FILES,
    GLOBAL_STATE,
    HANDLE,
    NETWORK,
    PROCESS,
    RANDOM,
    TIME,
    UNSTABLE,
    TagRow,
)
from ciguard.libraries.in_target.tags import tagger
from ciguard.libraries.keras.in_target import tags as keras_tags

_TF = r"^tensorflow\."
_RAW = r"^tensorflow\.raw_ops\."

_FUNCTIONS = (
    TagRow(
        FILES,
        _TF,
        "read, write and delete files",
        (
            r"io\.(?:gfile\.|write_|read_|matching_files|match_filenames|TFRecord)",
            r"(?:\w+\.)*(?:load|save)_(?:library|op_library|file_system_library|model|weights|variable)",
            r"saved_model\.",
            r"lite\.",
            r"mlir\.",
            r"summary\.",
            r"train\.(?:\w*[cC]heckpoint|list_variables|load_|get_checkpoint)",
            r"sysconfig\.",
            r"data\.experimental\.(?:save|load|make_|snapshot)",
            r"data\.Dataset\.",
            r"graph_util\.",
            r"profiler\.",
            r"tools\.",
            r"estimator\.|feature_column\.",
            r"experimental\.dtensor\.|dtensor\.",
            r"audio\.decode_wav_file",
            r"io\.(?:encode|decode)_proto$|import_graph_def$",
        ),
    ),
    TagRow(
        NETWORK,
        _TF,
        "clusters and servers",
        (
            r"distribute\.",
            r"tpu",
            r"config\.experimental_connect",
            r"data\.experimental\.service\.",
            r"data\.experimental\.distributed_save",
        ),
    ),
    TagRow(
        PROCESS,
        _TF,
        "threads and compilers",
        (r"config\.threading\.", r"xla\.", r"autograph\."),
    ),
    TagRow(
        CALLBACK,
        _TF,
        "take Python functions",
        (
            r"(?:numpy_function|py_function|function|custom_gradient|recompute_grad)$",
            r"(?:map_fn|vectorized_map|while_loop|scan|foldl|foldr|cond|case|switch_case)$",
            r"nondifferentiable_batch_function$",
        ),
    ),
    TagRow(
        GLOBAL_STATE,
        _TF,
        "switch modes of the runtime",
        (
            r"config\.",
            r"random\.(?:set_|get_global|experimental\.set_|create_rng_state)",
            r"(?!linalg)(?:\w+\.)*(?:set|enable|disable|register|unregister)_\w+$",
            r"debugging\.(?:experimental|enable|disable|set|is_traceback)",
            r"experimental\.numpy\.experimental_enable",
            r"compat\.",
            r"(?:\w+\.)*register_\w+|RegisterGradient|no_gradient$",
            r"init_scope$|name_scope$|device$|control_dependencies$|group$|grad_pass_through$",
            r"__internal__",
            r"types\.experimental",
            r"experimental\.(?:async_|dispatch_for|function_executor)|variable_creator_scope$",
        ),
    ),
    TagRow(
        RANDOM,
        _TF,
        "draw from a generator",
        (
            r"random\.",
            r"(?:\w+\.)*random_\w+$",
            r"image\.(?:stateless_)?(?:random|sample)_\w+$",
            r"(?:\w+\.)*\w*dropout\w*$",
            r"nn\.(?:\w*candidate_sampler|all_candidate\w*|nce_loss|sampled_softmax_loss|fractional\w+)$",
            r"experimental\.numpy\.random\.",
        ),
    ),
    TagRow(TIME, _TF, "read the clock", (r"timestamp$",)),
    TagRow(
        DEBUG,
        _TF,
        "print, or raise on purpose",
        (
            r"print$",
            r"debugging\.",
            r"test\.",
            r"[Aa]ssert$",
            r"errors\.",
            r"logging\.",
            r"get_logger$",
        ),
    ),
    TagRow(UNSTABLE, _TF, "uninitialised memory", (r"experimental\.numpy\.empty",)),
)

_RAW_OPERATIONS = (
    TagRow(
        DEBUG,
        _RAW,
        "crash on purpose, print, check",
        (r"Abort$", r"Print", r"Assert", r"Debug", r"_?Nop", r"TestBuild"),
    ),
    TagRow(
        FILES,
        _RAW,
        "read and write files",
        (
            r"Save|Restore|MergeV2Checkpoints|CheckpointHas|RecordInput",
            r"GenerateVocab|LoadAndRemap|LoadDataset|SaveDataset",
            r"\w*(?:Snapshot|CacheDataset|LMDB|Sql)",
            r"\w*Reader(?:V\d)?$|Reader[A-Z]",
            r"(?:Experimental)?(?:TFRecord|TextLine|FixedLengthRecord|CSV)\w*Dataset",
            r"InitializeTableFromTextFile|ReadFile|WriteFile|WholeFile|MatchingFiles|FileSystem",
            r"Write\w*Summary|\w*SummaryWriter|CreateSummary|ImportEvent|StatsAggregatorSummary",
            r"Experimental(?:Matching|Assert)",
            r"ImmutableConst$",
            r"RegisterDataset|DatasetFromGraph|DatasetToGraph|DecodeProto|EncodeProto",
            r"(?:Experimental)?DatasetToTFRecord|DistributedSave",
        ),
    ),
    TagRow(
        NETWORK,
        _RAW,
        "servers, clusters, TPUs",
        (
            r"\w*(?:Rpc|DataService|Tpu|TPU|Collective|Nccl|Cluster|Worker|BigQuery|Infeed|Outfeed|Mesh)",
            r"_?(?:Send|Recv|Host)",
            r"\w*(?:Embedding(?:s|Enqueue))",
            r"DTensor|CopyToMesh|Relayout",
        ),
    ),
    TagRow(PROCESS, _RAW, "compilers and thread pools", (r"Xla|MlirPassthrough", r"\w*ThreadPool")),
    TagRow(
        CALLBACK,
        _RAW,
        "take functions, as Python objects or of a graph",
        (
            r"\w*Py(?:Func)",
            r"PartitionedCall|StatefulPartitionedCall|RemoteCall|SymbolicGradient",
            r"(?:Stateless)?(?:If|While|Case)$|For$",
            r"OneShotIterator|MapDefun|FakeParam|GeneratorDataset|BatchFunction",
        ),
    ),
    TagRow(
        BLOCKING,
        _RAW,
        "wait for another thread",
        (
            r"\w*Queue|\w*Barrier|\w*Stag(?:e|ing)|(?:Ordered)?Map(?:Clear|Incomplete|Peek|Size|Stage|Unstage)",
            r"Unstage|Stage|\w*Iterator|\w*Dequeue|\w*Enqueue",
            r"Batch$|BatchFunction|Unbatch|UnbatchGrad",
            r"\w*ConditionalAccumulator|\w*AccumulatorTakeGradient|Accumulator|\w*Mutex|ConsumeMutexLock",
            r"Stack(?:V2|Pop|Push|Close)?(?:V2)?$",
            r"\w*Rendezvous|Enter$|Exit$|NextIteration|RefEnter|RefExit|RefNext|Switch$|Merge$|RefMerge|RefSwitch|LoopCond|ControlTrigger",
            r"\w*MultiDevice",
        ),
    ),
    TagRow(
        HANDLE,
        _RAW,
        "reference-typed variables of graph mode",
        (
            r"Ref[A-Z]\w*$|Variable(?:V2)?$|TemporaryVariable|DestroyTemporary|IsVariableInitialized",
            r"GetSessionHandle|GetSessionTensor|DeleteSessionTensor",
        ),
    ),
    TagRow(
        RANDOM,
        _RAW,
        "draw from a generator",
        (
            r"(?:\w*_)?(?:Stateful|Stateless)?\w*(?:Random|Multinomial|Truncated|Bernoulli|Binomial|Poisson)\w*$",
            r"\w*CandidateSampler|\w*Shuffle\w*$|Skipgram|RngSkip|RngReadAndSkip|NonDeterministicInts|Fractional(?:Max|Avg)Pool$",
            r"SampleDistorted|StatelessSampleDistorted|Dropout|\w*Seed\w*",
            r"AnonymousRandom|AnonymousSeed|CudnnRNN\w*",
        ),
    ),
    TagRow(TIME, _RAW, "read the clock", (r"Timestamp",)),
    TagRow(
        UNSTABLE,
        _RAW,
        "uninitialised memory, addresses",
        (r"Empty$", r"ParallelConcat", r"_ParallelConcat", r"InplaceEmpty"),
    ),
    TagRow(
        GLOBAL_STATE,
        _RAW,
        "tables and trees kept by the runtime",
        (
            r"\w*(?:HashTable|TreeEnsemble|Lookup|FeatureStats)\w*|ConfigureDistributed|ConfigureAndInit|\w*VarHandle",
        ),
    ),
)

ROWS = (*_FUNCTIONS, *_RAW_OPERATIONS)

tags_of = tagger(*ROWS, *keras_tags.ROWS)
