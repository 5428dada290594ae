/* Writes and reads by rank with the options of IOR that iotide uses, and prints what it measured in IOR's forms.
   It knows each byte of its files: a read that differs ends the program. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define ALIGNMENT 4096
#define MIB (1024.0 * 1024.0)

static struct {
  const char *api, *path, *ranks, *summary, *status;
  long long transfer, block, segments;
  int write, read, own_file, flush, shifted, collective, random, direct, limit_seconds, wears_out;
} asked = {.api = "POSIX", .transfer = 262144, .block = 1048576, .segments = 1};

static int rank, tasks, nodes, node_tasks;

static void fail(const char *form, ...) {
  va_list words;
  va_start(words, form);
  printf("ERROR: ");
  vprintf(form, words);
  printf("\n");
  fflush(stdout);
  va_end(words);
  MPI_Abort(MPI_COMM_WORLD, 1);
}

static void take_directive(const char *word) {
  const char *value = strchr(word, '=');
  if (!value++) fail("%s has no value", word);
  if (!strncmp(word, "useO_DIRECT=", value - word)) asked.direct = atoi(value);
  else if (!strncmp(word, "stoneWallingWearOut=", value - word)) asked.wears_out = atoi(value);
  else if (!strncmp(word, "stoneWallingStatusFile=", value - word)) asked.status = value;
  else if (!strncmp(word, "saveRankPerformanceDetailsCSV=", value - word)) asked.ranks = value;
  else if (!strncmp(word, "summaryFile=", value - word)) asked.summary = value;
  else if (strcmp(word, "summaryFormat=JSON")) fail("no directive is %s", word);
}

static void take_options(int count, char **words) {
  int option;
  while ((option = getopt(count, words, "a:wrki:t:b:s:o:l:FeCczD:O:")) != -1) switch (option) {
      case 'a': asked.api = optarg; break;
      case 'w': asked.write = 1; break;
      case 'r': asked.read = 1; break;
      case 't': asked.transfer = atoll(optarg); break;
      case 'b': asked.block = atoll(optarg); break;
      case 's': asked.segments = atoll(optarg); break;
      case 'o': asked.path = optarg; break;
      case 'F': asked.own_file = 1; break;
      case 'e': asked.flush = 1; break;
      case 'C': asked.shifted = 1; break;
      case 'c': asked.collective = 1; break;
      case 'z': asked.random = 1; break;
      case 'D': asked.limit_seconds = atoi(optarg); break;
      case 'O': take_directive(optarg); break;
      case 'k': case 'l': break; /* files are always kept, and their data is always random */
      case 'i': if (atoi(optarg) != 1) fail("%s repetitions", optarg); break;
      default: fail("invalid argument"); /* getopt has named it */
    }
  if (!asked.path || !asked.summary || asked.write == asked.read) fail("-o, summaryFile and one of -w and -r are needed");
  if (asked.block % asked.transfer) fail("block size %lld is no multiple of transfer size %lld", asked.block, asked.transfer);
  if (asked.limit_seconds && asked.write && !asked.wears_out) fail("-D needs stoneWallingWearOut");
}

/* Fill a transfer with data that only its owner and offset decide. */
static void fill(uint64_t *data, int owner, long long offset) {
  uint64_t word = 0x9e3779b97f4a7c15u * (uint64_t)(offset + 1) ^ (uint64_t)(owner + 1) << 40;
  for (long long at = 0; at < asked.transfer / 8; at++) {
    word ^= word << 13;
    word ^= word >> 7;
    word ^= word << 17;
    data[at] = word;
  }
}

static long long offset_of(int owner, long long pair) {
  long long in_block = asked.block / asked.transfer, segment = pair / in_block, at = pair % in_block * asked.transfer;
  return asked.own_file ? segment * asked.block + at : (segment * tasks + owner) * asked.block + at;
}

/* The order of a rank's transfers, so that a reader after a stonewall finds the same ones. */
static long long *order_of(int owner, long long pairs) {
  long long *order = malloc(pairs * sizeof *order);
  for (long long pair = 0; pair < pairs; pair++) order[pair] = pair;
  srand(owner + 1);
  for (long long last = pairs - 1; asked.random && last > 0; last--) {
    long long other = rand() % (last + 1), kept = order[last];
    order[last] = order[other];
    order[other] = kept;
  }
  return order;
}

typedef struct {
  int descriptor;
  MPI_File file;
} Opened;

