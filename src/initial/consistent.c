/* consistent.c: index-1 consistent initial values.
 *
 * Keeping the differential part: solve f(t, x, p + c (d(x) - d(x0))) = 0 for x with a large c.
 * That is an implicit Euler step so short that d does not move within its tolerance, while
 * p = c (d(x) - d(x0)) comes out to full accuracy because the correction is kept apart from x.
 * It needs no partition into differential and algebraic unknowns, so it also serves fully
 * implicit systems; K + cC is regular exactly when the index is at most 1 (or c is unlucky).
 * c is chosen from the rows of K, C and f, so that units of time do not matter.
 */
#include "initial/consistent.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "linear/lapack.h"

#include <math.h>
#include <string.h>

/* Row sums of |K| and |C| in units of the tolerances: sum_j |K_ij| / w_j. */
static void row_scales(const dae_corrector *q, const double *w, double *k_row, double *c_row)
{
    const dae_matrix *a = &q->system->matrix;
    memset(k_row, 0, (size_t)a->n * sizeof(double));
    memset(c_row, 0, (size_t)a->n * sizeof(double));
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++) {
            int i = dae_column_row(a, j, k);
            k_row[i] += fabs(q->K[k]) / w[j];
            c_row[i] += fabs(q->C[k]) / w[j];
        }
}

/* The rounding error of row i is estimated by eps times the sum of its terms. With a computed d those of
 * f_p p are not known one by one: what f loses without the even or without the odd entries of p stands for
 * them. `image` is scratch. */
static int row_terms(const dae_corrector *q, double t, const double *x, const double *p,
                     const double *r, double *terms, double *image)
{
    dae_system *s = q->system;
    const dae_matrix *a = &s->matrix;
    memset(terms, 0, (size_t)a->n * sizeof(double));
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            terms[dae_column_row(a, j, k)] +=
                fabs(q->K[k] * x[j]) + (s->computed ? 0 : fabs(q->C[k] * p[j]));
    for (int odd = 0; s->computed && odd < 2; odd++) {
        for (int i = 0; i < s->m; i++) s->p_moved[i] = i % 2 == odd ? 0 : p[i];
        int status = dae_system_f(s, t, x, s->p_moved, image);
        if (status != DAE_OK) return status;
        for (int i = 0; i < s->n; i++) terms[i] += fabs(r[i] - image[i]);
    }
    return DAE_OK;
}

int dae_initial_test(dae_corrector *q, double t, const double *x, const double *p, const double *w,
                     int *row, double *excess)
{
    dae_system *s = q->system;
    int n = s->n;
    double *r = q->r, *k_row = q->delta, *c_row = k_row + n, *terms = c_row + n;
    int status = dae_system_f(s, t, x, p, r);
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_STEP_NONFINITE : status;
    row_scales(q, w, k_row, c_row);
    status = row_terms(q, t, x, p, r, terms, q->change);
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_STEP_NONFINITE : status;
    *excess = 0;
    *row = -1;
    double fastest =
        0; /* p is found as a whole: a row whose own p is zero has it rounded as the others have theirs */
    for (int i = 0; i < n; i++)
        if (c_row[i] > 0) fastest = fmax(fastest, terms[i] / c_row[i]);
    for (int i = 0; i < n; i++) {
        double allowed =
            k_row[i] + 1e4 * DBL_EPSILON * (terms[i] + k_row[i] + c_row[i] * fastest) + DBL_MIN;
        double over = fabs(r[i]) / allowed;
        if (over > *excess) {
            *excess = over;
            *row = i;
        }
    }
    return *excess <= 1e-2 ? DAE_OK : 1;
}

/* Large enough that the differential part moves by no more than 1 / FAST of its tolerance. */
static const double FAST = 1e6, FAST_COMPUTED = 1e3;
/* But where C is singular without zero columns K must show beside cC in what C does not determine, rows of K that
 * are smaller than the largest too. If it does not, at fine tolerances, the differential part must move more: it is
 * put back in further rounds. */
static const double DROWNING[] = { 1e9, 1e6, 1e3 };
enum { DROWNINGS = sizeof DROWNING / sizeof *DROWNING };

