/*
 * A disk that can lose power, be full and fail; loaded before libc (LD_PRELOAD) into a process under test.
 *
 * Every change of a file below DISK_FOLDER is noted in the file DISK_JOURNAL, in the order in which it happened,
 * so that what a real disk may have kept of it can be worked out after the process was killed (disk.ts). A sync
 * stands in the journal twice: only what was written before it began is safe, and only once it has ended.
 *
 * DISK_CONTROL is a file of one `struct control`, which the test writes to while the process runs. SQLite's shared
 * memory ("-shm") is memory, not disk, and left alone.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum kind { OPENED = 1, CREATED, WRITTEN, TRUNCATED, SYNC_BEGUN, SYNC_ENDED, RENAMED, LINKED, UNLINKED, FOLDER_MADE, SYNC_FAILED };

struct record {
  uint32_t kind;
  /* Length of the names that follow, then of the data. */
  uint32_t names;
  uint64_t file;
  uint64_t at;
  uint64_t data;
};

struct control {
  /* The errno that calls fail with, and how many of 65536 do: of those that take space, and of syncs. */
  uint32_t error;
  uint32_t writes;
  uint32_t syncs;
  /* Syncs do nothing, and say that they did. */
  uint32_t no_sync;
  /* Calls that failed so far. */
  uint32_t failed;
  /* The process dies at the so-manieth step of this kind on a file of this name from now on; 0: it does not. */
  uint32_t fatal_after;
  uint32_t fatal_kind;
  char fatal_name[64];
};

#define FILES 65536
/* The inode of each open file that counts; 0 of all others. */
static uint64_t files[FILES];
/* Its name within the folder. */
static char names_of[FILES][64];
static pthread_mutex_t order = PTHREAD_MUTEX_INITIALIZER;
static const char *folder;
static size_t folder_length;
static int journal = -1;
static volatile struct control *control;
static uint64_t syncs;

__attribute__((constructor)) static void begin(void) {
  const char *path = getenv("DISK_JOURNAL");
  const char *rules = getenv("DISK_CONTROL");
  const char *wanted = getenv("DISK_FOLDER");
  if (!path || !rules || !wanted) return;
  journal = syscall(SYS_openat, AT_FDCWD, path, O_WRONLY | O_APPEND | O_CREAT | O_CLOEXEC, 0600);
  int file = syscall(SYS_openat, AT_FDCWD, rules, O_RDWR | O_CLOEXEC, 0);
  control = mmap(NULL, sizeof *control, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  if (journal < 0 || file < 0 || control == MAP_FAILED) {
    fprintf(stderr, "disk: the journal or the control file cannot be opened\n");
    abort();
  }
  close(file);
  folder = wanted;
  folder_length = strlen(wanted);
}

static int counts(const char *path) {
  if (!folder || strncmp(path, folder, folder_length) != 0) return 0;
  if (path[folder_length] != '/' && path[folder_length] != 0) return 0;
  size_t length = strlen(path);
  return length < 4 || strcmp(path + length - 4, "-shm") != 0;
}

static uint64_t counted(int file) {
  if (file < 0 || file >= FILES || files[file] == 0) return 0;
  struct stat now;
  /* Closed unseen, by a system call of its own, its number may be a socket's by now. */
  if (fstat(file, &now) != 0 || now.st_ino != files[file]) files[file] = 0;
  return files[file];
}

static void die_if_told(enum kind kind, const char *name) {
  if (control->fatal_after == 0 || control->fatal_kind != kind) return;
  if (strcmp(name, (const char *)control->fatal_name) != 0 || --control->fatal_after > 0) return;
  syscall(SYS_kill, syscall(SYS_getpid), SIGKILL);
}

/* `name`: of the file, where no path is given. */
static void note(enum kind kind, const char *name, uint64_t file, uint64_t at, const char *one, const char *two, const void *data,
                 size_t length) {
  char names[8192];
  size_t used = 0;
  if (one) used += snprintf(names, sizeof names, "%s", one + folder_length);
  if (two) used += 1 + snprintf(names + used + 1, sizeof names - used - 1, "%s", two + folder_length);
  struct record record = { kind, used, file, at, length };
  struct iovec parts[3] = { { &record, sizeof record }, { names, used }, { (void *)data, length } };
  if (syscall(SYS_writev, journal, parts, 3) != (ssize_t)(sizeof record + used + length)) {
    fprintf(stderr, "disk: the journal cannot be written\n");
    abort();
  }
  die_if_told(kind, two ? two + folder_length : one ? one + folder_length : name);
}

static int fails(uint32_t of_65536) {
  static __thread uint64_t state;
  if (of_65536 == 0) return 0;
  if (state == 0) {
    struct timespec now;
    syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &now);
    state = (uint64_t)now.tv_nsec * 2654435761u + (uintptr_t)&state + 1;
  }
  state ^= state << 13;
  state ^= state >> 7;
  state ^= state << 17;
  if ((state >> 24 & 65535) >= of_65536) return 0;
  __atomic_add_fetch(&control->failed, 1, __ATOMIC_RELAXED);
  errno = control->error;
  return 1;
}

