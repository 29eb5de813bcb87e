/* SPDX-License-Identifier: MIT */

/* locks.h: owners of POSIX locks, files of flock(2), which process waits, which is outside. */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/file.h>
#include <sys/wait.h>

#include "ftrac/inode.h"
#include "ftrac/locks.h"
#include "ftrac/waking.h"
#include "test.h"

enum { ANNE = 1, BEN = 2 };

struct scene {
	struct temp temp;
	struct lock_table *table;
	struct inode inode;
	int fd, other_fd;
};

static int setup(void **state)
{
	struct scene *s = calloc(1, sizeof(*s));

	assert_non_null(s);
	temp_make(&s->temp);
	s->inode.id = 7;
	s->fd = open(temp_path(&s->temp, "f"), O_RDWR | O_CREAT, 0644);
	s->other_fd = open(temp_path(&s->temp, "f"), O_RDWR);
	assert_true(s->fd >= 0 && s->other_fd >= 0);
	assert_int_equal(locks_create(&s->table), 0);
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct scene *s = *state;

	locks_destroy(s->table);
	close(s->fd);
	close(s->other_fd);
	temp_take_away(&s->temp);
	free(s);
	return 0;
}

static struct lock_request ask(struct scene *s, uint64_t owner, short type, off_t start, off_t len)
{
	return (struct lock_request){ .inode = &s->inode, .file = &s->fd, .fd = s->fd,
		.owner = owner, .pid = 1000 + owner,
		.range = { .l_type = type, .l_whence = SEEK_SET, .l_start = start, .l_len = len } };
}

static int try(struct scene *s, uint64_t owner, short type, off_t start, off_t len)
{
	struct lock_request r = ask(s, owner, type, start, len);

	return locks_try(s->table, &r);
}

