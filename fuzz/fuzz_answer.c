/* fuzz_answer.c - what a service might answer to `tarry ask`. */
#define _POSIX_C_SOURCE 200809L
#include <string.h>
#include <unistd.h>
#include "base/base.h"
#include "fuzz.h"
#include "http/client.h"

enum { ROOM = 32768 }; /* a pipe holds more */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    int fd[2];
    tarry__client_answer answer;
    tarry_error error = {""};
    if (size > ROOM || pipe(fd) != 0)
        return 0;
    must(write(fd[1], data, size) == (ssize_t)size);
    close(fd[1]);
    const tarry_status status = tarry__client_read(
        fd[0], tarry__base_seconds() + 60, NULL, &answer, &error);
    close(fd[0]);
    must((status == TARRY_OK) == (answer.body != NULL));
    must(status == TARRY_OK || error.text[0] != '\0');
    if (status == TARRY_OK)
        must(answer.size <= size && answer.body[answer.size] == '\0' &&
             answer.status >= 200 && answer.status <= 999);
    tarry__base_free(answer.body);
    return 0;
}