/* *fastest: the largest rate of a row of K. */
static double probing_rate(const dae_corrector *q, const double *r, const double *w,
                           double *fastest)
{
    int n = q->system->n;
    double *k_row = q->delta, *c_row = k_row + n, rate = 0, most = 0;
    row_scales(q, w, k_row, c_row);
    /* with a computed d, p = c (d(x) - d) must not drown in the rounding of d: c stays smaller,
     * and d is put back in further rounds */
    int computed = q->system->computed;
    for (int i = 0; i < n; i++)
        if (c_row[i] > 0) {
            rate = fmax(rate, fmax(computed ? 0 : fabs(r[i]), k_row[i]) / c_row[i]);
            most = fmax(most, k_row[i] / c_row[i]);
        }
    rate *= computed ? FAST_COMPUTED : FAST;
    *fastest = most;
    return rate > 1e-290 && rate < 1e290 ? rate : 1;
}

static dae_status refuse(dae_corrector *q, double t, int verdict, const double *x, const double *p,
                         const double *w)
{
    dae_system *s = q->system;
    char place[DAE_PLACE], moved[DAE_PLACE];
    int row = -1;
    double excess = 0;
    if (verdict < 0) return (dae_status)verdict;
    if (verdict == DAE_STEP_NONFINITE && s->bad_column >= 0) return dae_jacobian_failure(s, t);
    if (verdict == DAE_STEP_NONFINITE || verdict == DAE_STEP_RETRY) {
        dae_fail(s->report, DAE_E_NONFINITE, "%s is not defined at the initial values",
                 s->bad_retry ? "a callback" : s->bad_where);
        if (s->bad_retry)
            dae_at(s->report, "t = %.10g, %s", t, s->bad_where);
        else
            dae_at(s->report, "t = %.10g%s", t, dae_place(s, s->bad_row, -1, place));
        dae_hint(s->report, "look for a division by zero or a log or sqrt of a negative number");
        return DAE_E_NONFINITE;
    }
    if (verdict == DAE_STEP_SINGULAR) {
        dae_fail(s->report, DAE_E_SINGULAR, "the equations do not determine the initial values");
        dae_at(s->report, "t = %.10g%s", t, dae_place(s, q->info.row, q->info.column, place));
        dae_why(s->report, "the matrix of the initial problem is singular there");
        dae_hint(s->report, "two equations may say the same, an equation may be missing, or the "
                            "index is above 1: then declare levels (problem.level)");
        return DAE_E_SINGULAR;
    }
    dae_initial_test(q, t, x, p, w, &row, &excess);
    dae_fail(s->report, DAE_E_INCONSISTENT, "no consistent initial values were found");
    dae_at(s->report, "t = %.10g%s", t, dae_place(s, row, -1, place));
    dae_place(s, -1, q->worst, moved);
    dae_why(s->report, "Newton's iteration stopped at residual %.3g there, after %d iterations%s%s",
            row >= 0 ? q->r[row] : 0.0, q->iterations, moved[0] ? "; what moved most" : "", moved);
    dae_hint(s->report,
             "the equation may have no real solution near these values: give better ones");
    return DAE_E_INCONSISTENT;
}

/* d moves by p / c; with p known further rounds put it back. d hardly moves: Newton is judged by
 * what becomes of f_p p = c C e, too. */
static int solve_in_rounds(dae_corrector *q, dae_initial_work *k, dae_stage *g, int rounds)
{
    dae_system *s = q->system;
    double fast = s->computed ? 0 : FAST, *k_row = q->delta, *c_row = k_row + s->n;
    row_scales(q, g->w, k_row, c_row);
    for (int i = 0; i < s->n; i++) k->w_r[i] = c_row[i] > 0 ? fast / (g->c * c_row[i]) : 0;
    int verdict = dae_corrector_damped(q, g, 50, DAE_HALVINGS);
    for (int round = 0; verdict == DAE_OK && round < rounds; round++) {
        memcpy(k->p_pred_2, g->p, (size_t)s->m * sizeof(double));
        g->p_pred = k->p_pred_2;
        verdict = dae_corrector_damped(q, g, 50, DAE_HALVINGS);
    }
    return verdict;
}

