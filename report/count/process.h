/* SPDX-License-Identifier: Apache-2.0 */
/* report/count/process.h -- tells processes of one number apart. */
#ifndef AC_REPORT_PROCESS_H
#define AC_REPORT_PROCESS_H

#include "report/count/file.h"

/* When process `pid` started, in clock ticks since boot: with the pid this
 * tells it from all others. 0 if there is none, or the kernel does not say;
 * else *ended_out (may be NULL) is whether it is done and only waits for its
 * parent to notice. Allocates nothing. */
uint64_t ac_process_start(int pid, bool *ended_out);

/* The process that started `pid`, or took it over; 0: the kernel does not say.
 * Allocates nothing. */
int ac_process_parent(int pid);

/* How long ago the start was, in ns, to a hundredth of a second; 0: unknown.
 * Allocates nothing. */
uint64_t ac_process_age(uint64_t start);

/* Where process numbers mean what they mean here: tells this kernel, since it
 * was started, and this container from all others. 0: the kernel does not say.
 * Allocates nothing. */
uint64_t ac_process_host(void);

/* The nearest process above this one that was started without `entry`
 * (NAME=VALUE) in its environment, as a number that is its alone on this host;
 * 0: there is none, or the kernel does not say. Allocates nothing. */
uint64_t ac_process_launcher(const char *entry);

/* Whether the process that `header` tells of is or was one of another host:
 * whether it still runs cannot be asked here. */
bool ac_process_is_elsewhere(const struct ac_file_header *header);

/* Whether the process that `header` tells of still runs on this host. */
bool ac_process_runs(const struct ac_file_header *header);

#endif
