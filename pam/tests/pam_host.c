// A program that authenticates through PAM, for the tests of pam_whorl.so: it can have every odd property that a
// login program may have, and says what a call left behind.
//
// usage: pam_host [OPTION...] CONFDIR SERVICE [USER]
//   --silent              PAM_SILENT
//   --rhost=NAME          PAM_RHOST
//   --conv=KIND           null, error, no-response (success without one), text (a response nobody asked for)
//   --closed              file descriptors 0 to 2 are closed
//   --blocked             every signal is blocked
//   --alarm               SIGALRM every 10 ms, with a handler
//   --children            forks a child that ends at once before each call, with a SIGCHLD handler
//   --repeat=N            N times pam_start to pam_end, each also in a forked child; from 1000 on, the
//                         memory in use at the end is compared with that after half of them
//   --quiet               no "info" lines
//   --locale=NAME         setlocale(LC_ALL, NAME) and a text domain of its own first
//   --alone               without the forked children
//   --again=N             N times pam_authenticate in each
//   --tty                 PAM_TTY, the terminal on standard input
//   --tiny-files          from its first answer on the program may write no file, which includes memory files
//   --paced               reads a byte from descriptor 3 before each authentication
//   --time                "took N" for each authentication, in microseconds
//   --setcred             also pam_setcred, whose code is printed
//   --out=FILE            where the lines go (default: standard output)
// Without USER, PAM asks for it, and the conversation answers "asked".
// Lines: "info TEXT" or "other STYLE TEXT" as shown; "result N" for each different code; "setcred N"; "left WHAT" for
// each thing that is not as it was; "alarms N" after --alarm.
#define _GNU_SOURCE
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <libintl.h>
#include <locale.h>
#include <malloc.h>
#include <security/pam_appl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <syslog.h>
#include <time.h>
#include <unistd.h>

static FILE *out;
static bool is_quiet;
static bool is_paced;
static bool is_timed;
static bool has_tiny_files;
static volatile sig_atomic_t alarms;
static volatile sig_atomic_t children;

enum conversation { ANSWER, NONE, ERROR, NO_RESPONSE, TEXT };

static void on_alarm(int signal) {
  (void)signal;
  alarms++;
}

static void on_child(int signal) {
  (void)signal;
  children++;
}

// The soft limit of files' sizes.
static void limit_files(bool none) {
  struct rlimit limit;
  getrlimit(RLIMIT_FSIZE, &limit);
  limit.rlim_cur = none ? 0 : limit.rlim_max;
  setrlimit(RLIMIT_FSIZE, &limit);
}

static int converse(int count, const struct pam_message **messages, struct pam_response **responses, void *data) {
  const enum conversation kind = *(enum conversation *)data;
  struct pam_response *answers = calloc((size_t)count, sizeof *answers);
  for (int i = 0; i < count; i++) {
    const int style = messages[i]->msg_style;
    if (style == PAM_TEXT_INFO) {
      if (!is_quiet) {
        fprintf(out, "info %s\n", messages[i]->msg);
      }
    } else {
      fprintf(out, "other %d %s\n", style, messages[i]->msg);
    }
    if (kind == TEXT) {
      answers[i].resp = strdup("unasked");
    } else if (style == PAM_PROMPT_ECHO_ON || style == PAM_PROMPT_ECHO_OFF) {
      answers[i].resp = strdup("asked");
    }
  }
  if (kind == ERROR || kind == NO_RESPONSE) {
    free(answers);
    *responses = NULL;
    return kind == ERROR ? PAM_CONV_ERR : PAM_SUCCESS;
  }
  *responses = answers;
  limit_files(has_tiny_files);
  return PAM_SUCCESS;
}

// What a module must leave as it was.
struct state {
  int descriptors;
  int threads;
  sigset_t mask;
  struct sigaction actions[NSIG];
  size_t environment;
  bool loaded;
  char locale[1024];
  char domain[64];
  locale_t thread_locale;
};

static int entries(const char *folder) {
  int count = 0;
  DIR *directory = opendir(folder);
  while (directory != NULL && readdir(directory) != NULL) {
    count++;
  }
  if (directory != NULL) {
    closedir(directory);
  }
  return count;
}

extern char **environ;

// A sum over the environment's strings and places.
static size_t environment_sum(void) {
  size_t sum = 0;
  for (char **entry = environ; *entry != NULL; entry++) {
    for (const char *c = *entry; *c != '\0'; c++) {
      sum = sum * 31 + (unsigned char)*c;
    }
    sum = sum * 31 + 1;
  }
  return sum;
}