static int solve_keeping_d(dae_corrector *q, double t, double *x, double *p, const double *w,
                           dae_initial_work *k, dae_stage *g)
{
    dae_system *s = q->system;
    memcpy(k->x_pred, x, (size_t)s->n * sizeof(double));
    memcpy(k->p_pred, p, (size_t)s->m * sizeof(double));
    if (s->computed) {
        int status = dae_system_d(s, t, x, k->d_pred);
        if (status != DAE_OK) return status == DAE_RETRY ? DAE_STEP_NONFINITE : status;
    }
    int status = dae_system_f(s, t, x, p, q->r);
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_STEP_NONFINITE : status;
    status = dae_corrector_renew(q, t, x, p, 0, w);
    if (status != DAE_OK) return status;
    double fastest, c = probing_rate(q, q->r, w, &fastest);
    *g = (dae_stage){ .t = t,
                      .c = c,
                      .h = 0,
                      .x_pred = k->x_pred,
                      .p_pred = k->p_pred,
                      .d_pred = k->d_pred,
                      .x = x,
                      .p = p,
                      .e = k->e,
                      .d = k->d,
                      .e_d = k->e_d,
                      .w = w,
                      .w_r = k->w_r };
    int verdict = solve_in_rounds(q, k, g, s->computed ? 4 : 0);
    int drowned = verdict == DAE_STEP_SINGULAR || verdict == DAE_STEP_NEWTON;
    dae_factor_info info = q->info; /* of the verdict that stands if this does not help */
    int again = drowned && !s->computed ? DAE_STEP_SINGULAR : DAE_OK;
    for (int i = 0; again == DAE_STEP_SINGULAR && i < DROWNINGS; i++) {
        g->c = DROWNING[i] * fastest;
        g->p_pred = k->p_pred;
        if (!(g->c > 0 && g->c < c)) continue;
        again = solve_in_rounds(q, k, g, 2 + i);
        if (again == DAE_OK) return DAE_OK;
    }
    q->info = info;
    return verdict;
}

static int solve_keeping_p(dae_corrector *q, double t, double *x, double *p, const double *w,
                           dae_initial_work *k, dae_stage *g)
{
    dae_system *s = q->system;
    memcpy(k->x_pred, x, (size_t)s->n * sizeof(double));
    memcpy(k->p_pred, p, (size_t)s->m * sizeof(double));
    if (s->computed) {
        int status = dae_system_d(s, t, x, k->d_pred);
        if (status != DAE_OK) return status == DAE_RETRY ? DAE_STEP_NONFINITE : status;
    }
    *g = (dae_stage){ .t = t,
                      .c = 0,
                      .h = 0,
                      .x_pred = k->x_pred,
                      .p_pred = k->p_pred,
                      .d_pred = k->d_pred,
                      .x = x,
                      .p = p,
                      .e = k->e,
                      .d = k->d,
                      .e_d = k->e_d,
                      .w = w };
    return dae_corrector_damped(q, g, 50, DAE_HALVINGS);
}

/* After Newton, with the differential unknowns put back: corrections with the last factors,
 * taken by p and the algebraic unknowns alone, until the equations hold. What the large c hid
 * from the norm comes out here. */
static int polish(dae_corrector *q, double t, double *x, double *p, const double *w, double c,
                  int rounds)
{
    dae_system *s = q->system;
    int row, verdict = DAE_OK;
    double excess;
    for (int round = 0;; round++) {
        verdict = dae_initial_test(q, t, x, p, w, &row, &excess);
        if (verdict != 1 || s->computed || !q->have_factor || round >= rounds) break;
        int status = dae_corrector_solve_with(q, q->r, 1);
        if (status != DAE_OK) return status;
        for (int j = 0; j < s->n; j++) {
            if (s->level[j] != DAE_DIFFERENTIAL)
                x[j] -= q->r[j];
            else
                p[j] -= c * q->r[j];
        }
    }
    if (verdict == 1) verdict = excess <= 1 ? DAE_OK : DAE_STEP_NEWTON;
    return verdict;
}

/* What Newton found, with nothing put back: where C is singular without zero columns (a loop of
 * capacitors) no unknown is differential by itself, and equations among them may have moved all. */
static void take_found(const dae_system *s, const dae_stage *g, double *x, double *p)
{
    for (int j = 0; j < s->n; j++) {
        x[j] = g->x_pred[j] + g->e[j];
        if (s->level[j] == DAE_DIFFERENTIAL) p[j] = g->p_pred[j] + g->c * g->e[j];
    }
}

