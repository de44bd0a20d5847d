/* rk_lab.c: test problems, facts about tables, orders: what both precisions share. */
#include "rk_lab.h"

#include "tableau/quad.h"

#include <math.h>
#include <string.h>

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* ---- problems ---- */

/* y1' = y1^3 y2 + y2 (y1^2 y2 - 1),  y2' = -2 y1^2 y2^2 + y1 (y1^2 y2 - 1): solution
 * (exp t, exp -2t). The last terms vanish there and break the symmetry of scaling. */
static const lab_term index0[] = {
    { 0, 1, { 3, 1 } },  { 0, 1, { 2, 2 } }, { 0, -1, { 0, 1 } },
    { 1, -2, { 2, 2 } }, { 1, 1, { 3, 1 } }, { 1, -1, { 1, 0 } },
};
const lab_problem lab_index0 = { "index 0", 2, 0, 0, COUNT(index0), index0, { 1, -2 } };

/* y1' = y1^3 z^2 + y2 (y1^2 y2 - 1),  y2' = -y1^2 y2^2 - z^2,
 * 0 or eps z' = 2 y1 y2 - z - y1^2 z^3.
 * For eps = 0 the solution is (exp t, exp -2t, exp -t), and g_z = -4 there. */
static const lab_term index1[] = {
    { 0, 1, { 3, 0, 2 } },  { 0, 1, { 2, 2, 0 } }, { 0, -1, { 0, 1, 0 } }, { 1, -1, { 2, 2, 0 } },
    { 1, -1, { 0, 0, 2 } }, { 2, 2, { 1, 1, 0 } }, { 2, -1, { 0, 0, 1 } }, { 2, -1, { 2, 0, 3 } },
};
const lab_problem lab_index1 = { "index 1", 2, 1, 1, COUNT(index1), index1, { 1, -2, -1 } };

/* The collection's hessenberg2, nonlinear in z: y1' = y1 y2^2 z^2,
 * y2' = y1^2 y2^2 - 3 y2^2 z, 0 = y1^2 y2 - 1; solution (exp t, exp -2t, exp 2t). */
static const lab_term index2[] = {
    { 0, 1, { 1, 2, 2 } }, { 1, 1, { 2, 2, 0 } },  { 1, -3, { 0, 2, 1 } },
    { 2, 1, { 2, 1, 0 } }, { 2, -1, { 0, 0, 0 } },
};
const lab_problem lab_index2 = { "index 2", 2, 1, 2, COUNT(index2), index2, { 1, -2, 2 } };

/* van der Pol: y' = z, eps z' = (1 - y^2) z - y; no solution in closed form. */
static const lab_term van_der_pol[] = {
    { 0, 1, { 0, 1 } },
    { 1, 1, { 0, 1 } },
    { 1, -1, { 2, 1 } },
    { 1, -1, { 1, 0 } },
};
const lab_problem lab_van_der_pol = { "van der Pol",      1,           1,           1,
                                      COUNT(van_der_pol), van_der_pol, { NAN, NAN } };

/* ---- tables ---- */

/* The inverse of the block of A from row and column `from` on; 0: singular. */
static int invert(const dae_tableau *t, int from, dae_quad w[][DAE_STAGES_MOST])
{
    int n = t->stages - from, pivot[DAE_STAGES_MOST];
    dae_quad m[DAE_STAGES_MOST * DAE_STAGES_MOST], e[DAE_STAGES_MOST];
    for (int i = 0; i < n; i++)
        for (int j = 0; j < n; j++) m[i + j * n] = t->A[from + i][from + j];
    if (n == 0 || !lab_factor_q(n, m, pivot)) return 0;
    for (int k = 0; k < n; k++)
        if (lab_abs_q(m[k + k * n]) < 100000 * dae_quad_epsilon()) return 0;
    for (int j = 0; j < n; j++) {
        for (int i = 0; i < n; i++) e[i] = i == j;
        lab_solve_q(n, m, pivot, e);
        for (int i = 0; i < n; i++) w[from + i][from + j] = e[i];
    }
    return 1;
}

