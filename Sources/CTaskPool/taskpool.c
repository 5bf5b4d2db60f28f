#include "taskpool.h"

#include <pthread.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

// The parts of Swift's concurrency runtime that are meant for such a pool (swift/Runtime/Concurrency.h).
typedef struct SwiftJob SwiftJob;
typedef struct {
  void *identity;
  uintptr_t implementation;
} SwiftExecutor;
typedef __attribute__((swiftcall)) void (*SwiftEnqueue)(SwiftJob *job);
extern __attribute__((swiftcall)) void (*swift_task_enqueueGlobal_hook)(SwiftJob *job, SwiftEnqueue original);
extern __attribute__((swiftcall)) void swift_job_run(SwiftJob *job, SwiftExecutor executor);

typedef struct Entry {
  struct Entry *next;
  SwiftJob *job;
} Entry;

// One pool for the process, as the runtime has one hook.
static struct {
  pthread_mutex_t lock;
  pthread_cond_t ready;
  Entry *first;
  Entry **last;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, NULL, &pool.first};

static __attribute__((swiftcall)) void enqueue(SwiftJob *job, SwiftEnqueue original) {
  Entry *entry = malloc(sizeof *entry);
  if (entry == NULL) {
    original(job);
    return;
  }
  entry->next = NULL;
  entry->job = job;
  pthread_mutex_lock(&pool.lock);
  *pool.last = entry;
  pool.last = &entry->next;
  pthread_cond_signal(&pool.ready);
  pthread_mutex_unlock(&pool.lock);
}

static SwiftJob *take(void) {
  pthread_mutex_lock(&pool.lock);
  while (pool.first == NULL) pthread_cond_wait(&pool.ready, &pool.lock);
  Entry *entry = pool.first;
  pool.first = entry->next;
  if (pool.first == NULL) pool.last = &pool.first;
  pthread_mutex_unlock(&pool.lock);
  SwiftJob *job = entry->job;
  free(entry);
  return job;
}

static void *work(void *unused) {
  // No actor's executor: the global one.
  SwiftExecutor global = {NULL, 0};
  for (;;) swift_job_run(take(), global);
  return unused;
}

int whorl_taskpool_install(unsigned threads) {
  // Signals are for the thread that expects them; the new threads inherit this mask.
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  int error = pthread_sigmask(SIG_SETMASK, &all, &before);
  if (error != 0) return error;
  unsigned started = 0;
  for (; started < threads; started++) {
    pthread_t thread;
    error = pthread_create(&thread, NULL, work, NULL);
    if (error != 0) break;
    pthread_detach(thread);
  }
  pthread_sigmask(SIG_SETMASK, &before, NULL);
  if (started == 0) return error;
  swift_task_enqueueGlobal_hook = enqueue;
  return 0;
}
