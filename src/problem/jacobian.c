/* jacobian.c: K = f_x and C = f_p d_x, from the user or from differences.
 *
 * Differences move all columns of one colour at once (columns of a colour share no row). The
 * increments are those of [BCP89, 5.2.2]: sqrt(eps) times the larger of |x_j| and |h x'_j| (an
 * unknown that is zero must move visibly: at least s->scale_part of its tolerance), in the
 * direction of motion; p moves by the increment over h, so that K and cC are found with equal
 * relative accuracy. A point where f is not defined is tried again on the other side.
 *
 * [BCP89] takes the whole tolerance. With the powers of h in the weights of a level >= 2 that is
 * an increment of rtol / h: on x' = sinh(5 z) the first Jacobian was wrong by four orders of
 * magnitude, z stood still, and the error test saw nothing. So the weights are those without
 * powers of h, and coarse tolerances move by the geometric mean of rtol and sqrt(eps).
 */
#include "problem/system.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

typedef int evaluation(dae_system *s, double t, const double *x, const double *p, double *r);

static void choose_steps(dae_system *s, const double *x, const double *p, double h, const double *w)
{
    double root = sqrt(DBL_EPSILON), part = s->scale ? s->scale_part : 1;
    if (s->scale) w = s->scale;
    for (int j = 0; j < s->n; j++) {
        double motion = s->computed ? 0 : h * p[j];
        double size = fmax(root * fmax(fabs(x[j]), fabs(motion)), part / w[j]);
        double step = motion < 0 ? -size : size;
        s->step[j] = (x[j] + step) - x[j]; /* exactly representable */
        if (s->step[j] == 0) s->step[j] = step;
    }
}

static void shift_x(dae_system *s, int c, const double *x, double sign)
{
    for (int k = s->color_start[c]; k < s->color_start[c + 1]; k++) {
        int j = s->color_list[k];
        s->x_moved[j] = sign == 0 ? x[j] : x[j] + sign * s->step[j];
    }
}

/* Moves p as colour c does: directly, or through d(x_moved). */
static int shift_p(dae_system *s, int c, double t, const double *x, const double *p, double sign,
                   double rate)
{
    if (!s->computed) {
        for (int k = s->color_start[c]; k < s->color_start[c + 1]; k++) {
            int j = s->color_list[k];
            s->p_moved[j] = sign == 0 ? p[j] : p[j] + sign * rate * s->step[j];
        }
        return DAE_OK;
    }
    shift_x(s, c, x, sign);
    int status = dae_system_d(s, t, s->x_moved, s->d_moved);
    shift_x(s, c, x, 0);
    if (status != DAE_OK) return status;
    for (int i = 0; i < s->m; i++) s->p_moved[i] = p[i] + rate * (s->d_moved[i] - s->d_base[i]);
    return DAE_OK;
}

static void gather(dae_system *s, int c, double scale, double *J)
{
    const dae_matrix *a = &s->matrix;
    for (int l = s->color_start[c]; l < s->color_start[c + 1]; l++) {
        int j = s->color_list[l];
        double q = 1 / (scale * s->step[j]);
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++) {
            int i = dae_column_row(a, j, k);
            J[k] = (s->r_moved[i] - s->r_base[i]) * q;
        }
    }
}

/* d(eval)/dx at fixed p, colour by colour. s->r_base holds eval at the point. */
static int difference_x(dae_system *s, double t, const double *x, const double *p,
                        evaluation *eval, double *K)
{
    memcpy(s->x_moved, x, (size_t)s->n * sizeof(double));
    for (int c = 0; c < s->colors; c++) {
        double sign = 1;
        shift_x(s, c, x, sign);
        int status = eval(s, t, s->x_moved, p, s->r_moved);
        if (status == DAE_RETRY) {
            sign = -1;
            shift_x(s, c, x, sign);
            status = eval(s, t, s->x_moved, p, s->r_moved);
        }
        if (status != DAE_OK) return status;
        gather(s, c, sign, K);
        shift_x(s, c, x, 0);
    }
    return DAE_OK;
}

/* How much faster p moves than x: 1/h, and by the whole tolerance. At the start no h is known;
 * then fast enough that the motion shows beside p (f is affine in p as a rule, so it cannot be
 * too large). */
static double motion_rate(const dae_system *s, const double *p, double h)
{
    double rate = 1 / (s->scale ? s->scale_part : 1);
    if (h != 0) return rate / fabs(h);
    for (int i = 0; !s->computed && i < s->n; i++)
        if (s->level[i] == DAE_DIFFERENTIAL) /* otherwise p is no velocity */
            rate = fmax(rate, 1e-4 * fabs(p[i]) / fabs(s->step[i]));
    return rate;
}

