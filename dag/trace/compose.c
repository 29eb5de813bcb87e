/* SPDX-License-Identifier: MIT */
#include "dag/trace/compose.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "base/failure.h"
#include "dag/trace/compose_internal.h"
#include "dag/trace/queries.h"

static const char *const level_names[] = { "none", "process", "part", "use", "image", "op",
	"file", "call", "metric" };
_Static_assert(sizeof(level_names) / sizeof(level_names[0]) == LEVEL_MAX, "a name for each level");

/* ---- the queries of the .sql files ---- */

#define SECTION "\n--- "
#define PART "\n--+ "

const char *compose_name(int n, size_t *ret_len)
{
	const char *at = strstr(sql_queries, SECTION);

	for (; at && n > 0; n--)
		at = strstr(at + 1, SECTION);
	if (!at)
		return NULL;
	at += strlen(SECTION);
	*ret_len = strcspn(at, "\n");
	return at;
}

/* The head of a query, "NAME of WHAT by DIMENSIONS: ...". */
static const char *find_section(const char *name)
{
	size_t name_len = strlen(name), len;
	const char *head;

	for (int i = 0; (head = compose_name(i, &len)); i++)
		if (strncmp(head, name, name_len) == 0 && head[name_len] == ' ')
			return head;
	return NULL;
}

static enum level section_level(const char *head)
{
	const char *what = strstr(head, " of ") + 4;

	for (int i = 0; i < LEVEL_MAX; i++)
		if (strncmp(what, level_names[i], strlen(level_names[i])) == 0)
			return i;
	return LEVEL_NONE;
}

void composer_fail(struct composer *c, const char *format, const char *word, size_t len)
{
	if (c->failed == 0)
		c->failed = failure_set(c->failure, FAILURE_USAGE, format, (int)len, word);
}

/* ---- the text ---- */

static void expand(struct composer *c, const char *text, size_t len);

#define T0 "(SELECT value FROM trace WHERE key = 'start_ns')"

static void put_part(struct composer *c, const char *name, size_t len)
{
	const char *at = sql_queries, *text;

	while ((at = strstr(at, PART))) {
		at += strlen(PART);
		if (strncmp(at, name, len) == 0 && at[len] == '\n') {
			text = at + len + 1;
			expand(c, text, strstr(text, "\n\n--") - text);
			return;
		}
	}
	composer_fail(c, ".sql: there is no part {%.*s}?", name, len);
}

static void put_argument(struct composer *c, const char *name, size_t len, bool others_follow)
{
	size_t word = strcspn(name, " }");
	const char *args = name + word + (word < len), *between = "WHERE ";
	size_t args_len = len - (args - name);

#define IS(text) (word == strlen(text) && strncmp(name, text, word) == 0)
	if (IS("with"))
		composer_put_with(c, args, args_len, others_follow);
	else if (IS("keys"))
		composer_put_keys(c);
	else if (IS("names"))
		composer_put_names(c);
	else if (IS("total"))
		composer_put_total(c);
	else if (IS("group"))
		composer_put_group(c, args_len ? atoi(args) : 1);
	else if (IS("joins"))
		composer_put_joins(c, args);
	else if (IS("op"))
		composer_put_op(c, args, args_len);
	else if (IS("filters"))
		composer_put_filters(c, args, args_len);
	else if (IS("where"))
		composer_put_conditions(c, args, args_len, "WHERE ");
	else if (IS("chosen"))
		composer_put_chosen(c, args, args_len);
	else if (IS("and"))
		composer_put_conditions(c, args, args_len, "AND ");
	else if (IS("time"))
		composer_put_time(c, args, args_len, &between);
	else if (IS("and_time"))
		composer_put_time(c, args, args_len, &(const char *){ "AND " });
	else if (IS("order"))
		sql_text_format(c->out, composer_chooses(c) ? "ORDER BY %.*s" : "", (int)args_len, args);
	else if (IS("order_of"))
		sql_text_format(c->out, c->needs || c->by_image ? "%.*s" : "0", (int)args_len, args);
	else if (IS("unit"))
		sql_text_put(c->out,
			c->choice->per_job ? "coalesce(p.job, 'process ' || p.id)" : "p.id");
	else if (IS("of"))
		sql_text_put(c->out,
			c->choice->per_job ? "iif(p.job IS NULL, 'process', 'job')" : "'process'");
	else if (IS("t0"))
		sql_text_put(c->out, T0);
	else if (IS("step"))
		sql_text_format(c->out, "%lld", (long long)c->choice->step_ns);
	else if (IS("last"))
		sql_text_format(c->out, "%lld", (long long)c->choice->last_step);
	else if (IS("part"))
		put_part(c, args, args_len);
	else
		composer_fail(c, ".sql: what is {%.*s}?", name, word);
#undef IS
}

