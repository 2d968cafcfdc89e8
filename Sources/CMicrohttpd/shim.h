#pragma once
#include <stdint.h>
#include <sys/socket.h>
#include <microhttpd.h>

// What libmicrohttpd offers only through variadic functions, and enum constants that Swift does not import.

static inline enum MHD_Result hark_mhd_yes(void) { return MHD_YES; }
static inline enum MHD_Result hark_mhd_no(void) { return MHD_NO; }

struct hark_mhd_options {
    int listen_socket;
    unsigned int threads;
    unsigned int connections;
    unsigned int idle_seconds;
    size_t connection_memory;
    MHD_AccessHandlerCallback access;
    MHD_RequestCompletedCallback completed;
    MHD_NotifyConnectionCallback connection;
    void *(*request_line)(void *, const char *, struct MHD_Connection *);
    void *context;
};

static inline struct MHD_Daemon *hark_mhd_start(const struct hark_mhd_options *options) {
    struct MHD_OptionItem items[] = {
        {MHD_OPTION_LISTEN_SOCKET, options->listen_socket, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, (intptr_t)options->connections, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, (intptr_t)options->idle_seconds, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, (intptr_t)options->connection_memory, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, 1, NULL},
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)options->completed, options->context},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)options->connection, options->context},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)options->request_line, options->context},
        // One thread needs no pool, and a pool of one is refused.
        {options->threads > 1 ? MHD_OPTION_THREAD_POOL_SIZE : MHD_OPTION_END, (intptr_t)options->threads, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(
        MHD_USE_EPOLL_INTERNAL_THREAD | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_TURBO, 0, NULL, NULL, options->access,
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

static inline const struct sockaddr *hark_mhd_client_address(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CLIENT_ADDRESS);
    return info ? info->client_addr : NULL;
}
static inline int hark_mhd_socket(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
    return info ? (int)info->connect_fd : -1;
}
static inline void *hark_mhd_connection_context(struct MHD_Connection *connection) {
    const union MHD_ConnectionInfo *info = MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    return info ? info->socket_context : NULL;
}
