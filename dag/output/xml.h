/* SPDX-License-Identifier: MIT */
#ifndef DAG_OUTPUT_XML_H
#define DAG_OUTPUT_XML_H

/*
 * XML, written to a stream by libxml2.  libxml2 reports some failures by its results, others only by its error handler;
 * both set .failed, which xml_close() reports.  One document at a time: libxml2 has one error handler.
 */

#include <stdbool.h>
#include <stdio.h>

struct xml {
	void *writer; /* xmlTextWriter */
	bool failed;
};

/* 0: xml_close() has to follow, and the struct must not move until then.  Or -ENOMEM. */
int xml_open(struct xml *xml, FILE *out);
void xml_begin(struct xml *xml, const char *element);
void xml_end(struct xml *xml);
void xml_attribute(struct xml *xml, const char *name, const char *value);
/* True if XML 1.0 allows the text.  Callers pass no other values and texts. */
bool xml_says(const char *text);
/* Its value is "%c%d", without the letter if that is 0. */
void xml_attribute_id(struct xml *xml, const char *name, char letter, long long number);
void xml_text(struct xml *xml, const char *text);
/* Ends all elements.  0, -ENOMEM if a call failed, or -EIO if out has an error. */
int xml_close(struct xml *xml, FILE *out);

#endif
