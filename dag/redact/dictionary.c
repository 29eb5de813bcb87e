/* SPDX-License-Identifier: MIT */
#include "dag/redact/dictionary.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/arena.h"
#include "base/vector.h"
#include "dag/container/hash.h"
#include "dag/digest/keyed.h"
#include "dag/redact/names.h"
#include "dag/redact/vocabulary.h"

#define SYLLABLES 6
#define DAY_NS (INT64_C(86400) * 1000000000)

enum flag {
	IN_PATH = 1,
	OF_OWNER = 2,
	STAYS = 4,
	OF_SYSTEM = 8,
};

struct entry {
	const char *name, *word; /* word: NULL until it is used */
	size_t len;
	enum name_kind kind;
	unsigned flags;
};

struct dictionary {
	const void *key;
	size_t key_len;
	struct arena texts;
	struct entry *entries;
	uint32_t n_entries, n_slots;
	uint32_t *slots;	/* numbers of entries + 1; 0: free */
	uint32_t *used, n_used; /* entries with words, in the order of their use */
	char *out;
	size_t out_len, out_room;
};

struct dictionary *dictionary_create(const void *key, size_t key_len)
{
	struct dictionary *d = calloc(1, sizeof(*d));

	if (d) {
		d->key = key;
		d->key_len = key_len;
	}
	return d;
}

void dictionary_destroy(struct dictionary *d)
{
	if (!d)
		return;
	arena_free(&d->texts);
	free(d->entries);
	free(d->slots);
	free(d->used);
	free(d->out);
	free(d);
}

/* ---- the table of names ---- */

/* The slot that has the name, or the free one where it belongs.  There are some. */
static uint32_t *slot_of(const struct dictionary *d, const char *name, size_t len)
{
	uint32_t at = (uint32_t)hash_mix(hash_bytes(HASH_BEGIN, name, len)) & (d->n_slots - 1);

	for (;; at = (at + 1) & (d->n_slots - 1)) {
		const struct entry *e = d->slots[at] ? &d->entries[d->slots[at] - 1] : NULL;

		if (!e || (e->len == len && memcmp(e->name, name, len) == 0))
			return &d->slots[at];
	}
}

static int grow(struct dictionary *d)
{
	uint32_t *old = d->slots, n = d->n_slots ? 2 * d->n_slots : 1024;

	if (d->n_entries >= INT32_MAX / 2)
		return -ENOMEM;
	d->slots = calloc(n, sizeof(*d->slots));
	if (!d->slots) {
		d->slots = old;
		return -ENOMEM;
	}
	d->n_slots = n;
	for (uint32_t i = 0; i < d->n_entries; i++)
		*slot_of(d, d->entries[i].name, d->entries[i].len) = i + 1;
	free(old);
	return 0;
}

static struct entry *find(const struct dictionary *d, const char *name, size_t len)
{
	uint32_t slot = d->n_slots ? *slot_of(d, name, len) : 0;

	return slot ? &d->entries[slot - 1] : NULL;
}

/* Valid until the next one. */
static struct entry *find_or_add(struct dictionary *d, const char *name, struct name as)
{
	struct entry *e = find(d, name, as.len);
	char *copy;

	if (e)
		return e;
	copy = (d->n_entries + 1) * 2 <= d->n_slots || grow(d) == 0 ? arena_text(&d->texts, name, as.len) : NULL;
	if (!copy || vector_push(d->entries, d->n_entries, (struct entry){ .name = copy, .len = as.len, .kind = as.kind }) < 0)
		return NULL;
	*slot_of(d, copy, as.len) = d->n_entries;
	return &d->entries[d->n_entries - 1];
}

/* ---- what is known of names ---- */

static int add_flags(struct dictionary *d, const char *text, size_t len, unsigned flags)
{
	struct name name;

	for (size_t at = 0; at < len; at += name.len) {
		struct entry *e;

		name = name_at(text, len, at);
		if (name.kind == NAME_NONE)
			continue;
		e = find_or_add(d, text + at, name);
		if (!e)
			return -ENOMEM;
		e->flags |= flags;
	}
	return 0;
}

int dictionary_see(struct dictionary *d, enum dictionary_how how, const char *text, size_t len)
{
	return add_flags(d, text, len, how == DICTIONARY_PATH ? IN_PATH : how == DICTIONARY_OWNER ? OF_OWNER : how == DICTIONARY_STAYS ? STAYS : 0);
}

int dictionary_keep(struct dictionary *d, const char *text, size_t len, bool system)
{
	return add_flags(d, text, len, system ? OF_SYSTEM : STAYS);
}

/* Of four bytes at most, behind a name. */
int dictionary_keep_extension(struct dictionary *d, const char *path, size_t len)
{
	const char *dot = memrchr(path, '.', len), *end = path + len;

	if (!dot || dot == path || dot[-1] == '/' || end - dot < 2 || end - dot > 5 || name_at(path, len, dot + 1 - path).len != (size_t)(end - dot - 1))
		return 0;
	return add_flags(d, dot + 1, end - dot - 1, OF_SYSTEM);
}

static bool begins(const struct entry *e, const char *with)
{
	return strncmp(e->name, with, strlen(with)) == 0;
}

/* Names that make (its job slots) and R (its directory) make up, by which tables leave them out. */
static bool is_made_up(const struct entry *e)
{
	return (begins(e, "GMfifo") && strspn(e->name + 6, "0123456789") == e->len - 6) || (begins(e, "Rtmp") && e->len == 10);
}