static bool is_loaded(void) {
  bool found = false;
  char line[4096];
  FILE *maps = fopen("/proc/self/maps", "re");
  while (maps != NULL && fgets(line, sizeof line, maps) != NULL) {
    found = found || strstr(line, "pam_whorl") != NULL;
  }
  if (maps != NULL) {
    fclose(maps);
  }
  return found;
}

static struct state look(void) {
  struct state state = {
      .descriptors = entries("/proc/self/fd"), .threads = entries("/proc/self/task"),
      .environment = environment_sum(), .loaded = is_loaded()};
  sigprocmask(SIG_BLOCK, NULL, &state.mask);
  for (int i = 1; i < NSIG; i++) {
    sigaction(i, NULL, &state.actions[i]);
  }
  snprintf(state.locale, sizeof state.locale, "%s", setlocale(LC_ALL, NULL));
  snprintf(state.domain, sizeof state.domain, "%s", textdomain(NULL));
  state.thread_locale = uselocale((locale_t)0);
  return state;
}

static void compare(const struct state *before, const struct state *after) {
  if (before->descriptors != after->descriptors) {
    fprintf(out, "left descriptors %d instead of %d\n", after->descriptors, before->descriptors);
  }
  if (before->threads != after->threads) {
    fprintf(out, "left threads\n");
  }
  if (before->environment != after->environment) {
    fprintf(out, "left environment\n");
  }
  if (strcmp(before->locale, after->locale) != 0 || before->thread_locale != after->thread_locale) {
    fprintf(out, "left locale %s\n", after->locale);
  }
  if (strcmp(before->domain, after->domain) != 0) {
    fprintf(out, "left text domain %s\n", after->domain);
  }
  if (after->loaded) {
    fprintf(out, "left module loaded\n");
  }
  for (int i = 1; i < NSIG; i++) {
    if (sigismember(&before->mask, i) != sigismember(&after->mask, i)) {
      fprintf(out, "left signal %d %s\n", i, sigismember(&after->mask, i) == 1 ? "blocked" : "unblocked");
    }
    if (before->actions[i].sa_handler != after->actions[i].sa_handler) {
      fprintf(out, "left handler of signal %d\n", i);
    }
  }
}

struct request {
  const char *folder, *service, *user, *remote_host, *terminal;
  int flags;
  int again;
  enum conversation kind;
  bool setcred;
};

static long long microseconds(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return now.tv_sec * 1000000LL + now.tv_nsec / 1000;
}

static int authenticate(struct request *request, int *setcred) {
  struct pam_conv conversation = {request->kind == NONE ? NULL : converse, &request->kind};
  pam_handle_t *handle = NULL;
  int result = pam_start_confdir(request->service, request->user, &conversation, request->folder, &handle);
  if (result != PAM_SUCCESS) {
    fprintf(out, "pam_start %d\n", result);
    return result;
  }
  if (request->remote_host != NULL) {
    pam_set_item(handle, PAM_RHOST, request->remote_host);
  }
  if (request->terminal != NULL) {
    pam_set_item(handle, PAM_TTY, request->terminal);
  }
  for (int i = 0; i < request->again; i++) {
    char go;
    if (is_paced && read(3, &go, 1) != 1) {
      result = PAM_ABORT;
      break;
    }
    const long long start = microseconds();
    result = pam_authenticate(handle, request->flags);
    if (is_timed) {
      fprintf(out, "took %lld\n", microseconds() - start);
    }
  }
  if (request->setcred) {
    *setcred = pam_setcred(handle, PAM_ESTABLISH_CRED);
  }
  pam_end(handle, result);
  return result;
}

