/* SPDX-License-Identifier: MIT */

/* Prints charclass.h: for each byte what it is in a text. */

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static const char *class_of(int c)
{
	if (c && strchr("aeiouyAEIOUY", c))
		return "CHAR_VOWEL";
	if (isalpha(c) || c >= 128) /* the bytes of letters that are not ASCII */
		return "CHAR_LETTER";
	if (isdigit(c))
		return "CHAR_DIGIT";
	if (c && strchr(".!?", c))
		return "CHAR_STOP";
	if (c && strchr("'-_", c))
		return "CHAR_JOINT";
	return "CHAR_OTHER";
}

int main(void)
{
	puts("/* Made by mkclass; do not edit. */");
	puts("enum charclass {");
	puts("\tCHAR_OTHER, CHAR_VOWEL, CHAR_LETTER, CHAR_DIGIT, CHAR_STOP, CHAR_JOINT");
	puts("};\n");
	puts("static const unsigned char charclass[256] = {");
	for (int c = 0; c < 256; c++)
		printf("\t[%d] = %s,\n", c, class_of(c));
	puts("};");
	return ferror(stdout) || fflush(stdout) ? 1 : 0;
}
