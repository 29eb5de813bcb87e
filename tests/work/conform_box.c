/* SPDX-License-Identifier: MIT */
#include "conform_box.h"

#include <dirent.h>
#include <err.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/xattr.h>
#include <time.h>
#include <unistd.h>

enum { MAX_ENTRIES = 48, MAX_NAME = 600, MAX_DEPTH = 3, MAX_CONTENT = 1 << 20, MAX_SPARE = 256 };

/* Inode numbers of other file systems than the root's have a number above that added. */
#define INO_MASK ((1ull << 48) - 1)

struct entry {
	char name[MAX_NAME];
	bool unread; /* since it has not changed */
	struct statx sx;
	char content[300];
};

struct picture {
	size_t n;
	bool more; /* than there was room for */
	struct entry entries[MAX_ENTRIES];
};

static int views[2];
static bool mirrored, coarse;
static unsigned last_box, spare_boxes[MAX_SPARE], n_spare;
static struct timespec started; /* the batch */

static const struct timespec old_times[2] = { { 1000000000, 111111111 },
	{ 1100000000, 222222222 } };

/* ---- text ---- */

struct text {
	char *at;
	size_t room;
};

static void add(struct text *text, const char *format, ...) __attribute__((format(printf, 2, 3)));

static void add(struct text *text, const char *format, ...)
{
	va_list arguments;
	int n;

	va_start(arguments, format);
	n = vsnprintf(text->at, text->room, format, arguments);
	va_end(arguments);
	if (n < 0 || (size_t)n >= text->room)
		n = text->room - 1;
	text->at += n;
	text->room -= n;
}

static unsigned hash_of(const unsigned char *data, size_t n)
{
	unsigned h = 2166136261u;

	for (size_t i = 0; i < n; i++)
		h = (h ^ data[i]) * 16777619u;
	return h;
}

const char *data_text(const void *data, size_t n, char *text, size_t size)
{
	const unsigned char *bytes = data;
	struct text t = { text, size };
	size_t shown = n <= 24 ? n : 6;

	*text = '\0';
	for (size_t i = 0; i < shown; i++)
		if (bytes[i] > ' ' && bytes[i] < 127 && bytes[i] != '\\')
			add(&t, "%c", bytes[i]);
		else
			add(&t, "\\%02x", bytes[i]);
	if (shown < n)
		add(&t, "~%zu#%08x", n, hash_of(bytes, n));
	return text;
}

/* ---- boxes ---- */

static bool has_coarse_times(void)
{
	struct statx a, b;
	bool moved = true;
	int fd = openat(views[VIEW_SOURCE], "times", O_CREAT | O_RDWR, 0600);

	for (int i = 0; i < 5 && moved; i++) {
		statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &a);
		fchmod(fd, 0600);
		statx(fd, "", AT_EMPTY_PATH, STATX_BASIC_STATS, &b);
		moved = memcmp(&a.stx_ctime, &b.stx_ctime, sizeof(a.stx_ctime)) != 0;
	}
	close(fd);
	unlinkat(views[VIEW_SOURCE], "times", 0);
	return !moved;
}

void box_init(const char *dir, const char *source)
{
	views[VIEW_SOURCE] = open(source, O_PATH | O_DIRECTORY | O_CLOEXEC);
	views[VIEW_MOUNT] = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	if (views[0] < 0 || views[1] < 0)
		err(1, "%s", dir);
	mirrored = strcmp(dir, source) != 0;
	coarse = has_coarse_times();
}

bool box_is_mirrored(void)
{
	return mirrored;
}

void box_enter(const struct box *box, enum view view)
{
	if (fchdir(views[view]) < 0 || chdir(box->name) < 0)
		err(1, "entering the %s", view == VIEW_MOUNT ? "mount" : "source");
}

