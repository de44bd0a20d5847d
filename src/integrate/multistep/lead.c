/* lead.c: simplified Newton for p = y' (and z) with everything else given. With C constant and f
 * affine in p one correction is exact; the second is the proof, and is spared where C is known to
 * be constant. */
#include "integrate/multistep/lead.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

enum { ROW_D = 1, ROW_K = 2, ROW_G = 0 };
enum { MOST_ITERATIONS = 12 };
static const double STRICTER = 0.01; /* than newton_tolerance: the history keeps it */

dae_status dae_lead_open(dae_lead *g, dae_corrector *corrector)
{
    dae_system *s = corrector->system;
    size_t n = (size_t)s->n;
    int dense = s->matrix.kind == DAE_PATTERN_DENSE;
    g->corrector = corrector;
    dae_vector_wish wish[] = { { &g->values, dense ? n * n : n }, { &g->r, n }, { &g->kept, n } };
    g->vectors = dae_alloc_vectors(s->memory, wish, sizeof wish / sizeof *wish);
    g->row = dae_alloc(s->memory, n, sizeof(int));
    g->kind = dae_alloc(s->memory, n, 1);
    if (!g->vectors || !g->row || !g->kind) return DAE_E_NOMEM;
    if (!dense) return DAE_OK;
    int status = corrector->linear->open(corrector->analysis, 0, &g->factor);
    return status == DAE_OK ? DAE_OK : DAE_E_NOMEM;
}

void dae_lead_close(dae_lead *g)
{
    if (!g->corrector) return;
    const dae_memory *m = g->corrector->system->memory;
    if (g->factor) g->corrector->linear->close(g->factor);
    dae_free(m, g->vectors);
    dae_free(m, g->row);
    dae_free(m, g->kind);
    memset(g, 0, sizeof *g);
}

void dae_lead_start(dae_lead *g)
{
    g->ready = 0;
}

static dae_status refuse(const dae_lead *g, double t, const char *why, const char *hint)
{
    dae_system *s = g->corrector->system;
    dae_fail(s->report, DAE_E_OPTION,
             "the problem is not in the form that beta-blocked methods take");
    dae_at(s->report, "t = %.10g", t);
    dae_why(s->report, "%s", why);
    dae_hint(s->report, "%s", hint);
    return DAE_E_OPTION;
}

/* Kinds of rows; 1: C has one entry in each row d and in each column of y, and no z exists. */
static int look(dae_lead *g)
{
    const dae_corrector *q = g->corrector;
    const dae_system *s = q->system;
    const dae_matrix *a = &s->matrix;
    int plain = 1;
    memset(g->kind, ROW_G, (size_t)s->n);
    g->mixed = 0;
    for (int j = 0; j < s->n; j++) {
        int entries = 0;
        g->mixed |= s->level[j] == DAE_ALGEBRAIC;
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++) {
            int i = dae_column_row(a, j, k);
            if (s->level[j] == DAE_DIFFERENTIAL && q->C[k] != 0) {
                plain &= g->kind[i] != ROW_D && entries++ == 0;
                g->kind[i] = ROW_D;
                g->row[j] = i;
            }
            if (s->level[j] == DAE_ALGEBRAIC && q->K[k] != 0 && g->kind[i] == ROW_G)
                g->kind[i] = ROW_K;
        }
        if (s->level[j] == DAE_DIFFERENTIAL && entries == 0) plain = 0;
    }
    return plain && !g->mixed;
}

static int fill_dense(dae_lead *g)
{
    const dae_corrector *q = g->corrector;
    const dae_system *s = q->system;
    size_t n = (size_t)s->n;
    int partner = 0;
    memset(g->values, 0, n * n * sizeof(double));
    for (int j = 0; j < s->n; j++) {
        double *column = g->values + (size_t)j * n;
        const double *C = q->C + (size_t)j * n, *K = q->K + (size_t)j * n;
        if (s->level[j] >= DAE_INDEX2) {
            while (partner < s->n && g->kind[partner] != ROW_G) partner++;
            if (partner == s->n) return 0;
            column[partner++] = 1;
            continue;
        }
        int lead = s->level[j] == DAE_DIFFERENTIAL;
        for (int i = 0; i < s->n; i++)
            if (g->kind[i] != ROW_G) column[i] = lead ? C[i] : K[i];
    }
    return 1;
}

/* An unknown declared algebraic whose derivative occurs: its column, or -1. */
static int contradiction(const dae_lead *g)
{
    const dae_corrector *q = g->corrector;
    const dae_matrix *a = &q->system->matrix;
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            if (q->system->level[j] != DAE_DIFFERENTIAL && q->C[k] != 0) return j;
    return -1;
}

