/* SPDX-License-Identifier: MIT */

/* tracer.h: a command and all that it starts, by ptrace. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/wait.h>

#include "procmon/spawn.h"
#include "procmon/tracer.h"
#include "test.h"

enum kind { FORKED, THREADED, EXECUTED, ENDING, LEFT, ENDED, RELEASED };

struct emitted {
	enum kind kind;
	pid_t tid, pid;
	int detail; /* parent, released, last, status */
	int64_t time_ns;
	char exe[200];
};

#define MAX_EMITTED 20000

struct scene {
	struct temp temp;
	struct emitted emitted[MAX_EMITTED];
	size_t n;
	_Atomic bool stop;
	bool stop_after_command;
	int result, status;
};

static struct emitted *emit(struct scene *s, enum kind kind, pid_t tid, pid_t pid, int detail,
	int64_t time_ns)
{
	struct emitted *t = &s->emitted[s->n < MAX_EMITTED - 1 ? s->n++ : MAX_EMITTED - 1];

	*t = (struct emitted){ .kind = kind, .tid = tid, .pid = pid, .detail = detail,
		.time_ns = time_ns };
	return t;
}

static void on_forked(void *arg, pid_t pid, pid_t parent, int64_t time_ns)
{
	emit(arg, FORKED, pid, pid, parent, time_ns);
}

static void on_threaded(void *arg, pid_t tid, pid_t pid, int64_t time_ns)
{
	emit(arg, THREADED, tid, pid, 0, time_ns);
}

static void on_executed(void *arg, pid_t pid, bool released, int64_t time_ns)
{
	struct emitted *t = emit(arg, EXECUTED, pid, pid, released, time_ns);
	char path[40];

	snprintf(path, sizeof(path), "/proc/%d/exe", pid);
	if (readlink(path, t->exe, sizeof(t->exe) - 1) < 0)
		t->exe[0] = '?';
}

static void on_ending(void *arg, pid_t tid, pid_t pid, bool last)
{
	emit(arg, ENDING, tid, pid, last, 0);
}

static void on_left(void *arg, pid_t tid, pid_t pid, bool stood)
{
	emit(arg, LEFT, tid, pid, stood, 0);
}

static void on_ended(void *arg, pid_t tid, pid_t pid, int status, int64_t time_ns)
{
	emit(arg, ENDED, tid, pid, status, time_ns);
}

static void on_released(void *arg, pid_t pid)
{
	emit(arg, RELEASED, pid, pid, 0, 0);
}

static void on_command_ended(void *arg, int status)
{
	struct scene *s = arg;

	(void)status;
	if (!s->stop_after_command)
		return;
	atomic_store(&s->stop, true);
	pthread_kill(pthread_self(), TRACER_SIGNAL);
}

static const struct tracer_callbacks callbacks = { on_forked, on_threaded, on_executed, on_ending, on_left,
	on_ended, on_released };

static void on_signal(int signal)
{
	(void)signal;
}

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));
	struct sigaction wake = { .sa_handler = on_signal };

	assert_non_null(s);
	temp_make(&s->temp);
	sigaction(TRACER_SIGNAL, &wake, NULL);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	temp_take_away(&s->temp);
	free(s);
	return 0;
}

static void run(struct scene *s, ...)
{
	char *argv[16] = { 0 };
	struct spawn spawn;
	struct tracer_options o = { .spawn = &spawn, .callbacks = &callbacks, .arg = s,
		.command_ended = on_command_ended, .stop = &s->stop };
	va_list args;

	va_start(args, s);
	for (int i = 0; i < 15 && (argv[i] = va_arg(args, char *)); i++)
		;
	va_end(args);
	alarm(60); /* rather than for ever */
	assert_int_equal(spawn_begin(argv, NULL, NULL, &spawn), 0);
	s->result = tracer_run(&o, &s->status);
	spawn_finish(&spawn);
	alarm(0);
}

static void run_shell(struct scene *s, const char *script)
{
	run(s, "sh", "-c", script, NULL);
}

