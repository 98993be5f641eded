/* SPDX-License-Identifier: Apache-2.0 */
/* cmd/run/child.c -- starts the program, waits for it, and exits the way it
 * exited. */
#include "cmd/run/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const int forwarded[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
enum { FORWARDED = sizeof forwarded / sizeof *forwarded };
enum { SHORTEST_PAUSE_NS = 2000000, LONGEST_PAUSE_NS = 700000000 };
enum { MOST_TOLD = 1000 };

static volatile sig_atomic_t running; /* pid of the child, 0: none */
static volatile sig_atomic_t caught;  /* the last signal sent to us */
static volatile sig_atomic_t passed;  /* the last one that was passed on */
static bool adopts;                   /* what the program leaves behind */
static bool leads;                    /* a session */
static struct sigaction uncaught[FORWARDED], unbroken;

/* What the terminal sends reaches the whole foreground group, the child
 * included: only signals that a process sent to us alone are passed on, and
 * that the terminal is gone, which only the leader of the session hears. */
static void
forward(int signal, siginfo_t *info, void *context)
{
	const int saved = errno;

	(void)context;
	caught = signal;
	if (running && (info->si_code != SI_KERNEL ||
	    (leads && signal == SIGHUP))) {
		passed = signal;
		(void)kill((pid_t)running, signal);
	}
	errno = saved;
}

static void
signal_set(sigset_t *set_out)
{
	sigemptyset(set_out);
	for (int i = 0; i < FORWARDED; i++)
		sigaddset(set_out, forwarded[i]);
}

/* What happened to each signal before. One that we were started to ignore
 * (nohup) stays ignored. */
static void
take_over(struct sigaction before_out[FORWARDED])
{
	const struct sigaction action = {
		.sa_sigaction = forward, .sa_flags = SA_SIGINFO | SA_RESTART
	};

	leads = getsid(0) == getpid();
	for (int i = 0; i < FORWARDED; i++)
		if (!sigaction(forwarded[i], NULL, &before_out[i]) &&
		    before_out[i].sa_handler != SIG_IGN)
			(void)sigaction(forwarded[i], &action, NULL);
}

/* Signals from now on are for us. */
static void
give_back(const struct sigaction handlers[FORWARDED])
{
	for (int i = 0; i < FORWARDED; i++)
		(void)sigaction(forwarded[i], &handlers[i], NULL);
}

/* Send `signal`, 0: none, to each child of ours that was not told of one. Is
 * there such a child? */
static bool
tell_children(int signal)
{
	static pid_t told[MOST_TOLD], pid;
	static size_t count;
	FILE *children = fopen("/proc/thread-self/children", "re");
	bool any = false;

	while (children && fscanf(children, "%d", &pid) == 1) {
		size_t i = 0;

		while (i < count && told[i] != pid)
			i++;
		if (i < count || count == MOST_TOLD)
			continue;
		told[count++] = pid;
		(void)kill(pid, signal);
		any = true;
	}
	if (children)
		fclose(children);
	return any;
}

/* The child is not told of it; execve() takes the handler away. */
static void
broken_pipe(int signal)
{
	caught = signal;
}

void
ac_child_catch(void)
{
	const struct sigaction action = { .sa_handler = broken_pipe };

	take_over(uncaught);
	adopts = !prctl(PR_SET_CHILD_SUBREAPER, 1);
	(void)tell_children(0); /* not of ours, but of who was here before */
	if (!sigaction(SIGPIPE, NULL, &unbroken) &&
	    unbroken.sa_handler != SIG_IGN)
		(void)sigaction(SIGPIPE, &action, NULL);
}

void
ac_child_release(void)
{
	give_back(uncaught);
	(void)prctl(PR_SET_CHILD_SUBREAPER, 0);
	adopts = false;
	(void)sigaction(SIGPIPE, &unbroken, NULL);
}

void
ac_child_hold(bool hold)
{
	static sigset_t before;
	sigset_t ours;

	signal_set(&ours);
	if (hold)
		(void)sigprocmask(SIG_BLOCK, &ours, &before);
	else
		(void)sigprocmask(SIG_SETMASK, &before, NULL);
}

int
ac_child_caught(void)
{
	return caught;
}

/* In the child. execve() itself resets our handlers, but a signal between
 * the mask's end and there would still meet them. */
