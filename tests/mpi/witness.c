/* Linked into the program of the tests: notes what its ranks do, with times, and misbehaves as a file says.
   A line of the log: nanoseconds, event, host, rank, bytes. The file: behaviour, rank or -1 for all, milliseconds. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <mpi.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

ssize_t __real_pwrite(int file, const void *data, size_t bytes, off_t offset);
ssize_t __real_pread(int file, void *data, size_t bytes, off_t offset);

static int rank = -1, pause_ms;
static long long wrote, has_read;
static char asked[32];

static void note(const char *event, long long bytes) {
  char host[64], line[192];
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  gethostname(host, sizeof host);
  int length = snprintf(line, sizeof line, "%lld%09ld %s %s %d %lld\n", (long long)now.tv_sec, now.tv_nsec, event, host, rank, bytes);
  int log = open(WITNESS_LOG, O_WRONLY | O_CREAT | O_APPEND, 0644);
  if (log < 0 || write(log, line, length) != length) abort();
  close(log);
}

static void read_behaviour(void) {
  int of = -2;
  FILE *file = fopen(WITNESS_BEHAVIOUR, "r");
  if (!file) return;
  if (fscanf(file, "%31s %d %d", asked, &of, &pause_ms) != 3 || (of != -1 && of != rank)) asked[0] = pause_ms = 0;
  fclose(file);
}

static void rest(void) {
  struct timespec time = {pause_ms / 1000, pause_ms % 1000 * 1000000L};
  if (!strcmp(asked, "slow")) nanosleep(&time, NULL);
}

int MPI_Barrier(MPI_Comm who) {
  int code = PMPI_Barrier(who);
  MPI_Comm_rank(who, &rank);
  note("barrier", 0);
  read_behaviour();
  if (!strcmp(asked, "exit")) exit(3);
  if (!strcmp(asked, "stop")) raise(SIGSTOP);
  if (!strcmp(asked, "child") && !fork()) { /* it keeps stdout open */
    sleep(300);
    _exit(0);
  }
  return code;
}

int MPI_Finalize(void) {
  int code = PMPI_Finalize();
  note("wrote", wrote);
  note("has_read", has_read);
  while (!strcmp(asked, "hang")) pause();
  return code;
}

ssize_t __wrap_pwrite(int file, const void *data, size_t bytes, off_t offset) {
  if (!wrote) note("write", 0);
  rest();
  ssize_t done = __real_pwrite(file, data, bytes, offset);
  wrote += done > 0 ? done : 0;
  return done;
}

ssize_t __wrap_pread(int file, void *data, size_t bytes, off_t offset) {
  if (!has_read) note("read", 0);
  rest();
  ssize_t done = __real_pread(file, data, bytes, offset);
  has_read += done > 0 ? done : 0;
  return done;
}
