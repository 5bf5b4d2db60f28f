// Linux calls that Swift's Glibc module leaves out because they need _GNU_SOURCE, are variadic or are macros.
#pragma once
// Never define _GNU_SOURCE here: Swift's Glibc module is built without it, and the two would disagree on fd_set and
// others. What only exists with it is declared below by hand, with Linux's own numbers.
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <shadow.h>
#include <signal.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>
#include <linux/capability.h>
#include <linux/fscrypt.h>
#include <linux/netlink.h>
#include <linux/securebits.h>
#include <unistd.h>

extern int memfd_create(const char *name, unsigned int flags);
#ifndef F_ADD_SEALS
#define F_ADD_SEALS 1033
#define F_GET_SEALS 1034
#define F_SEAL_SEAL 0x1
#define F_SEAL_SHRINK 0x2
#define F_SEAL_GROW 0x4
#define F_SEAL_WRITE 0x8
#endif
#ifndef F_SEAL_FUTURE_WRITE
#define F_SEAL_FUTURE_WRITE 0x10
#endif
#ifndef O_PATH
#define O_PATH 010000000
#endif
#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 0x1U
#define MFD_ALLOW_SEALING 0x2U
#endif

extern int close_range(unsigned int first, unsigned int last, int flags);
extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);

static inline int cposix_memfd_create(const char *name, unsigned int flags) { return memfd_create(name, flags); }
/// rename(2) that replaces nothing: EEXIST where the new name is there, EINVAL where the file system cannot.
static inline int cposix_rename_new(const char *from, const char *to) {
    extern int renameat2(int, const char *, int, const char *, unsigned int);
    return renameat2(AT_FDCWD, from, AT_FDCWD, to, 1u);
}
static inline int cposix_fcntl_int(int fd, int command, int argument) { return fcntl(fd, command, argument); }
static inline int cposix_openat(int directory, const char *path, int flags, mode_t mode) { return openat(directory, path, flags, mode); }
static inline int cposix_prctl(int option, unsigned long argument) { return prctl(option, argument, 0UL, 0UL, 0UL); }

static inline int cposix_pipe_cloexec(int ends[2]) {
    extern int pipe2(int ends[2], int flags);
    return pipe2(ends, O_CLOEXEC);
}
static inline int cposix_spawn_closefrom(posix_spawn_file_actions_t *actions, int from) {
    extern int posix_spawn_file_actions_addclosefrom_np(posix_spawn_file_actions_t *actions, int from);
    return posix_spawn_file_actions_addclosefrom_np(actions, from);
}
// pidfd_open(2) has no wrapper in Debian 12's libc.
extern long syscall(long number, ...);
/// A socket on which the kernel tells which devices come and go; -1 with errno.
static inline int cposix_device_events(void) {
    int descriptor = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, NETLINK_KOBJECT_UEVENT);
    if (descriptor < 0) return -1;
    struct sockaddr_nl address = {.nl_family = AF_NETLINK, .nl_groups = 1};
    if (bind(descriptor, (struct sockaddr *)&address, sizeof address) == 0) return descriptor;
    int code = errno;
    close(descriptor);
    errno = code;
    return -1;
}
static inline int cposix_pidfd_open(pid_t pid) { return (int)syscall(434L, (long)pid, 0L); }
/// Kills the process of a pidfd: never another that has got its number since.
static inline int cposix_pidfd_kill(int process) { return (int)syscall(424L, (long)process, (long)SIGKILL, (void *)0, 0L); }
/// Takes the exit status of the child of a pidfd, which must have ended: 1 where it ended by itself, 0 where a signal ended
/// it; -1 where somebody else has taken it.
static inline int cposix_pidfd_reap(int process) {
    // siginfo_t by hand, whose third number is si_code on Linux: Swift's Glibc module has a type of its own. P_PIDFD and
    // WEXITED: Debian 12's headers show the former only under _GNU_SOURCE.
    int info[32] = {0};
    if (syscall(SYS_waitid, 3L, (long)process, (void *)info, 4L, (void *)0) != 0) {
        return -1;
    }
    enum { exited = 1 };  // CLD_EXITED
    return info[2] == exited;
}

