/* parts.c: where there are too many equations, where too few.
 *
 * Dulmage and Mendelsohn, Canad. J. Math. 10 (1958) 517; Pothen and Fan, ACM TOMS 16 (1990) 303.
 * With a largest matching: rows reached by alternating paths from an unmatched row, and their
 * columns, form the over-determined part; columns reached from an unmatched column, and their
 * rows, the under-determined one.
 */
#include "index/structure.h"

#include <string.h>

/* rows: queue of rows to be expanded; marks what is reached with `mark`. */
static void spread_rows(const dae_structure *s, const dae_matching *m, uint32_t *queue,
                        size_t count, unsigned char *row_mark, unsigned char *column_mark,
                        unsigned char mark)
{
    for (size_t head = 0; head < count; head++) {
        uint32_t i = queue[head];
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) {
            uint32_t j = s->column[k], next = m->row_of[j];
            column_mark[j] = mark;
            if (next == DAE_NOWHERE || row_mark[next] == mark) continue;
            row_mark[next] = mark;
            queue[count++] = next;
        }
    }
}

/* The transposed structure: for each column its rows. */
static int transpose(const dae_structure *s, const dae_memory *memory, size_t **start,
                     uint32_t **row)
{
    *start = dae_alloc(memory, (size_t)s->columns + 2, sizeof **start);
    *row = dae_alloc(memory, s->start[s->rows], sizeof **row);
    if (!*start || !*row) return DAE_E_NOMEM;
    size_t *at = *start + 1;
    for (size_t k = 0; k < s->start[s->rows]; k++) at[s->column[k] + 1]++;
    for (uint32_t j = 0; j < s->columns; j++) at[j + 1] += at[j];
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t k = s->start[i]; k < s->start[i + 1]; k++) (*row)[at[s->column[k]]++] = i;
    return DAE_OK; /* at[j] has moved to the end of column j: start[j] is its beginning */
}

static int spread_columns(const dae_structure *s, const dae_matching *m, const dae_memory *memory,
                          uint32_t *queue, size_t count, unsigned char *row_mark,
                          unsigned char *column_mark, unsigned char mark)
{
    size_t *start = NULL;
    uint32_t *row = NULL;
    int status = transpose(s, memory, &start, &row);
    for (size_t head = 0; status == DAE_OK && head < count; head++) {
        uint32_t j = queue[head];
        for (size_t k = start[j]; k < start[j + 1]; k++) {
            uint32_t next = m->column_of[row[k]];
            row_mark[row[k]] = mark;
            if (next == DAE_NOWHERE || column_mark[next] == mark) continue;
            column_mark[next] = mark;
            queue[count++] = next;
        }
    }
    dae_free(memory, start);
    dae_free(memory, row);
    return status;
}

static size_t larger(const dae_structure *s)
{
    return s->rows > s->columns ? s->rows : s->columns;
}

int dae_find_parts(const dae_structure *s, const dae_matching *m, const dae_memory *memory,
                   unsigned char *row_part, unsigned char *column_part)
{
    size_t count = 0;
    uint32_t *queue = dae_alloc(memory, larger(s), sizeof *queue);
    if (!queue) return DAE_E_NOMEM;
    memset(row_part, DAE_PART_WELL, s->rows);
    memset(column_part, DAE_PART_WELL, s->columns);
    for (uint32_t i = 0; i < s->rows; i++)
        if (m->column_of[i] == DAE_NOWHERE) {
            row_part[i] = DAE_PART_OVER;
            queue[count++] = i;
        }
    spread_rows(s, m, queue, count, row_part, column_part, DAE_PART_OVER);
    count = 0;
    for (uint32_t j = 0; j < s->columns; j++)
        if (m->row_of[j] == DAE_NOWHERE) {
            column_part[j] = DAE_PART_UNDER;
            queue[count++] = j;
        }
    int status = spread_columns(s, m, memory, queue, count, row_part, column_part, DAE_PART_UNDER);
    dae_free(memory, queue);
    return status;
}

int dae_find_reach(const dae_structure *s, const dae_matching *m, const dae_memory *memory,
                   uint32_t from, bool over, unsigned char *row_mark, unsigned char *column_mark)
{
    int status = DAE_OK;
    uint32_t *queue = dae_alloc(memory, larger(s) + 1, sizeof *queue);
    if (!queue) return DAE_E_NOMEM;
    memset(row_mark, 0, s->rows);
    memset(column_mark, 0, s->columns);
    queue[0] = from;
    if (over) {
        row_mark[from] = 1;
        spread_rows(s, m, queue, 1, row_mark, column_mark, 1);
    } else {
        column_mark[from] = 1;
        status = spread_columns(s, m, memory, queue, 1, row_mark, column_mark, 1);
    }
    dae_free(memory, queue);
    return status;
}
