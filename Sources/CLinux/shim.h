#pragma once
// Left out of the Glibc module.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>

// Declared only for programs that ask for GNU's extensions before their first include.
struct sockaddr;
extern int accept4(int descriptor, struct sockaddr *address, unsigned int *length, int flags);
extern int pthread_setname_np(unsigned long thread, const char *name);