/* A program of ours, compiled here and now. */
static void run_program(struct scene *s, const char *text)
{
	char source[300], program[300], command[1000];
	FILE *f;

	snprintf(source, sizeof(source), "%s/p.c", s->temp.dir);
	snprintf(program, sizeof(program), "%s/p", s->temp.dir);
	f = fopen(source, "w");
	assert_non_null(f);
	fprintf(f, "#define _GNU_SOURCE\n#include <pthread.h>\n#include <signal.h>\n"
		"#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n"
		"#include <sys/wait.h>\n#include <unistd.h>\n%s\n", text);
	fclose(f);
	snprintf(command, sizeof(command), "cc -o %s %s -lpthread", program, source);
	if (system(command) != 0)
		skip(); /* no compiler */
	run(s, program, NULL);
}

static size_t count(const struct scene *s, enum kind kind)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->emitted[i].kind == kind;
	return n;
}

static size_t count_ended_processes(const struct scene *s)
{
	size_t n = 0;

	for (size_t i = 0; i < s->n; i++)
		n += s->emitted[i].kind == ENDED && s->emitted[i].tid == s->emitted[i].pid;
	return n;
}

static const struct emitted *find(const struct scene *s, enum kind kind, pid_t tid)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->emitted[i].kind == kind && (!tid || s->emitted[i].tid == tid))
			return &s->emitted[i];
	return NULL;
}

static void command_is_reported_from_fork_to_end(void **state)
{
	struct scene *s = *state;

	run(s, "true", NULL);
	assert_int_equal(s->result, 0);
	assert_int_equal(s->status, 0);
	assert_int_equal(s->n, 5);
	assert_int_equal(s->emitted[0].kind, FORKED);
	assert_int_equal(s->emitted[0].detail, getpid());
	assert_int_equal(s->emitted[1].kind, EXECUTED);
	assert_non_null(strstr(s->emitted[1].exe, "/true"));
	assert_int_equal(s->emitted[2].kind, ENDING);
	assert_true(s->emitted[2].detail);
	assert_int_equal(s->emitted[3].kind, LEFT);
	assert_true(s->emitted[3].detail);
	assert_int_equal(s->emitted[4].kind, ENDED);
	assert_true(s->emitted[0].time_ns <= s->emitted[1].time_ns &&
		s->emitted[1].time_ns <= s->emitted[4].time_ns);
}

static void exit_status_is_that_of_the_command(void **state)
{
	struct scene *s = *state;

	run_shell(s, "exit 3");
	assert_int_equal(WEXITSTATUS(s->status), 3);
	run_shell(s, "kill -TERM $$");
	assert_int_equal(WTERMSIG(s->status), SIGTERM);
}

static void command_that_is_not_there_is_an_error(void **state)
{
	struct scene *s = *state;

	run(s, "/no/such/program", NULL);
	assert_int_equal(s->result, -ENOENT);
	assert_int_equal(WEXITSTATUS(s->status), SPAWN_NOT_FOUND);
	run(s, "/etc/passwd", NULL);
	assert_int_equal(s->result, -EACCES);
	assert_int_equal(WEXITSTATUS(s->status), SPAWN_NOT_EXECUTABLE);
}

static void each_short_program_is_seen(void **state)
{
	struct scene *s = *state;

	run_shell(s, "seq 300 | xargs -P4 -n1 /bin/true");
	/* sh, seq, xargs and 300; each forked, executed, ended. */
	assert_int_equal(count(s, EXECUTED), 303);
	assert_int_equal(count(s, FORKED), count_ended_processes(s));
	assert_in_range(count(s, FORKED), 303, 304);
}

