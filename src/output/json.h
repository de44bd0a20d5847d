/* json.h: JSON, always valid: commas and nesting are kept here, strings are escaped
 * (bytes that are no UTF-8 become U+FFFD), NaN and infinities become null.
 *
 *     dae_json j;
 *     dae_json_open(&j, sink);
 *     dae_json_object(&j, NULL);              a name of NULL: an element of an array,
 *     dae_json_number(&j, "t", 0.5);          or the outermost value
 *     dae_json_end(&j);
 */
#ifndef DAE_OUTPUT_JSON_H
#define DAE_OUTPUT_JSON_H

#include "output/sink.h"

enum { DAE_JSON_DEEPEST = 16 };

typedef struct dae_json {
    dae_sink *sink;
    int depth;
    char closing[DAE_JSON_DEEPEST]; /* '}' or ']' */
    char filled[DAE_JSON_DEEPEST];  /* has an element: the next one needs a comma */
    int in_page; /* 1: for a <script> of a web page: on one line, and no '<', '>' or '&' */
} dae_json;

void dae_json_open(dae_json *j, dae_sink *sink);
void dae_json_object(dae_json *j, const char *name);
void dae_json_array(dae_json *j, const char *name);
void dae_json_end(dae_json *j); /* the innermost object or array; after the last, "\n" */
void dae_json_string(dae_json *j, const char *name, const char *text); /* NULL: null */
void dae_json_number(dae_json *j, const char *name, double value);
void dae_json_integer(dae_json *j, const char *name, int64_t value);

/* A string whose characters, none of which needs escaping, the caller writes to the sink. */
void dae_json_text_begin(dae_json *j, const char *name);
void dae_json_text_end(dae_json *j);

#endif
