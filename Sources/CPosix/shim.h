// Linux calls that Swift's Glibc module leaves out because they need _GNU_SOURCE, are variadic or are macros.
#pragma once
#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif
#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

static inline int cposix_memfd_create(const char *name, unsigned int flags) { return memfd_create(name, flags); }
static inline int cposix_fcntl_int(int fd, int command, int argument) { return fcntl(fd, command, argument); }
static inline int cposix_openat(int directory, const char *path, int flags, mode_t mode) { return openat(directory, path, flags, mode); }
static inline int cposix_prctl(int option, unsigned long argument) { return prctl(option, argument, 0UL, 0UL, 0UL); }

enum {
    cposix_F_ADD_SEALS = F_ADD_SEALS,
    cposix_F_GET_SEALS = F_GET_SEALS,
    cposix_F_SEAL_SEAL = F_SEAL_SEAL,
    cposix_F_SEAL_SHRINK = F_SEAL_SHRINK,
    cposix_F_SEAL_GROW = F_SEAL_GROW,
    cposix_F_SEAL_WRITE = F_SEAL_WRITE,
    cposix_MFD_CLOEXEC = MFD_CLOEXEC,
    cposix_MFD_ALLOW_SEALING = MFD_ALLOW_SEALING,
    cposix_O_NOFOLLOW = O_NOFOLLOW,
    cposix_O_DIRECTORY = O_DIRECTORY,
    cposix_O_CLOEXEC = O_CLOEXEC,
    cposix_PR_SET_NO_NEW_PRIVS = PR_SET_NO_NEW_PRIVS,
    cposix_PR_SET_DUMPABLE = PR_SET_DUMPABLE,
    cposix_PR_SET_PDEATHSIG = PR_SET_PDEATHSIG,
    cposix_F_SEAL_FUTURE_WRITE = F_SEAL_FUTURE_WRITE,
    cposix_O_PATH = O_PATH
};
