/* SPDX-License-Identifier: MIT */
#include "import/strace_line.h"

#include <ctype.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#define SECOND_NS INT64_C(1000000000)
#define ERRNO_MOST 4095

bool text_is(struct text text, const char *word)
{
	return text.len == strlen(word) && memcmp(text.at, word, text.len) == 0;
}

bool text_begins(struct text text, const char *word)
{
	size_t len = strlen(word);

	return text.len >= len && memcmp(text.at, word, len) == 0;
}

bool text_has(struct text text, const char *word)
{
	return text.len && memmem(text.at, text.len, word, strlen(word));
}

static void skip(struct text *text, size_t n)
{
	text->at += n;
	text->len -= n;
}

static bool take(struct text *text, const char *word)
{
	if (!text_begins(*text, word))
		return false;
	skip(text, strlen(word));
	return true;
}

static void skip_spaces(struct text *text)
{
	while (text->len && (text->at[0] == ' ' || text->at[0] == '\t'))
		skip(text, 1);
}

static size_t count_digits(struct text text)
{
	size_t n = 0;

	while (n < text.len && isdigit((unsigned char)text.at[n]))
		n++;
	return n;
}

/* Up to 18 digits. */
static bool take_number(struct text *text, int64_t *ret_number)
{
	size_t n = count_digits(*text);
	int64_t number = 0;

	if (n == 0 || n > 18)
		return false;
	for (size_t i = 0; i < n; i++)
		number = 10 * number + (text->at[i] - '0');
	skip(text, n);
	*ret_number = number;
	return true;
}

/* ".123456" in nanoseconds; nothing is 0. */
static int64_t take_fraction(struct text *text)
{
	int64_t ns = 0, unit = SECOND_NS / 10;

	if (!text->len || text->at[0] != '.')
		return 0;
	skip(text, 1);
	for (; text->len && isdigit((unsigned char)text->at[0]); skip(text, 1), unit /= 10)
		ns += (text->at[0] - '0') * unit;
	return ns;
}

/* ---- what is in front ---- */

static bool take_pid(struct text *text, struct strace_line *line)
{
	struct text rest = *text;
	bool is_marked = take(&rest, "[pid");
	int64_t pid;

	skip_spaces(&rest);
	if (!take_number(&rest, &pid) || pid <= 0 || pid > INT32_MAX)
		return false;
	if (is_marked ? !take(&rest, "]") : !rest.len || rest.at[0] != ' ')
		return false;
	skip_spaces(&rest);
	/* One number alone may be a time in seconds. */
	if (!is_marked && pid >= 100000000)
		return false;
	line->tid = (int32_t)pid;
	*text = rest;
	return true;
}

static bool take_time_of_day(struct text *text, struct strace_line *line)
{
	struct text rest = *text;
	int64_t hours, minutes, seconds;

	if (!take_number(&rest, &hours) || !take(&rest, ":") || !take_number(&rest, &minutes) || !take(&rest, ":") ||
		!take_number(&rest, &seconds) || hours > 23 || minutes > 59 || seconds > 60)
		return false;
	line->clock = STRACE_OF_DAY;
	line->time_ns = (hours * 3600 + minutes * 60 + seconds) * SECOND_NS + take_fraction(&rest);
	*text = rest;
	return true;
}

static bool take_epoch(struct text *text, struct strace_line *line)
{
	struct text rest = *text;
	int64_t seconds;

	if (!take_number(&rest, &seconds) || seconds < 100000000 || seconds > INT64_MAX / SECOND_NS / 2)
		return false;
	line->clock = STRACE_EPOCH;
	line->time_ns = seconds * SECOND_NS + take_fraction(&rest);
	if (rest.len && rest.at[0] != ' ')
		return false;
	*text = rest;
	return true;
}

/* -i and -n: the address of the instruction, the number of the call. */
static void skip_brackets(struct text *text)
{
	const char *end;

	while (text->len && text->at[0] == '[' && (end = memchr(text->at, ']', text->len))) {
		skip(text, end + 1 - text->at);
		skip_spaces(text);
	}
}

/* ---- arguments ---- */

/* The length of a string with its quotes; the rest, if it has no end. */
static size_t string_length(struct text text)
{
	size_t i = 1;

	while (i < text.len && text.at[i] != '"')
		i += text.at[i] == '\\' ? 2 : 1;
	return i < text.len ? i + 1 : text.len;
}

static size_t comment_length(struct text text)
{
	const char *end = memmem(text.at, text.len, "*/", 2);

	return end ? (size_t)(end + 2 - text.at) : text.len;
}