/* Where f is not affine in p: increments of p in s->step, at most a few per cent of p, or of what
 * p_j would be if x_j moved as many tolerances per unit of time as the fastest unknown. */
static void bound_steps(dae_system *s, const double *p, double rate)
{
    double fastest = 0;
    for (int i = 0; i < s->n; i++)
        if (s->level[i] == DAE_DIFFERENTIAL) fastest = fmax(fastest, fabs(p[i]) * s->scale[i]);
    for (int j = 0; j < s->n; j++) {
        double most = 0.03 * fmax(fabs(p[j]), fastest / s->scale[j]), step = s->step[j] * rate;
        s->step[j] = most > 0 && fabs(step) > most ? copysign(most, step) : step;
    }
}

static int difference_p(dae_system *s, double t, const double *x, const double *p, double h,
                        double *C)
{
    double rate = motion_rate(s, p, h);
    if ((s->facts & DAE_FACT_BENT) && s->scale && !s->computed) {
        bound_steps(s, p, rate);
        rate = 1;
    }
    memcpy(s->x_moved, x, (size_t)s->n * sizeof(double));
    memcpy(s->p_moved, p, (size_t)s->m * sizeof(double));
    if (s->computed) {
        int status = dae_system_d(s, t, x, s->d_base);
        if (status != DAE_OK) return status;
    }
    for (int c = 0; c < s->colors; c++) {
        double sign = 1;
        int status = shift_p(s, c, t, x, p, sign, rate);
        if (status == DAE_OK) status = dae_system_f(s, t, x, s->p_moved, s->r_moved);
        if (status == DAE_RETRY) {
            sign = -1;
            status = shift_p(s, c, t, x, p, sign, rate);
            if (status == DAE_OK) status = dae_system_f(s, t, x, s->p_moved, s->r_moved);
        }
        if (status != DAE_OK) return status;
        gather(s, c, sign * rate, C);
        if (!s->computed) shift_p(s, c, t, x, p, 0, rate);
    }
    return DAE_OK;
}

/* K or C, or both, by differences alone; NULL for what is not wanted. */
int dae_difference_jacobian(dae_system *s, double t, const double *x, const double *p, double h,
                            const double *w, double *K, double *C)
{
    int64_t before = s->stats->residuals;
    choose_steps(s, x, p, h, w);
    int status = dae_system_f(s, t, x, p, s->r_base);
    if (status == DAE_OK && K) status = difference_x(s, t, x, p, dae_system_f, K);
    if (status == DAE_OK && C) status = difference_p(s, t, x, p, h, C);
    s->stats->jacobian_residuals += s->stats->residuals - before;
    return status;
}

/* ---- the user's part ---- */

static void scatter(const double *from, const dae_matrix *a, const int64_t *map, double scale,
                    double *to)
{
    for (int64_t k = 0; k < a->count; k++)
        if (!map)
            to[k] += scale * from[k];
        else if (map[k] >= 0)
            to[map[k]] += scale * from[k];
}

/* May the callback write into J itself? J is zero, unless a mass that varies has left its
 * derivative there, and then the factor can be applied in place. */
static int writes_itself(const dae_system *s, int part)
{
    return !s->given || (part == 1 && !s->given_map && s->problem.rhs &&
                         s->problem.mass_kind != DAE_MASS_FUNCTION);
}

/* A Jacobian callback, in the user's layout, added to J with a factor. */
static int ask_part(dae_system *s, int part, double t, const double *x, const double *p, double c,
                    double scale, double *J)
{
    const dae_problem *q = &s->problem;
    static const char *const name[] = {"jacobian", "jacobian_x", "jacobian_xdot"};
    int direct = writes_itself(s, part);
    double *out = direct ? J : s->given;
    if (!direct) memset(out, 0, (size_t)s->given_matrix.count * sizeof(double));
    s->callback_depth++;
    int answer = part == 0   ? q->jacobian(t, x, p, c, out, q->user)
                 : part == 1 ? q->jacobian_x(t, x, p, out, q->user)
                             : q->jacobian_xdot(t, x, p, out, q->user);
    s->callback_depth--;
    int status = (int)dae_user_answer(s, answer, name[part], t);
    if (status != DAE_OK) return status;
    if (!direct)
        scatter(out, &s->given_matrix, s->given_map, scale, J);
    else if (scale != 1)
        for (int64_t k = 0, count = s->matrix.count; k < count; k++) J[k] *= scale;
    return DAE_OK;
}

/* J(c) = K + cC: K = J(0), C = (J(c*) - J(0)) / c*. Rounding leaves eps (|K| / c* + |C|) in C,
 * so c* cannot be too large. */
