/* SPDX-License-Identifier: MIT */
#include "ftrac/view.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cleanup.h"
#include "base/err.h"
#include "base/fd_path.h"
#include "base/helper.h"
#include "procmon/monitor.h"

/* ---- the parent ---- */

static bool is_setuid(const char *path)
{
	struct statvfs fs;
	struct stat st;

	return stat(path, &st) == 0 && statvfs(path, &fs) == 0 && !(fs.f_flag & ST_NOSUID) &&
		S_ISREG(st.st_mode) && (st.st_mode & S_ISUID) &&
		st.st_uid == 0 && access(path, X_OK) == 0;
}

bool view_has_helper(void)
{
	const char *path = secure_getenv("PATH");
	cleanup_free char *copy = strdup(path ? path : "/usr/bin:/bin");
	char *rest, *dir, name[4096];

	/* It needs the user's name and /etc/mtab; and setuid must have an effect. */
	if (!getpwuid(getuid()) || access("/etc/mtab", F_OK) < 0 ||
		prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 || monitor_is_traced())
		return false;
	for (dir = copy ? strtok_r(copy, ":", &rest) : NULL; dir; dir = strtok_r(NULL, ":", &rest)) {
		snprintf(name, sizeof(name), "%s/fusermount3", dir);
		if (access(name, X_OK) == 0)
			return is_setuid(name);
	}
	return false;
}

static int make_dir(struct view *view)
{
	const char *top = secure_getenv("XDG_RUNTIME_DIR");

	if (top && strlen(top) < 40 && access(top, W_OK) == 0)
		snprintf(view->dir, sizeof(view->dir), "%s/ftrac-XXXXXX", top);
	else
		snprintf(view->dir, sizeof(view->dir), "/tmp/ftrac-XXXXXX");
	if (mkdtemp(view->dir))
		return 0;
	view->dir[0] = '\0';
	return err_status(EXIT_RUNNER, "cannot make a directory in '%s': %s", top ? top : "/tmp",
		strerror(errno));
}

int view_prepare(struct view *view)
{
	int ends[2];

	view->ours = view->childs = -1;
	view->route = geteuid() == 0 ? VIEW_ROOT : view_has_helper() ? VIEW_HELPER : VIEW_INSIDE;
	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) < 0)
		return err_status(EXIT_RUNNER, "cannot make a socket: %s", strerror(errno));
	view->ours = ends[0];
	view->childs = ends[1];
	return make_dir(view);
}

/* Only the child may have its end of the socket; otherwise the parent would not notice the child's
 * end. */
static void leave_childs_end(struct view *view)
{
	if (view->childs >= 0)
		close(view->childs);
	view->childs = -1;
}

int view_device(struct view *view)
{
	char room[CMSG_SPACE(sizeof(int))];
	struct iovec data = { .iov_base = &view->device, .iov_len = sizeof(view->device) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = room,
		.msg_controllen = sizeof(room) };
	struct cmsghdr *header;
	int fd = -1;

	leave_childs_end(view);
	if (send(view->ours, &(char){ 0 }, 1, MSG_NOSIGNAL) != 1)
		return -1;
	if (recvmsg(view->ours, &message, MSG_CMSG_CLOEXEC) != sizeof(view->device))
		return -1;
	header = CMSG_FIRSTHDR(&message);
	if (header && header->cmsg_type == SCM_RIGHTS)
		memcpy(&fd, CMSG_DATA(header), sizeof(fd));
	return fd;
}

bool view_build(struct view *view)
{
	char byte = 0;

	leave_childs_end(view);
	return send(view->ours, &byte, 1, MSG_NOSIGNAL) == 1 && recv(view->ours, &byte, 1, 0) == 1;
}

void view_unmount(const struct view *view)
{
	char *const argv[] = { (char *)"fusermount3", (char *)"-u", (char *)"-z",
		(char *)view->dir, NULL };
	pid_t pid;

	if (view->route == VIEW_HELPER && helper_spawn(argv, -1, -1, &pid) == 0)
		waitpid(pid, NULL, 0);
}

void view_release_child(struct view *view)
{
	leave_childs_end(view);
	if (view->ours >= 0)
		close(view->ours);
	view->ours = -1;
}

void view_finish(struct view *view)
{
	view_release_child(view);
	if (view->dir[0])
		rmdir(view->dir);
	view->dir[0] = '\0';
}

/* ---- the child ---- */

static int write_file(const char *path, const char *text)
{
	cleanup_fd int fd = open(path, O_WRONLY | O_CLOEXEC);

	if (fd < 0)
		return -errno;
	return write(fd, text, strlen(text)) < 0 ? -errno : 0;
}

