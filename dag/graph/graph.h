/* SPDX-License-Identifier: MIT */
#ifndef DAG_GRAPH_GRAPH_H
#define DAG_GRAPH_GRAPH_H

/*
 * The workflow graph of a trace: which process read what which process had written.  It is always
 * acyclic, and no access is left out to make it so:
 *
 *   - a file is a node for each of its versions, as the trace tells them apart;
 *   - a process is a node for each of its segments: a new one begins where it reads what depends on what
 *     it has written before, or on a process that it started;
 *   - a version is divided, too, where a process writes it that depends on it (renames what it has read), or
 *     renames what others have read.
 *
 * Nothing is divided where that is not needed: a trace without rewriting and feedback has one node for
 * each process and each file.  A process that reads back what it alone has written, or had read before,
 * learns nothing: that is no edge of its own, but part of the one by which it wrote.
 *
 * Edges: FLOW read (version -> segment), write (segment -> version); TREE fork (segment -> first segment
 * of a child); NEXT (segment -> next segment, version -> next version that continues it).
 *
 * Built from accesses, one for each process, file and version, in the order of their times.  Each edge is
 * put into a topological order as it comes; since data flows with time, few are against it, and the cost is
 * about linear in the number of accesses.
 *
 * Texts are not copied: the caller owns them.  -ENOMEM is the only error.  One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRAPH_NONE (-1)
#define GRAPH_NEVER INT64_MAX

/* What an edge is; a set, because what one process did to one version is one edge. */
enum edge_kind {
	EDGE_READ = 1,
	EDGE_WRITE = 2,
	EDGE_CREATE = 4,
	EDGE_RENAME = 8,
	EDGE_DELETE = 16,
	EDGE_EXECUTE = 32,
	EDGE_MAP = 64,
	EDGE_TRUNCATE = 128,
	EDGE_FORK = 256,
	EDGE_NEXT = 512,
	EDGE_META = 1024,
	EDGE_SEARCH = 2048, /* of shapes: a name was looked for */
	EDGE_PIPE = 4096,   /* of shapes: from process to process */
};

enum node_kind {
	NODE_PROCESS,
	NODE_FILE,
	NODE_MISSING_NAME
}; /* MISSING_NAME: a name that was looked up and did not exist; of shapes */

struct graph_process {
	int64_t id, parent;       /* of the trace; parent 0: none */
	int64_t start_ns, end_ns; /* end_ns GRAPH_NEVER: it had not ended */
	void *data;               /* of the caller */
	int32_t first, last;      /* nodes: its segments, linked by .next */
};

struct graph_file {
	int64_t id;
	void *data;
	int32_t first, last; /* nodes: its versions */
};

struct graph_access {
	int32_t process, file; /* indexes */
	int32_t version;
	int kinds;                    /* of READ to TRUNCATE */
	bool assumed_in, assumed_out; /* it is only concluded that data came, went */
	bool emptied;        /* truncated to nothing: what was there before does not matter */
	int64_t first_in_ns; /* when it first read; GRAPH_NEVER: it did not */
	int64_t first_out_ns, last_out_ns;           /* the same of writing */
	int64_t last_ns;                             /* of all that it did to it */
	int64_t nread, bread, nwrite, bwrite, io_ns; /* -1: not known */
	int64_t nmeta;
};

struct graph_node {
	enum node_kind kind;
	int32_t of;   /* index of its process or file */
	int32_t part; /* segment or version, from 1 */
	int32_t next; /* the next part */
	int64_t begin_ns,
		end_ns; /* of a segment: what it covers; of a version: first and last write */
};

struct graph_edge {
	int32_t from, to;
	int kinds;
	bool assumed, feedback; /* feedback: it made a new segment or version necessary */
	bool read_back;         /* the writer has read again what it wrote */
	int64_t bytes, ops, ns; /* that moved along it; -1: not known */
	int64_t time_ns; /* when it came about */
	int32_t access;  /* index; GRAPH_NONE: a fork, or a next part */
};

struct graph_build;

struct graph {
	struct graph_process *processes;
	struct graph_file *files;
	struct graph_access *accesses;
	struct graph_node *nodes;
	struct graph_edge *edges;
	int32_t n_processes, n_files, n_accesses, n_nodes, n_edges;
	int64_t *order; /* of each node; each edge leads to a larger one */
};

struct graph *graph_create(void);
void graph_destroy(struct graph *graph);

/* Index, or -ENOMEM.  Processes, and files, come in the order of their ids. */
int32_t graph_add_process(struct graph *graph, const struct graph_process *process);
int32_t graph_add_file(struct graph *graph, int64_t id, void *data);
int graph_add_access(struct graph *graph, const struct graph_access *access);
/* Index of an id, GRAPH_NONE if it is not there. */
int32_t graph_find_process(const struct graph *graph, int64_t id);
int32_t graph_find_file(const struct graph *graph, int64_t id);
/* Index of the parent of a process; GRAPH_NONE: it is not in the trace, or not known. */
int32_t graph_parent(const struct graph *graph, int32_t process);

/* Makes nodes and edges.  Files without accesses have no node; meta: looking at a file's attributes
 * is an access, too, with edges that no process and file is divided for. */
int graph_build(struct graph *graph, bool meta);

#endif