/* As another program, outside of the mount. */
static int try_outside(struct scene *s, short type)
{
	int status;
	pid_t pid = fork();

	if (pid == 0) {
		struct flock all = { .l_type = type, .l_whence = SEEK_SET };

		_exit(fcntl(s->other_fd, F_SETLK, &all) < 0 ? errno : 0);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return -WEXITSTATUS(status);
}

static void owners_exclude_each_other(void **state)
{
	struct scene *s = *state;

	assert_int_equal(try(s, ANNE, F_WRLCK, 0, 10), 0);
	assert_int_equal(try(s, BEN, F_WRLCK, 5, 10), -EAGAIN);
	assert_int_equal(try(s, BEN, F_WRLCK, 10, 10), 0);
	assert_int_equal(try(s, ANNE, F_UNLCK, 0, 10), 0);
	assert_int_equal(try(s, BEN, F_WRLCK, 5, 5), 0);
}

static void owner_may_lock_again_what_it_has_locked(void **state)
{
	struct scene *s = *state;

	assert_int_equal(try(s, ANNE, F_RDLCK, 0, 0), 0);
	assert_int_equal(try(s, ANNE, F_WRLCK, 0, 0), 0);
}

static void readers_share(void **state)
{
	struct scene *s = *state;

	assert_int_equal(try(s, ANNE, F_RDLCK, 0, 0), 0);
	assert_int_equal(try(s, BEN, F_RDLCK, 0, 0), 0);
	assert_int_equal(try(s, BEN, F_WRLCK, 0, 0), -EAGAIN);
}

static void programs_outside_are_excluded(void **state)
{
	struct scene *s = *state;

	assert_int_equal(try_outside(s, F_WRLCK), 0);
	assert_int_equal(try(s, ANNE, F_RDLCK, 0, 0), 0);
	assert_int_equal(try_outside(s, F_WRLCK), -EAGAIN);
	assert_int_equal(try_outside(s, F_RDLCK), 0);
}

static void holder_of_the_lock_is_reported(void **state)
{
	struct scene *s = *state;
	struct lock_request r = ask(s, BEN, F_WRLCK, 0, 0);

	assert_int_equal(try(s, ANNE, F_WRLCK, 3, 4), 0);
	assert_int_equal(locks_get(s->table, &r), 0);
	assert_int_equal(r.range.l_type, F_WRLCK);
	assert_int_equal(r.range.l_start, 3);
	assert_int_equal(r.range.l_len, 4);
	assert_int_equal(r.range.l_pid, 1000 + ANNE);
	r = ask(s, ANNE, F_WRLCK, 0, 0);
	assert_int_equal(locks_get(s->table, &r), 0);
	assert_int_equal(r.range.l_type, F_UNLCK);
}

static void closing_any_descriptor_takes_the_locks_of_the_owner(void **state)
{
	struct scene *s = *state;

	assert_int_equal(try(s, ANNE, F_WRLCK, 0, 10), 0);
	assert_int_equal(try(s, BEN, F_WRLCK, 10, 10), 0);
	locks_close(s->table, &s->inode, ANNE);
	assert_int_equal(try(s, BEN, F_WRLCK, 0, 10), 0);
	assert_int_equal(try(s, ANNE, F_WRLCK, 10, 10), -EAGAIN);
}

static void lock_of_an_open_file_goes_with_it(void **state)
{
	struct scene *s = *state;

	assert_int_equal(try(s, ANNE, F_WRLCK, 0, 0), 0);
	locks_release(s->table, &s->other_fd);
	assert_int_equal(try(s, BEN, F_WRLCK, 0, 0), -EAGAIN);
	locks_release(s->table, &s->fd);
	assert_int_equal(try(s, BEN, F_WRLCK, 0, 0), 0);
}

static void file_open_for_reading_only_can_be_locked_for_reading(void **state)
{
	struct scene *s = *state;
	struct lock_request r = ask(s, ANNE, F_RDLCK, 0, 0);
	int fd = open(temp_path(&s->temp, "f"), O_RDONLY);

	r.fd = fd;
	assert_int_equal(locks_try(s->table, &r), 0);
	assert_int_equal(try_outside(s, F_WRLCK), -EAGAIN);
	close(fd);
}

static void flock_belongs_to_the_open_file(void **state)
{
	struct scene *s = *state;
	struct lock_request r = { .inode = &s->inode, .fd = s->fd, .flock = LOCK_EX };

	assert_int_equal(locks_try(s->table, &r), 0);
	r.fd = s->other_fd;
	assert_int_equal(locks_try(s->table, &r), -EAGAIN);
	r = (struct lock_request){ .inode = &s->inode, .fd = s->fd, .flock = LOCK_UN };
	assert_int_equal(locks_try(s->table, &r), 0);
}

/* ---- waiting ---- */

struct end {
	pthread_mutex_t lock;
	pthread_cond_t come;
	bool is_there;
	int result;
};

static void on_end(void *arg, int result)
{
	struct end *end = arg;

	pthread_mutex_lock(&end->lock);
	end->is_there = true;
	end->result = result;
	pthread_cond_signal(&end->come);
	pthread_mutex_unlock(&end->lock);
}

static int wait_for_end(struct end *end)
{
	pthread_mutex_lock(&end->lock);
	while (!end->is_there)
		pthread_cond_wait(&end->come, &end->lock);
	pthread_mutex_unlock(&end->lock);
	return end->result;
}

#define END { .lock = PTHREAD_MUTEX_INITIALIZER, .come = PTHREAD_COND_INITIALIZER }

static void waiting_owner_gets_the_lock_when_it_is_free(void **state)
{
	struct scene *s = *state;
	struct lock_request r = ask(s, BEN, F_WRLCK, 0, 0);
	static struct waking waking;
	struct end end = END;

	waking_init(&waking);
	assert_int_equal(try(s, ANNE, F_WRLCK, 0, 0), 0);
	assert_int_equal(locks_wait(s->table, &r, &waking, on_end, &end), 0);
	usleep(100000);
	assert_false(end.is_there);
	assert_int_equal(try(s, ANNE, F_UNLCK, 0, 0), 0);
	assert_int_equal(wait_for_end(&end), 0);
	assert_int_equal(try(s, ANNE, F_WRLCK, 0, 0), -EAGAIN);
}

static void waiting_can_be_stopped(void **state)
{
	struct scene *s = *state;
	struct lock_request r = ask(s, BEN, F_WRLCK, 0, 0);
	struct lock_request f = { .inode = &s->inode, .fd = s->other_fd, .flock = LOCK_EX };
	static struct waking waking, flock_waking;
	struct end end = END, flock_end = END;

	waking_init(&waking);
	waking_init(&flock_waking);
	assert_int_equal(try(s, ANNE, F_WRLCK, 0, 0), 0);
	assert_int_equal(flock(s->fd, LOCK_EX), 0);
	assert_int_equal(locks_wait(s->table, &r, &waking, on_end, &end), 0);
	assert_int_equal(locks_wait(s->table, &f, &flock_waking, on_end, &flock_end), 0);
	waking_stop(&waking); /* it may not wait yet */
	usleep(100000);
	waking_stop(&flock_waking);
	assert_int_equal(wait_for_end(&end), -EINTR);
	assert_int_equal(wait_for_end(&flock_end), -EINTR);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(owners_exclude_each_other),
		TEST(owner_may_lock_again_what_it_has_locked),
		TEST(readers_share),
		TEST(programs_outside_are_excluded),
		TEST(holder_of_the_lock_is_reported),
		TEST(closing_any_descriptor_takes_the_locks_of_the_owner),
		TEST(lock_of_an_open_file_goes_with_it),
		TEST(file_open_for_reading_only_can_be_locked_for_reading),
		TEST(flock_belongs_to_the_open_file),
		TEST(waiting_owner_gets_the_lock_when_it_is_free),
		TEST(waiting_can_be_stopped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
