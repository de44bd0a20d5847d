/* jacobian.c: K = f_x and C = f_p d_x, from the user or from differences.
 *
 * Differences move all columns of one colour at once (columns of a colour share no row). A
 * forward difference over delta_j has the truncation error f'' delta_j / 2 and the rounding error
 * eps F_i / delta_j, F_i the size of the terms of row i. In columns scaled by the sizes S_j of the
 * unknowns both are sqrt(eps) of the row at delta_j = sqrt(eps) S_j, whatever the units. S_j is
 * the larger of |x_j|, |h x'_j| and, for what is zero and at rest, atol_j / rtol: where the
 * tolerance passes from absolute to relative is the size its user has in mind. It does not depend
 * on how fine the tolerances are, so coarse ones do not spoil the Jacobian.
 *
 * p is moved by little beside the velocities there are (f may bend in p: with increments of
 * S_j / h and a tiny h, sinh(5 x') gave a C too large by orders of magnitude and Newton stood
 * still), by enough that rounding, eps c S_j / step in scaled columns, is far below K + cC.
 *
 * C is mostly constant. So it is kept, and one evaluation in a random direction of p tells whether
 * it still holds. If so K alone is differenced. If it moves, and the caller needs K + cC for one c
 * only (system.c_wanted), x and p move together: K := J(c) - c C_old is right at that c, and off by
 * (c' - c) (C - C_old) at another: who goes far from it, as in the first steps, needs another (dae_jacobian_serves).
 * Rows of C are then scaled to what was
 * seen when they are off by more than NEAR; C is differenced anew if that will not do, or if it is
 * off by anything and K and C are needed apart. So they are with levels >= 2: there parts of K and
 * C cancel (f_x is parallel to d_x where a constraint is on d itself), and what is left of
 * C - C_old comes out multiplied by c.
 *
 * A point where f is not defined is tried again on the other side.
 *
 * At index 2 and 3 errors of K are multiplied by c and c^2: sqrt(eps) of a row may be too much for Newton's iteration,
 * and the more the shorter the step. Then (dae_system.sharp) differences are central ones over eps^(1/5) and over half of
 * it, and extrapolated from both: rounding and truncation are eps^(4/5) of the row, for four times the evaluations.
 * Where the two differ by so much that f is bent within the increment, they are taken over the cube root of eps.
 * Without this 14 of 5,200 runs of prove fail instead of 9 (260 problems, seeds 32000000 on; bdf and mebdf).
 */
#include "problem/system.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

typedef int evaluation(dae_system *s, double t, const double *x, const double *p, double *r);

/* Increments of p: the part of a velocity, and of S_j / h (rounding leaves 2^-16 of K + cC). */
static const double P_PART = 0x1p-13, P_LEAST = 0x1p-36;
static const double P_AT_REST = 0x1p-7; /* of S_j, where no velocity and no h is known */
static const double SAME = 1e-6;        /* C is the same: the accuracy of its differences */
static const double SAME_HIGH = 1e-10;  /* with levels >= 2, where c (C - C_old) must be small */
static const double NEAR = 0.1;         /* C is near enough for K + cC at a c near by */
static const double ROUGH =
    2e-4; /* of a row: central differences over one increment and its half differ */
static const double SHARP_ROOT = 0x1p-10; /* eps^(1/5) */
static const double FINE = 0x1p-8,
                    FINEST = 0x1p-16; /* of eps^(1/5): the cube root of eps, and the square root */
static const double SHARP_P = 0x1p3, SHARP_P_LEAST = 0x1p10; /* increments of p are larger then */
enum { TRUSTED_AFTER = 3, TRUSTED_FOR = 4 }; /* agreements; Jacobians until the next look */

/* The size of an unknown that is zero. A tiny rtol says little about sizes. */
static double nominal(const dae_system *s, int j, const double *w)
{
    return s->atol ? s->atol[j] / fmax(s->rtol, 1e-6) : 1e6 / w[j];
}

/* y + step - y: what is added exactly. */
static double representable(double y, double step)
{
    volatile double moved = y + step;
    double exact = moved - y;
    return exact != 0 ? exact : step;
}

