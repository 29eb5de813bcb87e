/* SPDX-License-Identifier: MIT */
#include "import/strace_value.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/fs.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

/* ---- strings ---- */

static int hex_of(char c)
{
	return isdigit((unsigned char)c) ? c - '0' : isxdigit((unsigned char)c) ? (c | 32) - 'a' + 10 : -1;
}

/* What stands behind a backslash; returns how many characters that are. */
static size_t unescape(const char *at, size_t left, char *ret_c)
{
	static const char names[] = "ntrfva\"\\'", values[] = "\n\t\r\f\v\a\"\\'";
	const char *name = left ? strchr(names, at[0]) : NULL;
	size_t n = 0;
	int value = 0;

	if (!left)
		return 0;
	if (at[0] && name) {
		*ret_c = values[name - names];
		return 1;
	}
	if (at[0] == 'x' && left > 1 && hex_of(at[1]) >= 0) {
		for (n = 1; n < 3 && n < left && hex_of(at[n]) >= 0; n++)
			value = 16 * value + hex_of(at[n]);
		*ret_c = (char)value;
		return n;
	}
	while (n < 3 && n < left && at[n] >= '0' && at[n] <= '7')
		value = 8 * value + (at[n++] - '0');
	*ret_c = n ? (char)value : at[0];
	return n ? n : 1;
}

/* The bytes, with a NUL behind them.  NULL: out of memory. */
static char *decode(struct arena *arena, const char *at, size_t len, size_t *ret_len)
{
	char *to = arena_alloc(arena, len + 1);
	size_t n = 0;

	for (size_t i = 0; to && i < len;) {
		if (at[i] == '\\' && i + 1 < len)
			i += 1 + unescape(at + i + 1, len - i - 1, &to[n++]);
		else
			to[n++] = at[i++];
	}
	if (to)
		to[n] = '\0';
	*ret_len = n;
	return to;
}

/* The length of a string without its quotes. */
static size_t inside(struct text text)
{
	size_t i = 1;

	while (i < text.len && text.at[i] != '"')
		i += text.at[i] == '\\' ? 2 : 1;
	return i < text.len ? i - 1 : 0;
}

bool strace_string(struct arena *arena, struct text text, const char **ret_string, size_t *ret_len, bool *ret_is_cut)
{
	size_t len;

	if (text.len < 2 || text.at[0] != '"')
		return false;
	len = inside(text);
	if (text.at[len + 1] != '"')
		return false;
	*ret_is_cut = text.len >= len + 5 && memcmp(text.at + len + 2, "...", 3) == 0;
	*ret_string = decode(arena, text.at + 1, len, ret_len);
	return *ret_string;
}

const char *strace_path(struct arena *arena, struct text text)
{
	const char *path;
	size_t len;
	bool is_cut;

	return strace_string(arena, text, &path, &len, &is_cut) && !is_cut && strlen(path) == len ? path : NULL;
}

/* ---- descriptors ---- */

static bool ends_with(struct text text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len && memcmp(text.at + text.len - len, word, len) == 0;
}

/* "<char 1:3>" behind the path of a device. */
static uint32_t take_device(struct text *shown)
{
	const char *open = shown->len && shown->at[shown->len - 1] == '>' ? memrchr(shown->at, '<', shown->len) : NULL;
	struct text device;

	if (!open)
		return 0;
	device = (struct text){ open + 1, shown->at + shown->len - open - 1 };
	shown->len = open - shown->at;
	return text_begins(device, "char ") ? S_IFCHR : text_begins(device, "block ") ? S_IFBLK : 0;
}

struct world_fd strace_shown(struct arena *arena, int32_t number, struct text shown)
{
	struct world_fd fd = { .number = number };
	size_t len;

	if (shown.len == 0)
		return fd;
	fd.type = take_device(&shown);
	fd.path = decode(arena, shown.at, shown.len, &len);
	if (fd.path && strlen(fd.path) != len)
		fd.path = NULL;
	return fd;
}

/* What stands in brackets behind a number, which has brackets of its own for devices. */
static struct text brackets(struct text text)
{
	const char *open = memchr(text.at, '<', text.len), *end = text.at + text.len;

	if (!open)
		return (struct text){ text.at, 0 };
	while (end > open && end[-1] != '>')
		end--;
	return (struct text){ open + 1, end > open + 1 ? (size_t)(end - open - 2) : 0 };
}

/* Of a file that was removed. */
static struct text without_mark(struct text shown)
{
	static const char deleted[] = " (deleted)";

	if (ends_with(shown, deleted))
		shown.len -= strlen(deleted);
	return shown;
}

