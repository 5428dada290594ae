/* Each rank writes its own blocks of one shared file, then checks those of the next rank. Arguments: file, blocks.
   With a third argument it then waits for a signal. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define BLOCK 65536

static void fill(char *block, int rank, int number) { memset(block, 'a' + (7 * rank + number) % 26, BLOCK); }

int main(int count, char **words) {
  int rank, ranks, blocks = atoi(words[2]);
  static char block[BLOCK], expected[BLOCK];
  MPI_Init(&count, &words);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  int file = open(words[1], O_RDWR | O_CREAT, 0600);
  if (file < 0) MPI_Abort(MPI_COMM_WORLD, 3);
  for (int number = 0; number < blocks; number++) {
    fill(block, rank, number);
    if (pwrite(file, block, BLOCK, ((off_t)number * ranks + rank) * BLOCK) != BLOCK) MPI_Abort(MPI_COMM_WORLD, 4);
  }
  fsync(file);
  MPI_Barrier(MPI_COMM_WORLD);
  int next = (rank + 1) % ranks;
  for (int number = 0; number < blocks; number++) {
    fill(expected, next, number);
    if (pread(file, block, BLOCK, ((off_t)number * ranks + next) * BLOCK) != BLOCK) MPI_Abort(MPI_COMM_WORLD, 5);
    if (memcmp(block, expected, BLOCK)) MPI_Abort(MPI_COMM_WORLD, 6);
  }
  if (count > 3) {
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 0) fprintf(stderr, "all ranks wait\n");
    for (;;) pause();
  }
  double bytes = (double)blocks * BLOCK, total = 0;
  MPI_Reduce(&bytes, &total, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("ranks=%d bytes=%.0f\n", ranks, total);
  MPI_Finalize();
  return 0;
}
