#pragma once
// Left out of the Glibc module.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <sys/timerfd.h>

// Declared only for programs that ask for GNU's extensions before their first include.
struct sockaddr;
extern int accept4(int descriptor, struct sockaddr *address, unsigned int *length, int flags);
extern int pthread_setname_np(unsigned long thread, const char *name);

// Binds a thread (0: the calling one) to one processor. Glibc declares sched_setaffinity for GNU's programs only.
extern long syscall(long number, ...);
static inline int hark_pin_thread(int thread, unsigned processor) {
    unsigned long mask[16] = {0};
    if (processor >= sizeof mask * 8) return -1;
    mask[processor / (8 * sizeof *mask)] = 1UL << processor % (8 * sizeof *mask);
    return (int)syscall(SYS_sched_setaffinity, thread, sizeof mask, mask);
}