/// A descriptor that is ready to be read when the wall clock jumps, as it does at each resume; -1 and errno otherwise.
/// Reading it then fails with ECANCELED, and cposix_watch_clock has to be called again.
static inline int cposix_clock_descriptor(void) {
    // Declared by hand: sys/timerfd.h brings types along that Swift's Glibc module has its own of.
    extern int timerfd_create(int clock, int flags);
    enum { realtime = 0, cloexec = 02000000, nonblock = 04000 };
    return timerfd_create(realtime, cloexec | nonblock);
}
static inline int cposix_watch_clock(int descriptor) {
    extern int timerfd_settime(int descriptor, int flags, const void *value, void *old);
    enum { abstime = 1, cancel_on_set = 2 };
    // struct itimerspec: no interval, and a time in the year 2255, for nobody waits for the time itself.
    static const long far[4] = {0, 0, 9000000000L, 0};
    return timerfd_settime(descriptor, abstime | cancel_on_set, far, 0);
}

// Shedding rights: grp.h and unistd.h show these only under _GNU_SOURCE or _DEFAULT_SOURCE.
extern int setgroups(size_t count, const gid_t *groups);
extern int getgroups(int count, gid_t *groups);
extern int setresuid(uid_t real, uid_t effective, uid_t saved);
extern int setresgid(gid_t real, gid_t effective, gid_t saved);
extern int getresuid(uid_t *real, uid_t *effective, uid_t *saved);
extern int getresgid(gid_t *real, gid_t *effective, gid_t *saved);

// capget(2) and capset(2), version 3: two 32-bit words for each set. libc has no wrapper.
struct cposix_capabilities { unsigned long long effective, permitted, inheritable; };
static inline int cposix_capset_none(void) {
    struct { unsigned int version; int pid; } header = {0x20080522u, 0};
    struct { unsigned int effective, permitted, inheritable; } sets[2] = {{0, 0, 0}, {0, 0, 0}};
    return (int)syscall(SYS_capset, &header, sets);
}
static inline int cposix_capget(struct cposix_capabilities *all) {
    struct { unsigned int version; int pid; } header = {0x20080522u, 0};
    struct { unsigned int effective, permitted, inheritable; } sets[2] = {{0, 0, 0}, {0, 0, 0}};
    if (syscall(SYS_capget, &header, sets) != 0) return -1;
    all->effective = sets[0].effective | (unsigned long long)sets[1].effective << 32;
    all->permitted = sets[0].permitted | (unsigned long long)sets[1].permitted << 32;
    all->inheritable = sets[0].inheritable | (unsigned long long)sets[1].inheritable << 32;
    return 0;
}

// landlock(7) by number (the same on every architecture): Debian 12's headers know its first version only. The kernel
// takes fields that it does not know as long as they are zero.
static inline int cposix_landlock_version(void) { return (int)syscall(444L, (void *)0, (size_t)0, 1u); }
static inline int cposix_landlock_create(unsigned long long files, unsigned long long network, unsigned long long scopes) {
    struct { unsigned long long files, network, scopes; } rules = {files, network, scopes};
    return (int)syscall(444L, &rules, sizeof rules, 0u);
}
static inline int cposix_landlock_allow(int ruleset, int path, unsigned long long access) {
    struct { unsigned long long access; int path; } __attribute__((packed)) rule = {access, path};
    return (int)syscall(445L, ruleset, 1, &rule, 0u);
}
/// A path for a rule, without opening it. By number, so that umockdev's preloaded library does not lead it elsewhere.
static inline int cposix_open_path(const char *path) {
    return (int)syscall(SYS_openat, AT_FDCWD, path, O_PATH | O_CLOEXEC);
}
static inline int cposix_landlock_restrict(int ruleset) { return (int)syscall(446L, ruleset, 0u); }

// Declared here: their headers show them only under _XOPEN_SOURCE.
extern int posix_openpt(int flags);
extern int grantpt(int fd);
extern int unlockpt(int fd);
extern int ptsname_r(int fd, char *name, size_t size);

