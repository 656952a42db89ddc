/* client_inner.h - what the files of the client share. */
#ifndef TARRY_HTTP_CLIENT_INNER_H
#define TARRY_HTTP_CLIENT_INNER_H

#include <stdbool.h>

/* Waits until a descriptor is ready for POLLIN or POLLOUT.  False: errno says
 * why, ETIMEDOUT after the deadline. */
bool tarry__client_await(int fd, short what, double deadline);

#endif
