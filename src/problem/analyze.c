/* analyze.c: the pattern of K + cC, its layout, the maps from the user's layouts, colours.
 *
 * The pattern is, in this order: the one given; dense, if a Jacobian callback fills a dense
 * array or the problem is small; otherwise the one found by probing (detect.c). To it comes
 * the pattern of the mass matrix. The layout follows the pattern unless a backend was named.
 */
#include "problem/system.h"
#include "base/float_check.h"

#include <string.h>

/* Below this size a dense factorization is cheaper than looking for zeros. */
enum { DENSE_SIZE = 40 };
enum { SMALL_DENSE = 10 }; /* dense kernels up to this size are unrolled */

static int has_jacobian(const dae_problem *q)
{
    return q->jacobian || q->jacobian_x || q->jacobian_xdot;
}

static int widths(const dae_matrix *a, int *lower, int *upper)
{
    *lower = *upper = 0;
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++) {
            int i = dae_column_row(a, j, k);
            if (i - j > *lower) *lower = i - j;
            if (j - i > *upper) *upper = j - i;
        }
    return *lower + *upper + 1;
}

/* A pattern of another kind that covers `a`. */
static int convert(const dae_matrix *a, dae_pattern_kind kind, const dae_memory *m, dae_matrix *out)
{
    dae_pattern p = { .kind = kind };
    if (kind == DAE_PATTERN_SPARSE) return dae_matrix_union(a, a, m, out);
    if (kind == DAE_PATTERN_BAND) widths(a, &p.lower, &p.upper);
    return dae_matrix_from_pattern(&p, a->n, m, out);
}

/* The layout for a sparse pattern, given or found: a band when that stores little more than the
 * entries, dense when most places are taken. */
static dae_pattern_kind best_kind(const dae_matrix *a)
{
    int lower, upper;
    int64_t n = a->n, width = widths(a, &lower, &upper);
    if (width * n <= 2 * a->count && width < n) return DAE_PATTERN_BAND;
    if (a->count > n * n / 4 && n <= 2000) return DAE_PATTERN_DENSE;
    return DAE_PATTERN_SPARSE;
}

static int places(const dae_matrix *from, const dae_matrix *to, const dae_memory *m, int64_t **map)
{
    if (from->kind == to->kind && from->count == to->count && from->lower == to->lower) {
        if (from->kind != DAE_PATTERN_SPARSE ||
            (!memcmp(from->start, to->start, (size_t)(from->n + 1) * sizeof(int64_t)) &&
             !memcmp(from->row, to->row, (size_t)from->count * sizeof(int))))
            return DAE_OK; /* identical: no map */
    }
    *map = dae_alloc(m, (size_t)from->count, sizeof(int64_t));
    if (!*map) return DAE_E_NOMEM;
    for (int64_t k = 0; k < from->count; k++) (*map)[k] = -1; /* corners of a band */
    for (int j = 0; j < from->n; j++)
        for (int64_t k = dae_column_begin(from, j); k < dae_column_end(from, j); k++)
            (*map)[k] = dae_matrix_find(to, dae_column_row(from, j, k), j);
    return DAE_OK;
}

static int add_mass(dae_system *s, dae_matrix *pattern)
{
    const dae_problem *q = &s->problem;
    if (!q->rhs || pattern->kind == DAE_PATTERN_DENSE) return DAE_OK;
    if (q->mass_kind == DAE_MASS_IDENTITY && pattern->kind == DAE_PATTERN_BAND) return DAE_OK;
    dae_matrix sum = { 0 };
    int status;
    if (q->mass_kind == DAE_MASS_IDENTITY) {
        status = dae_matrix_union(pattern, pattern, s->memory, &sum);
    } else if (pattern->kind == DAE_PATTERN_BAND && s->mass_matrix.kind == DAE_PATTERN_BAND) {
        const dae_matrix *a = pattern, *b = &s->mass_matrix;
        dae_pattern p = { .kind = DAE_PATTERN_BAND,
                          .lower = a->lower > b->lower ? a->lower : b->lower,
                          .upper = a->upper > b->upper ? a->upper : b->upper };
        status = dae_matrix_from_pattern(&p, s->n, s->memory, &sum);
    } else {
        status = dae_matrix_union(pattern, &s->mass_matrix, s->memory, &sum);
    }
    if (status != DAE_OK) return status;
    dae_matrix_free(s->memory, pattern);
    *pattern = sum;
    return DAE_OK;
}

/* The pattern of the equations in the layout it was given or found. */
static int find_pattern(dae_system *s, double t, const double *x, const double *p, const double *w,
                        dae_matrix *out)
{
    const dae_problem *q = &s->problem;
    dae_pattern dense = { .kind = DAE_PATTERN_DENSE };
    if (q->pattern.kind != DAE_PATTERN_AUTO)
        return dae_matrix_from_pattern(&q->pattern, s->n, s->memory, out);
    if (has_jacobian(q) || s->n <= DENSE_SIZE)
        return dae_matrix_from_pattern(&dense, s->n, s->memory, out);
    s->facts |= DAE_FACT_PATTERN_FOUND;
    return (int)dae_pattern_find(s, t, x, p, w, out);
}