static int prepare(dae_lead *g, double t)
{
    dae_corrector *q = g->corrector;
    dae_system *s = q->system;
    const dae_matrix *a = &s->matrix;
    if (contradiction(g) >= 0)
        return refuse(g, t, "the derivative of an unknown that was declared algebraic occurs",
                      "use bdf-K, bdf or radau; are the levels right?");
    g->plain = look(g);
    if (g->plain) {
        for (int j = 0; j < s->n; j++)
            if (s->level[j] == DAE_DIFFERENTIAL)
                g->values[j] = q->C[dae_matrix_find(a, g->row[j], j)];
        return DAE_OK;
    }
    if (!g->factor)
        return refuse(
            g, t,
            "y' is needed from given multipliers, and the leading matrix has more "
            "than one entry in a row, in a layout that is not dense",
            "solve the equations for the single derivatives, or use linear solver 'dense'");
    dae_factor_info info;
    s->stats->factorizations++;
    int status = fill_dense(g) ? q->linear->factor(g->factor, g->values, g->values, 0, 0, &info)
                               : (int)DAE_E_SINGULAR;
    if (status == DAE_E_SINGULAR)
        return refuse(g, t,
                      "the equations do not give y' when y and the unknowns of level 2 are "
                      "known",
                      "use bdf or radau; are the levels right?");
    if (status != DAE_OK)
        return dae_fail(s->report, (dae_status)status, "the factorization failed");
    return DAE_OK;
}

static int make_ready(dae_lead *g, double t, double h, const double *x, const double *p,
                      const double *w)
{
    dae_corrector *q = g->corrector;
    int status = q->have_jacobian ? DAE_OK : dae_corrector_renew(q, t, x, p, h, w);
    if (status != DAE_OK) return status;
    if (g->ready && g->t_ready == q->t_jacobian) return DAE_OK;
    status = prepare(g, t);
    g->ready = status == DAE_OK;
    g->t_ready = q->t_jacobian;
    return status;
}

/* One correction; *size is its weighted size, *floor what rounding makes of it. */
static int correct(dae_lead *g, double t, double h, double *x, double *p, const double *w,
                   double *size, double *floor)
{
    dae_corrector *q = g->corrector;
    dae_system *s = q->system;
    double most = 0, largest = 0;
    int status = dae_system_f(s, t, x, p, g->r);
    if (status != DAE_OK) return status;
    for (int i = 0; i < s->n; i++)
        if (g->kind[i] == ROW_G) g->r[i] = 0;
    if (g->plain) {
        for (int j = 0; j < s->n; j++)
            g->kept[j] = s->level[j] == DAE_DIFFERENTIAL ? g->r[g->row[j]] / g->values[j] : 0;
        memcpy(g->r, g->kept, (size_t)s->n * sizeof(double));
    } else {
        s->stats->solves++;
        status = q->linear->solve(g->factor, g->r, NULL, 1, 0);
        if (status != DAE_OK) return status == DAE_E_SINGULAR ? DAE_STEP_SINGULAR : status;
    }
    for (int j = 0; j < s->n; j++) {
        if (s->level[j] >= DAE_INDEX2) continue;
        int lead = s->level[j] == DAE_DIFFERENTIAL;
        double *to = lead ? &p[j] : &x[j], factor = w[j] * (lead ? fabs(h) : 1);
        *to -= g->r[j];
        largest = fmax(largest, fabs(x[j]) * w[j] + (lead ? fabs(p[j]) * factor : 0));
        double a = fabs(g->r[j]) * factor;
        if (!(a <= most)) most = a == a ? a : INFINITY;
    }
    *size = most;
    *floor = 32 * DBL_EPSILON * largest;
    return DAE_OK;
}

static int iterate(dae_lead *g, double t, double h, double *x, double *p, const double *w)
{
    dae_system *s = g->corrector->system;
    double size, floor, last = INFINITY, tolerance = STRICTER * g->corrector->tolerance;
    int exact = !g->mixed && (s->facts & DAE_FACT_C_CONSTANT);
    for (int m = 1; m <= MOST_ITERATIONS; m++) {
        int status = correct(g, t, h, x, p, w, &size, &floor);
        if (status == DAE_RETRY) return s->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
        if (status != DAE_OK) return status;
        if (exact || size <= floor || (m > 1 && size <= tolerance)) return DAE_OK;
        if (m > 2 && last <= 100 * floor) return DAE_OK; /* stirring rounding errors */
        if (m > 1 && size > 0.5 * last) return DAE_STEP_NEWTON;
        last = size;
    }
    return DAE_STEP_NEWTON;
}

int dae_lead_solve(dae_lead *g, double t, double h, double *x, double *p, const double *w)
{
    dae_corrector *q = g->corrector;
    int status = make_ready(g, t, h, x, p, w);
    if (status != DAE_OK) return status;
    int status_1 = iterate(g, t, h, x, p, w);
    if (status_1 != DAE_STEP_NEWTON) return status_1;
    status = dae_corrector_renew(q, t, x, p, h, w); /* once more, with the matrix of this point */
    g->ready = 0;
    if (status == DAE_OK) status = make_ready(g, t, h, x, p, w);
    return status == DAE_OK ? iterate(g, t, h, x, p, w) : status;
}