const char *view_explain_namespace(int error)
{
	if (error == ENOSPC)
		return "there may be none; allow them with 'sysctl user.max_user_namespaces=10000'";
	if ((error == EPERM || error == EACCES) && geteuid() != 0)
		return "they are forbidden here; allow them with 'sysctl "
		       "kernel.apparmor_restrict_unprivileged_userns=0' or 'sysctl "
		       "kernel.unprivileged_userns_clone=1', or outside of this container";
	if (error == EPERM)
		return "they are forbidden here; start the container with '--cap-add=SYS_ADMIN'";
	return strerror(error);
}

static int complain_namespace(int error)
{
	return err_status(EXIT_RUNNER, "cannot make a %s namespace: %s", geteuid() ? "user" : "mount",
		view_explain_namespace(error));
}

/* The ids are those from before the namespace: afterwards they are unknown. */
int view_map_ids(uid_t uid, gid_t gid)
{
	char map[40];
	int r;

	write_file("/proc/self/setgroups", "deny"); /* does not exist before Linux 3.19 */
	snprintf(map, sizeof(map), "%u %u 1", uid, uid);
	r = write_file("/proc/self/uid_map", map);
	snprintf(map, sizeof(map), "%u %u 1", gid, gid);
	return r < 0 ? r : write_file("/proc/self/gid_map", map);
}

static int enter_namespaces(const struct view *view)
{
	uid_t uid = geteuid();
	gid_t gid = getegid();
	int r;

	if (unshare(CLONE_NEWNS | (view->route == VIEW_ROOT ? 0 : CLONE_NEWUSER)) < 0)
		return complain_namespace(errno);
	r = view->route == VIEW_ROOT ? 0 : view_map_ids(uid, gid);
	if (r < 0)
		return complain_namespace(-r);
	/* Later mounts of the host appear in the view; our mounts do not appear on the host. */
	if (mount(NULL, "/", NULL, MS_REC | MS_SLAVE, NULL) < 0)
		return complain_namespace(errno);
	return 0;
}

/* Of the files of a mount that does not answer yet. */
static dev_t number_of(const char *dir)
{
	struct statx sx;

	return statx(AT_FDCWD, dir, AT_STATX_DONT_SYNC | AT_SYMLINK_NOFOLLOW, 0, &sx) == 0 ?
		makedev(sx.stx_dev_major, sx.stx_dev_minor) : 0;
}

static int send_device(int socket, int device, dev_t number)
{
	char room[CMSG_SPACE(sizeof(int))] = { 0 };
	struct iovec data = { .iov_base = &number, .iov_len = sizeof(number) };
	struct msghdr message = { .msg_iov = &data, .msg_iovlen = 1, .msg_control = room,
		.msg_controllen = sizeof(room) };
	struct cmsghdr *header = CMSG_FIRSTHDR(&message);

	header->cmsg_level = SOL_SOCKET;
	header->cmsg_type = SCM_RIGHTS;
	header->cmsg_len = CMSG_LEN(sizeof(int));
	memcpy(CMSG_DATA(header), &device, sizeof(device));
	return sendmsg(socket, &message, MSG_NOSIGNAL) == sizeof(number) ? 0 : -errno;
}

static int mount_inside(const struct view *view)
{
	cleanup_fd int device = open("/dev/fuse", O_RDWR | O_CLOEXEC);
	char options[128];

	if (device < 0)
		return err_status(EXIT_RUNNER, "cannot open '/dev/fuse': %s; ask root to set its mode to 0666, or "
			"run ftrac as root", strerror(errno));
	snprintf(options, sizeof(options),
		"fd=%d,rootmode=40000,user_id=%u,group_id=%u,allow_other,default_permissions", device,
		geteuid(), getegid());
	if (mount("ftrac", view->dir, "fuse.ftrac",
			view->route == VIEW_ROOT ? 0 : MS_NOSUID | MS_NODEV, options) < 0)
		return err_status(EXIT_RUNNER, "cannot mount in a namespace: %s", strerror(errno));
	return send_device(view->childs, device, number_of(view->dir)) < 0 ? EXIT_RUNNER : 0;
}

static int bind_path(const char *from, const char *to)
{
	if (mount(from, to, NULL, MS_BIND | MS_REC, NULL) == 0)
		return 0;
	return err_status(EXIT_RUNNER, "cannot put '%s' in its place: %s", to, strerror(errno));
}

/* A listening socket is found by the inode that it was bound to, which is not the mount's inode. */
static void bind_sockets(const char *top)
{
	cleanup_file FILE *f = fopen("/proc/net/unix", "re");
	cleanup_free char *line = NULL;
	char path[4096], there[4200];
	unsigned flags;
	size_t room = 0;
	struct stat st;

	while (f && getline(&line, &room, f) > 0) {
		if (sscanf(line, "%*s %*s %*s %x %*s %*s %*s %4095s", &flags, path) != 2 ||
			path[0] != '/' || !(flags & 0x10000) /* it is listening */)
			continue;
		snprintf(there, sizeof(there), "%s%s", top, path);
		if (lstat(path, &st) == 0 && S_ISSOCK(st.st_mode))
			mount(path, there, NULL, MS_BIND, NULL); /* fails if it is gone by now */
	}
}