static int settle_layout(dae_system *s, dae_matrix *pattern, const char *linear)
{
    dae_pattern_kind kind = pattern->kind;
    if ((s->facts & DAE_FACT_PATTERN_FOUND) || (kind == DAE_PATTERN_SPARSE && s->n > 0))
        kind = best_kind(pattern);
    /* the dense kernels of these sizes beat any band; but colours are worth more than that */
    if (kind == DAE_PATTERN_BAND && s->n <= SMALL_DENSE && has_jacobian(&s->problem))
        kind = DAE_PATTERN_DENSE;
    if (linear && strcmp(linear, "auto") != 0) {
        const dae_linear *backend = dae_linear_find(linear, NULL);
        if (!backend) return DAE_E_OPTION;
        kind = backend->kind;
    }
    if (kind == pattern->kind) {
        s->matrix = *pattern;
        *pattern = (dae_matrix){ 0 };
        return DAE_OK;
    }
    return convert(pattern, kind, s->memory, &s->matrix);
}

int dae_group_columns(const dae_matrix *a, const dae_memory *m, int **start, int **list,
                      int *colors)
{
    int n = a->n, *color = dae_alloc(m, (size_t)n, sizeof(int));
    *start = *list = NULL;
    if (!color) return DAE_E_NOMEM;
    int status = dae_color_columns(a, m, color, colors);
    if (status == DAE_OK) {
        *start = dae_alloc(m, (size_t)*colors + 2, sizeof(int));
        *list = dae_alloc(m, (size_t)n, sizeof(int));
        if (!*start || !*list) status = DAE_E_NOMEM;
    }
    if (status == DAE_OK) { /* counting sort by colour */
        for (int j = 0; j < n; j++) (*start)[color[j] + 2]++;
        for (int c = 0; c < *colors; c++) (*start)[c + 2] += (*start)[c + 1];
        for (int j = 0; j < n; j++) (*list)[(*start)[color[j] + 1]++] = j;
    }
    dae_free(m, color);
    return status;
}

static int take_work(dae_system *s)
{
    size_t n = (size_t)s->n, m = (size_t)s->m;
    dae_vector_wish wish[] = {
        { &s->x_moved, n }, { &s->p_moved, m },   { &s->r_base, n },  { &s->r_moved, n },
        { &s->step, n },    { &s->d_base, m },    { &s->d_moved, m }, { &s->r_above, n },
        { &s->r_below, n }, { &s->row_terms, n }, { &s->size, n },    { &s->p_step, n },
        { &s->p_kept, n },
    };
    s->vectors = dae_alloc_vectors(s->memory, wish, sizeof wish / sizeof *wish);
    s->owner = dae_alloc(s->memory, 2 * n + m, sizeof(int));
    s->place = dae_alloc(s->memory, n, sizeof(int64_t));
    if (!s->vectors || !s->owner || !s->place) return DAE_E_NOMEM;
    s->subset = s->owner + n;
    s->slot = s->subset + n;
    return DAE_OK;
}

static int take_maps(dae_system *s, const dae_matrix *given)
{
    const dae_problem *q = &s->problem;
    int status = DAE_OK;
    size_t count = (size_t)s->matrix.count;
    if (q->rhs && q->mass_kind != DAE_MASS_IDENTITY)
        status = places(&s->mass_matrix, &s->matrix, s->memory, &s->mass_map);
    if (status == DAE_OK && has_jacobian(q)) {
        status = places(given, &s->matrix, s->memory, &s->given_map);
        if (status == DAE_OK && (s->given_map || q->jacobian || q->rhs)) {
            s->given = dae_alloc(s->memory, (size_t)given->count, sizeof(double));
            if (!s->given) status = DAE_E_NOMEM;
        }
    }
    if (status == DAE_OK && q->residual && !q->jacobian_xdot && !q->jacobian) {
        s->previous_C = dae_alloc(s->memory, 2 * count, sizeof(double));
        s->other_C = s->previous_C ? s->previous_C + count : NULL;
        if (!s->previous_C) status = DAE_E_NOMEM;
    }
    return status;
}

dae_status dae_system_analyze(dae_system *s, double t, const double *x, const double *p,
                              const double *w, const char *linear)
{
    const dae_problem *q = &s->problem;
    dae_matrix pattern = { 0 };
    int status = take_work(s);
    if (q->d || (q->rhs && q->mass_kind == DAE_MASS_FUNCTION)) s->facts |= DAE_FACT_D_VARIES;
    if (status == DAE_OK) status = find_pattern(s, t, x, p, w, &pattern);
    if (status == DAE_OK && has_jacobian(q))
        status = q->pattern.kind != DAE_PATTERN_AUTO
                     ? dae_matrix_from_pattern(&q->pattern, s->n, s->memory, &s->given_matrix)
                     : dae_matrix_from_pattern(&(dae_pattern){ .kind = DAE_PATTERN_DENSE }, s->n,
                                               s->memory, &s->given_matrix);
    if (status == DAE_OK) status = add_mass(s, &pattern);
    if (status == DAE_OK) status = settle_layout(s, &pattern, linear);
    if (status == DAE_OK)
        status =
            dae_group_columns(&s->matrix, s->memory, &s->color_start, &s->color_list, &s->colors);
    if (status == DAE_OK) status = take_maps(s, &s->given_matrix);
    dae_matrix_free(s->memory, &pattern);
    if (status == DAE_E_NOMEM || status == DAE_E_LIMIT) {
        dae_fail(s->report, (dae_status)status, "no memory for the structure of the problem");
        dae_why(s->report, "%d unknowns", s->n);
        dae_hint(s->report, "give a sparsity pattern (problem.pattern) if the problem is large");
    }
    s->stats->nonzeros = s->matrix.count;
    return (dae_status)status;
}