static void parent_is_the_forking_process_although_it_is_gone(void **state)
{
	struct scene *s = *state;
	const struct emitted *daemon;

	run_shell(s, "(sleep 0.1; exec true) & exit 0");
	assert_int_equal(count_ended_processes(s), count(s, FORKED)); /* waited for */
	daemon = find(s, EXECUTED, 0);
	assert_non_null(daemon);
	for (size_t i = 1; i < s->n; i++)
		if (s->emitted[i].kind == FORKED)
			assert_true(find(s, FORKED, s->emitted[i].detail) != NULL);
}

static void vfork_and_spawn_are_forks(void **state)
{
	struct scene *s = *state;

	run_program(s, "#include <spawn.h>\nextern char **environ;\n"
		"int main(void) { pid_t p; int st; char *a[] = { \"true\", 0 };\n"
		"if (!(p = vfork())) { execlp(\"true\", \"true\", NULL); _exit(9); }\n"
		"waitpid(p, &st, 0); if (st) return 1;\n"
		"if (posix_spawnp(&p, \"true\", 0, 0, a, environ)) return 2;\n"
		"waitpid(p, &st, 0); return st != 0; }");
	assert_int_equal(s->status, 0);
	assert_int_equal(count(s, FORKED), 3);
	assert_int_equal(count(s, EXECUTED), 3);
}

static void thousand_threads_are_reported_and_end(void **state)
{
	struct scene *s = *state;

	run_program(s, "static void *f(void *a) { return a; }\n"
		"int main(void) { pthread_t t[1000]; pthread_attr_t a; pthread_attr_init(&a);\n"
		"pthread_attr_setstacksize(&a, 65536);\n"
		"for (int i = 0; i < 1000; i++) if (pthread_create(&t[i], &a, f, 0)) return 1;\n"
		"for (int i = 0; i < 1000; i++) pthread_join(t[i], 0); return 0; }");
	assert_int_equal(s->status, 0);
	assert_int_equal(count(s, THREADED), 1000);
	assert_int_equal(count(s, ENDED), 1001);
	assert_int_equal(count(s, ENDING), 1001);
}

static void exec_of_another_thread_than_the_first_is_of_the_process(void **state)
{
	struct scene *s = *state;
	pid_t pid;

	run_program(s, "static void *f(void *a) { execlp(\"true\", \"true\", NULL); return a; }\n"
		"static void *g(void *a) { pause(); return a; }\n"
		"int main(void) { pthread_t t; pthread_create(&t, 0, g, 0);\n"
		"pthread_create(&t, 0, f, 0); pause(); return 1; }");
	assert_int_equal(s->status, 0);
	assert_int_equal(count(s, EXECUTED), 2);
	pid = s->emitted[0].pid;
	assert_int_equal(s->emitted[s->n - 1].kind, ENDED);
	assert_int_equal(s->emitted[s->n - 1].tid, pid);
	assert_int_equal(count_ended_processes(s), 1);
}

static void signals_arrive_as_they_are(void **state)
{
	struct scene *s = *state;

	run_program(s, "static volatile int n; static void h(int i) { n += i; }\n"
		"int main(void) { signal(SIGUSR1, h); signal(SIGTRAP, h); signal(SIGCHLD, h);\n"
		"raise(SIGUSR1); raise(SIGTRAP); raise(SIGUSR1);\n"
		"return n != 2 * SIGUSR1 + SIGTRAP; }");
	assert_int_equal(s->status, 0);
}

static void stopped_process_stays_stopped_until_it_is_continued(void **state)
{
	struct scene *s = *state;

	run_program(s, "int main(void) { int st; pid_t p = fork();\n"
		"if (!p) { raise(SIGSTOP); _exit(7); }\n"
		"if (waitpid(p, &st, WUNTRACED) != p || !WIFSTOPPED(st)) return 1;\n"
		"usleep(100000); if (waitpid(p, &st, WNOHANG) != 0) return 2;\n"
		"kill(p, SIGCONT);\n"
		"if (waitpid(p, &st, WCONTINUED) != p) return 3;\n"
		"if (WIFCONTINUED(st) && waitpid(p, &st, 0) != p) return 4;\n"
		"return WEXITSTATUS(st) != 7; }");
	assert_int_equal(s->status, 0);
}