static void
become(const struct ac_child *child, int report, const sigset_t *mask)
{
	int error;

	for (int i = 0; i < FORWARDED; i++) {
		struct sigaction old;

		if (!sigaction(forwarded[i], NULL, &old) &&
		    old.sa_handler != SIG_IGN)
			(void)signal(forwarded[i], SIG_DFL);
	}
	(void)sigprocmask(SIG_SETMASK, mask, NULL);
	execv(child->program->path, child->arguments);
	error = errno;
	if (write(report, &error, sizeof error) < 0)
		_exit(AC_EXIT_FAILED);
	_exit(AC_EXIT_CANNOT_RUN);
}

/* Whether the child ended; it stays there to be waited for. */
static bool
has_ended(pid_t pid)
{
	siginfo_t info = { .si_pid = 0 };

	return waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT | WNOHANG)
	    ? errno != EINTR : info.si_pid != 0;
}

/* Call `look` while the child runs, at growing intervals: short programs are
 * seen too, and long ones are not disturbed. */
static void
watch(pid_t pid, const struct ac_child_watch *watch)
{
	struct timespec pause = { 0, SHORTEST_PAUSE_NS };
	sigset_t ended;

	sigemptyset(&ended);
	sigaddset(&ended, SIGCHLD);
	(void)sigprocmask(SIG_BLOCK, &ended, NULL);
	while (!has_ended(pid)) {
		watch->look(pid, watch->context);
		(void)sigtimedwait(&ended, NULL, &pause);
		if (pause.tv_nsec < LONGEST_PAUSE_NS)
			pause.tv_nsec += pause.tv_nsec / 4;
	}
	watch->look(pid, watch->context); /* the name of the dead */
}

static double
seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec * 1e-6;
}

/* Wait for the end of what was started at `start`. */
static int
wait_for(pid_t pid, double start, struct ac_child_cost *cost_out)
{
	struct ac_child_cost cost;
	struct rusage usage = { .ru_maxrss = 0 };
	siginfo_t info;
	int status = 0;

	/* The pid stays ours until the handler can no longer use it. */
	while (waitid(P_PID, (id_t)pid, &info, WEXITED | WNOWAIT) < 0 &&
	    errno == EINTR)
		;
	cost.wall = ac_say_clock() - start;
	running = 0;
	while (wait4(pid, &status, 0, &usage) < 0 && errno == EINTR)
		;
	cost.user = seconds(&usage.ru_utime);
	cost.system = seconds(&usage.ru_stime);
	cost.peak_bytes = (double)usage.ru_maxrss * 1024;
	if (cost_out)
		*cost_out = cost;
	return status;
}

/* A shell that a signal ends leaves behind what it runs, which is ours now. */
static void
end_orphans(int signal)
{
	const struct timespec pause = { 0, 10000000 };

	while (tell_children(signal)) {
		(void)nanosleep(&pause, NULL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	}
}

int
ac_child_run(const struct ac_child *child, int *status_out)
{
	struct sigaction handlers[FORWARDED];
	int channel[2], error = 0;
	sigset_t ours, before;
	double start;
	ssize_t got;
	pid_t pid;

	if (pipe2(channel, O_CLOEXEC))
		return ac_say(AC_EXIT_FAILED, "cannot start %s: %s",
		    child->program->path, strerror(errno));
	signal_set(&ours);
	(void)sigprocmask(SIG_BLOCK, &ours, &before);
	take_over(handlers);
	start = ac_say_clock();
	pid = fork();
	if (pid == 0)
		become(child, channel[1], &before);
	close(channel[1]);
	if (pid < 0)
		return ac_say(AC_EXIT_FAILED, "cannot start %s: %s",
		    child->program->path, strerror(errno));
	running = pid;
	(void)sigprocmask(SIG_SETMASK, &before, NULL);
	do {
		got = read(channel[0], &error, sizeof error);
	} while (got < 0 && errno == EINTR);
	close(channel[0]);
	if (child->launch->watch.look && got != (ssize_t)sizeof error)
		watch(pid, &child->launch->watch);
	*status_out = wait_for(pid, start, child->launch->cost);
	if (adopts && passed)
		end_orphans(passed);
	give_back(handlers);
	if (got == (ssize_t)sizeof error)
		return ac_say(error == ENOENT ? AC_EXIT_NOT_FOUND
		    : AC_EXIT_CANNOT_RUN, "cannot run %s: %s",
		    child->program->path, strerror(error));
	return 0;
}

int
ac_child_exit(int status)
{
	const struct rlimit no_core = { 0, 0 };
	sigset_t none;

	if (!WIFSIGNALED(status))
		return WEXITSTATUS(status);
	(void)setrlimit(RLIMIT_CORE, &no_core); /* the child left its own */
	(void)signal(WTERMSIG(status), SIG_DFL);
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)raise(WTERMSIG(status));
	return 128 + WTERMSIG(status);
}
