/* Memory guard: finds invalid memory accesses of a released library, without a build of one's own.
 *
 * Loaded with LD_PRELOAD, it replaces the allocator's functions. A guarded block ends at an
 * unreadable page, or begins at one, so that the first access beyond it faults. A freed block stays
 * unreadable, so that a later access faults too. Bytes that cannot be unreadable, because pages
 * are larger than blocks, hold a canary that is checked when the block is freed. A fault is
 * explained on standard error, in one line:
 *
 *     memory guard: out-of-bounds read: 32 bytes behind argument 2 (int64[2, 16]), 256 bytes
 *
 * All blocks lie in one arena of address space, each at the beginning of a granule. Records are
 * kept by granule, so that none is searched for. Freed granules are used again in the order of
 * their release. The kernel joins neighbouring unreadable pages to one mapping, so that only live
 * blocks count towards `vm.max_map_count`.
 *
 * Blocks of an alignment from 32 on, which libraries use for tensors, are guarded always, numpy's
 * arrays between `guard_begin` and `guard_end`, and so are the first `MAX_SMALL_BLOCKS` others, which
 * have half of the mappings.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#define GRANULE ((size_t)64 << 10)
#define GRANULES ((size_t)1 << 19)
#define MIN_GAP (GRANULE / 2) /* unreadable bytes between two blocks */
#define MIN_ALIGNMENT ((size_t)32)
#define MALLOC_ALIGNMENT ((size_t)16)
#define MAX_SMALL_BLOCKS 128 /* of a call: a compiler allocates hundreds of thousands */
#define CANARY 0xC5

/* The C library's own functions, which these names reach without a search. */
extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);
extern void __libc_free(void *);
extern int __sigaction(int, const struct sigaction *, struct sigaction *);

struct block {
    char *start; /* first byte of the block; NULL if no block began in this granule */
    size_t size; /* bytes that were requested */
    uint32_t length; /* readable pages */
    uint32_t is_live;
    char label[40];
};

static struct block blocks[GRANULES];
static char *arena, label[sizeof blocks->label];
static size_t page, next, mark, live, max_live;
static int begins_at_page, is_in_case, small_blocks; /* number of small blocks still to guard */
static volatile sig_atomic_t has_reported;
static struct sigaction other_action; /* the action for SIGSEGV that the process has asked for */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static size_t rounded(size_t size, size_t unit) { return (size + unit - 1) / unit * unit; }
static char *pages_of(const struct block *block) { return arena + (block - blocks) * GRANULE; }
static size_t granules_of(const struct block *block) {
    return (block->length * page + MIN_GAP + GRANULE - 1) / GRANULE;
}
static int is_in_arena(const void *pointer) {
    return arena && (size_t)((const char *)pointer - arena) < GRANULES * GRANULE;
}
static struct block *block_at(const void *pointer) {
    return &blocks[(size_t)((const char *)pointer - arena) / GRANULE];
}

/* --- reports ---------------------------------------------------------------------------------- */

/* Async-signal-safe: snprintf(3) of glibc allocates nothing for these conversions. */
static void report(const char *kind, size_t distance, const char *where, const struct block *block) {
    char line[200];
    int length = snprintf(line, sizeof line, "\nmemory guard: %s: %zu bytes %s %s, %zu bytes\n", kind,
                          distance, where, block->label[0] ? block->label : "a block", block->size);
    has_reported = 1;
    (void)!write(STDERR_FILENO, line, length);
}

static int is_write(const ucontext_t *context) {
#if defined(__x86_64__)
    return (context->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#elif defined(__aarch64__)
    const char *record = (const char *)context->uc_mcontext.__reserved;
    for (uint32_t head[2]; memcpy(head, record, 8), head[0] != 0; record += head[1])
        if (head[0] == 0x45535201) { /* ESR_MAGIC */
            uint64_t syndrome;
            memcpy(&syndrome, record + 8, 8);
            return (syndrome >> 6) & 1;
        }
    return 0;
#else
#error "the memory guard supports x86-64 and aarch64"
#endif
}

/* Explain a fault at an address of the arena: by the freed block there, or the nearest live one. */
static void explain(const char *at, const ucontext_t *context) {
    const struct block *before = block_at(at), *after, *end = blocks + GRANULES;
    const char *kind = is_write(context) ? "out-of-bounds write" : "out-of-bounds read";
    while (before > blocks && !before->start)
        before--;
    if (before->start && at >= before->start && at < before->start + before->size) {
        report("use after free", at - before->start, "into", before);
        return;
    }
    while (before > blocks && !(before->is_live && before->start < at))
        before--;
    for (after = before + 1; after < end && !after->is_live; after++)
        ;
    size_t past = before->is_live ? (size_t)(at - before->start) - before->size : SIZE_MAX;
    size_t ahead = after < end ? (size_t)(after->start - at) : SIZE_MAX;
    if (past != SIZE_MAX && past <= ahead)
        report(kind, past, "behind", before);
    else if (ahead != SIZE_MAX)
        report(kind, ahead, "before", after);
}

static void on_fault(int number, siginfo_t *info, void *context) {
    if (info->si_code > 0 && !has_reported && is_in_arena(info->si_addr))
        explain(info->si_addr, context);
    if (other_action.sa_flags & SA_SIGINFO) {
        other_action.sa_sigaction(number, info, context);
    } else if (other_action.sa_handler != SIG_DFL && other_action.sa_handler != SIG_IGN) {
        other_action.sa_handler(number);
    } else {
        __sigaction(number, &(struct sigaction){.sa_handler = SIG_DFL}, NULL);
        if (info->si_code <= 0)
            raise(number); /* otherwise the instruction faults again */
    }
}

/* Handlers of the process, such as Python's `faulthandler`, are called after the guard's own. */
int sigaction(int number, const struct sigaction *action, struct sigaction *old) {
    if (number != SIGSEGV || !arena)
        return __sigaction(number, action, old);
    struct sigaction previous = other_action;
    if (action)
        other_action = *action;
    if (old)
        *old = previous;
    return 0;
}

void (*signal(int number, void (*handler)(int)))(int) {
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_RESTART}, old;
    return sigaction(number, &action, &old) ? SIG_ERR : old.sa_handler;
}

