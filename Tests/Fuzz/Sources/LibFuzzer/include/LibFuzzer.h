#include <stddef.h>
#include <stdint.h>

/// Changes the bytes in place, without a notion of what they are. Returns how many there are now.
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t longest);
