// libseccomp's functions that are macros or variadic.
#pragma once
#include <seccomp.h>

enum {
    cseccomp_KILL_PROCESS = SCMP_ACT_KILL_PROCESS,
    cseccomp_ALLOW = SCMP_ACT_ALLOW,
};

static inline unsigned int cseccomp_errno(int code) { return SCMP_ACT_ERRNO((unsigned int)code); }
