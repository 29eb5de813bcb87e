/* SPDX-License-Identifier: MIT */
#include "dag/output/xml.h"

#include <errno.h>
#include <string.h>
#include <libxml/xmlerror.h>
#include <libxml/xmlwriter.h>

#include "base/utf8.h"

#define XML(text) ((const xmlChar *)(text))

static void check(struct xml *xml, int result)
{
	if (result < 0)
		xml->failed = true;
}

/* libxml2's error handler: without memory, some functions leave out a part and report it only here. */
static void on_error(void *arg, const char *format, ...)
{
	struct xml *xml = arg;

	(void)format;
	xml->failed = true;
}

static int write_bytes(void *out, const char *bytes, int len)
{
	return fwrite(bytes, 1, (size_t)len, out) == (size_t)len ? len : -1;
}

int xml_open(struct xml *xml, FILE *out)
{
	xmlOutputBuffer *buffer;

	*xml = (struct xml){ 0 };
	xmlSetGenericErrorFunc(xml, on_error);
	buffer = xmlOutputBufferCreateIO(write_bytes, NULL, out, NULL);
	xml->writer = buffer ? xmlNewTextWriter(buffer) : NULL;
	if (!xml->writer) {
		if (buffer)
			xmlOutputBufferClose(buffer);
		xmlSetGenericErrorFunc(NULL, NULL);
		return -ENOMEM;
	}
	check(xml, xmlTextWriterSetIndent(xml->writer, 1));
	check(xml, xmlTextWriterStartDocument(xml->writer, NULL, "UTF-8", NULL));
	return 0;
}

void xml_begin(struct xml *xml, const char *element)
{
	check(xml, xmlTextWriterStartElement(xml->writer, XML(element)));
}

void xml_end(struct xml *xml)
{
	check(xml, xmlTextWriterEndElement(xml->writer));
}

void xml_attribute(struct xml *xml, const char *name, const char *value)
{
	check(xml, xmlTextWriterWriteAttribute(xml->writer, XML(name), XML(value)));
}

bool xml_says(const char *text)
{
	return utf8_is_text(text, "\t\n\r\x7f") && !strstr(text, "\xef\xbf\xbe") &&
	       !strstr(text, "\xef\xbf\xbf");
}

void xml_attribute_id(struct xml *xml, const char *name, char letter, long long number)
{
	char value[32], *at = value;

	if (letter)
		*at++ = letter;
	snprintf(at, sizeof(value) - 1, "%lld", number);
	xml_attribute(xml, name, value);
}

void xml_text(struct xml *xml, const char *text)
{
	check(xml, xmlTextWriterWriteString(xml->writer, XML(text)));
}

int xml_close(struct xml *xml, FILE *out)
{
	check(xml, xmlTextWriterEndDocument(xml->writer));
	xmlFreeTextWriter(xml->writer);
	xmlSetGenericErrorFunc(NULL, NULL);
	return ferror(out) || fflush(out) != 0 ? -EIO : xml->failed ? -ENOMEM : 0;
}
