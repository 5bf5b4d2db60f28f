// The password of a login between libpam and whorld, and what joins the lines of one stack. Swift never sees the text.
#pragma once
#include <stdbool.h>

/// See struct whorl_pam_host.
int whorl_seal_token(void *handle, bool former);
int whorl_take_token(void *handle, int file);
const unsigned char *whorl_transaction(void *handle);
