/* SPDX-License-Identifier: MIT */
#include "db/bus.h"

#include <signal.h>
#include <stdint.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAGE_MOST (64 << 10)

static volatile sig_atomic_t failed;
static uintptr_t page_size;

/* The page can still be read; only the write found no space. */
static bool replace(void *page)
{
	static char content[PAGE_MOST];

	memcpy(content, page, page_size);
	if (mmap(page, page_size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != page)
		return false;
	memcpy(page, content, page_size);
	return true;
}

/* If the page cannot be read either, the second fault, here, ends the program. */
static void on_bus(int signal, siginfo_t *info, void *context)
{
	(void)context;
	if (info->si_code == BUS_ADRERR && page_size <= PAGE_MOST &&
		replace((void *)((uintptr_t)info->si_addr & ~(page_size - 1))))
		failed = 1;
	else
		sigaction(signal, &(struct sigaction){ .sa_handler = SIG_DFL }, NULL);
}

void bus_catch(void)
{
	struct sigaction action = { .sa_sigaction = on_bus, .sa_flags = SA_SIGINFO };

	page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	sigaction(SIGBUS, &action, NULL);
}

bool bus_has_failed(void)
{
	return failed;
}
