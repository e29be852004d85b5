/* Valid and invalid accesses to memory, one per run: the name of the access is the argument. */
#define _GNU_SOURCE
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern void guard_begin(int at_page) __attribute__((weak));
extern void guard_end(void) __attribute__((weak));
extern void guard_label(const char *) __attribute__((weak));

static volatile char sink;

static char *aligned(size_t size) {
    void *block = NULL;
    return posix_memalign(&block, 64, size) ? NULL : block;
}

static void *churn(void *seed) {
    unsigned state = (unsigned)(uintptr_t)seed;
    char *blocks[16] = {0};
    for (int step = 0; step < 20000; step++) {
        int at = rand_r(&state) % 16;
        size_t size = 1 + rand_r(&state) % 9000;
        free(blocks[at]);
        blocks[at] = step % 3 ? malloc(size) : aligned(size);
        memset(blocks[at], 1, size);
        if (step % 5 == 0)
            blocks[at] = realloc(blocks[at], size / 2 + 1);
    }
    for (int at = 0; at < 16; at++)
        free(blocks[at]);
    return NULL;
}

static void on_signal(int number) {
    static const char text[] = "own handler\n";
    (void)!write(STDERR_FILENO, text, sizeof text - 1);
    signal(number, SIG_DFL);
    raise(number);
}

static int check_alignments(void) {
    for (size_t alignment = 8; alignment <= 1 << 16; alignment *= 2)
        for (size_t size = 1; size < 20000; size = size * 3 + 1) {
            void *block = NULL;
            if (posix_memalign(&block, alignment, size) || (uintptr_t)block % alignment)
                return 1;
            memset(block, 2, size);
            if (malloc_usable_size(block) < size)
                return 2;
            free(block);
            block = malloc(size);
            if ((uintptr_t)block % 16)
                return 3;
            free(block);
        }
    char *zeros = calloc(100, 7);
    for (int at = 0; at < 700; at++)
        if (zeros[at])
            return 4;
    zeros = realloc(zeros, 70000);
    for (int at = 0; at < 700; at++)
        if (zeros[at])
            return 5;
    free(zeros);
    return 0;
}

int main(int count, char **arguments) {
    const char *name = count > 1 ? arguments[1] : "";
    int at_page = strncmp(name, "begin-", 6) == 0;
    if (guard_begin)
        guard_begin(at_page);
    if (guard_label)
        guard_label("weights (float32[25])");
    char *block = aligned(100);
    if (guard_label)
        guard_label("");
    char *plain = malloc(48);
    memset(block, 3, 100);
    if (!strcmp(name, "valid") || !strcmp(name, "begin-valid"))
        return check_alignments();
    if (!strcmp(name, "read-behind"))
        sink = block[128 + 32];
    if (!strcmp(name, "read-far")) /* nearer to the begin of a block that is free */
        free(aligned(50)), sink = plain[48 + 62000];
    if (!strcmp(name, "write-behind"))
        block[128] = 1;
    if (!strcmp(name, "write-canary"))
        block[101] = 1, free(block);
    if (!strcmp(name, "write-canary-live"))
        block[-3] = 1;
    if (!strcmp(name, "begin-read-before"))
        sink = block[-8];
    if (!strcmp(name, "begin-write-before"))
        block[-1] = 1;
    if (!strcmp(name, "begin-write-canary"))
        block[104] = 1, free(block);
    if (!strcmp(name, "read-freed"))
        free(block), sink = block[16];
    if (!strcmp(name, "write-freed"))
        free(block), block[0] = 1;
    if (!strcmp(name, "free-twice"))
        free(block), free(block);
    if (!strcmp(name, "free-inside"))
        free(block + 8);
    if (!strcmp(name, "malloc-behind"))
        sink = plain[48];
    if (!strcmp(name, "null"))
        sink = *(volatile char *)(intptr_t)(count - 2);
    if (!strcmp(name, "handler"))
        signal(SIGSEGV, SIG_DFL), sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_signal}, NULL),
            sink = block[128];
    if (!strcmp(name, "threads")) {
        pthread_t threads[8];
        for (uintptr_t at = 0; at < 8; at++)
            pthread_create(&threads[at], NULL, churn, (void *)(at + 1));
        for (int at = 0; at < 8; at++)
            pthread_join(threads[at], NULL);
    }
    if (!strcmp(name, "fork")) {
        pthread_t thread;
        pthread_create(&thread, NULL, churn, (void *)9);
        for (int round = 0; round < 50; round++) {
            pid_t child = fork();
            if (!child) {
                free(malloc(5000));
                if (round == 49)
                    sink = block[128];
                _exit(0);
            }
            int status;
            waitpid(child, &status, 0);
            if (WIFSIGNALED(status) != (round == 49))
                return 1;
        }
        pthread_join(thread, NULL);
    }
    if (!strcmp(name, "many")) /* more blocks than the kernel has mappings for */
        for (int at = 0; at < 40000; at++)
            if (!aligned(100))
                return 1;
    if (!strcmp(name, "reuse")) /* more freed blocks than the arena has room for */
        for (int at = 0; at < 10000; at++)
            free(malloc(8 << 20));
    if (guard_end)
        guard_end();
    return 0;
}
