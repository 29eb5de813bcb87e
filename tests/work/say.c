/* SPDX-License-Identifier: MIT */

/* say [FILE]: writes a few bytes into FILE (standard output without one), in two writes; with "-"
 * copies standard input. */

#include <err.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	char data[100] = "a few bytes\n";
	ssize_t n = 12;
	int fd = 1;

	if (argc > 1 && strcmp(argv[1], "-") == 0)
		n = read(0, data, sizeof(data));
	else if (argc > 1)
		fd = open(argv[1], O_WRONLY | O_CREAT | O_TRUNC, 0644);
	if (fd < 0 || n < 0)
		err(1, "say");
	if (write(fd, data, n) != n || write(fd, data, 1) != 1)
		err(1, "write");
	return 0;
}