/* The length from an opening brace up to and including the brace that closes it. */
static size_t braced(const char *text)
{
	int depth = 0;
	const char *at = text;

	do
		depth += *at == '{' ? 1 : *at == '}' ? -1 : 0;
	while (*++at && depth > 0);
	return at - text;
}

/* {where ...} may contain arguments in braces. */
static void expand_argument(struct composer *c, const char *text, size_t len, bool others_follow)
{
	struct sql_text *outer = c->out;
	cleanup_free char *inner = NULL;

	c->out = sql_text_create();
	expand(c, text, len);
	inner = sql_text_finish(c->out);
	c->out = outer;
	if (inner)
		put_argument(c, inner, strlen(inner), others_follow);
	else if (c->failed == 0)
		c->failed = failure_memory(c->failure);
}

static bool is_mark(const char *text, const char *mark)
{
	return strncmp(text, mark, strlen(mark)) == 0;
}

static void expand(struct composer *c, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end && c->failed == 0) {
		size_t plain = strcspn(text, "{");
		size_t n = (size_t)(end - text) < plain ? (size_t)(end - text) : plain;

		sql_text_put_bytes(c->out, text, n);
		text += n;
		if (text == end)
			return;
		n = braced(text);
		if (is_mark(text, "{[}") && composer_chooses_files(c))
			text = strstr(text, "{]}") + strlen("{]}");
		else if (is_mark(text, "{file}") && !composer_chooses_files(c))
			text = strstr(text, "{/file}") + strlen("{/file}");
		else if (is_mark(text, "{[}") || is_mark(text, "{]}") || is_mark(text, "{file}") ||
			 is_mark(text, "{/file}"))
			text += n;
		else {
			expand_argument(c, text + 1, n - 2, text[n] == ',');
			text += n;
		}
	}
}

/* Removes the blanks and empty lines that empty conditions leave. */
static void tidy(char *sql)
{
	char *to = sql;

	for (const char *from = sql; *from; from++) {
		if (*from == '\n') {
			while (to > sql && (to[-1] == ' ' || to[-1] == '\t'))
				to--;
			if (to > sql && to[-1] == '\n')
				continue;
		}
		*to++ = *from;
	}
	while (to > sql && strchr(" \t\n", to[-1]))
		to--;
	*to = '\0';
}

/* Completes the text below a head.  The composer has the keys already. */
static int complete(struct composer *c, const char *head, char **ret_sql)
{
	const char *text = strchr(head, '\n') + 1, *end = strstr(text, SECTION);
	cleanup_free char *sql = NULL;

	end = end ? end : text + strlen(text);
	composer_find_needs(c, text, end);
	c->out = sql_text_create();
	expand(c, text, end - text);
	sql = sql_text_finish(c->out);
	if (c->failed < 0)
		return c->failed;
	if (!sql)
		return failure_memory(c->failure);
	tidy(sql);
	*ret_sql = steal_ptr(&sql);
	return 0;
}

static int begin(struct composer *c, const char *name, const char **ret_head)
{
	const char *head = *ret_head = find_section(name);

	if (!head)
		return failure_set(c->failure, -ENOENT, "there is no query '%s'", name);
	c->level = section_level(head);
	composer_take_keys(c, head);
	return 0;
}

int compose(const char *name, const struct choice *choice, char **ret_sql, int *ret_keys,
	struct failure *failure)
{
	struct composer c = { .choice = choice, .failure = failure };
	const char *head;
	int r = begin(&c, name, &head);

	*ret_sql = NULL;
	if (r == 0)
		r = complete(&c, head, ret_sql);
	if (r == 0 && ret_keys)
		*ret_keys = c.has_keys ? c.n_keys : 0;
	return r;
}

int compose_by_image(const char *name, const struct choice *choice, char **ret_sql, char **ret_images,
	int *ret_keys, struct failure *failure)
{
	static const struct choice all = { 0 };
	struct composer c = { .choice = choice, .failure = failure }, images;
	const char *head;
	int r = begin(&c, name, &head);

	*ret_sql = *ret_images = NULL;
	*ret_keys = c.n_keys;
	if (r == 0 && composer_keys_are_images(&c)) {
		images = c;
		images.choice = &all;
		r = complete(&images, find_section("images"), ret_images);
		c.by_image = true;
		c.needs = 0;
	}
	return r < 0 ? r : complete(&c, head, ret_sql);
}