/* --- blocks ----------------------------------------------------------------------------------- */

/* Return the first of `count` granules in a row without a live block, and forget what was there. */
static struct block *place(size_t count) {
    size_t start = next, at = next;
    for (size_t steps = 0; at < start + count; steps++) {
        if (steps > 2 * GRANULES)
            return NULL;
        if (start + count > GRANULES)
            start = at = 1; /* the first granule is the gap before all blocks */
        else if (blocks[at].is_live)
            start = at += granules_of(&blocks[at]);
        else
            at++;
    }
    memset(&blocks[start], 0, count * sizeof *blocks);
    next = start + count;
    return &blocks[start];
}

static void *allocate_locked(size_t alignment, size_t size, size_t limit) {
    size_t used = begins_at_page ? size : rounded(size, alignment);
    size_t length = rounded(used, page);
    if (live >= limit)
        return NULL;
    struct block *block = place((length + MIN_GAP + GRANULE - 1) / GRANULE);
    char *pages = block ? pages_of(block) : NULL;
    if (!block || mprotect(pages, length, PROT_READ | PROT_WRITE))
        return NULL;
    block->start = begins_at_page ? pages : pages + length - used;
    block->size = size;
    block->length = length / page;
    block->is_live = 1;
    memcpy(block->label, label, sizeof label);
    memset(pages, CANARY, block->start - pages);
    memset(block->start + size, CANARY, pages + length - block->start - size);
    live++;
    return block->start;
}

/* Return a guarded block of zeros; NULL if it cannot be guarded, or `limit` blocks are live. */
static void *allocate(size_t alignment, size_t size, size_t limit) {
    int is_possible = arena && size && size <= GRANULES * GRANULE / 8;
    if (!is_possible || alignment > page || alignment & (alignment - 1))
        return NULL;
    pthread_mutex_lock(&lock);
    void *start = allocate_locked(alignment, size, limit);
    pthread_mutex_unlock(&lock);
    return start;
}

static void check(const struct block *block) {
    const char *pages = pages_of(block), *end = block->start + block->size;
    const char *limit = pages + block->length * page, *at;
    for (at = block->start; at > pages && (unsigned char)at[-1] == CANARY; at--)
        ;
    if (at > pages) {
        report("out-of-bounds write", block->start - at + 1, "before", block);
        raise(SIGSEGV);
    }
    for (at = end; at < limit && (unsigned char)*at == CANARY; at++)
        ;
    if (at < limit) {
        report("out-of-bounds write", at - end, "behind", block);
        raise(SIGSEGV);
    }
}

