/* SPDX-License-Identifier: MIT */
#include "serve/serve.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/failure.h"
#include "base/rights.h"
#include "db/totals.h"
#include "serve/accept.h"
#include "serve/listener.h"

#define FORMS (TOTALS_PROMETHEUS + 1)
#define MOST_HEADER 16384 /* memory of a connection */

/* A text, which connections may still be reading when the next one is there: the library counts them. */
struct page {
	struct MHD_Response *response;
	uint64_t changes; /* of the totals, when it was made */
};

struct serve {
	struct listener listener;
	struct totals *totals;
	struct MHD_Daemon *daemon;
	struct page pages[FORMS];
	int error; /* of the start */
};

static const char *const types[FORMS] = {
	[TOTALS_OPENMETRICS] = "application/openmetrics-text; version=1.0.0; charset=utf-8",
	[TOTALS_PROMETHEUS] = "text/plain; version=0.0.4; charset=utf-8",
};

/* ---- answers, in the thread of the library ---- */

static struct MHD_Response *make_response(struct totals *totals, enum totals_form form)
{
	struct MHD_Response *response;
	size_t len;
	char *text = totals_text(totals, form, &len);

	if (!text)
		return NULL;
	response = MHD_create_response_from_buffer(len, text, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(text);
		return NULL;
	}
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, types[form]);
	MHD_add_response_header(response, MHD_HTTP_HEADER_VARY, MHD_HTTP_HEADER_ACCEPT);
	MHD_add_response_header(response, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	return response;
}

static void drop(struct page *page)
{
	if (page->response)
		MHD_destroy_response(page->response);
	page->response = NULL;
}

/* A client that asks all the time has no text made that is the same. */
static struct MHD_Response *response_of(struct serve *serve, enum totals_form form)
{
	struct page *page = &serve->pages[form];
	uint64_t changes = totals_changes(serve->totals);

	if (!page->response || page->changes != changes) {
		drop(page);
		page->response = make_response(serve->totals, form);
		page->changes = changes;
	}
	return page->response;
}

static enum MHD_Result refuse(struct MHD_Connection *connection, unsigned status, const char *text)
{
	struct MHD_Response *response = MHD_create_response_from_buffer(strlen(text), (void *)text, MHD_RESPMEM_PERSISTENT);
	enum MHD_Result r;

	if (!response)
		return MHD_NO;
	MHD_add_response_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, "text/plain; charset=utf-8");
	MHD_add_response_header(response, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	r = MHD_queue_response(connection, status, response);
	MHD_destroy_response(response);
	return r;
}

static enum MHD_Result answer(void *arg, struct MHD_Connection *connection, const char *path, const char *method, const char *version,
	const char *upload, size_t *upload_size, void **state)
{
	const char *accept = MHD_lookup_connection_value(connection, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	struct MHD_Response *response;

	(void)version;
	(void)upload;
	(void)upload_size;
	(void)state;
	if (strcmp(method, MHD_HTTP_METHOD_GET) != 0 && strcmp(method, MHD_HTTP_METHOD_HEAD) != 0)
		return refuse(connection, MHD_HTTP_METHOD_NOT_ALLOWED, "metrics are read by GET\n");
	if (strcmp(path, "/metrics") != 0)
		return refuse(connection, MHD_HTTP_NOT_FOUND, "metrics are at /metrics\n");
	response = response_of(arg, accept_openmetrics(accept) ? TOTALS_OPENMETRICS : TOTALS_PROMETHEUS);
	return response ? MHD_queue_response(connection, MHD_HTTP_OK, response) : MHD_NO;
}

/* ---- start and end ---- */

int serve_open(const char *address, struct serve **ret_serve, struct failure *failure)
{
	struct serve *serve = calloc(1, sizeof(*serve));
	int r;

	*ret_serve = NULL;
	if (!serve)
		return failure_memory(failure);
	r = listener_open(address, &serve->listener, failure);
	if (r < 0)
		free(serve);
	else
		*ret_serve = serve;
	return r;
}

/* In a thread that ends then.  The thread of the library has what this one has: no capability, and no signal. */
static void *start(void *arg)
{
	struct serve *serve = arg;
	sigset_t all;
	int r = rights_keep(0, false);

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	errno = 0;
	if (r == 0)
		serve->daemon = MHD_start_daemon(MHD_USE_EPOLL_INTERNAL_THREAD | MHD_USE_ITC, 0, NULL, NULL, answer, serve,
			MHD_OPTION_LISTEN_SOCKET, serve->listener.fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)SERVE_CONNECTIONS,
			MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)SERVE_SECONDS, MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)MOST_HEADER,
			MHD_OPTION_END);
	serve->error = serve->daemon ? 0 : r < 0 ? r : errno ? -errno : -ENOMEM;
	return NULL;
}

int serve_start(struct serve *serve, struct totals *totals, struct failure *failure)
{
	pthread_t thread;
	int r;

	serve->totals = totals;
	r = -pthread_create(&thread, NULL, start, serve);
	if (r == 0) {
		pthread_join(thread, NULL);
		r = serve->error;
	}
	return r < 0 ? failure_set(failure, r, "cannot start the server of --metrics-listen: %s", strerror(-r)) : 0;
}

const char *serve_chosen(const struct serve *serve)
{
	return serve && *serve->listener.text ? serve->listener.text : NULL;
}

void serve_close(struct serve *serve)
{
	if (!serve)
		return;
	if (serve->daemon) {
		MHD_stop_daemon(serve->daemon); /* closes the socket, too */
		serve->listener.fd = -1;
	}
	for (int i = 0; i < FORMS; i++)
		drop(&serve->pages[i]);
	listener_close(&serve->listener);
	free(serve);
}