static bool stays(const struct entry *e)
{
	if (e->flags & STAYS || (e->flags & OF_SYSTEM && !(e->flags & OF_OWNER)))
		return true;
	switch (e->kind) {
	case NAME_NUMBER: return e->len <= 3;
	case NAME_IPV4: return begins(e, "127.") || strcmp(e->name, "0.0.0.0") == 0;
	case NAME_IPV6: return strcmp(e->name, "::") == 0 || strcmp(e->name, "::1") == 0;
	default: return e->len == 1 || vocabulary_has(e->name, e->len) || is_made_up(e);
	}
}

/* ---- words ---- */

static void spell(uint64_t number, char *out)
{
	static const char consonants[] = "bdfghjklmnprstvz", vowels[] = "aiou";

	for (int i = 0; i < SYLLABLES; i++, number >>= 6) {
		*out++ = consonants[number & 15];
		*out++ = vowels[number >> 4 & 3];
	}
	*out = '\0';
}

static void write_word(enum name_kind kind, uint64_t number, char out[32])
{
	switch (kind) {
	case NAME_NUMBER: snprintf(out, 32, "%" PRIu64, UINT64_C(100000000000) + number % UINT64_C(900000000000)); break;
	case NAME_IPV4: snprintf(out, 32, "10.%u.%u.%u", (unsigned)(number >> 16 & 255), (unsigned)(number >> 8 & 255), (unsigned)(number & 255)); break;
	case NAME_IPV6:
		snprintf(out, 32, "fd00::%x:%x:%x", (unsigned)(number >> 32 & 0xffff), (unsigned)(number >> 16 & 0xffff), (unsigned)(number & 0xffff));
		break;
	default: spell(number, out);
	}
}

/* One that is neither a name of the trace nor in use. */
static int choose_word(struct dictionary *d, uint32_t i)
{
	const struct entry e = d->entries[i];
	struct entry *word;
	char text[32];
	uint32_t n = 0;

	do
		write_word(e.kind, keyed_number(d->key, d->key_len, e.name, e.len, n++), text);
	while (find(d, text, strlen(text)) && n < UINT16_MAX);
	word = find_or_add(d, text, (struct name){ e.kind, strlen(text) });
	if (!word || vector_push(d->used, d->n_used, i) < 0)
		return -ENOMEM;
	d->entries[i].word = word->name;
	return 0;
}

static int put_bytes(struct dictionary *d, const char *bytes, size_t len)
{
	if (vector_fit(d->out, d->out_room, d->out_len + len) < 0)
		return -ENOMEM;
	memcpy(d->out + d->out_len, bytes, len);
	d->out_len += len;
	return 0;
}

static int put_name(struct dictionary *d, const char *text, struct name name)
{
	struct entry *e = find_or_add(d, text, name);
	uint32_t i;

	if (!e)
		return -ENOMEM;
	if (stays(e))
		return put_bytes(d, text, name.len);
	i = (uint32_t)(e - d->entries);
	if (!e->word && choose_word(d, i) < 0)
		return -ENOMEM;
	return put_bytes(d, d->entries[i].word, strlen(d->entries[i].word));
}

/* -Iname, where -I begins an argument. */
static bool is_joined(const struct dictionary *d, const char *text, size_t at, struct name name)
{
	const struct entry *whole, *rest;

	if (name.kind != NAME_WORD || name.len < 3 || at < 1 || text[at - 1] != '-' || (at > 1 && !strchr(" \t\n'\"(;,=", text[at - 2])))
		return false;
	whole = find(d, text + at, name.len);
	rest = find(d, text + at + 1, name.len - 1);
	return rest && rest->flags & IN_PATH && rest->kind == NAME_WORD && !(whole && (whole->flags & IN_PATH || stays(whole)));
}

static int put_at(struct dictionary *d, const char *text, size_t len, size_t *at)
{
	struct name name = name_at(text, len, *at);
	int r;

	if (name.kind == NAME_NONE)
		r = put_bytes(d, text + *at, name.len);
	else if (!is_joined(d, text, *at, name))
		r = put_name(d, text + *at, name);
	else if ((r = put_bytes(d, text + *at, 1)) == 0)
		r = put_name(d, text + *at + 1, (struct name){ NAME_WORD, name.len - 1 });
	*at += name.len;
	return r;
}

int dictionary_put(struct dictionary *d, const char *text, size_t len, const char **ret_text, size_t *ret_len)
{
	int r = 0;

	d->out_len = 0;
	for (size_t at = 0; at < len && r == 0;)
		r = put_at(d, text, len, &at);
	*ret_text = d->out;
	*ret_len = d->out_len;
	return r;
}

int64_t dictionary_shift_ns(const struct dictionary *d)
{
	uint64_t number = keyed_number(d->key, d->key_len, "", 0, 0);

	return -30 * DAY_NS - (int64_t)(number % (3620 * 86400)) * 1000000000;
}

/* ---- the list ---- */

size_t dictionary_count(const struct dictionary *d)
{
	return d->n_used;
}

void dictionary_print(const struct dictionary *d, FILE *out)
{
	for (uint32_t i = 0; i < d->n_used; i++) {
		const struct entry *e = &d->entries[d->used[i]];

		fprintf(out, "%s\t", e->word);
		fwrite(e->name, 1, e->len, out);
		putc('\n', out);
	}
}