/* Characteristic polynomial by Faddeev and LeVerrier, then Routh's array for p(-x): all
 * eigenvalues of A on the right are all roots of p(-x) on the left. */
static int on_the_right(const dae_tableau *t)
{
    int n = t->stages;
    dae_quad p[DAE_STAGES_MOST + 1] = { 1 };
    dae_quad M[DAE_STAGES_MOST][DAE_STAGES_MOST] = { { 0 } };
    dae_quad row[2][DAE_STAGES_MOST + 2] = { { 0 }, { 0 } };
    for (int k = 1; k <= n; k++) { /* M = A M + p_{k-1} I, p_k = -trace(A M) / k */
        dae_quad N[DAE_STAGES_MOST][DAE_STAGES_MOST] = { { 0 } }, trace = 0;
        for (int i = 0; i < n; i++)
            for (int j = 0; j < n; j++) {
                N[i][j] = i == j ? p[k - 1] : 0;
                for (int l = 0; l < n; l++) N[i][j] += t->A[i][l] * M[l][j];
            }
        memcpy(M, N, sizeof M);
        for (int i = 0; i < n; i++)
            for (int l = 0; l < n; l++) trace += t->A[i][l] * M[l][i];
        p[k] = -trace / k;
    }
    for (int k = 0; k <= n; k++) row[k % 2][k / 2] = k % 2 ? -p[k] : p[k];
    for (int k = 1; k <= n; k++) { /* row[k % 2] is the newer one */
        dae_quad *new = row[k % 2], *old = row[(k + 1) % 2];
        if (!(new[0] > 0)) return 0;
        dae_quad ratio = old[0] / new[0];
        for (int i = 0; i <= n; i++) old[i] = old[i + 1] - ratio * new[i + 1];
    }
    return 1;
}

void lab_look(const dae_tableau *t, lab_facts *out)
{
    *out = (lab_facts){ .s = t->stages,
                        .order = t->order,
                        .stage_order = t->stage_order,
                        .stiffly_accurate = 1,
                        .explicit_first = 1,
                        .at_infinity = NAN };
    dae_quad sum = 0, rounding = 100000 * dae_quad_epsilon();
    for (int j = 0; j < t->stages; j++) {
        if (lab_abs_q(t->b[j] - t->A[t->stages - 1][j]) > rounding) out->stiffly_accurate = 0;
        if (t->A[0][j] != 0) out->explicit_first = 0;
    }
    out->invertible = invert(t, 0, out->w);
    if (out->explicit_first) out->explicit_first = invert(t, 1, out->w);
    if (!out->invertible) return;
    for (int i = 0; i < t->stages; i++)
        for (int j = 0; j < t->stages; j++) sum += t->b[i] * out->w[i][j];
    out->at_infinity = lab_abs_q(1 - sum) < rounding ? 0 : (double)(1 - sum);
    out->right_half = on_the_right(t);
}

int lab_find(verdicts *v, const char *family, int s, dae_tableau *out)
{
    char name[40];
    if (s)
        snprintf(name, sizeof name, "%s-%d", family, s);
    else
        snprintf(name, sizeof name, "%s", family);
    if (dae_tableau_find(name, out)) return 1;
    fprintf(v->out, "    no table '%s'  %s\n", name, verdict(v, 0));
    return 0;
}

const char *lab_refuted(verdicts *v, int off)
{
    verdict(v, off);
    return off ? "refuted" : "NOT REFUTED";
}

/* ---- orders ---- */

lab_error lab_orders(const lab_study *s)
{
    double h[4], y[4], z[4];
    for (int i = 0; i < s->count; i++) {
        lab_run r = s->run;
        h[i] = s->length / s->n[i];
        r.h = (dae_quad)s->length / s->n[i];
        r.steps = s->local ? 1 : s->n[i];
        lab_error e = s->quad ? lab_error_q(&r) : lab_error_d(&r);
        y[i] = e.y;
        z[i] = e.z;
    }
    return (lab_error){ fitted_order(s->count, h, y), fitted_order(s->count, h, z) };
}
