/* SPDX-License-Identifier: MIT */

/* Processes with another command at the same place: those that write the same files; of all processes of a program the
 * only one that has a file or a word; the one that has most of its words below the same parent. */

#include "dag/diff/match_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/vector.h"
#include "dag/container/hash.h"
#include "dag/diff/names.h"

#define ALIKE 0.5    /* part of the words of two commands that they must have in common */
#define NEIGHBOURS 8 /* below one parent, so many are looked at for each */

/* What a process is known by, and all that the processes of one run are. */
struct tokens {
	struct member *token;
	size_t n;
};

static int add_token(struct tokens *tokens, uint64_t key, int run, int32_t process)
{
	return vector_push(tokens->token, tokens->n, (struct member){ key, run, process });
}

static uint64_t program_of(const struct matching *m, int run, int32_t process)
{
	const char *program = workflow_task(m->match->side[run]->workflow, process)->program;

	return program ? hash_bytes(HASH_BEGIN, program, strlen(program)) : 0;
}

static uint64_t parent_of(const struct matching *m, int run, int32_t process)
{
	int32_t parent = m->match->side[run]->parent[process];

	return parent == GRAPH_NONE ? 0 : matching_known(m, run, parent);
}

/* Files that are a pair, of these kinds. */
static int add_files(const struct matching *m, int run, int32_t process, int kinds, uint64_t user,
	struct tokens *tokens)
{
	const struct side *side = m->match->side[run];
	int r = 0;

	for (int32_t i = side->first[process]; i < side->first[process + 1] && r == 0; i++) {
		const struct side_link *link = &side->links[i];

		if (link->kinds & kinds && !matching_is_open(m, run, link->to))
			r = add_token(tokens, hash_pair(user, matching_known(m, run, link->to)), run,
				process);
	}
	return r;
}

static int add_words(const struct matching *m, int run, int32_t process, struct tokens *tokens)
{
	uint64_t program = program_of(m, run, process);
	struct names_words words;
	int r = 0;

	names_words_begin(&words, m->names, run, process);
	while (r == 0 && names_words_next(&words))
		r = add_token(tokens,
			hash_pair(program, hash_bytes(HASH_BEGIN, words.word, words.len)), run,
			process);
	return r;
}

typedef int add_of(const struct matching *m, int run, int32_t process, struct tokens *tokens);

static int add_written(const struct matching *m, int run, int32_t process, struct tokens *tokens)
{
	return add_files(m, run, process, SIDE_WRITE, program_of(m, run, process), tokens);
}

static int add_written_below(const struct matching *m, int run, int32_t process,
	struct tokens *tokens)
{
	return add_files(m, run, process, SIDE_WRITE, parent_of(m, run, process), tokens);
}

static int add_read(const struct matching *m, int run, int32_t process, struct tokens *tokens)
{
	return add_files(m, run, process, SIDE_READ, program_of(m, run, process), tokens);
}

static int list_tokens(const struct matching *m, add_of *add, struct tokens *tokens)
{
	int r = 0;

	for (int run = 0; run < 2; run++)
		for (int32_t i = 0; i < m->match->side[run]->n_processes && r == 0; i++)
			if (m->match->side[run]->shown[i])
				r = add(m, run, i, tokens);
	if (tokens->n)
		qsort(tokens->token, tokens->n, sizeof(*tokens->token), matching_compare);
	return r;
}

/* ---- how much two commands have in common ---- */

struct likeness {
	const struct tokens *all; /* words of all processes; NULL: each counts as much */
	struct tokens words;
};

static int compare_key(const void *key, const void *element)
{
	uint64_t a = *(const uint64_t *)key, b = ((const struct member *)element)->key;

	return (a > b) - (a < b);
}

/* A word that many have says little. */
static double weight_of(const struct tokens *all, uint64_t key)
{
	size_t n = all ? all->n : 0, first = 0, end;

	if (all)
		first = vector_lower_bound(&key, all->token, n, sizeof(*all->token), compare_key);
	for (end = first; end < n && all->token[end].key == key;)
		end++;
	return end - first > 2 ? 2.0 / (double)(end - first) : 1;
}

