// libmicrohttpd answers what it cannot read by itself, with pages of HTML, and asks nobody. It does so through its own
// public MHD_queue_response, and a program's function of a shared library's name takes the library's place (ELF's
// interposition): so those answers come by here, and leave as the JSON that this program's other errors are. Where a
// library binds the name to itself, its pages stay as they are.

#define _GNU_SOURCE
#include "hark_mhd_answers.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/socket.h>
#include <time.h>

typedef enum MHD_Result (*queue_function)(struct MHD_Connection *, unsigned int, struct MHD_Response *);

static queue_function library_queue;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static void find_library_queue(void) { library_queue = (queue_function)dlsym(RTLD_NEXT, "MHD_queue_response"); }

enum MHD_Result hark_mhd_queue(struct MHD_Connection *connection, unsigned int status, struct MHD_Response *response) {
    pthread_once(&once, find_library_queue);
    return library_queue ? library_queue(connection, status, response) : MHD_NO;
}

struct refusal {
    unsigned int status;
    const char *name;
    const char *message;
};

static const struct refusal refusals[] = {
    {MHD_HTTP_BAD_REQUEST, "InvalidRequest", "the request is not HTTP as it should be"},
    {MHD_HTTP_METHOD_NOT_ALLOWED, "InvalidRequest", "this server does not know the verb"},
    {413, "PayloadTooLarge", "the request is longer than this server takes"},
    {414, "InvalidRequest", "the target is too long"},
    {431, "InvalidRequest", "the headers are too long"},
    {MHD_HTTP_INTERNAL_SERVER_ERROR, "InternalServerError", "something went wrong here"},
    {MHD_HTTP_NOT_IMPLEMENTED, "InvalidRequest", "this server does not know the transfer coding"},
    {MHD_HTTP_SERVICE_UNAVAILABLE, "NotEnoughResources", "the server is busy"},
    {MHD_HTTP_HTTP_VERSION_NOT_SUPPORTED, "InvalidRequest", "this server speaks HTTP/1.1"},
};

static const struct refusal *refusal_of(unsigned int status) {
    for (size_t place = 0; place < sizeof refusals / sizeof refusals[0]; place++)
        if (refusals[place].status == status) return &refusals[place];
    return status >= 500 ? &refusals[5] : &refusals[0];
}

// In 0.9.75 the library sends the head of such an answer twice when the headers contradict HTTP (no Host, a
// Content-Length that is no number). So these go out from here. MHD_NO then makes the library close the connection.
static enum MHD_Result answer_and_close(
    struct MHD_Connection *connection, const struct refusal *refusal, const char *body, int size) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    if (!info) return MHD_NO;
    char date[64] = "";
    time_t now = time(NULL);
    struct tm utc;
    if (gmtime_r(&now, &utc)) strftime(date, sizeof date, "Date: %a, %d %b %Y %H:%M:%S GMT\r\n", &utc);
    char answer[768];
    int length = snprintf(
        answer, sizeof answer,
        "HTTP/1.1 %u %s\r\n%sConnection: close\r\nContent-Type: application/json\r\nCache-Control: no-store\r\n"
        "Access-Control-Allow-Origin: *\r\nContent-Length: %d\r\n\r\n%s",
        refusal->status, MHD_get_reason_phrase_for(refusal->status), date, size, body);
    if (length <= 0 || length >= (int)sizeof answer) return MHD_NO;
    // Nothing else is in the socket's buffer: an earlier answer has gone before a request is read.
    send(info->connect_fd, answer, (size_t)length, MSG_NOSIGNAL | MSG_DONTWAIT);
    shutdown(info->connect_fd, SHUT_WR);
    // What is left unread would make the system take the answer back.
    char rest[4096];
    for (int part = 0; part < 64 && recv(info->connect_fd, rest, sizeof rest, MSG_DONTWAIT) > 0; part++) {}
    return MHD_NO;
}

// What the library calls, and nobody else.
enum MHD_Result MHD_queue_response(
    struct MHD_Connection *connection, unsigned int status, struct MHD_Response *response) {
    const struct refusal *refusal = refusal_of(status);
    char body[256];
    int size = snprintf(
        body, sizeof body, "{\"error\":\"%s\",\"message\":\"%s\"}", refusal->name, refusal->message);
    if (refusal->status == MHD_HTTP_BAD_REQUEST || refusal->status == 413)
        return answer_and_close(connection, refusal, body, size);
    struct MHD_Response *json = MHD_create_response_from_buffer((size_t)size, body, MHD_RESPMEM_MUST_COPY);
    if (!json) return hark_mhd_queue(connection, status, response);
    MHD_add_response_header(json, MHD_HTTP_HEADER_CONTENT_TYPE, "application/json");
    MHD_add_response_header(json, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
    MHD_add_response_header(json, MHD_HTTP_HEADER_ACCESS_CONTROL_ALLOW_ORIGIN, "*");
    enum MHD_Result result = hark_mhd_queue(connection, status, json);
    MHD_destroy_response(json);
    return result;
}