struct world_fd strace_fd(struct arena *arena, struct text text)
{
	struct text digits = text;
	const char *open = text.len ? memchr(text.at, '<', text.len) : NULL;
	int64_t number;

	if (open)
		digits.len = open - text.at;
	if (text_is(digits, "AT_FDCWD"))
		number = AT_FDCWD;
	else if (!strace_number(digits, &number) || number < INT32_MIN || number > INT32_MAX)
		return (struct world_fd){ .number = WORLD_NO_FD };
	return open ? strace_shown(arena, (int32_t)number, without_mark(brackets(text))) : (struct world_fd){ .number = (int32_t)number };
}

/* ---- numbers ---- */

bool strace_number(struct text text, int64_t *ret_number)
{
	char digits[32];
	size_t n = 0;
	char *end;

	while (n < text.len && n < sizeof(digits) - 1 && (isalnum((unsigned char)text.at[n]) || text.at[n] == '-')) {
		digits[n] = text.at[n];
		n++;
	}
	digits[n] = '\0';
	errno = 0;
	*ret_number = digits[0] == '-' ? (int64_t)strtoll(digits, &end, 0) : (int64_t)strtoull(digits, &end, 0);
	return end != digits && !errno;
}

int64_t strace_number_or(struct text text, int64_t otherwise)
{
	int64_t number;

	return strace_number(text, &number) ? number : otherwise;
}

/* ---- flags ---- */

struct flag {
	const char *name;
	uint32_t value;
};

static const struct flag open_flags[] = { { "O_RDONLY", O_RDONLY }, { "O_WRONLY", O_WRONLY }, { "O_RDWR", O_RDWR }, { "O_CREAT", O_CREAT },
	{ "O_EXCL", O_EXCL }, { "O_NOCTTY", O_NOCTTY }, { "O_TRUNC", O_TRUNC }, { "O_APPEND", O_APPEND }, { "O_NONBLOCK", O_NONBLOCK },
	{ "O_DSYNC", O_DSYNC }, { "O_SYNC", O_SYNC }, { "O_DIRECT", O_DIRECT }, { "O_LARGEFILE", 0 }, { "O_DIRECTORY", O_DIRECTORY },
	{ "O_NOFOLLOW", O_NOFOLLOW }, { "O_NOATIME", O_NOATIME }, { "O_CLOEXEC", O_CLOEXEC }, { "O_PATH", O_PATH },
	{ "O_TMPFILE", O_TMPFILE }, { "O_ASYNC", O_ASYNC }, { NULL, 0 } };

static const struct flag protections[] = { { "PROT_READ", PROT_READ }, { "PROT_WRITE", PROT_WRITE }, { "PROT_EXEC", PROT_EXEC }, { NULL, 0 } };

static const struct flag map_flags[] = { { "MAP_SHARED", MAP_SHARED }, { "MAP_PRIVATE", MAP_PRIVATE },
	{ "MAP_SHARED_VALIDATE", MAP_SHARED_VALIDATE }, { "MAP_FIXED", MAP_FIXED }, { "MAP_ANONYMOUS", MAP_ANONYMOUS },
	{ "MAP_32BIT", 0x40 }, { "MAP_GROWSDOWN", MAP_GROWSDOWN }, { "MAP_DENYWRITE", MAP_DENYWRITE }, { "MAP_LOCKED", MAP_LOCKED },
	{ "MAP_NORESERVE", MAP_NORESERVE }, { "MAP_POPULATE", MAP_POPULATE }, { "MAP_NONBLOCK", MAP_NONBLOCK }, { "MAP_STACK", MAP_STACK },
	{ "MAP_FIXED_NOREPLACE", MAP_FIXED_NOREPLACE }, { NULL, 0 } };

static const struct flag rename_flags[] = { { "RENAME_NOREPLACE", RENAME_NOREPLACE }, { "RENAME_EXCHANGE", RENAME_EXCHANGE },
	{ "RENAME_WHITEOUT", RENAME_WHITEOUT }, { NULL, 0 } };

/* Takes the word before the next "|" off the text. */
static struct text next_flag(struct text *text)
{
	const char *bar = memchr(text->at, '|', text->len);
	struct text word = { text->at, bar ? (size_t)(bar - text->at) : text->len };
	size_t taken = word.len + (bar != NULL);

	text->at += taken;
	text->len -= taken;
	return word;
}

static uint32_t flags_of(struct text text, const struct flag *known)
{
	uint32_t all = 0;

	while (text.len) {
		struct text word = next_flag(&text);
		const struct flag *flag = known;
		int64_t number;

		while (flag->name && !text_is(word, flag->name))
			flag++;
		if (flag->name)
			all |= flag->value;
		else if (word.len && isdigit((unsigned char)word.at[0]) && strace_number(word, &number))
			all |= (uint32_t)number;
	}
	return all;
}

