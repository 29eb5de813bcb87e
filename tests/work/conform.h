/* SPDX-License-Identifier: MIT */
#ifndef TESTS_CONFORM_H
#define TESTS_CONFORM_H

/*
 * conform: what each operation does, for each user, to each kind of file; see conform.c.
 *
 * Two kinds of tests:
 *
 *   tables  operation x state x user.  For each combination there is a new directory, the box, in
 *           which a state has been made; the operation runs in it, and the box is looked at before
 *           and after.
 *   scenes  scripts for what takes several steps or processes; each step says its result.
 *
 * What an operation says goes into the line of its combination.  Nothing in a line may differ
 * from run to run on the same file system.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/types.h>

#define DEVICE(major, minor) ((major) << 8 | (minor)) /* of small numbers, as makedev() */
#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* The owner and group of what states make, and the content of their files. */
enum { OWNER_ID = 6001, GROUP_ID = 6100, OTHER_ID = 6004, FOREIGN_ID = 6200 };
#define CONTENT "The quick brown fox jumps over the lazy dog, 0123456789 times or more often.\n"

/* ---- users ---- */

enum {
	ROOT = 1,
	OWNER = 2,   /* in the file's group, by a supplementary one */
	ALONE = 4,   /* the owner, in no group but its own */
	MEMBER = 8,  /* of the file's group, its primary one */
	SUPPL = 16,  /* of the file's group, by a supplementary one */
	OTHER = 32,
	FEW = ROOT | OWNER | OTHER,
	SOME = FEW | MEMBER,
	ALL = 63,
};

/* Whether users differ at all: else there is one, that of the program. */
bool many_users(void);

/* ---- states ---- */

/* Which operations want a state. */
enum {
	IS_FILE = 1,
	IS_MODE = 2,	 /* a file whose mode is the point */
	IS_DIR = 4,
	IS_LINK = 8,
	IS_SPECIAL = 16, /* FIFO, socket, device */
	IS_ACL = 32,
	IS_PATH = 64,	 /* a way to write a path */
	IS_FLAGGED = 128, /* immutable, append-only */
	IS_PARENT = 256, /* a directory and what is in it: for operations on names */
	IS_NOTHING = 512, /* the name is free */
	IS_SORT = 1024,	 /* one of each sort of file: for what has many parameters */
	IS_EACH = IS_FILE | IS_MODE | IS_DIR | IS_LINK | IS_SPECIAL | IS_ACL | IS_FLAGGED |
		IS_NOTHING,
};

struct acl_entry {
	uint16_t tag, perm;
	uint32_t id;
};

#define NO_ID UINT32_MAX /* the id of entries that have none */

enum { ACL_OWNER = 1, ACL_UID = 2, ACL_OWNING = 4, ACL_GID = 8, ACL_MASK = 16, ACL_REST = 32 };

/* An ACL, up to the tag 0, as the kernel has it in extended attributes: its size. */
size_t pack_acl(const struct acl_entry *entries, void *ret_packed);

#define ACCESS_ACL "system.posix_acl_access"
#define DEFAULT_ACL "system.posix_acl_default"

struct state {
	const char *name;
	const char *path; /* what the operation is done to */
	unsigned groups;
	/* Makes it, natively, in the current directory, at this name; false: cannot be had here. */
	bool (*make)(const struct state *, const char *at);
	mode_t mode;
	uid_t uid; /* this and gid: 0 is root, or the only user if there is but one */
	gid_t gid;
	const char *target; /* of a symlink */
	long number;	    /* of a device, flags of a file */
	const struct acl_entry *acl, *default_acl; /* which end with tag 0 */
	const struct state *first, *second; /* of a pair */
};

extern const struct state states[];
extern const size_t n_states;

/* One of states, by its name, which must be right. */
const struct state *state_named(const char *name);

bool put_file(const char *at, mode_t mode, const char *content, uid_t uid, gid_t gid);
bool put_dir(const char *at, mode_t mode, uid_t uid, gid_t gid);
bool put_owner(const char *at, mode_t mode, uid_t uid, gid_t gid);

/* ---- operations ---- */

struct op {
	const char *name;
	void (*run)(const struct op *, const char *path);
	unsigned groups; /* of states */
	unsigned users;
	long a, b, c;
	const char *s;
};

/* Each of ops on each of the states that it wants, for each user. */
void run_ops(const char *section, const struct op *ops, size_t n_ops, const struct state *list,
	size_t n_list);

/* Into the line of the combination: what a call returned (a number, or the name of the error);
 * anything else. */
void said(long result);
void note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Data in short. */
void note_data(const void *data, ssize_t n);

/* run() in a process of its own; how it ended goes into the line if it was by a signal. */
void apart(void (*run)(void *), void *arg);

/* ---- scenes ---- */

struct scene {
	const char *name;
	void (*run)(void);
	unsigned users;
	bool (*prepare)(void); /* as a state's make(); may be NULL */
};

void run_scenes(const char *section, const struct scene *scenes, size_t n);

/* One line: what this step of the scene gave. */
void step(const char *what, long result);
void step_text(const char *what, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "name type mode owner links size" of what is open, or of a path. */
const char *stat_text(int fd, const char *path);

/* ---- helpers ---- */

const char *error_name(int error);
long result_of(long returned); /* -errno for -1 */

/* argv as "program --MODE", for what conform can do when it is executed. */
int run_as_program(int argc, char **argv);

/* ---- what there is ---- */

void run_open(void);
void run_names(void);
void run_paths(void);
void run_attributes(void);
void run_xattrs(void);
void run_data(void);
void run_files(void);	 /* scenes with one file */
void run_dirs(void);	 /* scenes with directories */
void run_locks(void);
void run_programs(void);

#endif