/* A directory that has been used is as good as a new one, which file systems are slow to make. */
bool box_make(bool (*make)(const void *arg), const void *arg, struct box *ret_box)
{
	bool is_new = n_spare == 0;

	*ret_box = (struct box){ .number = is_new ? ++last_box : spare_boxes[--n_spare] };
	snprintf(ret_box->name, sizeof(ret_box->name), "%u", ret_box->number);
	if (is_new && mkdirat(views[VIEW_SOURCE], ret_box->name, 0777) < 0)
		err(1, "a box");
	box_enter(ret_box, VIEW_SOURCE);
	return make(arg);
}

void box_tick(void)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME_COARSE, &started);
	do {
		if (coarse)
			nanosleep(&(struct timespec){ .tv_nsec = 500000 }, NULL);
		clock_gettime(CLOCK_REALTIME_COARSE, &now);
	} while (coarse && now.tv_sec == started.tv_sec && now.tv_nsec == started.tv_nsec);
}

/* ---- pictures ---- */

static void add_entry(struct picture *picture, const char *name)
{
	struct entry *entry = &picture->entries[picture->n];

	if (picture->n == MAX_ENTRIES) {
		picture->more = true;
		return;
	}
	snprintf(entry->name, sizeof(entry->name), "%s", name);
	entry->content[0] = '\0';
	entry->unread = false;
	if (statx(AT_FDCWD, name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS, &entry->sx) < 0) {
		entry->sx = (struct statx){ 0 };
		snprintf(entry->content, sizeof(entry->content), "%s", error_name(errno));
	}
	picture->n++;
}

static bool is_wanted(const char *name)
{
	return strcmp(name, ".") != 0 && strcmp(name, "..") != 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
	return strcmp((*a)->d_name, (*b)->d_name);
}

/* Listing leaves its trace in the time of access unless it is with O_NOATIME. */
static int list(const char *path, struct dirent ***ret_list)
{
	int fd = open(path, O_RDONLY | O_DIRECTORY | O_NOATIME | O_CLOEXEC);
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	struct dirent *d, **all = calloc(MAX_ENTRIES + 1, sizeof(*all));
	int n = 0;

	while (dir && n <= MAX_ENTRIES && (d = readdir(dir))) {
		if (!is_wanted(d->d_name))
			continue;
		all[n] = malloc(sizeof(**all));
		memcpy(all[n], d, d->d_reclen < sizeof(**all) ? d->d_reclen : sizeof(**all));
		n++;
	}
	if (dir)
		closedir(dir);
	qsort(all, n, sizeof(*all), (int (*)(const void *, const void *))(void *)compare_names);
	*ret_list = all;
	return n;
}

/* The names in a directory, to each of which each() is done in order. */
static void for_names(const char *path, void (*each)(const char *path, int depth, void *arg),
	int depth, void *arg)
{
	struct dirent **found;
	int n = list(path, &found);

	for (int i = 0; i < n; i++) {
		char below[MAX_NAME];

		snprintf(below, sizeof(below), "%s%s%s", strcmp(path, ".") ? path : "",
			strcmp(path, ".") ? "/" : "", found[i]->d_name);
		each(below, depth + 1, arg);
		free(found[i]);
	}
	free(found);
}

static const struct statx *before_of(const struct box *box, const struct entry *entry)
{
	for (size_t i = 0; i < box->before->n; i++)
		if (((box->before->entries[i].sx.stx_ino ^ entry->sx.stx_ino) & INO_MASK) == 0)
			return &box->before->entries[i].sx;
	return NULL;
}

static bool is_unchanged(const struct box *box, const struct entry *entry)
{
	const struct statx *before = before_of(box, entry);

	return before && before->stx_ctime.tv_sec == entry->sx.stx_ctime.tv_sec &&
		before->stx_ctime.tv_nsec == entry->sx.stx_ctime.tv_nsec;
}

/* Of a picture that is being taken. */
struct walk {
	struct picture *picture;
	bool ages; /* what it sees gets times of long ago first */
};

static void take_one(const char *path, int depth, void *arg)
{
	struct walk *walk = arg;
	struct picture *picture = walk->picture;
	struct entry *entry = &picture->entries[picture->n];

	if (walk->ages)
		put_age(path);
	add_entry(picture, path);
	if (!picture->more && S_ISDIR(entry->sx.stx_mode) && depth < MAX_DEPTH)
		for_names(path, take_one, depth, arg);
}

