#include "CountingMalloc.h"
#include <stddef.h>

#ifdef __linux__
#include <malloc.h>

extern void *__libc_malloc(size_t size);
static bool is_on;
static _Atomic long calls;

void *malloc(size_t size) {
  if (is_on) calls++;
  return __libc_malloc(size);
}

long counting_malloc_calls(void) { return calls; }
void counting_malloc_switch(bool on) { is_on = on; }

long counting_malloc_bytes(void) {
  struct mallinfo2 info = mallinfo2();
  return (long)(info.uordblks + info.hblkhd);
}
#else
#include <malloc/malloc.h>

// Calls are counted on Linux only.
long counting_malloc_calls(void) { return 0; }
void counting_malloc_switch(bool on) {}

long counting_malloc_bytes(void) {
  malloc_statistics_t statistics;
  malloc_zone_statistics(NULL, &statistics);
  return (long)statistics.size_in_use;
}
#endif