/* What -y says of a descriptor, with its brackets; the arrow between the ends of a socket is none.  0: it is no such text. */
static size_t shown_length(struct text text)
{
	size_t depth = 0;

	for (size_t i = 0; i < text.len; i++) {
		if (text.at[i] == '<' && text.len > i + 1 && text.at[i + 1] != '<' && text.at[i + 1] != ' ')
			depth++;
		else if (text.at[i] == '>' && i && text.at[i - 1] != '-' && --depth == 0)
			return i + 1;
		if (depth == 0)
			return 0;
	}
	return 0;
}

static bool is_behind_descriptor(const char *start, const char *at)
{
	return at > start && (isdigit((unsigned char)at[-1]) || at[-1] == 'D'); /* AT_FDCWD */
}

/* The length of what begins there and has commas and brackets of its own; 1: one character. */
static size_t piece_length(struct text text, const char *start)
{
	size_t n = 0;

	if (text.at[0] == '"')
		return string_length(text);
	if (text_begins(text, "/*"))
		return comment_length(text);
	if (text.at[0] == '<' && is_behind_descriptor(start, text.at))
		n = shown_length(text);
	return n ? n : 1;
}

static void add_argument(struct strace_line *line, const char *from, const char *to)
{
	while (from < to && *from == ' ')
		from++;
	while (to > from && to[-1] == ' ')
		to--;
	if (line->n_arguments < STRACE_ARGUMENTS)
		line->arguments[line->n_arguments++] = (struct text){ from, to - from };
}

/* Takes the arguments and the bracket behind them off the text. */
static bool take_arguments(struct text *text, struct strace_line *line)
{
	const char *from = text->at;
	int depth = 0;

	while (text->len) {
		char c = text->at[0];

		if (c == ')' && depth == 0) {
			if (line->n_arguments || memchr(from, ',', text->at - from) || text->at > from)
				add_argument(line, from, text->at);
			skip(text, 1);
			return true;
		}
		depth += c == '(' || c == '[' || c == '{';
		depth -= (c == ')' || c == ']' || c == '}') && depth > 0;
		if (c == ',' && depth == 0) {
			add_argument(line, from, text->at);
			from = text->at + 1;
		}
		skip(text, piece_length(*text, line->name.at));
	}
	return false;
}

/* ---- results ---- */

static int find_errno(struct text name)
{
	for (int error = 1; error < 134; error++) {
		const char *known = strerrorname_np(error);

		if (known && text_is(name, known))
			return error;
	}
	if (text_is(name, "EWOULDBLOCK"))
		return EAGAIN;
	if (text_is(name, "ENOTSUP"))
		return EOPNOTSUPP;
	return text_begins(name, "ERESTART") ? EINTR : 0;
}

static struct text take_word(struct text *text)
{
	struct text word = *text;
	size_t n = 0;

	while (n < text->len && text->at[n] != ' ')
		n++;
	word.len = n;
	skip(text, n);
	return word;
}

/* Decimal, octal or hexadecimal, with a sign. */
static bool take_integer(struct text *text, int64_t *ret_number)
{
	char digits[32];
	size_t n = 0;
	char *end;

	while (n < text->len && n < sizeof(digits) - 1 && (isxdigit((unsigned char)text->at[n]) || text->at[n] == 'x' || text->at[n] == '-')) {
		digits[n] = text->at[n];
		n++;
	}
	digits[n] = '\0';
	errno = 0;
	*ret_number = digits[0] == '-' ? (int64_t)strtoll(digits, &end, 0) : (int64_t)strtoull(digits, &end, 0);
	if (n == 0 || *end || errno)
		return false;
	skip(text, n);
	return true;
}

/* " <0.000012>" at the end. */
static void take_latency(struct text *text, struct strace_line *line)
{
	const char *open = text->len && text->at[text->len - 1] == '>' ? memrchr(text->at, '<', text->len) : NULL;
	struct text inside;
	int64_t seconds;

	line->latency_ns = -1;
	if (!open)
		return;
	inside = (struct text){ open + 1, text->at + text->len - open - 2 };
	if (!take_number(&inside, &seconds) || seconds > INT64_MAX / SECOND_NS / 4 || !inside.len || inside.at[0] != '.')
		return;
	line->latency_ns = seconds * SECOND_NS + take_fraction(&inside);
	text->len = open - text->at;
}

static void take_outside(struct text text, struct strace_line *line)
{
	const char *comment = text.len ? memmem(text.at, text.len, " /* ", 4) : NULL;
	struct text number;
	int64_t pid;

	if (!comment)
		return;
	number = (struct text){ comment + 4, text.at + text.len - comment - 4 };
	if (take_number(&number, &pid) && pid > 0 && pid <= INT32_MAX && text_begins(number, " in strace's PID NS"))
		line->number_outside = (int32_t)pid;
}