static void choose_steps(dae_system *s, const double *x, const double *p, double h, const double *w)
{
    double root = s->sharp ? SHARP_ROOT : sqrt(DBL_EPSILON), fastest = 0,
           guessed = ldexp(1, -12 * s->narrow);
    for (int j = 0; j < s->n; j++) {
        double motion = s->computed ? 0 : h * p[j];
        double size = fmax(fmax(fabs(x[j]), fabs(motion)), nominal(s, j, w));
        if (!(size > DBL_MIN)) size = fmax(1 / w[j], DBL_MIN);
        s->size[j] = size;
        s->step[j] = 2 * representable(x[j], (motion < 0 ? -0.5 : 0.5) * root * size);
        if (!s->computed && s->level[j] == DAE_DIFFERENTIAL) /* otherwise p is no velocity */
            fastest = fmax(fastest, fabs(p[j]) / size);
    }
    for (int j = 0; j < s->n && !s->computed; j++) {
        double velocity = fmax(fabs(p[j]), guessed * fastest * s->size[j]),
               step = P_PART * (s->sharp ? SHARP_P : 1) * velocity;
        if (h != 0)
            step = fmax(step, P_LEAST * (s->sharp ? SHARP_P_LEAST : 1) * s->size[j] / fabs(h));
        else if (fastest == 0)
            step = fmax(step, guessed * P_AT_REST * s->size[j]);
        s->p_step[j] = 2 * representable(p[j], copysign(0.5 * step, s->step[j]));
    }
}

/* With a computed d p moves by this times the change of d: 1/h; enough to show at the start. */
static double motion_rate(double h)
{
    return h != 0 ? 1 / fabs(h) : P_AT_REST / sqrt(DBL_EPSILON);
}

/* That rate, where nobody moves faster than by a part of the velocities there are (f may bend in p, as above): the
 * fastest entry of d decides, and rounding. */
static int choose_rate(dae_system *s, double t, const double *x, const double *p, double h,
                       double *rate)
{
    double fastest = 0, root = s->sharp ? SHARP_ROOT : sqrt(DBL_EPSILON);
    *rate = motion_rate(h);
    if (!s->computed || h == 0) return DAE_OK;
    for (int j = 0; j < s->n; j++) s->x_moved[j] = x[j] + s->step[j];
    int status = dae_system_d(s, t, x, s->d_base);
    if (status == DAE_OK) status = dae_system_d(s, t, s->x_moved, s->d_moved);
    if (status == DAE_RETRY) return DAE_OK; /* as it was */
    for (int i = 0; i < s->m && status == DAE_OK; i++) {
        double change = fabs(s->d_moved[i] - s->d_base[i]);
        if (change > 0) fastest = fmax(fastest, fabs(p[i]) / change);
    }
    double least = P_LEAST * (s->sharp ? SHARP_P_LEAST : 1) / (root * fabs(h));
    *rate = fmin(*rate, fmax(P_PART * (s->sharp ? SHARP_P : 1) * fastest, least));
    return status;
}

/* ---- differences colour by colour ---- */

/* What moves: x, p, or both (p as x does: by rate times its increment). */
typedef struct motion {
    int x, p;
    double rate; /* computed d only, where p_step has no meaning */
    evaluation *eval;
} motion;

/* Moves colour c; sign 0: back. */
static int shift(dae_system *s, const motion *m, int c, double t, const double *x, const double *p,
                 double sign)
{
    for (int k = s->color_start[c]; k < s->color_start[c + 1]; k++) {
        int j = s->color_list[k];
        if (m->x || s->computed) s->x_moved[j] = sign == 0 ? x[j] : x[j] + sign * s->step[j];
        if (m->p && !s->computed) s->p_moved[j] = sign == 0 ? p[j] : p[j] + sign * s->p_step[j];
    }
    if (!m->p || !s->computed || sign == 0) return DAE_OK;
    int status = dae_system_d(s, t, s->x_moved, s->d_moved);
    if (status != DAE_OK) return status;
    for (int i = 0; i < s->m; i++) s->p_moved[i] = p[i] + m->rate * (s->d_moved[i] - s->d_base[i]);
    return DAE_OK;
}

