#include <stdbool.h>

/// How often this process has called `malloc` while counting was on.
long counting_malloc_calls(void);

/// Switches counting on or off. It is off at first: a shared counter would slow down whatever
/// allocates on two cores at a time.
void counting_malloc_switch(bool on);

/// How many bytes the allocator has given out and not got back, its own overhead included.
long counting_malloc_bytes(void);