static void killed_process_is_reported_with_its_signal(void **state)
{
	struct scene *s = *state;
	bool seen = false;

	run_shell(s, "sleep 100 & kill -9 $!; wait $!; exit 0");
	for (size_t i = 0; i < s->n; i++)
		seen |= s->emitted[i].kind == ENDED && WIFSIGNALED(s->emitted[i].detail) &&
			WTERMSIG(s->emitted[i].detail) == SIGKILL;
	assert_true(seen);
	assert_int_equal(count_ended_processes(s), count(s, FORKED));
}

static void program_that_traces_is_let_go_and_works(void **state)
{
	struct scene *s = *state;
	char out[300], command[700];
	size_t n = 0;

	if (system("strace -V >/dev/null 2>&1") != 0)
		skip(); /* no strace */
	snprintf(out, sizeof(out), "%s/out", s->temp.dir);
	snprintf(command, sizeof(command), "strace -f -o %s sh -c 'true; /bin/true'; exit $?", out);
	run_shell(s, command);
	assert_int_equal(s->status, 0);
	for (size_t i = 0; i < s->n; i++)
		n += s->emitted[i].kind == EXECUTED && s->emitted[i].detail;
	assert_int_equal(n, 1);
	snprintf(command, sizeof(command), "grep -q 'exited with 0' %s", out);
	assert_int_equal(system(command), 0);
}

/* Where it stands; that may be at the begin of a program. */
static pid_t let_go(const struct scene *s)
{
	pid_t pid = 0;

	for (size_t i = 0; i < s->n; i++)
		if (s->emitted[i].kind == RELEASED || (s->emitted[i].kind == EXECUTED && s->emitted[i].detail)) {
			assert_int_equal(pid, 0);
			pid = s->emitted[i].pid;
		}
	return pid;
}

static void what_goes_on_can_be_let_go(void **state)
{
	struct scene *s = *state;
	pid_t pid;

	s->stop_after_command = true;
	run_shell(s, "sleep 3 & exit 5");
	assert_int_equal(s->result, 0);
	assert_int_equal(WEXITSTATUS(s->status), 5);
	pid = let_go(s);
	assert_true(pid > 0);
	assert_int_equal(kill(pid, 0), 0); /* it sleeps on */
	kill(pid, SIGKILL);
}

static int fail_first(void *arg)
{
	*(int *)arg = 1; /* in the child only */
	return 42;
}

static void command_that_fails_before_it_waits_is_not_run(void **state)
{
	struct scene *s = *state;
	char *argv[] = { (char *)"true", NULL };
	struct spawn spawn;
	struct tracer_options o = { .spawn = &spawn, .callbacks = &callbacks, .arg = s };
	int ours = 0;

	assert_int_equal(spawn_begin(argv, fail_first, &ours, &spawn), 0);
	assert_int_equal(ours, 0);
	if (tracer_run(&o, &s->status) == 0)
		assert_int_equal(WEXITSTATUS(s->status), 42);
	assert_int_equal(count(s, EXECUTED), 0);
	spawn_finish(&spawn);
	waitpid(spawn.pid, NULL, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(command_is_reported_from_fork_to_end),
		TEST(exit_status_is_that_of_the_command),
		TEST(command_that_is_not_there_is_an_error),
		TEST(each_short_program_is_seen),
		TEST(parent_is_the_forking_process_although_it_is_gone),
		TEST(vfork_and_spawn_are_forks),
		TEST(thousand_threads_are_reported_and_end),
		TEST(exec_of_another_thread_than_the_first_is_of_the_process),
		TEST(signals_arrive_as_they_are),
		TEST(stopped_process_stays_stopped_until_it_is_continued),
		TEST(killed_process_is_reported_with_its_signal),
		TEST(program_that_traces_is_let_go_and_works),
		TEST(what_goes_on_can_be_let_go),
		TEST(command_that_fails_before_it_waits_is_not_run),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
