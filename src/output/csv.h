/* csv.h: comma-separated values, RFC 4180 except that a line ends with "\n" alone.
 *
 * The first line names the columns, the first column is the time. A name with a comma, a
 * quote, a line break or blanks at its ends stands in quotes, inner quotes doubled; it is
 * never changed (a name that begins with '=' stays a name, also for a spreadsheet).
 * Numbers have 17 significant digits; nan, inf and -inf stand for themselves.
 */
#ifndef DAE_OUTPUT_CSV_H
#define DAE_OUTPUT_CSV_H

#include "output/trajectory.h"

typedef struct dae_csv {
    dae_trajectory writer;
    dae_sink *sink;
    int count;
} dae_csv;

void dae_csv_open(dae_csv *w, dae_sink *sink);

void dae_csv_name(dae_sink *sink, const char *name); /* one quoted field, no comma */

/* The step log: one line for each attempted step. */
void dae_csv_log_head(dae_sink *sink);
void dae_csv_log(const dae_step_record *record, void *sink); /* fits dae_options.log */

#endif