/* "{flags=O_RDONLY, ..." of openat2(2). */
uint32_t strace_open_flags(struct text text)
{
	const char *end;

	if (text_begins(text, "{flags=")) {
		text.at += 7;
		text.len -= 7;
		end = memchr(text.at, ',', text.len);
		text.len = end ? (size_t)(end - text.at) : text.len;
	}
	return flags_of(text, open_flags);
}

uint32_t strace_map_flags(struct text protection, struct text flags)
{
	return flags_of(protection, protections) | (flags_of(flags, map_flags) & 0xffffff) << 8;
}

uint32_t strace_rename_flags(struct text text)
{
	return flags_of(text, rename_flags);
}

bool strace_has_flag(struct text text, const char *flag)
{
	while (text.len)
		if (text_is(next_flag(&text), flag))
			return true;
	return false;
}

/* ---- structs ---- */

uint32_t strace_type(struct text text)
{
	static const struct flag types[] = { { "S_IFREG", S_IFREG }, { "S_IFDIR", S_IFDIR }, { "S_IFLNK", S_IFLNK }, { "S_IFIFO", S_IFIFO },
		{ "S_IFSOCK", S_IFSOCK }, { "S_IFCHR", S_IFCHR }, { "S_IFBLK", S_IFBLK }, { NULL, 0 } };
	const char *mode = text.len ? memmem(text.at, text.len, "_mode=", 6) : NULL;
	struct text type;

	if (!mode)
		return strncmp(text.at, "S_IF", text.len < 4 ? text.len : 4) == 0 && text.len >= 7 ? flags_of(text, types) & S_IFMT : 0;
	type = (struct text){ mode + 6, text.at + text.len - mode - 6 };
	for (const struct flag *flag = types; flag->name; flag++)
		if (text_begins(type, flag->name))
			return flag->value;
	return 0;
}

uint64_t strace_vector(struct text text)
{
	uint64_t sum = 0;
	const char *at;

	while (text.len && (at = memmem(text.at, text.len, "iov_len=", 8))) {
		int64_t number = 0;

		text.len -= at + 8 - text.at;
		text.at = at + 8;
		if (strace_number(text, &number) && number > 0)
			sum += (uint64_t)number;
	}
	return sum;
}

/* ---- lists ---- */

/* The length of an element up to the comma or the end of the list. */
static size_t element_length(struct text text)
{
	size_t i = 0;

	while (i < text.len && text.at[i] != ',' && text.at[i] != ']') {
		if (text.at[i] == '"') {
			size_t quoted = inside((struct text){ text.at + i, text.len - i });

			i += quoted + 2;
		} else if (text.at[i] == '<') {
			const char *end = memchr(text.at + i, '>', text.len - i);

			i = end ? (size_t)(end - text.at) + 1 : text.len;
		} else {
			i++;
		}
	}
	return i < text.len ? i : text.len;
}

/* Takes the next element off the rest of a list.  False: there is none. */
static bool next_element(struct text *rest, struct text *ret_element)
{
	size_t n;

	while (rest->len && (rest->at[0] == ' ' || rest->at[0] == ',')) {
		rest->at++;
		rest->len--;
	}
	if (!rest->len || rest->at[0] == ']')
		return false;
	n = element_length(*rest);
	*ret_element = (struct text){ rest->at, n };
	rest->at += n;
	rest->len -= n;
	return n > 0;
}

static bool open_list(struct text *text)
{
	if (text->len < 2 || text->at[0] != '[')
		return false;
	text->at++;
	text->len--;
	return true;
}

int strace_elements(struct text text, struct text *ret_elements, int most)
{
	int n = 0;

	if (!open_list(&text))
		return 0;
	while (n < most && next_element(&text, &ret_elements[n]))
		n++;
	return n;
}

bool strace_words(struct arena *arena, struct text text, const char **ret_words, size_t *ret_len, bool *ret_is_cut)
{
	char *words = arena_alloc(arena, text.len + 1);
	struct text element;
	size_t len = 0;

	*ret_is_cut = false;
	if (!words || !open_list(&text))
		return false;
	while (next_element(&text, &element)) {
		const char *word;
		size_t n;
		bool is_cut;

		if (!strace_string(arena, element, &word, &n, &is_cut)) {
			*ret_is_cut = true; /* "..." for the rest */
			continue;
		}
		memcpy(words + len, word, n);
		len += n;
		if (is_cut) {
			memcpy(words + len, "...", 3);
			len += 3;
		}
		words[len++] = '\0';
		*ret_is_cut |= is_cut;
	}
	*ret_words = words;
	*ret_len = len;
	return true;
}
