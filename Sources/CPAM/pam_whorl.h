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
  /// PAM_TTY; NULL where the program set none.
  const char *_Nullable terminal;
  /// A module before this one was given a password (PAM_AUTHTOK).
  bool has_password;
  /// The program asked for no messages (PAM_SILENT).
  bool silent;
  /// A daemon of this user is good enough: the process runs as one user throughout, and its environment is its own.
  bool own_user_is_trusted;
  unsigned int own_user;
  /// The user's name through pam_get_user: a PAM code, and the name only with PAM_SUCCESS.
  int (*get_user)(void *handle, const char *_Nullable *_Nonnull name);
  /// Shows one line as PAM_TEXT_INFO: a PAM code.
  int (*show)(void *handle, const char *text);
  /// The password that the modules before took, or the one before a change, in a sealed memory file; -1 where there is
  /// none. The caller closes it.
  int (*seal_token)(void *handle, bool former);
  /// Hands a text in a sealed memory file to the modules after this as the password, and wipes the file: a PAM code.
  int (*take_token)(void *handle, int file);
  /// 16 bytes at random, the same for each line of the stack until the program's pam_end; NULL where there are none.
  const unsigned char *_Nullable (*_Nonnull transaction)(void *handle);
  /// Gives the modules after this one a password (PAM_AUTHTOK), of which libpam keeps a copy: a PAM code.
  int (*set_password)(void *handle, const char *text);
  /// The translation into the person's language of a text in English, which a context tells from others that read alike;
  /// NULL where there is none. Valid for that call of the program's; whatever root wrote into a catalogue may be in it.
  const char *_Nullable (*_Nonnull translate)(void *catalogue, const char *_Nullable context, const char *text);
  void *catalogue;
  /// Whether `reason` is another than the last one that this was asked about in the same pam_start.
  bool (*is_news)(void *handle, int reason);
  /// One line to syslog. `priority` is syslog's.
  void (*log)(void *handle, int priority, const char *text);
};

/// The whole of pam_sm_authenticate. Gives a PAM code, never PAM_IGNORE.
int whorl_pam_authenticate(const struct whorl_pam_host *host);

/// What pam_sm_chauthtok does once the password was changed. Gives PAM_IGNORE: the change stands, whatever comes of this.
int whorl_pam_password_changed(const struct whorl_pam_host *host);

#pragma clang assume_nonnull end
