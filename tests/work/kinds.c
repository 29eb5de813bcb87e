/* SPDX-License-Identifier: MIT */

/*
 * Ways for processes to come and go, each in a child of its own: kinds NAME...  Prints what there is
 * to be compared, "KIND NAME PID" a line.
 */

#include <err.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char *kind;

static void say(const char *name, pid_t pid)
{
	printf("%s %s %d\n", kind, name, pid);
	fflush(stdout);
}

static void wait_for(pid_t pid)
{
	if (waitpid(pid, NULL, 0) != pid)
		err(1, "waitpid");
}

static void *nothing(void *arg)
{
	return arg;
}

static void threads(void)
{
	pthread_t thread;

	for (int i = 0; i < 200; i++)
		if (pthread_create(&thread, NULL, nothing, NULL) == 0)
			pthread_join(thread, NULL);
}

static void *execute(void *arg)
{
	execl("/bin/true", "true", "by-thread", NULL);
	return arg;
}

/* The exec of another thread than the first takes its number over. */
static void thread_exec(void)
{
	pthread_t thread;

	pthread_create(&thread, NULL, execute, NULL);
	pause();
}

static void vforks(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		execl("/bin/true", "true", "by-vfork", NULL);
		_exit(9);
	}
	say("child", pid);
	wait_for(pid);
}

static void spawns(void)
{
	char *argv[] = { (char *)"true", (char *)"by-spawn", NULL };
	pid_t pid;

	if (posix_spawn(&pid, "/bin/true", NULL, NULL, argv, environ) != 0)
		errx(1, "posix_spawn");
	say("child", pid);
	wait_for(pid);
}

static int cloned(void *arg)
{
	(void)arg;
	return 4;
}

static void clones(void)
{
	static char stack[65536];
	pid_t pid = clone(cloned, stack + sizeof(stack), SIGCHLD | CLONE_VM | CLONE_FILES, NULL);

	say("child", pid);
	wait_for(pid);
}

/* Whose parent is gone before it starts its program. */
static void daemons(void)
{
	int ready[2];
	char byte;
	pid_t pid;

	if (pipe(ready) < 0 || (pid = fork()) < 0)
		err(1, "fork");
	if (pid == 0) {
		setsid();
		say("middle", getpid());
		pid = fork();
		if (pid > 0)
			_exit(0);
		say("daemon", getpid());
		while (getppid() != 1 && read(ready[0], &byte, 1) < 0)
			;
		usleep(20000);
		execl("/bin/sleep", "sleep", "0.3", NULL);
		_exit(9);
	}
	wait_for(pid);
	if (write(ready[1], "x", 1) != 1)
		err(1, "write");
}

static void chain(void)
{
	execl("/bin/sh", "sh", "-c", "exec env LEFT=2 sh -c 'exec env LEFT=1 sh -c \"exec true end\"'",
		NULL);
}

static void killed(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		for (;;)
			pause();
	}
	say("child", pid);
	usleep(10000);
	kill(pid, SIGKILL);
	wait_for(pid);
}

/* A group that ends by one signal, with threads in the middle of things. */
static void *spin(void *arg)
{
	for (;;)
		usleep(100);
	return arg;
}

static void killed_threads(void)
{
	pid_t pid = fork();

	if (pid == 0) {
		pthread_t thread;

		for (int i = 0; i < 20; i++)
			pthread_create(&thread, NULL, spin, NULL);
		spin(NULL);
	}
	say("child", pid);
	usleep(50000);
	kill(pid, SIGKILL);
	wait_for(pid);
}

/* No process waits for it: it is gone at once. */
static void unwaited(void)
{
	pid_t pid;

	signal(SIGCHLD, SIG_IGN);
	pid = fork();
	if (pid == 0)
		_exit(3);
	say("child", pid);
	usleep(100000);
}

static void stopped(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		raise(SIGSTOP);
		usleep(100000); /* or that it goes on could not be seen any more */
		_exit(8);
	}
	if (waitpid(pid, &status, WUNTRACED) != pid || !WIFSTOPPED(status))
		errx(1, "it does not stop");
	say("child", pid);
	usleep(50000);
	kill(pid, SIGCONT);
	if (waitpid(pid, &status, WCONTINUED) != pid || !WIFCONTINUED(status))
		errx(1, "it does not go on");
	if (waitpid(pid, &status, 0) != pid || WEXITSTATUS(status) != 8)
		errx(1, "it does not end");
}

static void core(void)
{
	pid_t pid = fork();

	if (pid == 0)
		abort();
	say("child", pid);
	wait_for(pid);
}

/* 200 processes of five threads: some end before the process does, some with it. */
static void *stay(void *arg)
{
	for (;;)
		pause();
	return arg;
}

static void crowd(void)
{
	for (int i = 0; i < 200; i++) {
		pid_t pid = fork();

		if (pid == 0) {
			pthread_t threads[4];

			for (int t = 0; t < 4; t++)
				pthread_create(&threads[t], NULL, t % 2 ? stay : nothing, NULL);
			pthread_join(threads[0], NULL);
			_exit(3);
		}
		wait_for(pid);
	}
}

static const struct {
	const char *name;
	void (*work)(void);
} kinds[] = {
	{ "chain", chain }, { "clones", clones }, { "core", core }, { "crowd", crowd }, { "daemons", daemons },
	{ "killed", killed }, { "killed-threads", killed_threads }, { "spawns", spawns },
	{ "stopped", stopped }, { "thread-exec", thread_exec }, { "threads", threads },
	{ "unwaited", unwaited }, { "vforks", vforks },
};

static void run(const char *name)
{
	pid_t pid;

	kind = name;
	pid = fork();
	if (pid == 0) {
		for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++)
			if (strcmp(name, kinds[i].name) == 0) {
				say("self", getpid());
				kinds[i].work();
				_exit(5);
			}
		errx(1, "what is '%s'?", name);
	}
	wait_for(pid);
}

int main(int argc, char **argv)
{
	for (int i = 1; i < argc; i++)
		run(argv[i]);
	return 0;
}
