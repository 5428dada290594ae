/* Creates, looks up, reads and removes by rank with the options of mdtest that iotide uses, without trees,
   and prints what it measured in mdtest's forms. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <mpi.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static struct {
  const char *directory, *ranks;
  int items, bytes, limit_seconds, flush, sync;
  char operation;
  int only_files, only_directories, own_directory;
} asked;

static int rank, tasks, nodes;
static char node_map[8192], tree[2048];

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

static void take_options(int count, char **words) {
  static const struct option LONG[] = {{"saveRankPerformanceDetails", required_argument, 0, 1}, {0}};
  int option;
  while ((option = getopt_long(count, words, "CTErFDn:d:uw:e:yYW:", LONG, NULL)) != -1) switch (option) {
      case 'C': case 'T': case 'E': case 'r': asked.operation = option; break;
      case 'F': asked.only_files = 1; break;
      case 'D': asked.only_directories = 1; break;
      case 'n': asked.items = atoi(optarg); break;
      case 'd': asked.directory = optarg; break;
      case 'u': asked.own_directory = 1; break;
      case 'w': case 'e': asked.bytes = atoi(optarg); break;
      case 'y': asked.flush = 1; break;
      case 'Y': asked.sync = 1; break;
      case 'W': asked.limit_seconds = atoi(optarg); break;
      case 1: asked.ranks = optarg; break;
      default: fail("invalid argument"); /* getopt has named it */
    }
  if (!asked.operation || !asked.directory || asked.items < 1) fail("-d, -n and one of -C, -T, -E and -r are needed");
}

static int is_done(int done, const char *what, const char *path) {
  if (done < 0) fail("%s %s failed: %s", what, path, strerror(errno));
  return done;
}

static void use_file(const char *path, char *data) {
  struct stat found;
  if (asked.operation == 'T') is_done(stat(path, &found), "stat", path);
  else if (asked.operation == 'r') is_done(unlink(path), "unlink", path);
  else {
    int creates = asked.operation == 'C';
    int file = is_done(open(path, creates ? O_WRONLY | O_CREAT | O_EXCL : O_RDONLY, 0600), "open", path);
    if (asked.bytes && (creates ? write(file, data, asked.bytes) : read(file, data, asked.bytes)) != asked.bytes)
      fail("%s %s failed: %s", creates ? "write" : "read", path, strerror(errno));
    if (creates && asked.flush) is_done(fsync(file), "fsync", path);
    close(file);
  }
}

static void use_directory(const char *path) {
  struct stat found;
  if (asked.operation == 'T') is_done(stat(path, &found), "stat", path);
  else if (asked.operation == 'r') is_done(rmdir(path), "rmdir", path);
  else is_done(mkdir(path, 0700), "mkdir", path);
}

typedef struct {
  const char *row;
  int items;
  double own_seconds, seconds;
} Measured;

