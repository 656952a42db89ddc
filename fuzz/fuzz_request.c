/* A request: its head as bytes from a socket, then its body, to a service with
 * one experiment and one decision.  Whatever comes, there is one answer, and
 * it is one that the contract knows. */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include "base/json.h"
#include "fuzz.h"
#include "http/parse.h"
#include "service/service.h"

typedef struct {
    pthread_mutex_t lock;
    pthread_cond_t come;
    int count;
    tarry__service_answer answer;
} receiver;

static void receive(void *context, const tarry__service_answer *answer)
{
    receiver *r = context;
    pthread_mutex_lock(&r->lock);
    r->answer = *answer;
    r->count++;
    pthread_cond_signal(&r->come);
    pthread_mutex_unlock(&r->lock);
}

/* Sends a request and waits for its answer's status. */
static int ask(tarry__service *s, const tarry__service_request *request)
{
    receiver r = {.lock = PTHREAD_MUTEX_INITIALIZER,
                  .come = PTHREAD_COND_INITIALIZER};
    tarry__service_take(s, request, receive, &r);
    pthread_mutex_lock(&r.lock);
    while (r.count == 0)
        pthread_cond_wait(&r.come, &r.lock);
    pthread_mutex_unlock(&r.lock);
    must(r.count == 1 && r.answer.type != NULL);
    const int status = r.answer.status;
    tarry__service_answer_clear(s, &r.answer);
    return status;
}

static int post(tarry__service *s, const char *path, const char *body)
{
    const tarry__service_request request = {.method = "POST",
                                            .path = path,
                                            .query = "",
                                            .body = body,
                                            .size = strlen(body),
                                            .has_length = true};
    return ask(s, &request);
}

static tarry__service *open_service(void)
{
    tarry__service *s;
    tarry_error error;
    tarry__service_limits limits = tarry__service_default_limits();
    limits.threads = 1;
    limits.most_arms = 20;
    limits.most_dim = 20;
    must(tarry__service_open("memory:", &limits, &s, &error) == TARRY_OK);
    must(post(s, "/v1/experiments",
              "{\"name\":\"e\",\"policy\":\"lints\",\"arms\":"
              "[{\"name\":\"a\"},{\"name\":\"b\"}]}") == 201);
    must(post(s, "/v1/experiments/e/decisions", "{\"count\":2}") == 201);
    return s;
}

static void send_on(const tarry__http_head *head, const char *body, size_t size)
{
    tarry__service *s = open_service();
    const tarry__service_request request = {.method = head->method,
                                            .path = head->path,
                                            .query = head->query,
                                            .body = body,
                                            .size = size,
                                            .has_length = true};
    const int status = ask(s, &request);
    must(status == 200 || status == 201 || status == 400 || status == 404 ||
         status == 405 || status == 409 || status == 411 || status == 422);
    tarry__service_close(s);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    tarry__http_head head;
    size_t searched = 0;
    tarry__json_use_base();
    char *bytes = fuzz_text(data, size);
    const size_t end = tarry__http_head_size(bytes, size, &searched);
    must(end <= size && searched <= size);
    if (end > 0) {
        const tarry__http_verdict v = tarry__http_parse(bytes, end, &head);
        must(v.status == 0 || (v.code != NULL && v.detail != NULL));
        if (v.status == 0)
            send_on(&head, bytes + end, size - end);
    }
    free(bytes);
    return 0;
}
