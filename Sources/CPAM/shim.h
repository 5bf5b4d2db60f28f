#pragma once
#include <security/pam_appl.h>
#include <security/pam_modules.h>
#include <shadow.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "pam_whorl.h"
#include "terminal.h"

// Macros with casts, which Swift does not see.
enum { cpam_AT_SECURE = AT_SECURE };
