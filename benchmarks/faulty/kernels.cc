// Native code with known faults, one per branch, for benchmarks/bucketing.py. VERSION 2 has other
// line numbers.

#include <cassert>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <new>
#include <stdexcept>
#include <string>
#include <vector>

#include <unistd.h>

#if VERSION > 1










static const char* const kAbout = "the second release moves every line";
#endif

namespace faulty {

struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct Call {
  long n;
  double scale;
  const double* x;
  long size;
  const char* name;
};

[[noreturn]] void Fail(const char* file, int line, const char* text) {
  char now[32];
  time_t seconds = time(nullptr);
  strftime(now, sizeof now, "%Y-%m-%d %H:%M:%S", localtime(&seconds));
  dprintf(2, "%s.%06d: F %s:%d] Check failed: %s\n", now, getpid(), file, line, text);
  abort();
}

#define CHECK_OP(a, op, b, more)                                                        \
  do {                                                                                  \
    if (!((a)op(b))) {                                                                  \
      char text[512];                                                                   \
      snprintf(text, sizeof text, #a " " #op " " #b " (%ld vs. %ld)%s", (long)(a),      \
               (long)(b), std::string(more).c_str());                                   \
      Fail(__FILE__, __LINE__, text);                                                   \
    }                                                                                   \
  } while (0)

namespace kernels {

__attribute__((noinline)) long Divide(long a, long b) { return a / b; }

__attribute__((noinline)) double Read(const double* x, long place) {
  return *(volatile const double*)(x + place);
}

__attribute__((noinline)) long Deepen(volatile long n) {
  volatile char block[4096];
  block[n & 4095] = (char)n;
  return Deepen(n + 1) + block[0];
}

void Pool(const Call& c) {
  CHECK_OP(c.n, >=, 0, "");
  CHECK_OP(c.n, <=, c.size + 1000, " window over shape [" + std::to_string(c.size) + ",1]");
  if (c.n == 0) Divide(c.size, c.n);
  if (c.scale < 0) Read(nullptr, c.size % 7);
}

void Gather(const Call& c) {
  assert(c.n >= 0);
  long limit = c.n;
  CHECK_OP(limit, >, 0, "");
  if (c.n > 1000) Read(c.x, c.n << 24);
}

void Scatter(const Call& c) {
  if (c.n > 1000) std::vector<double>().reserve((size_t)-1 - c.n);
  if (c.n < 0) {  // the heap is found broken sooner or later, by whoever looks first
    char* block = (char*)malloc(24);
    char* next = (char*)malloc(24 + (-c.n % 64) * 16);
    memset(block, 0x41 + (-c.n % 8), 64 + (-c.n % 512));
    free(next);
    free(block);
    for (int i = 0; i < 4096; ++i) free(malloc(16 + i));
    abort();
  }
}

void Unique(const Call& c) {
  if (c.n < 0) {
    void* volatile block = malloc(16 + (-c.n % 50) * 16);
    free(block);
    free(block);
  }
  assert(c.n != 0 && "no element to choose from");
  CHECK_OP(c.n, <, 1 << 20, "");
}

void Sort(const Call& c) {
  if (c.n < 0) Deepen(c.n);
  if (c.n == 0) std::vector<double>(c.x, c.x + c.size % 5).at(c.size + 7);
  CHECK_OP((int)c.scale, ==, c.n > 1000 ? 7777 : (int)c.scale,
           std::string(" float expected, got ") + (c.size % 2 ? "int32" : "double"));
}

void Conv(const Call& c) {
  if (c.n < 0) throw Error("stride must be positive, got " + std::to_string(c.n));
  if (c.n == 0) Divide(c.size, c.n);
  long output_height = c.n > 1000 ? -c.n : c.n;
  CHECK_OP(output_height, >=, 0, "Expected a positive height for " + std::string(c.name));
}

void Norm(const Call& c) {
  if (c.n < 0) _exit(3);
  assert(c.n <= 1000);
  long num_elements = c.n;
  CHECK_OP(1, <=, num_elements, "");
}

void Fft(const Call& c) {
  unsigned long length = (unsigned long)c.n;
  CHECK_OP((long)length, >=, 0, "");
  if (c.n == 0) __builtin_trap();
  if (c.n > 1000) throw std::invalid_argument("no plan for " + std::to_string(c.n) + " points");
}

void Einsum(const Call& c) {
  if (c.n < 0) Read((const double*)0x10, -c.n % 9);
  CHECK_OP(c.n, !=, 0, " dims() of " + std::string(c.name));
  if (c.n > 1000) _exit(7);
}

void Lstm(const Call& c) {
  volatile long turns = c.n;
  while (turns < 0) --turns;
  CHECK_OP(turns, <, 1000, "");
}

void Crf(const Call& c) {
  volatile long left = c.n;
  while (left == 0) left = c.n;
  assert(c.n > 0);
}

void Ragged(const Call& c) {
  if (c.n < 0) throw std::out_of_range("row " + std::to_string(c.n) + " of " + c.name);
  if (c.n > 1000) {
    std::vector<double> rows;
    while (true) rows.resize(rows.size() + (1 << 20), c.scale);
  }
}

}  // namespace kernels
}  // namespace faulty

#define EXPORT(symbol, Name)                                                                 \
  extern "C" void symbol(long n, double scale, const double* x, long size, const char* name) { \
    faulty::kernels::Name(faulty::Call{n, scale, x, size, name});                            \
  }

EXPORT(pool, Pool)
EXPORT(gather, Gather)
EXPORT(scatter, Scatter)
EXPORT(unique, Unique)
EXPORT(sort, Sort)
EXPORT(conv, Conv)
EXPORT(norm, Norm)
EXPORT(fft, Fft)
EXPORT(einsum, Einsum)
EXPORT(lstm, Lstm)
EXPORT(crf, Crf)
EXPORT(ragged, Ragged)