/* By how much column j is moved. */
static double increment_of(const dae_system *s, const motion *m, int j)
{
    return m->x ? s->step[j] : s->computed ? m->rate * s->step[j] : s->p_step[j];
}

/* from: f on the other side of the move, or where there is none at the point itself. With the sizes of the terms of each
 * row J, differences over twice the increment, is extrapolated: 1 is returned where they differ too much for that. */
static int gather(dae_system *s, const motion *m, int c, double scale, const double *from,
                  const double *terms, double *J)
{
    const dae_matrix *a = &s->matrix;
    int rough = 0;
    for (int l = s->color_start[c]; l < s->color_start[c + 1]; l++) {
        int j = s->color_list[l];
        double by = scale * (from == s->r_base ? 1 : 2) * increment_of(s, m, j);
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++) {
            int i = dae_column_row(a, j, k);
            double slope = (s->r_moved[i] - from[i]) / by; /* 1 / by may overflow */
            double change = terms ? slope - J[k] : 0;
            rough |= terms && !(fabs(change * by) <= ROUGH * terms[i]);
            J[k] = slope + change / 3;
        }
    }
    return rough;
}

static int moved_f(dae_system *s, const motion *m, int c, double t, const double *x,
                   const double *p, double sign, double *r)
{
    int status = shift(s, m, c, t, x, p, sign);
    return status == DAE_OK ? m->eval(s, t, m->x ? s->x_moved : x, s->p_moved, r) : status;
}

/* The columns of colour c of J by one evaluation more; sharp: by one on each side of the point. `scale` is the part of
 * the increment that moves. Where the differences are too rough to be extrapolated (gather), over a small increment. */
static int difference_color(dae_system *s, const motion *m, int c, double t, const double *x,
                            const double *p, double scale, const double *terms, double *J)
{
    const double *from = s->r_base;
    int rough = 0;
    if (s->sharp && moved_f(s, m, c, t, x, p, -scale, s->r_below) == DAE_OK) from = s->r_below;
    int status = moved_f(s, m, c, t, x, p, scale, s->r_moved);
    if (status == DAE_RETRY) {
        from = s->r_base;
        status = moved_f(s, m, c, t, x, p, scale = -scale, s->r_moved);
    }
    if (status == DAE_OK) rough = gather(s, m, c, scale, from, terms, J);
    shift(s, m, c, t, x, p, 0);
    double least = from == s->r_base ? FINEST : FINE;
    if (s->sharp && fabs(scale) > least && (rough || status == DAE_RETRY || from == s->r_base))
        return difference_color(s, m, c, t, x, p, least, NULL, J);
    return status;
}

/* The sizes of the terms of each row, from differences J. */
static void size_rows(dae_system *s, const motion *m, const double *J, double *terms)
{
    const dae_matrix *a = &s->matrix;
    memset(terms, 0, (size_t)s->n * sizeof(double));
    for (int j = 0; j < s->n; j++) {
        double by = fabs(increment_of(s, m, j));
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++) {
            int i = dae_column_row(a, j, k);
            terms[i] = fmax(terms[i], fabs(J[k]) * by);
        }
    }
}

/* J from s->r_base, the evaluation at the point, and one more per colour; sharp: four, or six. */
static int difference(dae_system *s, const motion *m, double t, const double *x, const double *p,
                      double *J)
{
    int64_t before = s->stats->residuals;
    int status = DAE_OK;
    s->differenced = 1;
    memcpy(s->x_moved, x, (size_t)s->n * sizeof(double));
    memcpy(s->p_moved, p, (size_t)s->m * sizeof(double));
    if (m->p && s->computed) status = dae_system_d(s, t, x, s->d_base);
    for (int c = 0; c < s->colors && status == DAE_OK; c++)
        status = difference_color(s, m, c, t, x, p, 1, NULL, J);
    if (s->sharp && status == DAE_OK) size_rows(s, m, J, s->row_terms);
    for (int c = 0; c < s->colors && status == DAE_OK && s->sharp; c++)
        status = difference_color(s, m, c, t, x, p, 0.5, s->row_terms, J);
    s->stats->jacobian_residuals += s->stats->residuals - before;
    return status;
}

