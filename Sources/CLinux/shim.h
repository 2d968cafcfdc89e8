#pragma once
// Left out of the Glibc module.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
#include <sys/socket.h>

// Declared only for programs that ask for GNU's extensions before their first include.
extern int accept4(int descriptor, struct sockaddr *address, socklen_t *length, int flags);
extern int pthread_setname_np(unsigned long thread, const char *name);
