#pragma once
#include <microhttpd.h>

// Queues an answer of this program's.
enum MHD_Result hark_mhd_queue(struct MHD_Connection *connection, unsigned int status, struct MHD_Response *response);
