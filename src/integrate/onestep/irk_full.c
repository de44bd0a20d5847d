/* irk_full.c: Newton's iteration with the stages' own Jacobians.
 *
 * Simplified Newton (irk.c) takes K and C at one point. Where C = f_p d_x moves over the step its
 * error is multiplied by 1/h: at index 2 the rate of convergence is then O(1) for every step
 * size, since the inverse of K + cC has a part of the size of c. The full equations of the stages
 * are [seed 001, (131)]
 *
 *     K_i Delta Z_i + (1/h) sum_j omega_ij C_ij Delta Z_j = f_i,     C_ij = f_p(X_i) d_x(X_j)
 *
 * with C_ij = C_i for d = x. For a computed d the columns of d_x(X_j) are differences, and
 * f_p(X_i) is applied to each: s (s - 1) evaluations of f for an unknown that d depends on. One
 * matrix of order s n, dense or sparse like that of the system.
 *
 * A correction is shortened until the next one, with the same factors, is smaller than it: the
 * natural monotonicity test [Deuflhard 2004, 3.3]. That is for a step whose size is prescribed. Where it may
 * be smaller a correction that would have to be shortened ends the attempt: an iteration that contracts from
 * the prediction on has one solution within its reach, which is the one that continues the solution; a damped
 * one finds a solution, and equations without a derivative can have others.
 *
 * It is used where the simplified iteration failed with a Jacobian of this step and the step
 * cannot be made smaller, or was several times in vain. Its memory is taken when that first
 * happens, the one exception to "all memory in open": s^2 times the nonzeros would be too much
 * for runs that never come here.
 */
#include "integrate/onestep/irk.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

typedef struct irk_full {
    int stages; /* that the matrix is for */
    const dae_linear *linear;
    dae_matrix matrix; /* of order s n */
    void *analysis, *factor;
    double *vectors;
    double *values, *K, *C; /* of the matrix; of one stage */
    double *r, *delta, *Z;  /* s n; s n; Z before the correction */
    double *x, *y, *d, *v;  /* computed d: a moved point, f_p v; d, a column of d_x */
} irk_full;

enum { ITERATIONS = 30, HALVINGS = 10 };

void irk_full_close(irk_stages *k, dae_solver *s)
{
    irk_full *g = k->full;
    if (!g) return;
    if (g->factor) g->linear->close(g->factor);
    if (g->analysis) g->linear->release(g->analysis);
    dae_matrix_free(&s->memory, &g->matrix);
    dae_free(&s->memory, g->vectors);
    dae_free(&s->memory, g);
    k->full = NULL;
}

/* Every block has the pattern of the system. Dense where that is. */
static int make_pattern(irk_full *g, dae_solver *s, int stages)
{
    const dae_matrix *a = &s->system.matrix;
    int n = a->n, order = stages * n, status = DAE_E_NOMEM;
    dae_pattern p = { .kind = DAE_PATTERN_DENSE };
    if (a->kind == DAE_PATTERN_DENSE)
        return dae_matrix_from_pattern(&p, order, &s->memory, &g->matrix);
    int64_t *start = dae_alloc(&s->memory, (size_t)order + 1, sizeof *start), at = 0;
    int *row = dae_alloc(&s->memory, (size_t)(stages * stages) * (size_t)a->count, sizeof *row);
    for (int column = 0; start && row && column < order; column++) {
        start[column] = at;
        for (int i = 0; i < stages; i++)
            for (int64_t e = dae_column_begin(a, column % n), end = dae_column_end(a, column % n);
                 e < end; e++)
                row[at++] = i * n + dae_column_row(a, column % n, e);
        start[column + 1] = at;
    }
    p = (dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = start, .row = row };
    if (start && row) status = dae_matrix_from_pattern(&p, order, &s->memory, &g->matrix);
    dae_free(&s->memory, start);
    dae_free(&s->memory, row);
    return status;
}