static Opened open_file(const char *path) {
  Opened opened = {.descriptor = -1};
  if (!strcmp(asked.api, "POSIX")) {
    opened.descriptor = open(path, (asked.write ? O_RDWR | O_CREAT : O_RDONLY) | (asked.direct ? O_DIRECT : 0), 0600);
    if (opened.descriptor < 0) fail("open(%s) failed: %s", path, strerror(errno));
  } else {
    int mode = asked.write ? MPI_MODE_RDWR | MPI_MODE_CREATE : MPI_MODE_RDONLY;
    MPI_Comm who = asked.own_file ? MPI_COMM_SELF : MPI_COMM_WORLD;
    if (MPI_File_open(who, path, mode, MPI_INFO_NULL, &opened.file)) fail("MPI_File_open(%s) failed", path);
  }
  return opened;
}

static void transfer(Opened *opened, void *data, long long offset) {
  int bytes = (int)asked.transfer, moved = 0;
  if (opened->descriptor >= 0) {
    ssize_t done = asked.write ? pwrite(opened->descriptor, data, bytes, offset) : pread(opened->descriptor, data, bytes, offset);
    if (done != bytes) fail("%s at %lld failed: %s", asked.write ? "write" : "read", offset, strerror(errno));
    return;
  }
  MPI_Status status;
  int code;
  if (asked.write) code = (asked.collective ? MPI_File_write_at_all : MPI_File_write_at)(opened->file, offset, data, bytes, MPI_BYTE, &status);
  else code = (asked.collective ? MPI_File_read_at_all : MPI_File_read_at)(opened->file, offset, data, bytes, MPI_BYTE, &status);
  MPI_Get_count(&status, MPI_BYTE, &moved);
  if (code || moved != bytes) fail("%s at %lld failed", asked.write ? "MPI write" : "MPI read", offset);
}

/* Move all pairs, or those until the stonewall and then as many as the fastest rank. Return their number. */
static long long move(Opened *opened, int owner, void *data, void *expected) {
  long long pairs = asked.block / asked.transfer * asked.segments, most = pairs;
  if (asked.read && asked.status) {
    FILE *status = fopen(asked.status, "r");
    if (!status || fscanf(status, "%lld", &most) != 1) fail("cannot read the stonewall's status file");
    fclose(status);
  }
  long long *order = order_of(owner, pairs), done = 0;
  double begin = MPI_Wtime();
  for (int wears_out = 0; wears_out < 2; wears_out++) {
    for (; done < most; done++) {
      if (!wears_out && asked.write && asked.limit_seconds && MPI_Wtime() - begin >= asked.limit_seconds) break;
      long long offset = offset_of(owner, order[done]);
      if (asked.write) fill(data, owner, offset);
      transfer(opened, data, offset);
      if (asked.read) {
        fill(expected, owner, offset);
        if (memcmp(data, expected, asked.transfer)) fail("rank %d read other data than rank %d wrote at %lld", rank, owner, offset);
      }
    }
    if (!asked.write || !asked.limit_seconds) break;
    MPI_Allreduce(&done, &most, 1, MPI_LONG_LONG, MPI_MAX, MPI_COMM_WORLD);
  }
  if (asked.write && asked.flush && (opened->descriptor >= 0 ? fsync(opened->descriptor) : MPI_File_sync(opened->file)))
    fail("fsync failed: %s", strerror(errno));
  free(order);
  return done;
}

static void count_nodes(void) {
  MPI_Comm own;
  int own_rank;
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &own);
  MPI_Comm_rank(own, &own_rank);
  MPI_Comm_size(own, &node_tasks);
  int is_first = own_rank == 0;
  MPI_Allreduce(&is_first, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(&node_tasks, 1, MPI_INT, 0, MPI_COMM_WORLD);
  MPI_Comm_free(&own);
}

static double span(double begin, double end) {
  double first, last;
  MPI_Reduce(&begin, &first, 1, MPI_DOUBLE, MPI_MIN, 0, MPI_COMM_WORLD);
  MPI_Reduce(&end, &last, 1, MPI_DOUBLE, MPI_MAX, 0, MPI_COMM_WORLD);
  return rank ? 0 : last - first;
}

static FILE *created(const char *path) {
  FILE *file = fopen(path, "w");
  if (!file) fail("cannot write %s: %s", path, strerror(errno));
  return file;
}