static struct picture *new_picture(void)
{
	struct picture *picture = malloc(sizeof(*picture));

	if (!picture)
		err(1, "malloc");
	picture->n = 0;
	picture->more = false;
	return picture;
}

struct picture *picture_take(const struct box *box)
{
	struct walk walk = { new_picture(), false };

	box_enter(box, VIEW_SOURCE);
	take_one(".", 0, &walk);
	return walk.picture;
}

static const struct entry *entry_named(const struct picture *picture, const char *name)
{
	for (size_t i = 0; i < picture->n; i++)
		if (strcmp(picture->entries[i].name, name) == 0)
			return &picture->entries[i];
	return NULL;
}

static void add_if_new(const char *path, int depth, void *arg)
{
	(void)depth;
	if (!entry_named(arg, path))
		add_entry(arg, path);
}

struct picture *picture_take_mount(const struct box *box, const struct picture *source)
{
	struct picture *picture = new_picture();

	box_enter(box, VIEW_MOUNT);
	for (size_t i = 0; i < source->n; i++)
		add_entry(picture, source->entries[i].name);
	for (size_t i = 0; i < source->n; i++) /* after all else: it leaves a trace */
		if (S_ISDIR(source->entries[i].sx.stx_mode) &&
			!is_unchanged(box, &source->entries[i]))
			for_names(source->entries[i].name, add_if_new, 0, picture);
	return picture;
}

/* ---- settling ---- */

void put_age(const char *at)
{
	utimensat(AT_FDCWD, at, old_times, AT_SYMLINK_NOFOLLOW);
}

/* What has several names has been given its times several times. */
static void look_again_at_links(struct picture *picture)
{
	for (size_t i = 0; i < picture->n; i++) {
		struct entry *entry = &picture->entries[i];

		if (!S_ISDIR(entry->sx.stx_mode) && entry->sx.stx_nlink > 1)
			statx(AT_FDCWD, entry->name, AT_SYMLINK_NOFOLLOW, STATX_BASIC_STATS,
				&entry->sx);
	}
}

void box_remember(struct box *box)
{
	struct walk walk = { new_picture(), true };
	struct statx sx;

	box_enter(box, VIEW_SOURCE);
	take_one(".", 0, &walk);
	box->before = walk.picture;
	look_again_at_links(box->before);
	if (!mirrored)
		return;
	/* Others have looked at it in the mount, too: what the kernel keeps of that may be wrong
	 * in the end. */
	box_enter(box, VIEW_MOUNT);
	for (size_t i = 0; i < box->before->n; i++)
		statx(AT_FDCWD, box->before->entries[i].name,
			AT_SYMLINK_NOFOLLOW | AT_STATX_FORCE_SYNC, STATX_BASIC_STATS, &sx);
}

/* ---- removing ---- */

static void clear_flags(const char *path)
{
	int fd = open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC), flags = 0;

	if (fd >= 0 && ioctl(fd, FS_IOC_GETFLAGS, &flags) == 0 &&
		(flags & (FS_IMMUTABLE_FL | FS_APPEND_FL))) {
		flags &= ~(FS_IMMUTABLE_FL | FS_APPEND_FL);
		ioctl(fd, FS_IOC_SETFLAGS, &flags);
	}
	if (fd >= 0)
		close(fd);
}

static void remove_one(const char *path, int depth, void *arg)
{
	if (unlink(path) == 0)
		return;
	if (errno == EPERM || errno == EISDIR)
		clear_flags(path);
	if (unlink(path) == 0)
		return;
	chmod(path, 0700);
	for (int i = 0; i < 100 && rmdir(path) < 0; i++) /* a list has its limits */
		for_names(path, remove_one, depth, arg);
}

/* Through the mount, so that the kernel forgets what has been there. */
static void remove_seen(const struct picture *seen)
{
	for (size_t i = seen->n; i-- > 1;)
		if (S_ISDIR(seen->entries[i].sx.stx_mode))
			rmdir(seen->entries[i].name);
		else
			unlink(seen->entries[i].name);
}

