/* workers_mpi.c - tasks on the ranks of an MPI program.
 *
 * Tasks are dealt out in batches, each rank does its share on its threads, and
 * rank 0 collects the results of a batch before the next: so finished work is
 * in safe hands soon, and one failure stops all. */
#include "lab/workers.h"

#include <mpi.h>
#include <string.h>
#include "base/base.h"
#include "base/threads.h"

enum { TASKS_PER_THREAD = 4 };

static int rank, ranks = 1;

void tarry__workers_open(int *argc, char ***argv)
{
    int level;
    MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
}

void tarry__workers_close(void)
{
    MPI_Finalize();
}

int tarry__workers_rank(void)
{
    return rank;
}

int tarry__workers_ranks(void)
{
    return ranks;
}

void tarry__workers_share(void *bytes, size_t size)
{
    MPI_Bcast(bytes, (int)size, MPI_BYTE, 0, MPI_COMM_WORLD);
}

/* This rank's share of a batch: `each` tasks from first + rank * each on. */
typedef struct {
    tarry_status status;
    tarry_error error;
} verdict;

static bool is_wanted(const tarry__workers_job *job, size_t i)
{
    return i < job->count && !(job->skip != NULL && job->skip[i]);
}

static verdict do_share(const tarry__workers_job *job, size_t first,
                        size_t each, int threads, unsigned char *results)
{
    verdict v = {TARRY_OK, {""}};
    size_t failed = each;
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t k = 0; k < each; k++) {
        tarry_error error;
        if (!is_wanted(job, first + k))
            continue;
        const tarry_status status = job->work(
            job->context, first + k, results + k * job->result_size, &error);
#pragma omp critical(tarry_failure)
        if (status != TARRY_OK && k < failed) {
            failed = k;
            v = (verdict){status, error};
        }
    }
    return v;
}

/* Rank 0 hands over the results of the ranks that succeeded. */
static verdict hand_over(const tarry__workers_job *job, size_t first,
                         size_t each, const unsigned char *all,
                         const verdict *verdicts)
{
    verdict v = {TARRY_OK, {""}};
    for (int r = 0; r < ranks; r++) {
        if (v.status == TARRY_OK)
            v = verdicts[r];
        for (size_t k = (size_t)r * each; k < (size_t)(r + 1) * each; k++)
            if (is_wanted(job, first + k) && v.status == TARRY_OK)
                v.status = job->done(job->context, first + k,
                                     all + k * job->result_size, &v.error);
    }
    return v;
}

static verdict do_batch(const tarry__workers_job *job, size_t first,
                        size_t each, int threads, unsigned char *mine,
                        unsigned char *all, verdict *verdicts)
{
    const int size = (int)(each * job->result_size);
    verdict v = do_share(job, first + (size_t)rank * each, each, threads, mine);
    MPI_Gather(mine, size, MPI_BYTE, all, size, MPI_BYTE, 0, MPI_COMM_WORLD);
    MPI_Gather(&v, sizeof v, MPI_BYTE, verdicts, sizeof v, MPI_BYTE, 0,
               MPI_COMM_WORLD);
    if (rank == 0)
        v = hand_over(job, first, each, all, verdicts);
    tarry__workers_share(&v, sizeof v);
    return v;
}

tarry_status tarry__workers_run(const tarry__workers_job *job, int threads,
                                tarry_error *error)
{
    threads = tarry__base_threads_with_room(tarry__base_threads(threads));
    int agreed = threads; /* batches must be of one size everywhere */
    tarry__workers_share(&agreed, sizeof agreed);
    const size_t each = (size_t)agreed * TASKS_PER_THREAD;
    const size_t batch = each * (size_t)ranks;
    unsigned char *mine = tarry__base_zalloc(each, job->result_size);
    unsigned char *all =
        tarry__base_zalloc(rank == 0 ? batch : 1, job->result_size);
    verdict *verdicts = tarry__base_zalloc((size_t)ranks, sizeof *verdicts);
    verdict v = {TARRY_OK, {""}};
    if (mine == NULL || all == NULL || verdicts == NULL)
        MPI_Abort(MPI_COMM_WORLD, 1);
    for (size_t first = 0; first < job->count && v.status == TARRY_OK;
         first += batch)
        v = do_batch(job, first, each, threads, mine, all, verdicts);
    tarry__base_free(verdicts);
    tarry__base_free(all);
    tarry__base_free(mine);
    if (v.status != TARRY_OK && error != NULL)
        *error = v.error;
    return v.status;
}
