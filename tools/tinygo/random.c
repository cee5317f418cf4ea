// The random numbers of TinyGo's library, from the host. The C library's own bring its printf with them, which is five of
// the hundred kilobytes that the program may have.
#include <stddef.h>
#include <stdint.h>

__attribute__((import_module("wasi_snapshot_preview1"), import_name("random_get")))
int32_t host_random(int32_t buffer, int32_t size);

void arc4random_buf(void *buffer, size_t size) { host_random((int32_t)(intptr_t)buffer, (int32_t)size); }

uint32_t arc4random(void) {
	uint32_t value;
	arc4random_buf(&value, sizeof value);
	return value;
}

// The program's variables begin here, behind its constants: this is the first file that is linked. The collector looks for pointers
// in what follows, and in constants, with their texts and tables, it would only find what looks like one.
uint32_t variables[4] = {1};