/* /dev/shm is the only part of /dev that goes through our mount. -1: there is no such directory. */
static int open_memory(const struct view *view)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/dev/shm", view->dir);
	return open(path, O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int bind_memory(const struct view *view, int memory)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/dev/shm", view->dir);
	return bind_path(fd_path(memory).text, path);
}

/* Over its mirror; top: where the view's root is as yet. */
static int bind_real(const char *top, const char *path, int real)
{
	cleanup_free char *there = NULL;

	if (asprintf(&there, "%s%s", top, path) < 0)
		return err_status(EXIT_RUNNER, "out of memory");
	return bind_path(fd_path(real).text, there);
}

/* For the whole file system: makes our mount the root. */
static int change_root(const struct view *view, int kept)
{
	static const char *const real[] = { "dev", "proc", "sys" };
	char path[128], there[16];
	int status = bind_path(view->dir, view->dir);
	cleanup_fd int memory = status ? -1 : open_memory(view);

	for (size_t i = 0; i < sizeof(real) / sizeof(real[0]) && status == 0; i++) {
		snprintf(there, sizeof(there), "/%s", real[i]);
		snprintf(path, sizeof(path), "%s%s", view->dir, there);
		status = bind_path(there, path);
	}
	if (status == 0 && memory >= 0)
		status = bind_memory(view, memory);
	if (status == 0 && kept >= 0)
		status = bind_real(view->dir, view->real, kept);
	if (status)
		return status;
	if (chdir(view->dir) < 0 || syscall(SYS_pivot_root, ".", ".") < 0 ||
		umount2(".", MNT_DETACH) < 0 || chdir("/") < 0)
		return err_status(EXIT_RUNNER, "cannot change the root: %s", strerror(errno));
	return 0;
}

static int put_in_place(const struct view *view)
{
	cleanup_fd int real = view->real ? open(view->real, O_PATH | O_DIRECTORY | O_CLOEXEC) : -1;
	char path[4200];
	int status = 0;

	bind_sockets(view->dir); /* the bind mounts below include them */
	for (int i = 0; view->paths[i] && status == 0; i++) {
		if (strcmp(view->paths[i], "/") == 0)
			return change_root(view, real);
		snprintf(path, sizeof(path), "%s%s", view->dir, view->paths[i]);
		status = bind_path(path, view->paths[i]);
	}
	/* fails for the mount of fusermount3, which view_unmount() removes */
	umount2(view->dir, MNT_DETACH);
	return status || real < 0 ? status : bind_real("", view->real, real);
}

int view_become(const char *name)
{
	const struct passwd *pw = name ? getpwnam(name) : NULL;

	if (!name)
		return 0;
	if (!pw)
		return err_status(EXIT_RUNNER, "there is no user '%s'", name);
	if (initgroups(name, pw->pw_gid) < 0 || setgid(pw->pw_gid) < 0 || setuid(pw->pw_uid) < 0)
		return err_status(EXIT_RUNNER, "cannot become '%s': %s", name, strerror(errno));
	setenv("HOME", pw->pw_dir, 1);
	setenv("USER", name, 1);
	setenv("LOGNAME", name, 1);
	return 0;
}

static int go_to(const char *cwd)
{
	return chdir(cwd) == 0 ? 0 : err_status(EXIT_RUNNER, "cannot enter '%s': %s", cwd,
					     strerror(errno));
}

/* Fails if the parent does not go on; it has printed why. */
static int wait_for_parent(const struct view *view)
{
	char byte;

	return recv(view->childs, &byte, 1, 0) == 1 ? 0 : EXIT_RUNNER;
}

int view_first(void *arg)
{
	const struct view *view = arg;
	char byte = 0;
	int status = 0;

	if (view->dies_with_us)
		prctl(PR_SET_PDEATHSIG, SIGKILL);
	close(view->ours);
	if (view->route != VIEW_HELPER)
		status = wait_for_parent(view);
	if (status == 0 && view->route != VIEW_HELPER)
		status = enter_namespaces(view);
	if (status == 0 && view->route != VIEW_HELPER)
		status = mount_inside(view);
	if (status == 0)
		status = wait_for_parent(view);
	if (status == 0 && view->route == VIEW_HELPER) /* now the copied namespace includes its mount */
		status = enter_namespaces(view);
	if (status == 0)
		status = put_in_place(view);
	if (status == 0)
		status = view_become(view->user);
	if (status == 0)
		status = go_to(view->cwd);
	if (status == 0 && send(view->childs, &byte, 1, MSG_NOSIGNAL) != 1)
		status = EXIT_RUNNER;
	close(view->childs);
	return status;
}