/// The non-blocking master of a new pseudo-terminal, and the path of its other end; -1 and errno where there is none.
static inline int cposix_open_terminal(char *path, size_t size) {
    int master = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
    if (master < 0) return -1;
    if (grantpt(master) == 0 && unlockpt(master) == 0 && ptsname_r(master, path, size) == 0) return master;
    close(master);
    return -1;
}

/// Whether the file system encrypts this open folder: 0 where it does not or nobody can tell, 1 where its key is there, 2
/// where the key is not.
static inline int cposix_fscrypt_state(int folder) {
    extern int ioctl(int fd, unsigned long request, ...);
    struct fscrypt_get_policy_ex_arg policy = {.policy_size = sizeof policy.policy};
    if (ioctl(folder, FS_IOC_GET_ENCRYPTION_POLICY_EX, &policy) != 0) return 0;
    // Keys of the first version may be in a keyring of the session's, where nobody else sees them.
    if (policy.policy.version != FSCRYPT_POLICY_V2) return 0;
    struct fscrypt_get_key_status_arg key = {.key_spec = {.type = FSCRYPT_KEY_SPEC_TYPE_IDENTIFIER}};
    for (int i = 0; i < FSCRYPT_KEY_IDENTIFIER_SIZE; i++)
        key.key_spec.u.identifier[i] = policy.policy.v2.master_key_identifier[i];
    if (ioctl(folder, FS_IOC_GET_ENCRYPTION_KEY_STATUS, &key) != 0) return 0;
    return key.status == FSCRYPT_KEY_STATUS_PRESENT ? 1 : 2;
}
/// setfsuid(2) of the calling thread alone.
static inline void cposix_set_file_user(uid_t user) { (void)syscall(SYS_setfsuid, (unsigned long)user); }

enum {
    cposix_F_ADD_SEALS = F_ADD_SEALS,
    cposix_F_GET_SEALS = F_GET_SEALS,
    cposix_F_SEAL_SEAL = F_SEAL_SEAL,
    cposix_F_SEAL_SHRINK = F_SEAL_SHRINK,
    cposix_F_SEAL_GROW = F_SEAL_GROW,
    cposix_F_SEAL_WRITE = F_SEAL_WRITE,
    cposix_MFD_CLOEXEC = MFD_CLOEXEC,
    cposix_MFD_ALLOW_SEALING = MFD_ALLOW_SEALING,
    cposix_O_NOFOLLOW = O_NOFOLLOW,
    cposix_O_DIRECTORY = O_DIRECTORY,
    cposix_O_CLOEXEC = O_CLOEXEC,
    cposix_PR_SET_NO_NEW_PRIVS = PR_SET_NO_NEW_PRIVS,
    cposix_PR_SET_DUMPABLE = PR_SET_DUMPABLE,
    cposix_PR_SET_PDEATHSIG = PR_SET_PDEATHSIG,
    cposix_PR_SET_NAME = PR_SET_NAME,
    cposix_PR_GET_NAME = PR_GET_NAME,
    cposix_PR_GET_DUMPABLE = PR_GET_DUMPABLE,
    cposix_PR_CAPBSET_READ = PR_CAPBSET_READ,
    cposix_PR_CAPBSET_DROP = PR_CAPBSET_DROP,
    cposix_PR_CAP_AMBIENT = PR_CAP_AMBIENT,
    cposix_PR_CAP_AMBIENT_CLEAR_ALL = PR_CAP_AMBIENT_CLEAR_ALL,
    cposix_PR_SET_SECUREBITS = PR_SET_SECUREBITS,
    cposix_PR_GET_SECUREBITS = PR_GET_SECUREBITS,
    cposix_CAP_SETPCAP = CAP_SETPCAP,
    // No root without a say, no ambient rights, and nothing of it can be changed back.
    cposix_SECUREBITS_SHED = SECBIT_NOROOT | SECBIT_NO_CAP_AMBIENT_RAISE | SECURE_ALL_LOCKS,
    cposix_F_SEAL_FUTURE_WRITE = F_SEAL_FUTURE_WRITE,
    cposix_O_PATH = O_PATH,
    cposix_SFD_CLOEXEC = SFD_CLOEXEC,
    cposix_SFD_NONBLOCK = SFD_NONBLOCK,
    cposix_POSIX_SPAWN_SETSID = 0x80
};
