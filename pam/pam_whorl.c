// pam_whorl.so: what only C can do (libpam's and syslog's variadics, the conversation's structures). What is said
// to whorld, what it means and which code it gives is Sources/PAMModule.

#include <limits.h>
#include <security/pam_ext.h>
#include <security/pam_modules.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <syslog.h>
#include <unistd.h>

#include "locale.h"
#include "pam_whorl.h"
#include "token.h"

// The version script says the same; both, so that a forgotten line in either shows at link time.
#define EXPORTED __attribute__((visibility("default")))

// Frees what a conversation gave although nothing was asked; it may still be somebody's secret.
static void drop_response(struct pam_response *response) {
  if (response == NULL) {
    return;
  }
  if (response->resp != NULL) {
    explicit_bzero(response->resp, strlen(response->resp));
    free(response->resp);
  }
  free(response);
}

// One line of information through the program's conversation function.
static int show(void *handle, const char *text) {
  const void *item = NULL;
  if (pam_get_item(handle, PAM_CONV, &item) != PAM_SUCCESS || item == NULL) {
    return PAM_CONV_ERR;
  }
  const struct pam_conv *conversation = item;
  if (conversation->conv == NULL) {
    return PAM_CONV_ERR;
  }
  const struct pam_message message = {.msg_style = PAM_TEXT_INFO, .msg = text};
  const struct pam_message *messages[] = {&message};
  struct pam_response *response = NULL;
  const int result = conversation->conv(1, messages, &response, conversation->appdata_ptr);
  // A program may leave the response out: none was asked for.
  drop_response(response);
  return result;
}

static int get_user(void *handle, const char **name) { return pam_get_user(handle, name, NULL); }

static void write_log(void *handle, int priority, const char *text) {
  pam_syslog(handle, priority, "%s", text);
}

static int set_password(void *handle, const char *text) { return pam_set_item(handle, PAM_AUTHTOK, text); }

// The last reason is kept with the handle, as a pointer into this: libpam has nothing to free.
static const char reasons[UCHAR_MAX + 1];
static const char *const reason_key = "pam_whorl_reason";

static bool is_news(void *handle, int reason) {
  const void *last = NULL;
  const char *const now = &reasons[(unsigned char)reason];
  if (pam_get_data(handle, reason_key, &last) == PAM_SUCCESS && last == now) {
    return false;
  }
  pam_set_data(handle, reason_key, (void *)now, NULL);
  return true;
}

// A text item; NULL where the program set none.
static const char *text_item(const pam_handle_t *handle, int type) {
  const void *item = NULL;
  return pam_get_item(handle, type, &item) == PAM_SUCCESS ? item : NULL;
}

static struct whorl_pam_host make_host(pam_handle_t *pamh, int flags, int argc, const char **argv,
                                       struct whorl_catalogue *catalogue) {
  const struct whorl_pam_host host = {
      .handle = pamh,
      .argc = argc,
      .argv = argv,
      .service = text_item(pamh, PAM_SERVICE),
      .remote_host = text_item(pamh, PAM_RHOST),
      .terminal = text_item(pamh, PAM_TTY),
      .has_password = text_item(pamh, PAM_AUTHTOK) != NULL,
      .silent = ((unsigned int)flags & PAM_SILENT) != 0U,
      .own_user_is_trusted = getauxval(AT_SECURE) == 0 && getuid() == geteuid() && getgid() == getegid(),
      .own_user = getuid(),
      .get_user = get_user,
      .show = show,
      .seal_token = whorl_seal_token,
      .take_token = whorl_take_token,
      .transaction = whorl_transaction,
      .set_password = set_password,
      .catalogue = catalogue,
      .translate = whorl_translate,
      .is_news = is_news,
      .log = write_log,
  };
  return host;
}

EXPORTED int pam_sm_authenticate(pam_handle_t *pamh, int flags, int argc, const char **argv) {
  struct whorl_catalogue catalogue = {0};
  const struct whorl_pam_host host = make_host(pamh, flags, argc, argv, &catalogue);
  const int result = whorl_pam_authenticate(&host);
  whorl_close_catalogue(&catalogue);
  return result;
}

// The module before us has changed the password in the second of libpam's two rounds; the first is not ours.
EXPORTED int pam_sm_chauthtok(pam_handle_t *pamh, int flags, int argc, const char **argv) {
  if (((unsigned int)flags & PAM_UPDATE_AUTHTOK) == 0U) {
    return PAM_IGNORE;
  }
  struct whorl_catalogue catalogue = {0};
  const struct whorl_pam_host host = make_host(pamh, flags, argc, argv, &catalogue);
  const int result = whorl_pam_password_changed(&host);
  whorl_close_catalogue(&catalogue);
  return result;
}

// There is nothing to set: success keeps the rest of the stack's verdict as it is.
EXPORTED int pam_sm_setcred(pam_handle_t *pamh, int flags, int argc, const char **argv) {
  (void)pamh;
  (void)flags;
  (void)argc;
  (void)argv;
  return PAM_SUCCESS;
}
