#pragma once
// Left out of the Glibc module.
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/timerfd.h>
