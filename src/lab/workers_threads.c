/* workers_threads.c - tasks on the threads of one process. */
#include "lab/workers.h"

#include "base/base.h"
#include "base/threads.h"

/* One task; results are handed over under a lock. */
static tarry_status do_task(const tarry__workers_job *job, size_t i,
                            tarry_error *error)
{
    void *result = tarry__base_zalloc(1, job->result_size);
    if (result == NULL)
        return tarry__base_fail(error, TARRY_NO_MEMORY, "out of memory");
    tarry_status status = job->work(job->context, i, result, error);
    if (status == TARRY_OK) {
#pragma omp critical(tarry_done)
        status = job->done(job->context, i, result, error);
    }
    tarry__base_free(result);
    return status;
}

tarry_status tarry__workers_run(const tarry__workers_job *job, int threads,
                                tarry_error *error)
{
    tarry_status status = TARRY_OK;
    size_t failed = job->count; /* the first of the tasks that have */
    threads = tarry__base_threads_with_room(tarry__base_threads(threads));
#pragma omp parallel for schedule(dynamic) num_threads(threads)
    for (size_t i = 0; i < job->count; i++) {
        size_t seen;
        tarry_error here;
#pragma omp atomic read
        seen = failed;
        if (i > seen || (job->skip != NULL && job->skip[i]))
            continue;
        const tarry_status ended = do_task(job, i, &here);
#pragma omp critical(tarry_failure)
        if (ended != TARRY_OK && i < failed) {
#pragma omp atomic write
            failed = i;
            status = ended;
            if (error != NULL)
                *error = here;
        }
    }
    return status;
}

void tarry__workers_open(int *argc, char ***argv)
{
    (void)argc;
    (void)argv;
}

void tarry__workers_close(void)
{
}

int tarry__workers_rank(void)
{
    return 0;
}

int tarry__workers_ranks(void)
{
    return 1;
}

void tarry__workers_share(void *bytes, size_t size)
{
    (void)bytes;
    (void)size;
}