static dae_status find_consistent(dae_corrector *q, double t, double *x, double *p, const double *w,
                                  dae_keep keep, dae_initial_work *k)
{
    dae_system *s = q->system;
    size_t nb = (size_t)s->n * sizeof(double), mb = (size_t)s->m * sizeof(double);
    dae_stage g;
    int verdict = keep == DAE_KEEP_DIFFERENTIAL ? solve_keeping_d(q, t, x, p, w, k, &g)
                                                : solve_keeping_p(q, t, x, p, w, k, &g);
    if (verdict == DAE_OK || verdict == DAE_STEP_NEWTON) {
        /* the equations decide: no success without them, no failure against them */
        int keeps = keep == DAE_KEEP_DIFFERENTIAL;
        for (int j = 0; keeps && !s->computed && j < s->n; j++)
            if (s->level[j] == DAE_DIFFERENTIAL) x[j] = k->x_pred[j]; /* exactly as given */
        for (int j = 0; keeps && !s->computed && j < s->n; j++)
            if (s->level[j] != DAE_DIFFERENTIAL) p[j] = k->p_pred[j]; /* c e means nothing there */
        if (keeps && s->computed && verdict == DAE_OK) {
            dae_status status = dae_initial_derivative(q, t, x, p, w, k);
            if (status != DAE_OK) return status;
        }
        int found = verdict == DAE_OK;
        verdict = polish(q, t, x, p, w, keeps ? g.c : 0, found ? 4 : 0);
        if (found && verdict == DAE_STEP_NEWTON && keeps && !s->computed) {
            take_found(s, &g, x, p);
            verdict = polish(q, t, x, p, w, 0, 0);
        }
    }
    q->have_factor = 0;
    if (verdict == DAE_OK) return DAE_OK;
    dae_status status = refuse(q, t, verdict, x, p, w);
    memcpy(x, k->x_pred, nb);
    memcpy(p, k->p_pred, mb);
    return status;
}

/* Where f bends in p and C comes from differences their increments, of velocities that nobody knows yet, may be so wide
 * that C is a secant far from the solution (sinh(U x'), in a unit of time that makes U large). Then narrower ones. */
enum { NARROWER = 6 };

dae_status dae_initial_consistent(dae_corrector *q, double t, double *x, double *p, const double *w,
                                  dae_keep keep, dae_initial_work *k)
{
    dae_system *s = q->system;
    dae_report first;
    dae_status status = DAE_OK, said = DAE_OK;
    int differences = keep == DAE_KEEP_DIFFERENTIAL && !s->computed &&
                      !(s->facts & DAE_FACT_C_CONSTANT) && !s->problem.jacobian &&
                      !s->problem.jacobian_xdot;
    for (s->narrow = 0;; s->narrow++) {
        status = find_consistent(q, t, x, p, w, keep, k);
        if (s->narrow == 0) first = *s->report, said = status;
        if (status != DAE_E_INCONSISTENT || !differences || s->narrow == NARROWER) break;
        dae_report_clear(s->report);
    }
    s->narrow = 0;
    if (status == DAE_OK) return DAE_OK;
    *s->report = first;
    return said;
}

/* ---- higher index: p alone ---- */

