/* entry.c: from a row of a table to a dae_tableau. */
#include "tableau/build.h"
#include "tableau/quad.h"
#include "tableau/text.h"

#include <string.h>

typedef dae_quad square[DAE_STAGES_MOST][DAE_STAGES_MOST];

static int read_vector(const dae_scope *scope, const char *text, dae_quad *out)
{
    square rows;
    memset(rows, 0, sizeof rows);
    if (dae_text_rows(scope, text, rows) != 1) return 0;
    memcpy(out, rows[0], sizeof rows[0]);
    return 1;
}

/* x(theta) = (1 - 3 theta^2 + 2 theta^3) x_n + (3 theta^2 - 2 theta^3) x_(n+1)
 *            + h (theta - 2 theta^2 + theta^3) k_1 + h (theta^3 - theta^2) k_s */
static void make_hermite(dae_tableau *t)
{
    t->dense_terms = 3;
    for (int i = 0; i < t->stages; i++) {
        t->dense[i][1] = 3 * t->b[i];
        t->dense[i][2] = -2 * t->b[i];
    }
    t->dense[0][0] += 1;
    t->dense[0][1] -= 2;
    t->dense[0][2] += 1;
    t->dense[t->stages - 1][1] -= 1;
    t->dense[t->stages - 1][2] += 1;
}

static int make_dense(const dae_entry *e, const dae_scope *scope, dae_tableau *t)
{
    if (strcmp(e->dense, "hermite") == 0) {
        make_hermite(t);
        return 1;
    }
    if (dae_text_rows(scope, e->dense, t->dense) != t->stages) return 0;
    for (int i = 0; i < t->stages; i++)
        for (int k = 0; k < DAE_STAGES_MOST; k++)
            if (t->dense[i][k] != 0 && k >= t->dense_terms) t->dense_terms = k + 1;
    return 1;
}

/* ---- Rosenbrock methods: from the variables u = Gamma k to k ---- */

/* row := row Gamma for the coefficients of a combination: sum row_i u_i = sum row'_j k_j. */
static void to_k(const dae_tableau *t, dae_quad *row)
{
    for (int j = 0; j < t->stages; j++) {
        dae_quad sum = 0;
        for (int i = j; i < t->stages; i++) sum += row[i] * t->gamma[i][j];
        row[j] = sum;
    }
}

/* The published dense output is
 *     x = (1 - theta) x_n + theta (x_(n+1) + (1 - theta) (H_1 + theta (H_2 + theta H_3)) u),
 * the entry has the rows H_1, H_2, ... as they are printed. */
static int rosenbrock_dense(const dae_entry *e, const dae_scope *scope, dae_tableau *t)
{
    square H;
    memset(H, 0, sizeof H);
    int rows = dae_text_rows(scope, e->dense, H);
    if (rows < 1 || rows > 3) return 0;
    for (int k = 0; k < rows; k++) to_k(t, H[k]);
    t->dense_terms = rows + 1;
    for (int i = 0; i < t->stages; i++) {
        t->dense[i][0] = t->b[i];
        for (int k = 0; k < rows; k++) {
            t->dense[i][k] += H[k][i];
            t->dense[i][k + 1] -= H[k][i];
        }
    }
    return 1;
}

static int make_rosenbrock(const dae_entry *e, const dae_scope *scope, dae_tableau *t)
{
    square C;
    dae_quad diagonal[DAE_STAGES_MOST];
    int s = t->stages;
    memset(C, 0, sizeof C);
    if (!read_vector(scope, e->gamma, diagonal) || dae_text_rows(scope, e->C, C) != s) return 0;
    /* Gamma (diag(1/gamma) - C) = I, row by row from the diagonal to the left */
    for (int i = 0; i < s; i++) {
        t->gamma[i][i] = diagonal[0];
        for (int j = i - 1; j >= 0; j--) {
            dae_quad sum = 0;
            for (int k = j + 1; k <= i; k++) sum += t->gamma[i][k] * C[k][j];
            t->gamma[i][j] = sum * diagonal[0];
        }
    }
    for (int i = 0; i < s; i++) to_k(t, t->A[i]);
    to_k(t, t->b);
    to_k(t, t->b_hat);
    return !e->dense || rosenbrock_dense(e, scope, t);
}

/* ---- one entry ---- */

int dae_entry_make(const dae_entry *e, dae_tableau *t)
{
    dae_scope scope;
    scope.count = 0;
    t->title = e->title;
    t->source = e->source;
    t->kind = e->kind;
    t->order = e->order;
    t->stage_order = e->stage_order;
    t->embedded_order = e->embedded_order;
    t->dense_order = e->dense_order;
    t->index1_order = e->index1_order;
    t->claims = e->claims;
    if (e->let && !dae_text_define(&scope, e->let)) return 0;
    t->stages = dae_text_rows(&scope, e->A, t->A);
    if (t->stages == 0) return 0;
    if (!e->b)
        memcpy(t->b, t->A[t->stages - 1], sizeof t->b);
    else if (!read_vector(&scope, e->b, t->b))
        return 0;
    if (e->b_hat && !read_vector(&scope, e->b_hat, t->b_hat)) return 0;
    if (e->kind == DAE_TABLEAU_ROSENBROCK) {
        if (!make_rosenbrock(e, &scope, t)) return 0;
    } else if (e->dense && !make_dense(e, &scope, t)) {
        return 0;
    }
    for (int i = 0; i < t->stages; i++) {
        for (int j = 0; j < t->stages; j++) t->c[i] += t->A[i][j];
        /* printed coefficients have rounding: no stage shall lie 4e-15 h behind the end */
        if (dae_quad_abs(t->c[i] - 1) < (dae_quad)1e-13) t->c[i] = 1;
    }
    return 1;
}

const dae_entry *const dae_entry_lists[] = { dae_entries_explicit,   dae_entries_half_explicit,
                                             dae_entries_dirk,       dae_entries_esdirk,
                                             dae_entries_rosenbrock, NULL };