/* The whole path of a name below an open folder; NULL where it cannot be had. */
static const char *whole(int at, const char *path, char *room, size_t size) {
  if (path[0] == '/') return path;
  char link[64];
  if (at == AT_FDCWD) snprintf(link, sizeof link, "/proc/self/cwd");
  else snprintf(link, sizeof link, "/proc/self/fd/%d", at);
  ssize_t length = syscall(SYS_readlinkat, AT_FDCWD, link, room, size - 1);
  if (length < 0) return NULL;
  snprintf(room + length, size - length, "/%s", path);
  return room;
}

static int open_file(int at, const char *name, int flags, mode_t mode) {
  char room[4096];
  const char *path = folder ? whole(at, name, room, sizeof room) : NULL;
  if (!path || !counts(path)) return syscall(SYS_openat, at, name, flags, mode);
  pthread_mutex_lock(&order);
  struct stat before;
  int existed = fstatat(AT_FDCWD, path, &before, 0) == 0;
  int file = -1;
  if (existed || !(flags & O_CREAT) || !fails(control->writes)) file = syscall(SYS_openat, at, name, flags, mode);
  int error = errno;
  if (file >= 0 && file < FILES) {
    struct stat now;
    fstat(file, &now);
    files[file] = now.st_ino;
    snprintf(names_of[file], sizeof names_of[file], "%s", path + folder_length);
    note(existed ? OPENED : CREATED, "", now.st_ino, 0, path, NULL, NULL, 0);
    if (existed && (flags & O_TRUNC) && before.st_size > 0) note(TRUNCATED, names_of[file], now.st_ino, 0, NULL, NULL, NULL, 0);
  }
  pthread_mutex_unlock(&order);
  errno = error;
  return file;
}

static mode_t mode_of(int flags, va_list rest) { return flags & (O_CREAT | O_TMPFILE) ? va_arg(rest, mode_t) : 0; }

int open(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_file(AT_FDCWD, path, flags, mode);
}

int open64(const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_file(AT_FDCWD, path, flags, mode);
}

int openat(int at, const char *path, int flags, ...) {
  va_list rest;
  va_start(rest, flags);
  mode_t mode = mode_of(flags, rest);
  va_end(rest);
  return open_file(at, path, flags, mode);
}

int close(int file) {
  if (file >= 0 && file < FILES) files[file] = 0;
  return syscall(SYS_close, file);
}

/* Writes at `offset`, or with -1 where the file stands. One that fails may have written a part first. */
static ssize_t write_some(int file, const void *data, size_t length, int64_t offset) {
  uint64_t inode = counted(file);
  if (inode == 0) {
    return offset < 0 ? syscall(SYS_write, file, data, length) : syscall(SYS_pwrite64, file, data, length, offset);
  }
  off_t at = offset;
  if (offset < 0) {
    int append = syscall(SYS_fcntl, file, F_GETFL) & O_APPEND;
    at = syscall(SYS_lseek, file, 0, append ? SEEK_END : SEEK_CUR);
  }
  pthread_mutex_lock(&order);
  ssize_t written = -1;
  if (!fails(control->writes) || (length > 1 && (length /= 2) % 3 == 0)) {
    if (offset < 0) {
      written = syscall(SYS_write, file, data, length);
    } else {
      written = syscall(SYS_pwrite64, file, data, length, offset);
    }
    int error = errno;
    if (written > 0) note(WRITTEN, names_of[file], inode, at, NULL, NULL, data, written);
    errno = error;
  }
  pthread_mutex_unlock(&order);
  return written;
}