static int open_full(irk_stages *k, dae_solver *s)
{
    int stages = k->scheme->stages;
    if (k->full && k->full->stages == stages) return DAE_OK;
    irk_full_close(k, s);
    irk_full *g = k->full = dae_alloc(&s->memory, 1, sizeof *g);
    if (!g) return DAE_E_NOMEM;
    g->stages = stages;
    int status = make_pattern(g, s, stages);
    if (status != DAE_OK) return status;
    g->linear = dae_linear_find(NULL, &g->matrix);
    size_t all = (size_t)stages * (size_t)k->stride, one = (size_t)s->system.matrix.count;
    size_t m = (size_t)s->system.computed, n = m > 0 ? (size_t)k->n : 0;
    dae_vector_wish wish[] = { { &g->values, (size_t)g->matrix.count },
                               { &g->K, one },
                               { &g->C, one },
                               { &g->r, all },
                               { &g->delta, all },
                               { &g->Z, all },
                               { &g->x, n },
                               { &g->y, n },
                               { &g->d, m },
                               { &g->v, m } };
    g->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!g->vectors || !g->linear) return DAE_E_NOMEM;
    status = g->linear->analyze(&g->matrix, &s->memory, &g->analysis);
    return status == DAE_OK ? g->linear->open(g->analysis, 0, &g->factor) : status;
}

/* Block (i, j) += factor * part. */
static void add_block(irk_full *g, const dae_matrix *a, int i, int j, double factor,
                      const double *part)
{
    int n = a->n;
    for (int l = 0; l < n; l++) {
        int64_t begin = dae_column_begin(a, l), end = dae_column_end(a, l);
        int64_t at = dae_column_begin(&g->matrix, j * n + l) + i * (end - begin);
        for (int64_t e = begin; e < end; e++) g->values[at + e - begin] += factor * part[e];
    }
}

/* Column l of d_x(X_j) into v; *occurs 0: d does not depend on x_l here. */
static int column_of_d(irk_stages *k, dae_solver *s, double h, int j, int l, int *occurs)
{
    irk_full *g = k->full;
    int m = k->m;
    *occurs = 0;
    double keep = g->x[l], step = fmax(sqrt(DBL_EPSILON) * fabs(keep), 1 / s->w0[l]);
    g->x[l] += step;
    step = g->x[l] - keep;
    int status = dae_system_d(&s->system, s->t + k->scheme->c[j] * h, g->x, g->v);
    g->x[l] = keep;
    if (status != DAE_OK) return status;
    for (int i = 0; i < m; i++) {
        g->v[i] = (g->v[i] - g->d[i]) / step;
        *occurs |= g->v[i] != 0;
    }
    return DAE_OK;
}

/* Computed d: the blocks (i, j), i != j. The residuals of the stages are in R. */
static int add_mixed(irk_stages *k, dae_solver *s, double h, int j)
{
    irk_full *g = k->full;
    const irk_scheme *m = k->scheme;
    const dae_matrix *a = &s->system.matrix;
    memcpy(g->x, k->X + j * k->stride, (size_t)k->n * sizeof(double));
    int status = dae_system_d(&s->system, s->t + m->c[j] * h, g->x, g->d);
    for (int l = 0; l < k->n && status == DAE_OK; l++) {
        int occurs;
        status = column_of_d(k, s, h, j, l, &occurs);
        if (!occurs) continue;
        for (int i = 0; i < m->stages && status == DAE_OK; i++) {
            if (i == j) continue;
            status = dae_system_push_p(&s->system, s->t + m->c[i] * h, k->X + i * k->stride,
                                       k->P + i * k->stride_d, k->R + i * k->stride, g->v, g->y);
            int64_t begin = dae_column_begin(a, l), end = dae_column_end(a, l);
            double *to = g->values + dae_column_begin(&g->matrix, j * k->n + l) + i * (end - begin);
            for (int64_t e = begin; e < end; e++)
                to[e - begin] += m->omega[i][j] / h * g->y[dae_column_row(a, l, e)];
        }
    }
    return status;
}

/* Jacobians at all stages, and the factors of the whole. */
static int renew(irk_stages *k, dae_solver *s, double h)
{
    irk_full *g = k->full;
    const irk_scheme *m = k->scheme;
    const dae_matrix *a = &s->system.matrix;
    dae_factor_info info;
    int status = s->system.computed ? irk_stages_residuals(k, s, h) : DAE_OK;
    memset(g->values, 0, (size_t)g->matrix.count * sizeof(double));
    for (int i = 0; i < m->stages && status == DAE_OK; i++) {
        s->system.facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
        status = dae_system_jacobian(&s->system, s->t + m->c[i] * h, k->X + i * k->stride,
                                     k->P + i * k->stride_d, h, s->w, g->K, g->C);
        if (status != DAE_OK) break;
        add_block(g, a, i, i, 1, g->K);
        for (int j = 0; j < m->stages; j++)
            if (i == j || !s->system.computed) add_block(g, a, i, j, m->omega[i][j] / h, g->C);
        if (s->system.computed) status = add_mixed(k, s, h, i);
    }
    if (status != DAE_OK) return status;
    s->stats.factorizations++;
    status = g->linear->factor(g->factor, g->values, g->values, 0, 0, &info);
    if (status == DAE_E_SINGULAR) return DAE_STEP_SINGULAR;
    return status == DAE_E_NONFINITE_JAC ? DAE_STEP_NONFINITE : status;
}