static bool take_result(struct text *text, struct strace_line *line)
{
	struct text error;
	size_t n;
	int known;

	skip_spaces(text);
	if (!take(text, "="))
		return false;
	skip_spaces(text);
	take_latency(text, line);
	line->has_result = !take(text, "?");
	if (line->has_result && !take_integer(text, &line->result))
		return false;
	n = text->len && text->at[0] == '<' ? shown_length(*text) : 0;
	if (n) {
		line->shown = (struct text){ text->at + 1, n - 2 };
		skip(text, n);
	}
	take_outside(*text, line);
	skip_spaces(text);
	error = take_word(text);
	known = error.len && error.at[0] == 'E' ? find_errno(error) : 0;
	if (known && (!line->has_result || line->result == -1)) {
		line->has_result = true;
		line->result = -known;
	} else if (line->has_result && line->result < 0 && line->result >= -ERRNO_MOST) {
		line->result = line->result == -1 ? -EIO : line->result; /* of an unknown name */
	}
	return true;
}

static bool is_name(char c)
{
	return isalnum((unsigned char)c) || c == '_' || c == '?';
}

static bool take_name(struct text *text, struct strace_line *line)
{
	size_t n = 0;

	while (n < text->len && is_name(text->at[n]))
		n++;
	line->name = (struct text){ text->at, n };
	skip(text, n);
	return n > 0 && take(text, "(");
}

void strace_parse_call(const char *at, size_t len, struct strace_line *line)
{
	struct text text = { at, len };

	line->kind = STRACE_BAD;
	line->n_arguments = 0;
	line->has_result = false;
	line->result = 0;
	line->number_outside = 0;
	line->shown = (struct text){ "", 0 };
	line->latency_ns = -1;
	if (take_name(&text, line) && take_arguments(&text, line) && take_result(&text, line))
		line->kind = STRACE_CALL;
}

/* ---- other lines ---- */

static int find_signal(struct text name)
{
	int64_t number;

	if (!take(&name, "SIG"))
		return 0;
	for (int i = 1; i < NSIG; i++) {
		const char *known = sigabbrev_np(i);

		if (known && text_is(name, known))
			return i;
	}
	if (take(&name, "RT_") && take_number(&name, &number) && number <= 32)
		return 32 + (int)number;
	return 0;
}

/* "+++ exited with 0 +++" */
static void parse_end(struct text text, struct strace_line *line)
{
	int64_t number;

	line->kind = STRACE_BAD;
	if (take(&text, "exited with ") && take_number(&text, &number)) {
		line->kind = STRACE_EXITED;
		line->status = W_EXITCODE((int)(number & 0xff), 0);
	} else if (take(&text, "killed by ")) {
		int number_of = find_signal(take_word(&text));

		line->kind = STRACE_EXITED;
		line->status = number_of ? W_EXITCODE(0, number_of) | (text_has(text, "core dumped") ? WCOREFLAG : 0) : -1;
	} else if (take(&text, "superseded by execve in pid ") && take_number(&text, &number) && number <= INT32_MAX) {
		line->kind = STRACE_SUPERSEDED;
		line->by = (int32_t)number;
	}
}

/* "<... read resumed>", or "<... read resumed> " of older ones. */
static void parse_resumed(struct text text, struct strace_line *line)
{
	line->name = take_word(&text);
	line->kind = STRACE_BAD;
	skip_spaces(&text);
	if (!take(&text, "resumed>"))
		return;
	line->kind = STRACE_RESUMED;
	line->rest = text;
}

/* "<pid changed to N ...>": an exec of a thread that is not the first one. */
static bool parse_unfinished(struct text text, struct strace_line *line)
{
	const char *open = text.len && text.at[text.len - 1] == '>' ? memrchr(text.at, '<', text.len) : NULL;
	struct text mark;

	if (!open)
		return false;
	mark = (struct text){ open, text.at + text.len - open };
	if (!text_is(mark, "<unfinished ...>") && !text_is(mark, "<detached ...>") && !text_begins(mark, "<pid changed to "))
		return false;
	text.len = open - text.at;
	line->kind = take_name(&text, line) ? STRACE_UNFINISHED : STRACE_BAD;
	while (text.len && text.at[text.len - 1] == ' ')
		text.len--;
	line->rest = text;
	return true;
}

void strace_parse_line(const char *at, size_t len, struct strace_line *line)
{
	struct text text = { at, len };

	*line = (struct strace_line){ .latency_ns = -1 };
	skip_spaces(&text);
	take_pid(&text, line);
	if (!take_time_of_day(&text, line))
		take_epoch(&text, line);
	skip_spaces(&text);
	skip_brackets(&text);
	if (text.len == 0 || text_begins(text, "--- ") || text_begins(text, "strace: ") || text_begins(text, "> "))
		line->kind = STRACE_NOTHING;
	else if (take(&text, "+++ "))
		parse_end(text, line);
	else if (take(&text, "<... "))
		parse_resumed(text, line);
	else if (!parse_unfinished(text, line))
		strace_parse_call(text.at, text.len, line);
}
