#ifndef WHORL_TASKPOOL_H
#define WHORL_TASKPOOL_H

/// Has Swift's tasks that belong to no actor with an executor of its own run on `threads` threads of this process, in
/// the order in which they become ready, in place of libdispatch's. To be called once, before the first task.
///
/// libdispatch's pool looks after itself once a second for as long as the process lives; this one sleeps until there is
/// work. `Task.sleep` still goes to libdispatch, so nothing in such a process may use it. Returns 0, or an error number: libdispatch's pool is used then.
int whorl_taskpool_install(unsigned threads);

#endif