int main(int argc, char **argv) {
  struct request request = {.kind = ANSWER, .again = 1};
  bool closed = false;
  bool blocked = false;
  bool alarming = false;
  bool forking = false;
  bool alone = false;
  int repeat = 1;
  out = stdout;
  int next = 1;
  for (; next < argc && strncmp(argv[next], "--", 2) == 0; next++) {
    const char *option = argv[next];
    const char *equals = strchr(option, '=');
    const char *value = equals == NULL ? "" : equals + 1;
    if (strcmp(option, "--silent") == 0) {
      request.flags = PAM_SILENT;
    } else if (strncmp(option, "--rhost=", 8) == 0) {
      request.remote_host = value;
    } else if (strncmp(option, "--conv=", 7) == 0) {
      request.kind = strcmp(value, "null") == 0          ? NONE
                     : strcmp(value, "error") == 0       ? ERROR
                     : strcmp(value, "no-response") == 0 ? NO_RESPONSE
                                                         : TEXT;
    } else if (strcmp(option, "--closed") == 0) {
      closed = true;
    } else if (strcmp(option, "--blocked") == 0) {
      blocked = true;
    } else if (strcmp(option, "--alarm") == 0) {
      alarming = true;
    } else if (strcmp(option, "--children") == 0) {
      forking = true;
    } else if (strncmp(option, "--repeat=", 9) == 0) {
      repeat = atoi(value);
    } else if (strcmp(option, "--quiet") == 0) {
      is_quiet = true;
    } else if (strncmp(option, "--locale=", 9) == 0) {
      if (setlocale(LC_ALL, value) == NULL) {
        fprintf(stderr, "pam_host: no locale %s\n", value);
        return 64;
      }
      textdomain("pam_host");
    } else if (strcmp(option, "--alone") == 0) {
      alone = true;
    } else if (strncmp(option, "--again=", 8) == 0) {
      request.again = atoi(value);
    } else if (strcmp(option, "--tty") == 0) {
      request.terminal = ttyname(0);
    } else if (strcmp(option, "--tiny-files") == 0) {
      has_tiny_files = true;
    } else if (strcmp(option, "--paced") == 0) {
      is_paced = true;
    } else if (strcmp(option, "--time") == 0) {
      is_timed = true;
    } else if (strcmp(option, "--setcred") == 0) {
      request.setcred = true;
    } else if (strncmp(option, "--out=", 6) == 0) {
      out = fopen(value, "we");
    } else {
      fprintf(stderr, "pam_host: unknown option %s\n", option);
      return 64;
    }
  }
  if (argc - next < 2 || out == NULL) {
    fprintf(stderr, "usage: pam_host [OPTION...] CONFDIR SERVICE [USER]\n");
    return 64;
  }
  request.folder = argv[next];
  request.service = argv[next + 1];
  request.user = argv[next + 2];
  setvbuf(out, NULL, _IOLBF, 0);
  if (closed) {
    // The lines must not go where a module could write by mistake.
    const int moved = fcntl(fileno(out), F_DUPFD_CLOEXEC, 10);
    out = fdopen(moved, "w");
    setvbuf(out, NULL, _IOLBF, 0);
    close(0);
    close(1);
    close(2);
  }
  if (blocked) {
    sigset_t all;
    sigfillset(&all);
    sigprocmask(SIG_SETMASK, &all, NULL);
  }
  if (alarming) {
    const struct sigaction action = {.sa_handler = on_alarm};
    sigaction(SIGALRM, &action, NULL);
    const struct itimerval timer = {{0, 10000}, {0, 10000}};
    setitimer(ITIMER_REAL, &timer, NULL);
  }
  if (forking) {
    const struct sigaction action = {.sa_handler = on_child};
    sigaction(SIGCHLD, &action, NULL);
  }
  openlog("pam_host_ident", LOG_NDELAY, LOG_USER);
  int last = -1;
  int setcred = -1;
  const struct state before = look();
  size_t used = 0;
  for (int i = 0; i < repeat; i++) {
    // The first calls fill what the C library keeps for later ones.
    if (repeat >= 1000 && i == repeat / 2) {
      used = mallinfo2().uordblks;
    }
    if (forking && fork() == 0) {
      _exit(0);
    }
    const int result = authenticate(&request, &setcred);
    limit_files(false);
    if (result != last) {
      fprintf(out, "result %d\n", result);
      last = result;
    }
    if (repeat > 1 && !alone) {
      const pid_t child = fork();
      if (child == 0) {
        _exit(authenticate(&request, &setcred) == result ? 0 : 1);
      }
      int status = -1;
      while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
      }
      if (status != 0) {
        fprintf(out, "child status %d\n", status);
        break;
      }
    }
  }
  // What malloc keeps at hand counts as in use, up to some KiB.
  if (used != 0 && mallinfo2().uordblks > used + 32768) {
    fprintf(out, "left memory %zu\n", mallinfo2().uordblks - used);
  }
  const struct state after = look();
  compare(&before, &after);
  if (request.setcred) {
    fprintf(out, "setcred %d\n", setcred);
  }
  if (alarming) {
    fprintf(out, "alarms %d\n", alarms > 0);
  }
  return 0;
}
