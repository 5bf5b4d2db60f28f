// What the C shim (pam/pam_whorl.c) and the Swift conversation (Sources/PAMModule) know of each other.
#pragma once
#include <stdbool.h>

#pragma clang assume_nonnull begin

/// The program that is authenticating someone, as one call of pam_sm_authenticate sees it. Every pointer is valid for
/// that call alone; `handle` goes back into the functions unchanged.
struct whorl_pam_host {
  void *handle;
  int argc;
  const char *_Nullable const *_Nullable argv;
  /// PAM_SERVICE and PAM_RHOST; NULL where the program set none.
  const char *_Nullable service;
  const char *_Nullable remote_host;
  /// The program asked for no messages (PAM_SILENT).
  bool silent;
  /// A daemon of this user is good enough: the process runs as one user throughout, and its environment is its own.
  bool own_user_is_trusted;
  unsigned int own_user;
  /// The user's name through pam_get_user: a PAM code, and the name only with PAM_SUCCESS.
  int (*get_user)(void *handle, const char *_Nullable *_Nonnull name);
  /// Shows one line as PAM_TEXT_INFO: a PAM code.
  int (*show)(void *handle, const char *text);
  /// One line to syslog. `priority` is syslog's.
  void (*log)(void *handle, int priority, const char *text);
};

/// The whole of pam_sm_authenticate. Gives a PAM code, never PAM_IGNORE.
int whorl_pam_authenticate(const struct whorl_pam_host *host);

#pragma clang assume_nonnull end