/* Increments, and f at the point: whoever made the Jacobian may use it, too. */
static int begin_differences(dae_system *s, double t, const double *x, const double *p, double h,
                             const double *w)
{
    choose_steps(s, x, p, h, w);
    int status = dae_system_f(s, t, x, p, s->r_base);
    s->stats->jacobian_residuals++;
    s->base_known = status == DAE_OK;
    return status;
}

static int difference_x(dae_system *s, double t, const double *x, const double *p, double *K)
{
    motion m = { .x = 1, .eval = dae_system_f };
    return difference(s, &m, t, x, p, K);
}

static int difference_p(dae_system *s, double t, const double *x, const double *p, double h,
                        double *C)
{
    motion m = { .p = 1, .eval = dae_system_f };
    int status = choose_rate(s, t, x, p, h, &m.rate);
    return status == DAE_OK ? difference(s, &m, t, x, p, C) : status;
}

/* K = J(c) - c C by x and p moving together. The increment of p is bounded as in difference_p. */
static int difference_both(dae_system *s, double t, const double *x, const double *p, double c,
                           const double *C, double *K)
{
    motion m = { .x = 1, .p = 1, .rate = c, .eval = dae_system_f };
    for (int j = 0; j < s->n && !s->computed; j++) {
        double step = s->step[j], most = fabs(s->p_step[j] / c);
        s->step[j] = representable(x[j], fabs(step) > most ? copysign(most, step) : step);
        s->p_kept[j] = s->p_step[j];
        s->p_step[j] = c * s->step[j];
    }
    int status = difference(s, &m, t, x, p, K);
    for (int j = 0; j < s->n && !s->computed; j++) s->p_step[j] = s->p_kept[j];
    for (int64_t k = 0; status == DAE_OK && k < s->matrix.count; k++) K[k] -= c * C[k];
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
    static const char *const name[] = { "jacobian", "jacobian_x", "jacobian_xdot" };
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
        status = begin_differences(s, t, x, p, h, w);
        if (status == DAE_OK) status = difference_x(s, t, x, p, K);
    } else {
        if (varies) {
            motion m = { .x = 1, .eval = mass_product };
            choose_steps(s, x, p, h, w);
            status = mass_product(s, t, x, p, s->r_base);
            if (status == DAE_OK) status = difference(s, &m, t, x, p, K);
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

/* ---- C by differences ---- */

static double direction(int j) /* of either sign, between 1/2 and 1 in size */
{
    uint64_t z = ((uint64_t)j + 1) * 0x9e3779b97f4a7c15ULL;
    z ^= z >> 29;
    double size = 0.5 + (double)(z >> 12 & 0xffff) / 0x1p17;
    return z & 1 ? size : -size;
}

/* f along the direction in p (through d: in x); s->step or s->p_step give its scale. */
static int move_along(dae_system *s, double t, const double *x, const double *p, double rate,
                      double sign)
{
    int status = DAE_OK;
    for (int j = 0; j < s->n; j++) {
        if (s->computed)
            s->x_moved[j] = x[j] + sign * direction(j) * s->step[j];
        else
            s->p_moved[j] = p[j] + sign * direction(j) * s->p_step[j];
    }
    if (s->computed) {
        status = dae_system_d(s, t, x, s->d_base);
        if (status == DAE_OK) status = dae_system_d(s, t, s->x_moved, s->d_moved);
        for (int i = 0; i < s->m && status == DAE_OK; i++)
            s->p_moved[i] = p[i] + rate * (s->d_moved[i] - s->d_base[i]);
    }
    return status == DAE_OK ? dae_system_f(s, t, x, s->p_moved, s->r_moved) : status;
}

/* How far C v is from the change of f along v, in parts of |C| |v|, row by row; what the rounding
 * of f can make, eps (|K| |x| + |C| |p|), does not count. INFINITY: a row without C depends on p. */
static double misfit(dae_system *s, const double *x, const double *p, double rate, double sign,
                     const double *K, const double *C)
{
    const dae_matrix *a = &s->matrix;
    double *defect = s->r_moved, *terms = s->row_terms, *noise = s->r_above, *Cv = s->r_below;
    double most = 0;
    for (int i = 0; i < s->n; i++) {
        noise[i] = fabs(defect[i]) + fabs(s->r_base[i]);
        defect[i] -= s->r_base[i];
        terms[i] = Cv[i] = 0;
    }
    for (int j = 0; j < s->n; j++) {
        double v = sign * direction(j) * (s->computed ? rate * s->step[j] : s->p_step[j]);
        double size = s->computed ? rate * fabs(x[j]) : fabs(p[j]) + fabs(v);
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++) {
            int i = dae_column_row(a, j, k);
            Cv[i] += C[k] * v;
            terms[i] += fabs(C[k] * v);
            noise[i] += fabs(K[k] * x[j]) + fabs(C[k]) * size;
        }
    }
    for (int i = 0; i < s->n; i++) {
        defect[i] -= Cv[i];
        double excess = fabs(defect[i]) - 8 * DBL_EPSILON * noise[i];
        if (excess > 0) most = fmax(most, terms[i] > 0 ? excess / terms[i] : INFINITY);
    }
    return most;
}

/* What counts as the same C. A computed d may hide in p what changes between K and C. */
static double same(const dae_system *s)
{
    if (!(s->facts & DAE_FACT_HIGH_INDEX)) return SAME;
    return s->computed && !(s->facts & DAE_FACT_D_SELECTS) ? -1 : SAME_HIGH;
}

/* By how much the kept C is off: 0 where nobody looks, or where nothing is defined around. */
static int look_at_C(dae_system *s, double t, const double *x, const double *p, double h,
                     const double *K, double *change)
{
    *change = 0;
    if ((s->facts & DAE_FACT_C_PRESUMED) && ++s->C_trusted < TRUSTED_FOR) return DAE_OK;
    double rate, sign = 1;
    int status = choose_rate(s, t, x, p, h, &rate);
    if (status == DAE_OK) status = move_along(s, t, x, p, rate, sign);
    if (status == DAE_RETRY) status = move_along(s, t, x, p, rate, sign = -1);
    s->stats->jacobian_residuals += sign < 0 ? 2 : 1;
    s->C_trusted = 0;
    if (status == DAE_RETRY) {
        *change = s->exact_C ? INFINITY : 0;
        return DAE_OK;
    }
    if (status == DAE_OK) *change = misfit(s, x, p, rate, sign, K, s->previous_C);
    if (*change > 1e-4) s->facts |= DAE_FACT_D_VARIES;
    if (*change > same(s)) {
        s->facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
        s->C_agreed = 0;
        return status;
    }
    /* always compared with the first, so that a slow drift shows */
    if (t != s->t_C) s->C_agreed++;
    s->t_C = t;
    if (s->C_agreed >= TRUSTED_AFTER && !s->computed && !s->exact_C)
        s->facts |= DAE_FACT_C_PRESUMED;
    return status;
}

static int renew_C(dae_system *s, double t, const double *x, const double *p, double h)
{
    int status = difference_p(s, t, x, p, h, s->other_C);
    if (status == DAE_RETRY && s->have_C && !s->exact_C) return DAE_OK; /* p moved out of range */
    if (status != DAE_OK) return status;
    memcpy(s->previous_C, s->other_C, (size_t)s->matrix.count * sizeof(double));
    s->have_C = 1;
    s->C_agreed = 0;
    s->t_C = t;
    return DAE_OK;
}

/* Rows of the kept C scaled so that they agree along the direction just looked at: exact where a row
 * changes as a whole (one capacitance, one mass), and enough where K + cC is right at the c wanted.
 * 0: a row changed too much for that, or its terms cancel along the direction. */
static int rescale_C(dae_system *s)
{
    const dae_matrix *a = &s->matrix;
    double *ratio = s->r_moved;
    for (int i = 0; i < s->n; i++) {
        double size = fabs(s->r_below[i]), defect = ratio[i];
        ratio[i] = 1;
        if (fabs(defect) <= SAME * s->row_terms[i]) continue;
        ratio[i] = 1 + defect / s->r_below[i];
        if (!(size > 0.1 * s->row_terms[i] && ratio[i] > 0.1 && ratio[i] < 10)) return 0;
    }
    for (int j = 0; j < s->n; j++)
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++)
            s->previous_C[k] *= ratio[dae_column_row(a, j, k)];
    return 1;
}