/* Use each item of this rank; after a stonewall, as many as the fastest rank. */
static Measured use_items(int is_file, const char *row) {
  Measured found = {.row = row, .items = asked.items};
  char path[4096], *data = calloc(asked.bytes + 1, 1);
  int done = 0, most = asked.items;
  MPI_Barrier(MPI_COMM_WORLD);
  double begin = MPI_Wtime();
  for (int wears_out = 0; wears_out < 2; wears_out++) {
    for (; done < most; done++) {
      if (!wears_out && asked.limit_seconds && MPI_Wtime() - begin >= asked.limit_seconds) break;
      snprintf(path, sizeof path, "%s/%s.mdtest.%d.%d", tree, is_file ? "file" : "dir", rank, done);
      if (is_file) use_file(path, data);
      else use_directory(path);
    }
    if (!asked.limit_seconds) break;
    int least, sum;
    MPI_Allreduce(&done, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&done, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    if (!wears_out) {
      MPI_Allreduce(&done, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
      if (rank == 0 && most < asked.items)
        printf("Continue stonewall hit min: %d max: %d avg: %.1f \n", least, most, (double)sum / tasks);
    }
  }
  if (asked.sync) sync();
  double own_end = MPI_Wtime(), own_seconds;
  MPI_Barrier(MPI_COMM_WORLD);
  own_seconds = MPI_Wtime() - begin;
  found.own_seconds = own_end - begin;
  found.items = done;
  MPI_Allreduce(&own_seconds, &found.seconds, 1, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
  free(data);
  return found;
}

static void map_nodes(void) {
  MPI_Comm own;
  int own_rank, world_rank = rank, is_first, *of_zero = malloc(tasks * sizeof *of_zero);
  MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank, MPI_INFO_NULL, &own);
  MPI_Comm_rank(own, &own_rank);
  is_first = own_rank == 0;
  MPI_Allreduce(&is_first, &nodes, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  MPI_Bcast(&world_rank, 1, MPI_INT, 0, own);
  int is_with_zero = world_rank == 0;
  MPI_Gather(&is_with_zero, 1, MPI_INT, of_zero, 1, MPI_INT, 0, MPI_COMM_WORLD);
  for (int one = 0; rank == 0 && one < tasks; one++) node_map[one] = of_zero[one] ? '1' : '0';
  MPI_Comm_free(&own);
  free(of_zero);
}

static void print_time(const char *what) {
  char text[64];
  time_t now = time(NULL);
  strftime(text, sizeof text, "%m/%d/%Y %H:%M:%S", localtime(&now));
  printf("-- %s at %s --\n\n", what, text);
}

static const char *COLUMNS[] = {"Directory creation", "Directory stat", "Directory read", "Directory rename", "Directory removal",
                                "File creation", "File stat", "File read", "File removal", "Tree creation", "Tree removal"};
enum { COLUMN_COUNT = sizeof COLUMNS / sizeof *COLUMNS, OF_TREES = 2 };

static void print_row(FILE *table, int columns, const Measured *found, int count, const double *seconds, int times) {
  for (int column = 0; column < columns; column++) {
    const char *cells = ",,";
    char text[64];
    for (int one = 0; one < count; one++)
      if (!strcmp(COLUMNS[column], found[one].row)) {
        snprintf(text, sizeof text, ",%.10e,%.10e", (double)found[one].items * times / seconds[one], seconds[one]);
        cells = text;
      }
    fputs(cells, table);
  }
  fputs("\n", table);
}

static void print_ranks(const Measured *found, int count) {
  double own[2] = {0}, total[2] = {0}, *of_all = malloc(2 * tasks * sizeof *of_all);
  for (int one = 0; one < count; one++) own[one] = found[one].own_seconds, total[one] = found[one].seconds;
  MPI_Gather(own, 2, MPI_DOUBLE, of_all, 2, MPI_DOUBLE, 0, MPI_COMM_WORLD);
  FILE *table = rank ? NULL : fopen(asked.ranks, "w");
  if (!rank && !table) fail("cannot write %s: %s", asked.ranks, strerror(errno));
  if (table) {
    fputs("rank,items", table);
    for (int column = 0; column < COLUMN_COUNT; column++) fprintf(table, ",rate-%s,time-%s", COLUMNS[column], COLUMNS[column]);
    fprintf(table, "\nall,%d", asked.items);
    print_row(table, COLUMN_COUNT, found, count, total, tasks);
    for (int one = 0; one < tasks; one++) {
      fprintf(table, "%d,", one);
      print_row(table, COLUMN_COUNT - OF_TREES, found, count, of_all + 2 * one, 1);
    }
    fclose(table);
  }
  free(of_all);
}

static const char *row_of(int is_file) {
  int column = asked.operation == 'C' ? 0 : asked.operation == 'T' ? 1 : asked.operation == 'E' ? 2 : 3;
  return COLUMNS[is_file ? 5 + column : column + (column == 3)];
}

int main(int count, char **words) {
  if (count > 1 && !strcmp(words[1], "-h")) {
    printf("Synopsis mdtest: metadata operations by rank for the tests of iotide\n");
    return 0;
  }
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &tasks);
  if (tasks >= (int)sizeof node_map) fail("%d tasks are too many", tasks);
  take_options(count, words);
  map_nodes();
  const char *kind = asked.only_files ? "files" : asked.only_directories ? "directories" : "files/directories";
  if (rank == 0) {
    print_time("started");
    printf("mdtest-4.1.0 was launched with %d total task(s) on %d node(s)\n", tasks, nodes);
    printf("Nodemap: %s\n%d tasks, %lld %s\n", node_map, tasks, (long long)tasks * asked.items, kind);
  }
  char base[1024];
  snprintf(base, sizeof base, "%s/test-dir.0-0", asked.directory);
  if (asked.own_directory) snprintf(tree, sizeof tree, "%s/mdtest_tree.%d.0", base, rank);
  else snprintf(tree, sizeof tree, "%s/mdtest_tree.0", base);
  int makes_tree = asked.own_directory || rank == 0;
  if (asked.operation == 'C') {
    if (rank == 0) is_done(mkdir(base, 0700), "mkdir", base);
    MPI_Barrier(MPI_COMM_WORLD);
    if (makes_tree) is_done(mkdir(tree, 0700), "mkdir", tree);
  }
  Measured found[2];
  int kinds = 0;
  if (!asked.only_files && asked.operation != 'E') found[kinds++] = use_items(0, row_of(0));
  if (!asked.only_directories) found[kinds++] = use_items(1, row_of(1));
  if (asked.operation == 'r') {
    if (makes_tree) is_done(rmdir(tree), "rmdir", tree);
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) is_done(rmdir(base), "rmdir", base);
  }
  if (rank == 0) {
    printf("\nSUMMARY rate (in ops/sec): (of 1 iterations)\n");
    printf("   Operation                     Max            Min           Mean        Std Dev\n");
    printf("   ---------                     ---            ---           ----        -------\n");
    for (int one = 0; one < kinds; one++) {
      double rate = (double)found[one].items * tasks / found[one].seconds;
      printf("   %-18s %18.3f %14.3f %14.3f %14.3f\n", found[one].row, rate, rate, rate, 0.0);
    }
    print_time("finished");
  }
  if (asked.ranks) print_ranks(found, kinds);
  MPI_Finalize();
  return 0;
}