ssize_t write(int file, const void *data, size_t length) { return write_some(file, data, length, -1); }
ssize_t pwrite(int file, const void *data, size_t length, off_t at) { return write_some(file, data, length, at); }
ssize_t pwrite64(int file, const void *data, size_t length, off64_t at) { return write_some(file, data, length, at); }

/* A writer that is told of less than it gave comes again with the rest. */
ssize_t writev(int file, const struct iovec *parts, int count) {
  if (counted(file) == 0) return syscall(SYS_writev, file, parts, count);
  for (int part = 0; part < count; part++) {
    if (parts[part].iov_len > 0) return write_some(file, parts[part].iov_base, parts[part].iov_len, -1);
  }
  return 0;
}

static int truncate_file(int file, int64_t size) {
  uint64_t inode = counted(file);
  if (inode == 0) return syscall(SYS_ftruncate, file, size);
  pthread_mutex_lock(&order);
  int done = fails(control->writes) ? -1 : syscall(SYS_ftruncate, file, size);
  int error = errno;
  if (done == 0) note(TRUNCATED, names_of[file], inode, size, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&order);
  errno = error;
  return done;
}

int ftruncate(int file, off_t size) { return truncate_file(file, size); }
int ftruncate64(int file, off64_t size) { return truncate_file(file, size); }

static int sync_file(int file, long call) {
  uint64_t inode = counted(file);
  if (inode == 0) return syscall(call, file);
  if (control->no_sync) return 0;
  pthread_mutex_lock(&order);
  uint64_t id = ++syncs;
  note(SYNC_BEGUN, names_of[file], inode, id, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&order);
  int done = fails(control->syncs) ? -1 : syscall(call, file);
  int error = errno;
  pthread_mutex_lock(&order);
  note(done == 0 ? SYNC_ENDED : SYNC_FAILED, names_of[file], inode, id, NULL, NULL, NULL, 0);
  pthread_mutex_unlock(&order);
  errno = error;
  return done;
}

int fsync(int file) { return sync_file(file, SYS_fsync); }
int fdatasync(int file) { return sync_file(file, SYS_fdatasync); }

/* A change of names, noted when it happened. */
static int change_name(enum kind kind, const char *one, const char *two, int from, int to, const char *name,
                       const char *other, int flags, mode_t mode) {
  pthread_mutex_lock(&order);
  int done = -1;
  struct stat now = { 0 };
  switch (kind) {
    case RENAMED: done = syscall(SYS_renameat2, from, name, to, other, 0); break;
    case LINKED:
      done = syscall(SYS_linkat, from, name, to, other, flags);
      if (done == 0) fstatat(AT_FDCWD, two, &now, 0);
      break;
    case UNLINKED: done = syscall(SYS_unlinkat, from, name, flags); break;
    case FOLDER_MADE:
      done = syscall(SYS_mkdirat, from, name, mode);
      if (done == 0) fstatat(AT_FDCWD, one, &now, 0);
      break;
    default: abort();
  }
  int error = errno;
  if (done == 0 && counts(one)) note(kind, "", now.st_ino, 0, one, two, NULL, 0);
  pthread_mutex_unlock(&order);
  errno = error;
  return done;
}

static int change_at(enum kind kind, int from, const char *name, int to, const char *other, int flags, mode_t mode) {
  char room[4096];
  char another[4096];
  const char *one = folder ? whole(from, name, room, sizeof room) : NULL;
  const char *two = one && other ? whole(to, other, another, sizeof another) : NULL;
  return change_name(kind, one ? one : "", two, from, to, name, other, flags, mode);
}

int rename(const char *from, const char *to) { return change_at(RENAMED, AT_FDCWD, from, AT_FDCWD, to, 0, 0); }
int link(const char *from, const char *to) { return change_at(LINKED, AT_FDCWD, from, AT_FDCWD, to, 0, 0); }
int unlink(const char *path) { return change_at(UNLINKED, AT_FDCWD, path, 0, NULL, 0, 0); }
int unlinkat(int at, const char *path, int flags) { return change_at(UNLINKED, at, path, 0, NULL, flags, 0); }
int rmdir(const char *path) { return change_at(UNLINKED, AT_FDCWD, path, 0, NULL, AT_REMOVEDIR, 0); }
int mkdir(const char *path, mode_t mode) { return change_at(FOLDER_MADE, AT_FDCWD, path, 0, NULL, 0, mode); }