/* Words are sorted by key and run: those of one key are counted in both. */
static double likeness_of(struct matching *m, struct likeness *like, int32_t a, int32_t b)
{
	struct tokens *words = &like->words;
	double common = 0, all = 0;

	words->n = 0;
	if (add_words(m, 0, a, words) < 0 || add_words(m, 1, b, words) < 0 || words->n == 0)
		return 0;
	qsort(words->token, words->n, sizeof(*words->token), matching_compare);
	for (size_t i = 0, n; i < words->n; i += n) {
		size_t count[2] = { 0, 0 };
		double weight = weight_of(like->all, words->token[i].key);

		for (n = 0; i + n < words->n && words->token[i + n].key == words->token[i].key; n++)
			count[words->token[i + n].run]++;
		common += weight * 2 * (double)(count[0] < count[1] ? count[0] : count[1]);
		all += weight * (double)(count[0] + count[1]);
	}
	return common / all;
}

/* ---- what one process alone has ---- */

/* Those of one key from i on, the same process counted once: in each run the process that has the key, if
 * only one has it. */
static size_t take_key(const struct tokens *tokens, size_t i, int32_t ret_node[2])
{
	size_t n = 0;

	ret_node[0] = ret_node[1] = GRAPH_NONE;
	for (; i + n < tokens->n && tokens->token[i + n].key == tokens->token[i].key; n++) {
		const struct member *token = &tokens->token[i + n];

		if (ret_node[token->run] == GRAPH_NONE)
			ret_node[token->run] = token->node;
		else if (ret_node[token->run] != token->node)
			ret_node[token->run] = -2;
	}
	return n;
}

static int32_t join_alone(struct matching *m, const struct tokens *tokens, double alike)
{
	struct likeness like = { NULL, { NULL, 0 } };
	int32_t node[2], joined = 0;

	for (size_t i = 0; i < tokens->n; i += take_key(tokens, i, node)) {
		take_key(tokens, i, node);
		if (node[0] < 0 || node[1] < 0 || !matching_is_open(m, 0, node[0]) ||
			!matching_is_open(m, 1, node[1]))
			continue;
		if (alike == 0 || likeness_of(m, &like, node[0], node[1]) >= alike)
			joined += matching_join(m, node[0], node[1]);
	}
	free(like.words.token);
	return joined;
}

static int match_alone(struct matching *m, add_of *add, double alike)
{
	struct tokens tokens = { 0 };
	int r = matching_has_open_processes(m) ? list_tokens(m, add, &tokens) : 0;

	if (r == 0 && join_alone(m, &tokens, alike))
		matching_solve(m);
	free(tokens.token);
	return r;
}

/* ---- below one parent ---- */

static int add_place(const struct matching *m, int run, int32_t process, struct tokens *tokens)
{
	if (!matching_is_open(m, run, process))
		return 0;
	return add_token(tokens, hash_pair(program_of(m, run, process), parent_of(m, run, process)),
		run, process);
}

/* Of one place: for each of the first run the one of the second that is most like it. */
static int32_t join_place(struct matching *m, struct likeness *like, const struct member *first,
	size_t n_a, size_t n_b)
{
	int32_t joined = 0;

	for (size_t a = 0; a < n_a; a++) {
		const struct member *best = NULL;
		double most = ALIKE;
		int looked = 0;

		for (size_t b = 0; b < n_b && looked < NEIGHBOURS; b++) {
			const struct member *other = &first[n_a + b];
			double likeness;

			if (!matching_is_open(m, 1, other->node))
				continue;
			looked++;
			likeness = likeness_of(m, like, first[a].node, other->node);
			if (likeness > most || (likeness >= most && !best)) {
				best = other;
				most = likeness;
			}
		}
		joined += best && matching_join(m, first[a].node, best->node);
	}
	return joined;
}

static int match_places(struct matching *m)
{
	struct tokens places = { 0 }, words = { 0 };
	struct likeness like = { &words, { NULL, 0 } };
	int r = matching_has_open_processes(m) ? list_tokens(m, add_words, &words) : 0;
	int32_t joined = 0;

	if (r == 0 && words.n)
		r = list_tokens(m, add_place, &places);
	for (size_t i = 0, n; r == 0 && i < places.n; i += n) {
		size_t count[2] = { 0, 0 };

		for (n = 0; i + n < places.n && places.token[i + n].key == places.token[i].key; n++)
			count[places.token[i + n].run]++;
		joined += join_place(m, &like, &places.token[i], count[0], count[1]);
	}
	if (joined)
		matching_solve(m);
	free(places.token);
	free(words.token);
	free(like.words.token);
	return r;
}

int changed_match(struct matching *m)
{
	static const struct {
		add_of *add;
		double alike;
	} ways[] = { { add_written, 0 }, { add_written_below, 0 }, { add_read, ALIKE },
		{ add_words, ALIKE } };
	int r = 0;

	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]) && r == 0; i++)
		r = match_alone(m, ways[i].add, ways[i].alike);
	return r < 0 ? r : match_places(m);
}
