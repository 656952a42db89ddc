/* page.h - the dashboard and the description of the service, compiled in. */
#ifndef TARRY_HTTP_PAGE_H
#define TARRY_HTTP_PAGE_H

#include "service/service.h"

/* Ends with a NULL path. */
extern const tarry__service_file tarry__http_files[];

#endif