/* With a computed d p moves by c times the change of d: not where that is too much. */
static int may_move_both(dae_system *s, double t, const double *x, const double *p, double c)
{
    double rate;
    return !s->computed || (choose_rate(s, t, x, p, 1 / c, &rate) == DAE_OK && rate >= 0.99 * c);
}

/* C by differences, and K as well unless it is given. */
static int difference_parts(dae_system *s, double t, const double *x, const double *p, double h,
                            double *K, double *C)
{
    int64_t count = s->matrix.count;
    int own_K = !s->problem.jacobian_x, low = !(s->facts & DAE_FACT_HIGH_INDEX);
    int together = own_K && low && s->C_moves && s->have_C && s->c_wanted > 0 &&
                   may_move_both(s, t, x, p, s->c_wanted);
    int status = together ? difference_both(s, t, x, p, s->c_wanted, s->previous_C, K) : DAE_OK;
    s->c_made = 0;
    if (status == DAE_RETRY) together = 0; /* perhaps x or p alone may move */
    if (own_K && !together) status = difference_x(s, t, x, p, K);
    double change = INFINITY;
    if (status == DAE_OK && s->have_C && same(s) >= 0)
        status = look_at_C(s, t, x, p, h, K, &change);
    if (status != DAE_OK) return status;
    s->C_moves = s->have_C && change > same(s);
    if (change > (together ? NEAR : same(s))) {
        for (int64_t k = 0; together && k < count; k++) K[k] += s->c_wanted * s->previous_C[k];
        if (!together || !isfinite(change) || !rescale_C(s)) status = renew_C(s, t, x, p, h);
        for (int64_t k = 0; together && k < count; k++) K[k] -= s->c_wanted * s->previous_C[k];
    }
    if (together) { /* the differences themselves are good to SAME */
        s->c_made = s->c_wanted;
        s->C_off = SAME + (isfinite(change) ? fmin(change, NEAR) : NEAR);
    }
    if (status == DAE_OK) memcpy(C, s->previous_C, (size_t)count * sizeof(double));
    return status;
}