static int split_combined(dae_system *s, double t, const double *x, const double *p, double h,
                          double *K, double *C)
{
    double largest = 1;
    int status = ask_part(s, 0, t, x, p, 0, 1, K);
    for (int64_t k = 0; status == DAE_OK && k < s->matrix.count; k++)
        if (fabs(K[k]) > largest && isfinite(K[k])) largest = fabs(K[k]);
    double c = ldexp(1, (int)fmin(500, ceil(log2(1e3 * fmax(largest, h != 0 ? 1 / fabs(h) : 1)))));
    if (status == DAE_OK) status = ask_part(s, 0, t, x, p, c, 1, C);
    if (status == DAE_OK)
        for (int64_t k = 0; k < s->matrix.count; k++) C[k] = (C[k] - K[k]) / c;
    return status;
}

static int mass_product(dae_system *s, double t, const double *x, const double *p, double *r)
{
    int status = dae_system_mass(s, t, x, s->mass);
    memset(r, 0, (size_t)s->n * sizeof(double));
    if (status == DAE_OK) dae_mass_times(s, s->mass, p, r);
    return status;
}

/* M(t, x) x' = g: C = M, K = d(M(x) p)/dx - g_x. */
static int jacobian_mass(dae_system *s, double t, const double *x, const double *p, double h,
                         const double *w, double *K, double *C)
{
    const dae_problem *q = &s->problem;
    int status = DAE_OK, varies = q->mass_kind == DAE_MASS_FUNCTION;
    if (!q->jacobian_x) {
        status = dae_difference_jacobian(s, t, x, p, h, w, K, NULL);
    } else {
        if (varies) {
            choose_steps(s, x, p, h, w);
            status = mass_product(s, t, x, p, s->r_base);
            if (status == DAE_OK) status = difference_x(s, t, x, p, mass_product, K);
        }
        if (status == DAE_OK) status = ask_part(s, 1, t, x, p, 0, -1, K);
    }
    if (status != DAE_OK || !C) return status;
    status = dae_system_mass(s, t, x, s->mass);
    if (status != DAE_OK) return status;
    if (q->mass_kind == DAE_MASS_IDENTITY) {
        for (int j = 0; j < s->n; j++) C[dae_matrix_find(&s->matrix, j, j)] = 1;
    } else {
        scatter(s->mass, &s->mass_matrix, s->mass_map, 1, C);
    }
    return DAE_OK;
}

/* The largest relative change since the last comparison. */
static double change_of_C(const dae_system *s, const double *C)
{
    double change = 0;
    for (int64_t k = 0; k < s->matrix.count; k++)
        change = fmax(change, fabs(C[k] - s->previous_C[k]) / (fabs(C[k]) + DBL_MIN));
    return change;
}

static int may_bend(const dae_system *s)
{
    return !(s->facts & DAE_FACT_BENT) && s->scale && !s->computed;
}

/* C changed, or its differences went where f is not defined. The increments of p are tolerances over
 * h, and h may be tiny: on sinh(5 x') C came out too large by orders of magnitude, Newton's
 * corrections too small, and the error test saw nothing. So it is done again with small increments;
 * if that is something else, f is bent and the increments stay small. */
static int look_for_bends(dae_system *s, double t, const double *x, const double *p, double h,
                          const double *w, double *C, int first)
{
    const dae_matrix *a = &s->matrix;
    double *small = s->other_C;
    s->facts |= DAE_FACT_BENT;
    int status = dae_difference_jacobian(s, t, x, p, h, w, NULL, small), bent = first != DAE_OK;
    if (status != DAE_OK) {
        s->facts &= ~(unsigned)DAE_FACT_BENT;
        return first;
    }
    for (int j = 0; j < s->n && !bent; j++) {
        double most = 0, apart = 0;
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++) {
            most = fmax(most, fabs(small[k]));
            apart = fmax(apart, fabs(small[k] - C[k]));
        }
        bent = apart > 1e-2 * most;
    }
    if (bent)
        memcpy(C, small, (size_t)a->count * sizeof(double));
    else
        s->facts &= ~(unsigned)DAE_FACT_BENT;
    return DAE_OK;
}