/* Whether it looks as if it were new. */
static bool is_clean(const struct picture *before)
{
	struct dirent **left;
	struct stat st;

	if (list(".", &left) != 0 || listxattr(".", NULL, 0) > 0 || stat(".", &st) < 0)
		return false;
	free(left);
	return st.st_mode == before->entries[0].sx.stx_mode &&
		st.st_uid == before->entries[0].sx.stx_uid &&
		st.st_gid == before->entries[0].sx.stx_gid;
}

static void remove_box(const struct box *box)
{
	for_names(".", remove_one, 0, NULL);
	if (fchdir(views[VIEW_SOURCE]) < 0 ||
		unlinkat(views[VIEW_MOUNT], box->name, AT_REMOVEDIR) < 0)
		warn("box %s remains", box->name);
}

void box_remove(struct box *box)
{
	if (box->after) {
		box_enter(box, VIEW_MOUNT);
		remove_seen(box->after);
	}
	box_enter(box, VIEW_SOURCE);
	if (box->before && n_spare < MAX_SPARE && is_clean(box->before))
		spare_boxes[n_spare++] = box->number;
	else
		remove_box(box);
	free(box->before);
	free(box->after);
	box->before = box->after = NULL;
}

void box_end(void)
{
	char name[16];

	for (; n_spare > 0; n_spare--) {
		snprintf(name, sizeof(name), "%u", spare_boxes[n_spare - 1]);
		if (unlinkat(views[VIEW_MOUNT], name, AT_REMOVEDIR) < 0)
			warn("box %s remains", name);
	}
}

/* ---- content ---- */

static void add_file(const struct entry *entry, struct text *text)
{
	static char data[MAX_CONTENT];
	char shown[100];
	int fd = open(entry->name, O_RDONLY | O_NOATIME | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, data, sizeof(data));

	if (n < 0)
		add(text, "?%s", error_name(errno));
	else if (n == (ssize_t)strlen(CONTENT) && memcmp(data, CONTENT, n) == 0)
		add(text, "as made");
	else
		add(text, "\"%s\"", data_text(data, n, shown, sizeof(shown)));
	if (fd >= 0)
		close(fd);
}

static void add_target(const struct entry *entry, struct text *text)
{
	char target[PATH_MAX], shown[100];
	ssize_t n = readlink(entry->name, target, sizeof(target));

	if (n < 0)
		add(text, "?%s", error_name(errno));
	else
		add(text, "to %s", data_text(target, n, shown, sizeof(shown)));
}