int dae_jacobian_serves(const dae_system *s, double c)
{
    return !(s->c_made > 0) || s->C_off * fabs(s->c_made / c - 1) <= NEAR;
}

static int jacobian_implicit(dae_system *s, double t, const double *x, const double *p, double h,
                             const double *w, double *K, double *C)
{
    const dae_problem *q = &s->problem;
    int status = DAE_OK;
    if (q->jacobian) return split_combined(s, t, x, p, h, K, C);
    if (q->jacobian_x) status = ask_part(s, 1, t, x, p, 0, 1, K);
    if (status == DAE_OK && q->jacobian_xdot) status = ask_part(s, 2, t, x, p, 0, 1, C);
    if (status != DAE_OK || (q->jacobian_x && q->jacobian_xdot)) return status;
    status = begin_differences(s, t, x, p, h, w);
    if (status != DAE_OK) return status;
    return q->jacobian_xdot ? difference_x(s, t, x, p, K) : difference_parts(s, t, x, p, h, K, C);
}

/* A non-finite entry, like a non-finite residual, may only mean that the trial point strayed:
 * it is remembered, and told if smaller steps do not help. */
static int remember(dae_system *s, double t, const double *J, int by_p)
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
                s->bad_t = t;
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
    s->base_known = s->differenced = 0;
    memset(K, 0, bytes);
    if (C) memset(C, 0, bytes);
    int status = s->problem.rhs ? jacobian_mass(s, t, x, p, h, w, K, C)
                                : jacobian_implicit(s, t, x, p, h, w, K, C);
    if (status != DAE_OK) return status;
    if (dae_find_nonfinite(s->matrix.count, K) >= 0) return remember(s, t, K, 0);
    if (C && dae_find_nonfinite(s->matrix.count, C) >= 0) return remember(s, t, C, 1);
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
