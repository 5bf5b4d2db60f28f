#include "token.h"

#include <errno.h>
#include <fcntl.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TRANSACTION_SIZE = 16, SEALS = F_SEAL_GROW | F_SEAL_SHRINK };

// All of it or nothing. A memory file takes and gives what fits at once, but for signals.
static bool write_now(int file, const char *bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    const ssize_t written = pwrite(file, bytes + done, count - done, (off_t)done);
    if (written < 0 && errno != EINTR) {
      return false;
    }
    done += written > 0 ? (size_t)written : 0;
  }
  return true;
}

// As write_now. The limit on the size of files, which whoever started the program has set, counts for memory files too, and
// what would pass it ends a program with SIGXFSZ: a login, or a screen's locker, must not end so.
static bool write_all(int file, const char *bytes, size_t count) {
  sigset_t limit;
  sigset_t pending;
  sigset_t before;
  (void)sigemptyset(&limit);
  (void)sigaddset(&limit, SIGXFSZ);
  (void)sigemptyset(&pending);
  (void)sigpending(&pending);
  if (pthread_sigmask(SIG_BLOCK, &limit, &before) != 0) {
    return false;
  }
  const bool is_written = write_now(file, bytes, count);
  // One that had come before is the program's own.
  if (!is_written && sigismember(&pending, SIGXFSZ) == 0) {
    const struct timespec now = {0};
    (void)sigtimedwait(&limit, NULL, &now);
  }
  (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
  return is_written;
}

static bool read_all(int file, char *bytes, size_t count) {
  size_t done = 0;
  while (done < count) {
    const ssize_t got = pread(file, bytes + done, count - done, (off_t)done);
    if (got == 0 || (got < 0 && errno != EINTR)) {
      return false;
    }
    done += got > 0 ? (size_t)got : 0;
  }
  return true;
}

int whorl_seal_token(void *handle, bool former) {
  const void *item = NULL;
  if (pam_get_item(handle, former ? PAM_OLDAUTHTOK : PAM_AUTHTOK, &item) != PAM_SUCCESS || item == NULL) {
    return -1;
  }
  const char *token = item;
  const size_t length = strnlen(token, PAM_MAX_RESP_SIZE);
  // Longer than any conversation gives, or a finger's empty word: no password of a login.
  if (length == 0 || length >= PAM_MAX_RESP_SIZE) {
    return -1;
  }
  const int file = memfd_create("whorl-secret", MFD_CLOEXEC | MFD_ALLOW_SEALING);
  if (file < 0) {
    return -1;
  }
  if (!write_all(file, token, length) || fcntl(file, F_ADD_SEALS, SEALS | F_SEAL_SEAL) != 0) {
    (void)close(file);
    return -1;
  }
  return file;
}

int whorl_take_token(void *handle, int file) {
  char token[PAM_MAX_RESP_SIZE] = {0};
  const char zeros[PAM_MAX_RESP_SIZE] = {0};
  struct stat status;
  const int seals = fcntl(file, F_GET_SEALS);
  if (seals < 0 || ((unsigned int)seals & (unsigned int)SEALS) != (unsigned int)SEALS || fstat(file, &status) != 0 ||
      status.st_size < 1 || status.st_size >= PAM_MAX_RESP_SIZE) {
    return PAM_AUTHINFO_UNAVAIL;
  }
  const size_t length = (size_t)status.st_size;
  int result = PAM_AUTHINFO_UNAVAIL;
  if (read_all(file, token, length) && write_all(file, zeros, length) && strlen(token) == length) {
    // libpam keeps a copy of its own, and wipes it.
    result = pam_set_item(handle, PAM_AUTHTOK, token);
  }
  explicit_bzero(token, sizeof token);
  return result;
}

static void free_transaction(pam_handle_t *handle, void *data, int status) {
  (void)handle;
  (void)status;
  free(data);
}

const unsigned char *whorl_transaction(void *handle) {
  static const char name[] = "whorl_transaction";
  const void *known = NULL;
  if (pam_get_data(handle, name, &known) == PAM_SUCCESS && known != NULL) {
    return known;
  }
  unsigned char *drawn = malloc(TRANSACTION_SIZE);
  if (drawn == NULL) {
    return NULL;
  }
  if (getrandom(drawn, TRANSACTION_SIZE, GRND_NONBLOCK) != TRANSACTION_SIZE ||
      pam_set_data(handle, name, drawn, free_transaction) != PAM_SUCCESS) {
    free(drawn);
    return NULL;
  }
  return drawn;
}
