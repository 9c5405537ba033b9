// Notes which functions a program enters. The compiler calls `trace_pc_guard` at the beginning of
// each function, with a number of its own, if it is given `-sanitize-coverage=func,trace-pc-guard`.
#define _GNU_SOURCE
#include "EntryTrace.h"
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>

enum { limit = 10000 };
static _Atomic(uint32_t) *first, *last;
static void *entries[limit];
static atomic_int count;
static atomic_bool isOn;

void __sanitizer_cov_trace_pc_guard_init(uint32_t *start, uint32_t *stop) {
  if (!first || (void *)start < (void *)first) first = (_Atomic(uint32_t) *)start;
  if (!last || (void *)stop > (void *)last) last = (_Atomic(uint32_t) *)stop;
}

void __sanitizer_cov_trace_pc_guard(uint32_t *guard) {
  if (!isOn || !atomic_exchange((_Atomic(uint32_t) *)guard, 0)) return;
  int index = count++;
  if (index < limit) entries[index] = __builtin_return_address(0);
}

void entry_trace_start(void) {
  for (_Atomic(uint32_t) *guard = first; guard < last; guard++) *guard = 1;
  count = 0;
  isOn = 1;
}

void entry_trace_stop(void) { isOn = 0; }

void entry_trace_print(void) {
  for (int index = 0; index < count && index < limit; index++) {
    Dl_info program;
    dladdr(entries[index], &program);
    // The return address is that of the next instruction, which may be one of another function.
    printf("%#lx\n", (char *)entries[index] - (char *)program.dli_fbase - 1);
  }
}