static void release(void *pointer) {
    struct block *block = block_at(pointer);
    if (block->start != pointer) {
        static const char message[] = "free(): invalid pointer\n"; /* as the C library writes */
        (void)!write(STDERR_FILENO, message, sizeof message - 1);
        abort();
    }
    if (!block->is_live) {
        report("use after free", 0, "into", block);
        raise(SIGSEGV);
    }
    check(block);
    pthread_mutex_lock(&lock);
    mmap(pages_of(block), block->length * page, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    block->is_live = 0;
    live--;
    pthread_mutex_unlock(&lock);
}

/* --- the allocator's functions ---------------------------------------------------------------- */

static int is_guarded(void) { return small_blocks > 0 && small_blocks-- > 0; }

void *malloc(size_t size) {
    void *block = is_guarded() ? allocate(MALLOC_ALIGNMENT, size, max_live / 2) : NULL;
    return block ? block : __libc_malloc(size);
}

void *calloc(size_t count, size_t size) {
    size_t total;
    int fits = !__builtin_mul_overflow(count, size, &total);
    void *block = fits && is_guarded() ? allocate(MALLOC_ALIGNMENT, total, max_live / 2) : NULL;
    return block ? block : __libc_calloc(count, size);
}

void free(void *pointer) {
    int error = errno;
    if (is_in_arena(pointer))
        release(pointer);
    else
        __libc_free(pointer);
    errno = error;
}

void *realloc(void *pointer, size_t size) {
    if (!is_in_arena(pointer))
        return __libc_realloc(pointer, size);
    void *moved = size ? malloc(size) : NULL;
    size_t old = block_at(pointer)->size;
    if (moved)
        memcpy(moved, pointer, old < size ? old : size);
    if (moved || !size)
        free(pointer);
    return moved;
}

void *memalign(size_t alignment, size_t size) {
    int is_tensor = alignment >= MIN_ALIGNMENT;
    size_t limit = is_tensor ? max_live : max_live / 2;
    void *block = is_tensor || is_guarded() ? allocate(alignment, size, limit) : NULL;
    return block ? block : __libc_memalign(alignment, size);
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **block, size_t alignment, size_t size) {
    if (alignment % sizeof(void *) || alignment & (alignment - 1) || !alignment)
        return EINVAL;
    int error = errno;
    void *made = memalign(alignment, size);
    errno = error;
    if (!made)
        return ENOMEM;
    *block = made;
    return 0;
}

size_t malloc_usable_size(void *pointer) {
    static size_t (*real)(void *);
    if (is_in_arena(pointer))
        return block_at(pointer)->size;
    if (!real)
        real = (size_t(*)(void *))dlsym(RTLD_NEXT, "malloc_usable_size");
    return real(pointer);
}

/* numpy keeps small blocks for itself, unless it has a handler for its memory (NEP 49). */
static void *numpy_malloc(void *context, size_t size) {
    void *block = is_in_case ? allocate(MALLOC_ALIGNMENT, size, max_live) : NULL;
    return (void)context, block ? block : __libc_malloc(size);
}
static void *numpy_calloc(void *context, size_t count, size_t size) {
    size_t total;
    void *block = __builtin_mul_overflow(count, size, &total) ? NULL : numpy_malloc(context, total);
    return block ? memset(block, 0, total) : NULL;
}
static void *numpy_realloc(void *context, void *pointer, size_t size) {
    return (void)context, realloc(pointer, size);
}
static void numpy_free(void *context, void *pointer, size_t size) {
    (void)context, (void)size, free(pointer);
}
struct {
    char name[127];
    uint8_t version;
    void *context, *malloc, *calloc, *realloc, *free;
} guard_numpy_handler = {"memory guard", 1, NULL, numpy_malloc, numpy_calloc, numpy_realloc, numpy_free};

/* --- control ---------------------------------------------------------------------------------- */

/* Name the blocks that are allocated from now on; while an argument is made, only its tensors are
 * guarded. */
void guard_label(const char *text) {
    snprintf(label, sizeof label, "%s", text);
    small_blocks = is_in_case && !*text ? MAX_SMALL_BLOCKS : 0;
}

/* Return whether an address lies in a live block. */
int guard_covers(const char *address) {
    if (!is_in_arena(address))
        return 0;
    const struct block *block = block_at(address);
    while (block > blocks && !block->start)
        block--;
    return block->is_live && address >= block->start && address < block->start + block->size;
}

/* Guard all blocks from now on; if `at_page`, each begins at an unreadable page, else it ends. */
void guard_begin(int at_page) {
    begins_at_page = at_page;
    mark = next;
    is_in_case = 1;
    small_blocks = MAX_SMALL_BLOCKS;
}

/* Guard only tensors, and check the canaries of the blocks since `guard_begin` that are live. */
void guard_end(void) {
    is_in_case = small_blocks = 0;
    pthread_mutex_lock(&lock); /* other threads may free blocks */
    for (size_t at = mark < next ? mark : 1; at < next; at++)
        if (blocks[at].is_live)
            check(&blocks[at]);
    pthread_mutex_unlock(&lock);
}

static void hold(void) { pthread_mutex_lock(&lock); }
static void let_go(void) { pthread_mutex_unlock(&lock); }

__attribute__((constructor)) static void start(void) {
    long max_maps = 65530;
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    if (file && fscanf(file, "%ld", &max_maps) != 1)
        max_maps = 65530;
    if (file)
        fclose(file);
    page = sysconf(_SC_PAGESIZE);
    max_live = max_maps / 4; /* a live block takes two mappings; half of all remain */
    next = 1;
    pthread_atfork(hold, let_go, let_go);
    char *space = mmap(NULL, GRANULES * GRANULE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (space == MAP_FAILED)
        return;
    struct sigaction action = {.sa_sigaction = on_fault, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER};
    __sigaction(SIGSEGV, &action, &other_action);
    arena = space;
}
