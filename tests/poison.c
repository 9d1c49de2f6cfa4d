/* Fills new memory with signalling NaNs, so that reading what nobody wrote shows.
 *
 *     cc -O2 -shared -fPIC tests/poison.c -o poison.so
 *     LD_PRELOAD=$PWD/poison.so pytest ...
 *
 * As double precision each eight bytes are a signalling NaN; as single precision a signalling and a
 * quiet one; as integers, numbers too large for any index. For glibc. */
#include <errno.h>
#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

extern void *__libc_malloc(size_t);
extern void *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t);

static void poison(void *start, size_t from, size_t to) {
    static const uint64_t pattern = UINT64_C(0x7ff400007fa00000);
    const char *bytes = (const char *)&pattern;
    char *memory = start;
    for (; from < to && from % 8; from++) memory[from] = bytes[from % 8];
    for (; from + 8 <= to; from += 8) memcpy(memory + from, &pattern, 8);
    for (; from < to; from++) memory[from] = bytes[from % 8];
}

void *malloc(size_t size) {
    void *start = __libc_malloc(size);
    if (start) poison(start, 0, size);
    return start;
}

void *realloc(void *old, size_t size) {
    size_t before = old ? malloc_usable_size(old) : 0;
    void *start = __libc_realloc(old, size);
    if (start && size > before) poison(start, before, size);
    return start;
}

void *memalign(size_t alignment, size_t size) {
    void *start = __libc_memalign(alignment, size);
    if (start) poison(start, 0, size);
    return start;
}

void *aligned_alloc(size_t alignment, size_t size) { return memalign(alignment, size); }

int posix_memalign(void **start, size_t alignment, size_t size) {
    *start = memalign(alignment, size);
    return *start ? 0 : ENOMEM;
}
