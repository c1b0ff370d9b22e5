/*
 * Moves the wall clock of a process under test; loaded before libc (LD_PRELOAD). CLOCK_OFFSET names a file that holds
 * the milliseconds to be added, a signed 64-bit integer, which the test writes to while the process runs. The
 * monotonic clock goes on as it does.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static volatile int64_t *offset;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("CLOCK_OFFSET");
  if (!path) return;
  int file = open(path, O_RDONLY | O_CLOEXEC);
  offset = mmap(NULL, sizeof *offset, PROT_READ, MAP_SHARED, file, 0);
  if (file < 0 || offset == MAP_FAILED) {
    fprintf(stderr, "clock: the file of the offset cannot be opened\n");
    abort();
  }
  close(file);
}

int clock_gettime(clockid_t clock, struct timespec *now) {
  int failed = syscall(SYS_clock_gettime, clock, now);
  if (failed || !offset || (clock != CLOCK_REALTIME && clock != CLOCK_REALTIME_COARSE)) return failed;
  int64_t moved = now->tv_sec * 1000000000LL + now->tv_nsec + *offset * 1000000LL;
  now->tv_sec = moved / 1000000000;
  now->tv_nsec = moved % 1000000000;
  return 0;
}

int gettimeofday(struct timeval *restrict now, void *restrict zone) {
  (void)zone;
  struct timespec moved;
  int failed = clock_gettime(CLOCK_REALTIME, &moved);
  now->tv_sec = moved.tv_sec;
  now->tv_usec = moved.tv_nsec / 1000;
  return failed;
}
