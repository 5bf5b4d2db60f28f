// What of terminals, signals and /proc Swift cannot call by itself: variadic functions and macros.
#pragma once
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/signalfd.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <termios.h>
#include <unistd.h>

#pragma clang assume_nonnull begin

/// Makes a descriptor one above 2, where no program writes by mistake; closes the one that it was. -1 stays -1.
static inline int whorl_above_standard(int descriptor) {
  if (descriptor < 0 || descriptor > 2) {
    return descriptor;
  }
  const int above = fcntl(descriptor, F_DUPFD_CLOEXEC, 3);
  close(descriptor);
  return above;
}

/// The process's controlling terminal, or -1. Neither reading nor writing ever waits.
static inline int whorl_open_terminal(void) {
  return whorl_above_standard(open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK));
}

/// The device of the terminal behind a descriptor, also behind /dev/tty; 0 where it is none.
static inline uint64_t whorl_terminal_device(int descriptor) {
  unsigned int device = 0;
  if (ioctl(descriptor, TIOCGDEV, &device) != 0) {
    return 0;
  }
  // As the kernel packs it for this call.
  return makedev((device >> 8) & 0xfffU, (device & 0xffU) | ((device >> 12) & 0xfff00U));
}

/// The device of the terminal of that name, with or without /dev/ in front; 0 where it is none.
static inline uint64_t whorl_named_terminal_device(const char *name) {
  char path[128];
  const int length = snprintf(path, sizeof path, "%s%s", name[0] == '/' ? "" : "/dev/", name);
  struct stat status;
  if (length < 0 || (size_t)length >= sizeof path || strncmp(path, "/dev/", 5) != 0 || strstr(path, "..") != NULL ||
      stat(path, &status) != 0 || !S_ISCHR(status.st_mode)) {
    return 0;
  }
  return status.st_rdev;
}

/// Whether a device is one of the kernel's text consoles (/dev/tty1 to 63), whose fonts have a few hundred characters.
static inline bool whorl_is_text_console(uint64_t device) {
  return major(device) == 4U && minor(device) >= 1U && minor(device) <= 63U;
}

/// The first bytes of this process's command line: how many there are, or -1.
static inline ssize_t whorl_command_line(char *buffer, size_t size) {
  const int file = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
  if (file < 0) {
    return -1;
  }
  const ssize_t length = read(file, buffer, size);
  close(file);
  return length;
}

/// Reads one byte without waiting: 1, 0 where there is none now, -1 where there will never be one.
static inline int whorl_read_key(int descriptor, unsigned char *key) {
  const ssize_t count = read(descriptor, key, 1);
  if (count == 1) {
    return 1;
  }
  return count < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}

/// A descriptor that is readable while one of these signals is held back, or -1.
static inline int whorl_signal_descriptor(const sigset_t *signals) {
  return whorl_above_standard(signalfd(-1, signals, SFD_CLOEXEC | SFD_NONBLOCK));
}

/// Whether a signal would be dropped at once: the program ignores it.
static inline bool whorl_is_ignored(int signal) {
  struct sigaction action;
  return sigaction(signal, NULL, &action) == 0 && action.sa_handler == SIG_IGN;
}

/// The signals by which a program ends, stops, goes on, or is told something, as far as a wait on a terminal has to see
/// to it that the terminal is in order before they arrive; 0 ends the list.
static inline int whorl_watched_signal(int index) {
  static const int signals[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGPIPE, SIGALRM,   SIGTERM, SIGUSR1, SIGUSR2, SIGTSTP,
                                SIGTTIN, SIGTTOU, SIGCONT, SIGIO,   SIGVTALRM, SIGPROF, SIGPWR,  SIGXCPU, 0};
  return signals[index];
}

#pragma clang assume_nonnull end
