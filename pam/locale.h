// The catalogue of translations that fits the person's language. See struct whorl_pam_host.
#pragma once
#include <stdbool.h>
#include <stddef.h>

/// All zero to begin with; nothing is looked for until a text is wanted.
struct whorl_catalogue {
  bool was_looked_for;
  unsigned char *bytes;
  size_t size;
};

/// `handle` is a struct whorl_catalogue.
const char *whorl_translate(void *handle, const char *context, const char *text);

/// Frees what `whorl_translate` gave.
void whorl_close_catalogue(struct whorl_catalogue *catalogue);
