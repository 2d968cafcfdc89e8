#pragma once
#include <limits.h>
#include <stdint.h>
#include <sys/socket.h>
#include <microhttpd.h>

// What libmicrohttpd offers only through variadic functions, and enum constants that Swift does not import.

static inline enum MHD_Result hark_mhd_yes(void) { return MHD_YES; }
static inline enum MHD_Result hark_mhd_no(void) { return MHD_NO; }

struct hark_mhd_options {
    unsigned int idle_seconds;
    size_t connection_memory;
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void *(*request_line)(void *, const char *, struct MHD_Connection *);
    void *context;
};

// One thread that is handed its connections. No pool: in 0.9.75 closing a pool's listening socket while it runs may abort
// the process, since two threads then take the socket out of the same epoll set.
static inline struct MHD_Daemon *hark_mhd_start(const struct hark_mhd_options *options) {
    struct MHD_OptionItem items[] = {
        // Whoever hands them over limits them: in 0.9.75 a connection that is one too many, though it was not yet when it
        // was handed over, leaves a mutex locked.
        {MHD_OPTION_CONNECTION_LIMIT, INT_MAX, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)options->idle_seconds, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)options->connection_memory, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)options->completed, options->context},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)options->connection, options->context},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)options->request_line, options->context},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO | MHD_USE_NO_LISTEN_SOCKET, 0, NULL, NULL, options->access,
        options->context, MHD_OPTION_ARRAY, items, MHD_OPTION_END);
}

static inline int hark_mhd_has_started(enum MHD_ConnectionNotificationCode code) {
    return code == MHD_CONNECTION_NOTIFY_STARTED;
}
static inline void hark_mhd_each_header(struct MHD_Connection *connection, MHD_KeyValueIterator visit, void *context) {
    MHD_get_connection_values(connection, MHD_HEADER_KIND, visit, context);
}
// The bytes are copied.
static inline struct MHD_Response *hark_mhd_response(const void *bytes, size_t size) {
    return MHD_create_response_from_buffer(size, (void *)bytes, MHD_RESPMEM_MUST_COPY);
}

static inline int hark_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? (int)info->connect_fd : -1;
}
static inline void *hark_mhd_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}
