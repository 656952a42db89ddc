/* routes.c - the one table of routes: what is asked leads to who answers. */
#include <string.h>
#include "service/inner.h"

#define EXPERIMENT "/v1/experiments/{name}"

const tarry__service_route tarry__service_routes[] = {
    {"POST", EXPERIMENT "/decisions", TARRY__SERVICE_DECIDE,
     TARRY__SERVICE_KEEPER, true, false, tarry__service_decide},
    {"POST", "/v1/feedback", TARRY__SERVICE_FEEDBACK, TARRY__SERVICE_KEEPER,
     true, false, tarry__service_feedback},
    {"POST", "/v1/decisions/{id}/cancel", TARRY__SERVICE_DECIDE,
     TARRY__SERVICE_KEEPER, false, false, tarry__service_cancel},
    {"POST", "/v1/decisions/{id}/expire", TARRY__SERVICE_FEEDBACK,
     TARRY__SERVICE_KEEPER, false, false, tarry__service_expire},
    {"POST", "/v1/experiments", TARRY__SERVICE_ADMIN, TARRY__SERVICE_HELPER,
     true, false, tarry__service_create_experiment},
    {"GET", "/v1/experiments", TARRY__SERVICE_READ, TARRY__SERVICE_HELPER,
     false, false, tarry__service_list_experiments},
    {"GET", EXPERIMENT, TARRY__SERVICE_READ, TARRY__SERVICE_HELPER, false,
     false, tarry__service_show_experiment},
    {"POST", EXPERIMENT "/arms", TARRY__SERVICE_ADMIN, TARRY__SERVICE_KEEPER,
     true, false, tarry__service_admit},
    {"DELETE", EXPERIMENT "/arms/{arm}", TARRY__SERVICE_ADMIN,
     TARRY__SERVICE_KEEPER, false, false, tarry__service_withdraw},
    {"POST", EXPERIMENT "/pause", TARRY__SERVICE_ADMIN, TARRY__SERVICE_KEEPER,
     false, false, tarry__service_pause},
    {"POST", EXPERIMENT "/resume", TARRY__SERVICE_ADMIN, TARRY__SERVICE_KEEPER,
     false, false, tarry__service_resume},
    {"GET", EXPERIMENT "/status", TARRY__SERVICE_READ, TARRY__SERVICE_HELPER,
     false, false, tarry__service_status},
    {"GET", EXPERIMENT "/pending", TARRY__SERVICE_READ, TARRY__SERVICE_HELPER,
     false, true, tarry__service_pending},
    {"GET", EXPERIMENT "/log", TARRY__SERVICE_READ, TARRY__SERVICE_HELPER,
     false, false, tarry__service_log},
    {"GET", EXPERIMENT "/overview", TARRY__SERVICE_READ, TARRY__SERVICE_HELPER,
     false, false, tarry__service_overview},
    {"GET", "/healthz", TARRY__SERVICE_ANYBODY, TARRY__SERVICE_HERE, false,
     false, tarry__service_health},
    {"GET", "/readyz", TARRY__SERVICE_ANYBODY, TARRY__SERVICE_HERE, false,
     false, tarry__service_ready},
    {"GET", "/metrics", TARRY__SERVICE_READ, TARRY__SERVICE_HELPER, false,
     false, tarry__service_metrics},
};
const size_t tarry__service_n_routes =
    sizeof tarry__service_routes / sizeof *tarry__service_routes;

bool tarry__service_route_at(size_t i, tarry__service_route_shown *out)
{
    if (i >= tarry__service_n_routes)
        return false;
    const tarry__service_route *r = &tarry__service_routes[i];
    *out = (tarry__service_route_shown){r->method, r->pattern, r->scope};
    return true;
}

/* ---- matching -------------------------------------------------------------*/

static int hex_value(char c)
{
    return c >= '0' && c <= '9'   ? c - '0'
           : c >= 'a' && c <= 'f' ? c - 'a' + 10
           : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                  : -1;
}

/* Takes the percent signs out of a segment; false: it is too long, empty, or
 * wrong. */
static bool decode(const char *from, size_t length, char *out)
{
    size_t size = 0;
    for (size_t i = 0; i < length; i++) {
        char c = from[i];
        if (c == '%') {
            const bool is_whole = i + 2 < length;
            const int high = is_whole ? hex_value(from[i + 1]) : -1;
            const int low = is_whole ? hex_value(from[i + 2]) : -1;
            if (high < 0 || low < 0)
                return false;
            c = (char)(16 * high + low);
            i += 2;
        }
        if (c == '\0' || size + 1 >= TARRY__SERVICE_NAME_ROOM)
            return false;
        out[size++] = c;
    }
    out[size] = '\0';
    return size > 0;
}

/* Whether a path fits a pattern; names are kept in their places. */
static bool fits(const char *pattern, const char *path, tarry__service_call *c)
{
    size_t names = 0;
    while (*pattern != '\0' && *path != '\0') {
        if (*pattern == '{') {
            const size_t length = strcspn(path, "/");
            if (!decode(path, length, c->name[names++]))
                return false;
            pattern += strcspn(pattern, "}") + 1;
            path += length;
        } else if (*pattern++ != *path++) {
            return false;
        }
    }
    return *pattern == '\0' && *path == '\0';
}

static const char *allowed(unsigned methods)
{
    static const char *const texts[] = {"",
                                        "GET, HEAD",
                                        "POST",
                                        "GET, HEAD, POST",
                                        "DELETE",
                                        "GET, HEAD, DELETE",
                                        "POST, DELETE",
                                        "GET, HEAD, POST, DELETE"};
    return texts[methods];
}

static bool find_file(tarry__service_call *c, bool is_get)
{
    const tarry__service_file *f = c->service->files;
    while (f != NULL && f->path != NULL &&
           strcmp(f->path, c->request.path) != 0)
        f++;
    if (f == NULL || f->path == NULL)
        return false;
    if (!is_get) {
        tarry__service_say_problem(c, 405, "method_not_allowed",
                                   "%.200s takes GET and HEAD; got %.20s",
                                   c->request.path, c->request.method);
        c->answer.allow = allowed(1);
        return true;
    }
    c->answer = (tarry__service_answer){.status = 200,
                                        .type = f->type,
                                        .body = (const char *)f->bytes,
                                        .size = f->size,
                                        .is_file = true};
    return true;
}

bool tarry__service_find_route(tarry__service_call *c)
{
    const char *method = c->request.method;
    unsigned others = 0;
    if (strcmp(method, "HEAD") == 0)
        method = "GET";
    for (size_t i = 0; i < tarry__service_n_routes; i++) {
        const tarry__service_route *r = &tarry__service_routes[i];
        if (!fits(r->pattern, c->request.path, c))
            continue;
        if (strcmp(r->method, method) == 0) {
            c->route = r;
            c->route_number = i;
            c->answer.route = r->pattern;
            return true;
        }
        others |= r->method[0] == 'G' ? 1u : r->method[0] == 'P' ? 2u : 4u;
    }
    if (others == 0 && find_file(c, strcmp(method, "GET") == 0))
        return false;
    if (others == 0) {
        tarry__service_say_problem(c, 404, "no_such_path",
                                   "no route has the path \"%.200s\" (see "
                                   "/openapi.json)",
                                   c->request.path);
        return false;
    }
    tarry__service_say_problem(c, 405, "method_not_allowed",
                               "%.200s takes %s; got %.20s", c->request.path,
                               allowed(others), c->request.method);
    c->answer.allow = allowed(others);
    return false;
}