/* out: the correction that belongs to the stages as they are; *size: its weighted size. */
static int correction(irk_stages *k, dae_solver *s, double h, double *out, double *size)
{
    irk_full *g = k->full;
    int n = k->n, stages = k->scheme->stages, status = irk_stages_residuals(k, s, h);
    if (status != DAE_OK) return status;
    for (int i = 0; i < stages; i++)
        memcpy(out + i * n, k->R + i * k->stride, (size_t)n * sizeof(double));
    status = g->linear->solve(g->factor, out, NULL, 1, 0);
    s->stats.solves++;
    *size = 0;
    for (int i = 0; i < stages * n && status == DAE_OK; i++) {
        double a = fabs(out[i]) * k->w[i % n];
        if (!(a <= *size)) *size = a == a ? a : INFINITY, s->corrector.worst = i % n;
    }
    return status;
}

/* Z := Z before - part * delta, and what follows from it. */
static int move(irk_stages *k, dae_solver *s, double h, double part)
{
    const irk_full *g = k->full;
    for (int i = 0; i < k->scheme->stages; i++)
        for (int l = 0; l < k->n; l++)
            k->Z[i * k->stride + l] = g->Z[i * k->stride + l] - part * g->delta[i * k->n + l];
    return irk_stages_begin(k, s, h, NULL);
}

/* One correction, as much of it as makes the next one smaller. *size: that of the next. */
static int advance(irk_stages *k, dae_solver *s, double h, int most_halvings, double *size)
{
    irk_full *g = k->full;
    double part = 1, next = 0;
    int status = DAE_STEP_NEWTON;
    memcpy(g->Z, k->Z, (size_t)(k->scheme->stages * k->stride) * sizeof(double));
    for (int halvings = 0; halvings <= most_halvings; halvings++, part /= 2) {
        status = move(k, s, h, part);
        if (status == DAE_OK) status = correction(k, s, h, g->r, &next);
        if (status < 0 || (status == DAE_OK && next <= (1 - part / 4) * *size)) break;
        if (status == DAE_OK) status = DAE_STEP_NEWTON;
    }
    k->remaining = next;
    k->rate = *size > 0 ? next / *size : 0;
    *size = part < 1 ? INFINITY : next; /* a shortened one is not the last */
    return status;
}

/* Newton from the prediction. The simplified correction after a whole one bounds what it left. */
int irk_stages_full(irk_stages *k, dae_solver *s, double h, double tolerance, int prescribed)
{
    int status = open_full(k, s);
    if (status != DAE_OK) {
        irk_full_close(k, s);
        return dae_fail(&s->report, DAE_E_NOMEM, "out of memory: Newton's iteration on all stages");
    }
    for (k->iterations = 1; k->iterations <= ITERATIONS; k->iterations++) {
        double size;
        status = renew(k, s, h);
        if (status == DAE_OK) status = correction(k, s, h, k->full->delta, &size);
        s->stats.newton_iterations++;
        if (status != DAE_OK || !(size < 1e300)) break;
        double first = size;
        status = advance(k, s, h, prescribed ? HALVINGS : 0, &size);
        if (status == DAE_OK && (size <= tolerance || first <= 1e-3 * tolerance)) return DAE_OK;
        /* corrections that do not fall any more are rounding, amplified: irk_stages_solve has this bound */
        if (status == DAE_STEP_NEWTON && first * s->safety <= 0.1) return move(k, s, h, 0);
        if (status != DAE_OK) break;
    }
    if (status < 0) return dae_fail(&s->report, (dae_status)status, "the factorization failed");
    return status == DAE_OK ? DAE_STEP_NEWTON : status == DAE_RETRY ? DAE_STEP_NONFINITE : status;
}