static void print_ranks(const double *whole, const double *transfers, double bytes) {
  FILE *table = created(asked.ranks);
  fprintf(table, "access,rank,runtime-with-openclose,runtime,throughput-withopenclose,throughput\n");
  for (int one = 0; one < tasks; one++)
    fprintf(table, "%s,%d,%.10e,%.10e,%.10e,%.10e\n", asked.write ? "write" : "read", one, whole[one], transfers[one],
            bytes / tasks / whole[one], bytes / tasks / transfers[one]);
  fclose(table);
}

static void print_summary(double bytes, double opening, double moving, double closing, double total) {
  const char *access = asked.write ? "write" : "read";
  time_t now = time(NULL);
  FILE *json = created(asked.summary);
  printf("Writing output to %s\n", asked.summary);
  fprintf(json, "{\n\"Version\": \"4.1.0\",\n\"tests\": [{\n\"Parameters\": {\"api\": \"%s\", \"nodes\": %d,", asked.api, nodes);
  fprintf(json, " \"tasksPerNode\": %d, \"repetitions\": 1, \"fsync\": %d, \"filePerProc\": %d,", node_tasks, asked.flush, asked.own_file);
  fprintf(json, " \"reorderTasks\": %d, \"randomOffset\": %d, \"collective\": %d,", asked.shifted, asked.random, asked.collective);
  fprintf(json, " \"segmentCount\": %lld, \"transferSize\": %lld, \"blockSize\": %lld},\n", asked.segments, asked.transfer, asked.block);
  fprintf(json, "\"Results\": [{\"access\": \"%s\", \"bwMiB\": %.4f, \"iops\": %.4f,", access, bytes / MIB / total, bytes / asked.transfer / moving);
  fprintf(json, " \"openTime\": %.4f, \"wrRdTime\": %.4f, \"closeTime\": %.4f, \"totalTime\": %.4f}]\n}],\n", opening, moving, closing, total);
  fprintf(json, "\"summary\": [{\"operation\": \"%s\", \"numTasks\": %d, \"xsizeMiB\": %.4f}],\n", access, tasks, bytes / MIB);
  fprintf(json, "\"Finished\": \"%.24s\"\n}\n", ctime(&now));
  fclose(json);
}

int main(int count, char **words) {
  if (count > 1 && !strcmp(words[1], "-h")) {
    printf("Synopsis ior: reads and writes by rank for the tests of iotide\n");
    return 0;
  }
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &tasks);
  take_options(count, words);
  count_nodes();
  int owner = asked.read && asked.shifted ? (rank + node_tasks) % tasks : rank;
  char path[4096];
  snprintf(path, sizeof path, asked.own_file ? "%s.%08d" : "%s", asked.path, owner);
  void *data = NULL, *expected = NULL;
  if (posix_memalign(&data, ALIGNMENT, asked.transfer) || posix_memalign(&expected, ALIGNMENT, asked.transfer)) fail("out of memory");
  MPI_Barrier(MPI_COMM_WORLD);
  double began = MPI_Wtime();
  Opened opened = open_file(path);
  double open_at = MPI_Wtime();
  long long pairs = move(&opened, owner, data, expected);
  double moved_at = MPI_Wtime();
  if (opened.descriptor >= 0 ? close(opened.descriptor) : MPI_File_close(&opened.file)) fail("close failed: %s", strerror(errno));
  double ended = MPI_Wtime(), own_bytes = (double)pairs * asked.transfer, bytes = 0;
  double whole = ended - began, transfers = moved_at - open_at, *of_whole = malloc(tasks * sizeof *of_whole), *of_transfers = malloc(tasks * sizeof *of_transfers);
  MPI_Reduce(&own_bytes, &bytes, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  MPI_Gather(&whole, 1, MPI_DOUBLE, of_whole, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  MPI_Gather(&transfers, 1, MPI_DOUBLE, of_transfers, 1, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  double opening = span(began, open_at), moving = span(open_at, moved_at), closing = span(moved_at, ended), total = span(began, ended);
  if (rank == 0) {
    if (asked.write && asked.status) {
      FILE *status = created(asked.status);
      fprintf(status, "%lld\n", pairs);
      fclose(status);
    }
    if (asked.ranks) print_ranks(of_whole, of_transfers, bytes);
    print_summary(bytes, opening, moving, closing, total);
  }
  MPI_Finalize();
  return 0;
}