/* C from differences, unless it has proved constant: then the last one is used. */
static int difference_C(dae_system *s, double t, const double *x, const double *p, double h,
                        const double *w, double *C)
{
    int64_t count = s->matrix.count;
    if ((s->facts & DAE_FACT_C_PRESUMED) && ++s->C_trusted < 4) {
        memcpy(C, s->previous_C, (size_t)count * sizeof(double));
        return DAE_OK;
    }
    int status = dae_difference_jacobian(s, t, x, p, h, w, NULL, C);
    double change = status == DAE_OK && s->C_evaluations > 0 ? change_of_C(s, C) : 0;
    if ((status == DAE_RETRY || change > 1e-3) && may_bend(s)) {
        status = look_for_bends(s, t, x, p, h, w, C, status);
        change = status == DAE_OK && s->C_evaluations > 0 ? change_of_C(s, C) : 0;
    }
    if (status == DAE_RETRY && s->C_evaluations > 0 && !s->exact_C) {
        memcpy(C, s->previous_C, (size_t)count * sizeof(double)); /* p moved out of range */
        return DAE_OK;
    }
    if (status != DAE_OK) return status;
    s->C_trusted = 0;
    if (s->C_evaluations == 0 || !(change < 1e-6)) { /* the accuracy of differences */
        s->facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
        s->C_evaluations = 1;
        s->t_C = t;
        memcpy(s->previous_C, C, (size_t)count * sizeof(double));
        return DAE_OK;
    }
    /* three at different times that agree with the first: presumed, and looked at now and then;
     * always compared with the first, so that a slow drift shows */
    if (t != s->t_C) s->C_evaluations++;
    s->t_C = t;
    if (s->C_evaluations >= 3 && !s->computed && !s->exact_C) s->facts |= DAE_FACT_C_PRESUMED;
    return DAE_OK;
}

static int jacobian_implicit(dae_system *s, double t, const double *x, const double *p, double h,
                             const double *w, double *K, double *C)
{
    const dae_problem *q = &s->problem;
    if (q->jacobian) return split_combined(s, t, x, p, h, K, C);
    int status = q->jacobian_x ? ask_part(s, 1, t, x, p, 0, 1, K)
                               : dae_difference_jacobian(s, t, x, p, h, w, K, NULL);
    if (status != DAE_OK) return status;
    return q->jacobian_xdot ? ask_part(s, 2, t, x, p, 0, 1, C)
                            : difference_C(s, t, x, p, h, w, C);
}

/* A non-finite entry, like a non-finite residual, may only mean that the trial point strayed:
 * it is remembered, and told if smaller steps do not help. */
static int remember(dae_system *s, const double *J, int by_p)
{
    const dae_matrix *a = &s->matrix;
    for (int j = 0; j < s->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            if (!isfinite(J[k])) {
                s->bad_row = dae_column_row(a, j, k);
                s->bad_column = j;
                s->bad_by_p = by_p;
                s->bad_value = J[k];
                s->bad_retry = 0;
                s->bad_where = "a Jacobian entry";
                s->stats->nonfinite++;
                return DAE_RETRY;
            }
    return DAE_OK;
}

dae_status dae_jacobian_failure(dae_system *s, double t)
{
    char row[32], column[32];
    dae_fail(s->report, DAE_E_NONFINITE_JAC, "a Jacobian entry is %s",
             isnan(s->bad_value) ? "NaN" : "infinite");
    dae_at(s->report, "t = %.10g, the derivative of '%s' with respect to '%s%s'", t,
           dae_equation_name(s, s->bad_row, row), dae_unknown_name(s, s->bad_column, column),
           s->bad_by_p ? "'" : "");
    dae_hint(s->report, "look for a division by zero, sqrt(0) or log(0) there");
    return DAE_E_NONFINITE_JAC;
}

int dae_system_jacobian(dae_system *s, double t, const double *x, const double *p, double h,
                        const double *w, double *K, double *C)
{
    size_t bytes = (size_t)s->matrix.count * sizeof(double);
    s->stats->jacobians++;
    memset(K, 0, bytes);
    if (C) memset(C, 0, bytes);
    int status = s->problem.rhs ? jacobian_mass(s, t, x, p, h, w, K, C)
                                : jacobian_implicit(s, t, x, p, h, w, K, C);
    if (status != DAE_OK) return status;
    if (dae_find_nonfinite(s->matrix.count, K) >= 0) return remember(s, K, 0);
    if (C && dae_find_nonfinite(s->matrix.count, C) >= 0) return remember(s, C, 1);
    return DAE_OK;
}

int dae_system_push_p(dae_system *s, double t, const double *x, const double *p, const double *r,
                      const double *v, double *y)
{
    double largest_v = 0, largest_p = 0;
    for (int i = 0; i < s->m; i++) {
        largest_v = fmax(largest_v, fabs(v[i]));
        largest_p = fmax(largest_p, fabs(p[i]));
    }
    if (largest_v == 0) {
        memset(y, 0, (size_t)s->n * sizeof(double));
        return DAE_OK;
    }
    double scale = largest_p > 0 ? 1e-4 * largest_p / largest_v : 1;
    for (int i = 0; i < s->m; i++) s->p_moved[i] = p[i] + scale * v[i];
    int status = dae_system_f(s, t, x, s->p_moved, y);
    if (status == DAE_OK)
        for (int i = 0; i < s->n; i++) y[i] = (y[i] - r[i]) / scale;
    return status;
}