static int compare_strings(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static void add_xattrs(const struct entry *entry, struct text *text)
{
	char names[4096], value[4096], shown[100], *sorted[32];
	ssize_t size = llistxattr(entry->name, names, sizeof(names));
	size_t n = 0;

	for (char *name = names; size > 0 && name < names + size && n < 32;
		name += strlen(name) + 1)
		sorted[n++] = name;
	qsort(sorted, n, sizeof(*sorted), compare_strings);
	for (size_t i = 0; i < n; i++) {
		ssize_t length = lgetxattr(entry->name, sorted[i], value, sizeof(value));

		add(text, ",%s=%s", sorted[i], length < 0 ? error_name(errno)
			: data_text(value, length, shown, sizeof(shown)));
	}
}

static void add_content(struct entry *entry)
{
	struct text text = { entry->content, sizeof(entry->content) };

	if (S_ISREG(entry->sx.stx_mode))
		add_file(entry, &text);
	else if (S_ISLNK(entry->sx.stx_mode))
		add_target(entry, &text);
	add_xattrs(entry, &text);
}

void picture_add_content(struct picture *picture, const struct box *box, enum view view)
{
	box_enter(box, view);
	for (size_t i = 0; i < picture->n; i++) {
		struct entry *entry = &picture->entries[i];

		if (view == VIEW_MOUNT && is_unchanged(box, entry))
			entry->unread = true;
		else if (!entry->content[0])
			add_content(entry);
	}
}

/* ---- pictures as text ---- */

static bool is_now(const struct statx_timestamp *t)
{
	struct timespec now;

	clock_gettime(CLOCK_REALTIME, &now);
	return t->tv_sec >= started.tv_sec - 1 && t->tv_sec <= now.tv_sec + 1;
}

static void add_time(struct text *text, char which, const struct statx_timestamp *t,
	const struct statx_timestamp *before)
{
	if (before && t->tv_sec == before->tv_sec && t->tv_nsec == before->tv_nsec)
		add(text, ".");
	else if (is_now(t))
		add(text, "+");
	else
		add(text, "=%c%lld.%09u", which, (long long)t->tv_sec, t->tv_nsec);
}

static void add_attributes(struct text *text, const struct box *box, const struct entry *entry)
{
	static const char types[] = "?pc?d?b?-?l?s???";
	const struct statx *sx = &entry->sx, *before = before_of(box, entry);

	add(text, ":%c%04o,%u:%u,%u,", types[sx->stx_mode >> 12], sx->stx_mode & 07777,
		sx->stx_uid, sx->stx_gid, sx->stx_nlink);
	if (S_ISCHR(sx->stx_mode) || S_ISBLK(sx->stx_mode))
		add(text, "%u/%u,", sx->stx_rdev_major, sx->stx_rdev_minor);
	else if (!S_ISDIR(sx->stx_mode))
		add(text, "%llu,", (unsigned long long)sx->stx_size);
	add_time(text, 'a', &sx->stx_atime, before ? &before->stx_atime : NULL);
	add_time(text, 'm', &sx->stx_mtime, before ? &before->stx_mtime : NULL);
	add_time(text, 'c', &sx->stx_ctime, before ? &before->stx_ctime : NULL);
}

static void add_entry_text(struct text *text, const struct box *box, const struct entry *entry,
	bool with_content)
{
	char name[100];

	add(text, " %s", data_text(entry->name, strlen(entry->name), name, sizeof(name)));
	if (entry->sx.stx_mode)
		add_attributes(text, box, entry);
	if (with_content && entry->content[0])
		add(text, " %s", entry->content);
}

void picture_text(const struct picture *picture, const struct box *box, char *text, size_t size)
{
	struct text t = { text, size };

	*text = '\0';
	for (size_t i = 0; i < picture->n; i++)
		add_entry_text(&t, box, &picture->entries[i], true);
	if (picture->more)
		add(&t, " and more");
}

static void add_if_other(struct text *text, const struct box *box, const struct entry *entry,
	const struct entry *other)
{
	char texts[2][1200];
	struct text mine = { texts[0], sizeof(texts[0]) }, its = { texts[1], sizeof(texts[1]) };

	add_entry_text(&mine, box, entry, !entry->unread);
	if (other)
		add_entry_text(&its, box, other, !entry->unread);
	if (!other || strcmp(texts[0], texts[1]) != 0)
		add(text, "%s", texts[0]);
	else if ((entry->sx.stx_ino ^ other->sx.stx_ino) & INO_MASK)
		add(text, " another inode number for %s", entry->name);
}

void picture_text_if_other(const struct picture *picture, const struct picture *other,
	const struct box *box, char *text, size_t size)
{
	struct text t = { text, size };

	*text = '\0';
	for (size_t i = 0; i < picture->n; i++)
		add_if_other(&t, box, &picture->entries[i],
			entry_named(other, picture->entries[i].name));
	for (size_t i = 0; i < other->n; i++)
		if (!entry_named(picture, other->entries[i].name))
			add(&t, " no %s", other->entries[i].name);
}

const char *stat_text(int fd, const char *path)
{
	static char text[300];
	struct text t = { text, sizeof(text) };
	struct stat st;

	*text = '\0';
	if ((path ? lstat(path, &st) : fstat(fd, &st)) < 0) {
		add(&t, " %s", error_name(errno));
		return text;
	}
	add(&t, " %o,%u:%u,%lu", st.st_mode, st.st_uid, st.st_gid, (unsigned long)st.st_nlink);
	if (!S_ISDIR(st.st_mode))
		add(&t, ",%lld", (long long)st.st_size);
	return text;
}