/* Every equation with a derivative has just one, and no two the same: solved row by row. */
static int solve_rows(dae_corrector *q, double *p)
{
    const dae_matrix *a = &q->system->matrix;
    int n = a->n;
    double *count_row = q->delta, *count_column = q->delta + n;
    memset(q->delta, 0, 2 * (size_t)n * sizeof(double));
    for (int j = 0; j < n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            if (q->C[k] != 0) {
                count_row[dae_column_row(a, j, k)]++;
                count_column[j]++;
            }
    for (int i = 0; i < n; i++)
        if (count_row[i] > 1 || count_column[i] > 1) return 0;
    for (int j = 0; j < n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            if (q->C[k] != 0) p[j] -= q->r[dae_column_row(a, j, k)] / q->C[k];
    return 1;
}

/* One sweep towards largest entries of 1 in all rows and columns of A, n x m, by powers of two: their
 * roots, so that rows and columns share what is to be done [Ruiz 2001]. */
static void equilibrate(int n, int m, double *A, double *row, double *column)
{
    for (int i = 0; i < n; i++) row[i] = 0;
    for (int j = 0; j < m; j++) {
        column[j] = 0;
        for (int i = 0; i < n; i++) {
            double size = fabs(A[(size_t)j * (size_t)n + (size_t)i]);
            row[i] = fmax(row[i], size);
            column[j] = fmax(column[j], size);
        }
    }
    for (int i = 0; i < n; i++) row[i] = row[i] > 0 ? exp2(round(-0.5 * log2(row[i]))) : 1;
    for (int j = 0; j < m; j++) column[j] = column[j] > 0 ? exp2(round(-0.5 * log2(column[j]))) : 1;
    for (int j = 0; j < m; j++)
        for (int i = 0; i < n; i++) A[(size_t)j * (size_t)n + (size_t)i] *= row[i] * column[j];
}

/* The solution of least squares of A y = b in units in which no row and no column of A stands out: where the
 * equations can be satisfied, and those without derivatives hold, they are, whatever the units. */
static void solve_in_units(int n, int m, double *A, double *b, double *units, int *pivot,
                           double *work, int size)
{
    enum { SWEEPS = 8 };
    int one = 1, rank = 0, info = 0, rows = n > m ? n : m;
    double rcond = 1e-10, *column = units, *row_now = column + m, *column_now = row_now + n;
    for (int j = 0; j < m; j++) column[j] = 1;
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        equilibrate(n, m, A, row_now, column_now);
        for (int i = 0; i < n; i++) b[i] *= row_now[i];
        for (int j = 0; j < m; j++) column[j] *= column_now[j];
    }
    dgelsy_(&n, &m, &one, A, &n, b, &rows, pivot, &rcond, &rank, work, &size, &info);
    for (int j = 0; j < m; j++) b[j] *= column[j];
}

static int solve_least_squares(dae_corrector *q, double t, const double *x, double *p,
                               dae_initial_work *k)
{
    dae_system *s = q->system;
    const dae_matrix *a = &s->matrix;
    int n = s->n, m = s->m, rows = n > m ? n : m;
    int size = 4 * (n + m) + 64 * (rows + 1);
    if ((int64_t)n * m > 4000000) return DAE_E_LIMIT;
    double *A = dae_alloc(s->memory, (size_t)n * (size_t)m, sizeof(double));
    double *b = dae_alloc(s->memory, (size_t)rows, sizeof(double));
    double *work = dae_alloc(s->memory, (size_t)size + (size_t)n + 2 * (size_t)m, sizeof(double));
    int *pivot = dae_alloc(s->memory, (size_t)m, sizeof(int));
    int status = A && b && work && pivot ? DAE_OK : DAE_E_NOMEM;
    for (int j = 0; j < m && status == DAE_OK; j++) {
        if (s->computed) {
            memset(k->e_d, 0, (size_t)m * sizeof(double));
            k->e_d[j] = 1;
            status = dae_system_push_p(s, t, x, p, q->r, k->e_d, A + (size_t)j * (size_t)n);
        } else {
            for (int64_t e = dae_column_begin(a, j); e < dae_column_end(a, j); e++)
                A[(size_t)j * (size_t)n + (size_t)dae_column_row(a, j, e)] = q->C[e];
        }
    }
    if (status == DAE_OK) {
        for (int i = 0; i < n; i++) b[i] = -q->r[i];
        solve_in_units(n, m, A, b, work + size, pivot, work, size);
        for (int j = 0; j < m; j++) p[j] += b[j];
    }
    dae_free(s->memory, A);
    dae_free(s->memory, b);
    dae_free(s->memory, work);
    dae_free(s->memory, pivot);
    return status;
}

dae_status dae_initial_derivative(dae_corrector *q, double t, const double *x, double *p,
                                  const double *w, dae_initial_work *k)
{
    dae_system *s = q->system;
    for (int round = 0; round < 12; round++) { /* one round suffices where f is affine in p */
        int row;
        double excess;
        int status = dae_corrector_renew(q, t, x, p, 0, w);
        if (status == DAE_OK) status = dae_initial_test(q, t, x, p, w, &row, &excess);
        if (status == DAE_OK) return DAE_OK;
        if (status < 0 || status == DAE_STEP_NONFINITE || status == DAE_STEP_RETRY)
            return refuse(q, t, status, x, p, w);
        if (s->computed || !solve_rows(q, p))
            status = solve_least_squares(q, t, x, p, k);
        else
            status = DAE_OK;
        if (status < 0) {
            dae_fail(s->report, (dae_status)status, "no memory to find the initial derivatives");
            dae_hint(s->report, "give xdot to dae_start");
            return (dae_status)status;
        }
    }
    return DAE_OK; /* what is left is in equations without derivatives: the caller judges */
}
