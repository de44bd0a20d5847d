/* equations.c: any problem as F(t, x, x') = 0, and F_x, F_x' to about twelve digits.
 *
 * The derivatives of a leading term, d' = d_t + d_x x', are those of d along the line (t + s,
 * x + s x'). All derivatives are central differences over eight points, of error s^8 F(9) / 630
 * (four, s^4 F(5) / 30, if there are many of them to take); a pair of points does where F was
 * found to be linear in an unknown, and everywhere if `rough` derivatives are asked for, at a
 * distance for which they are wrong by as much as rounding is: of ten digits or so. Jacobians
 * of the user are taken where they prove as good (given.c).
 *
 * Increments are found once, from large to small: the first for which the formulas of order 8
 * and 6 agree best. Unknowns that share no equation move together.
 */
#include "analysis/analysis.h"

#include <float.h>
#include <math.h>
#include <string.h>

enum { POINTS = 4, TRIES = 12 };
static const double eighth[POINTS] = { 4. / 5, -1. / 5, 4. / 105, -1. / 280 };
static const double sixth[POINTS] = { 3. / 4, -3. / 20, 1. / 60, 0 };
/* Increments of four points, in units of those of eight: where orders 8 and 6 agree to
 * 1e-12, their error is as small then, and
 * rounding five times what it was */
static const double fourth[2] = { 2. / 3, -1. / 12 }, finer = 1. / 8;

dae_status dae_equations_open(dae_equations *e, const dae_problem *problem, double time,
                              const dae_memory *memory, dae_report *report)
{
    e->memory = memory;
    e->report = report;
    e->time = time;
    e->swift = 1;
    e->opened = 1;
    dae_status status =
        dae_system_open(&e->system, problem, &(dae_system_options){ 0 }, memory, &e->stats, report);
    if (status != DAE_OK) return status;
    size_t n = (size_t)e->system.n, m = (size_t)e->system.m;
    e->n = e->system.n;
    dae_equations_offer(e, problem);
    dae_vector_wish wish[] = {
        { &e->step[0], n }, { &e->step[1], n }, { &e->bent[0], n }, { &e->bent[1], n },
        { &e->x, n },       { &e->v, n },       { &e->r[0], n },    { &e->r[1], n },
        { &e->r[2], n },    { &e->r[3], n },    { &e->r[4], n },    { &e->r[5], n },
        { &e->r[6], n },    { &e->r[7], n },    { &e->row, n },     { &e->x_side, n },
        { &e->d_side, m },  { &e->p, m },       { &e->x_curve, n }, { &e->v_curve, n },
        { &e->best, n },    { &e->terms, n },   { &e->r_here, n },  { &e->unit, n },
    };
    e->vectors = dae_alloc_vectors(memory, wish, sizeof wish / sizeof *wish);
    e->color = dae_alloc(memory, n, sizeof(int));
    for (size_t j = 0; j < n && e->vectors; j++) e->unit[j] = 1;
    return e->vectors && e->color ? DAE_OK : DAE_E_NOMEM;
}

void dae_equations_close(dae_equations *e)
{
    if (!e->opened) return;
    dae_matrix_free(e->memory, &e->pattern);
    dae_free(e->memory, e->vectors);
    dae_free(e->memory, e->color);
    dae_system_close(&e->system);
    e->opened = 0;
}

/* p = d' along (t + s, x + s v), into e->p */
static int leading_derivative(dae_equations *e, double t, const double *x, const double *v)
{
    const double s = e->time / 32;
    int n = e->n, m = e->system.m;
    double *side = e->x_side;
    memset(e->p, 0, (size_t)m * sizeof *e->p);
    for (int k = 1; k <= POINTS; k++)
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int i = 0; i < n; i++) side[i] = x[i] + sign * k * s * v[i];
            int answer = dae_system_d(&e->system, t + sign * k * s, side, e->d_side);
            if (answer != DAE_OK) return answer;
            for (int i = 0; i < m; i++) e->p[i] += sign * eighth[k - 1] / s * e->d_side[i];
        }
    return DAE_OK;
}

int dae_equations_f(dae_equations *e, double t, const double *x, const double *v, double *r)
{
    if (!e->system.computed) return dae_system_f(&e->system, t, x, v, r);
    int answer = leading_derivative(e, t, x, v);
    return answer == DAE_OK ? dae_system_f(&e->system, t, x, e->p, r) : answer;
}

/* F at the eight (or two) points where the unknowns of one colour are moved: r[k], r[4 + k]; of no
 * pairs: at one point, and here */
static int move(dae_equations *e, double t, const double *x, const double *v, int by_v, int color,
                double factor, int pairs)
{
    int n = e->n, answer = DAE_OK;
    double *moved = by_v ? e->v : e->x;
    const double *at = by_v ? v : x;
    memcpy(e->x, x, (size_t)n * sizeof *x);
    memcpy(e->v, v, (size_t)n * sizeof *v);
    if (pairs == 0) memcpy(e->r[4], e->r_here, (size_t)n * sizeof *e->r_here);
    for (int k = 0; k < (pairs > 0 ? 2 * pairs : 1) && answer == DAE_OK; k++) {
        int side = k % 2, point = k / 2;
        for (int j = 0; j < n; j++)
            if (e->color[j] == color)
                moved[j] = at[j] + (side ? -1 : 1) * (point + 1) * factor * e->step[by_v][j];
        answer = dae_equations_f(e, t, e->x, e->v, e->r[4 * side + point]);
    }
    return answer;
}

static double difference(const dae_equations *e, int i, const double *weights, int pairs)
{
    double sum = 0;
    for (int k = 0; k < pairs; k++) sum += weights[k] * (e->r[k][i] - e->r[4 + k][i]);
    return sum;
}

/* Differences below this are rounding of the terms that an equation is a sum of. */
static double rounding(const dae_equations *e, int i)
{
    return 8 * DBL_EPSILON * (fabs(e->r[0][i]) + fabs(e->r[4][i]) + e->terms[i]);
}

double dae_equations_noise(const dae_equations *e, int i, int j, int by_v)
{
    return 8 * DBL_EPSILON * (2 * fabs(e->r_here[i]) + e->terms[i]) / e->step[by_v][j];
}

/* How far the formulas of order 8 and 6 disagree in column j, beside what is known of an equation
 * at all; *bend: how far two points would be wrong, beside its terms; 0: they would do. */
static double disagreement(const dae_equations *e, int j, double *bend)
{
    double worst = 0;
    *bend = 0;
    for (int64_t k = dae_column_begin(&e->pattern, j); k < dae_column_end(&e->pattern, j); k++) {
        int i = dae_column_row(&e->pattern, j, k);
        double fine = difference(e, i, eighth, POINTS), noise = rounding(e, i);
        double apart = fabs(fine - difference(e, i, sixth, POINTS));
        if (apart > noise) worst = fmax(worst, apart / fmax(fabs(fine), 100 * noise));
        double wrong = fabs(fine - (e->r[0][i] - e->r[4][i]) / 2);
        if (wrong > noise) /* noise > 0 then, or the equation is 0 all around */
            *bend = fmax(*bend, 8 * DBL_EPSILON * wrong / fmax(noise, DBL_MIN));
    }
    return worst;
}

/* Two points q times as far apart are wrong by q^3 bend, and rounding is what it was: both are the
 * same for this q. */
static double place_pair(dae_equations *e, double bend, double factor)
{
    double q = fmin(cbrt(4 * DBL_EPSILON / bend), 1);
    e->doubt = fmax(e->doubt, 2 * bend * q * q / factor);
    return q;
}

/* Increments for the unknowns of one colour. */
static int try_color(dae_equations *e, double t, const double *x, const double *v, int by_v,
                     int color)
{
    double factor = e->colors > DAE_DENSE ? e->guess[by_v] : 1, bend, *best = e->best;
    int found = 0;
    for (int j = 0; j < e->n; j++) best[j] = e->color[j] == color ? INFINITY : best[j];
    for (int k = 0; k < TRIES; k++, factor /= 4) {
        int answer = move(e, t, x, v, by_v, color, factor, POINTS), again = 0;
        if (answer != DAE_OK && answer != DAE_RETRY) return answer;
        for (int j = 0; j < e->n && answer == DAE_OK; j++) {
            if (e->color[j] != color) continue;
            double d = disagreement(e, j, &bend);
            if (d < best[j]) {
                best[j] = d;
                e->row[j] = factor;
                e->bent[by_v][j] = bend;
            }
            found = 1;
            again |= best[j] > 1e-12;
        }
        if (answer == DAE_OK && !again) break;
    }
    for (int j = 0; j < e->n; j++)
        if (e->color[j] == color && found) {
            e->step[by_v][j] *= e->row[j];
            if (e->bent[by_v][j] > 0) {
                e->guess[by_v] = fmin(fmax((best[j] > 1e-14 ? 1 : 4) * e->row[j], 1. / 64), 1);
                e->bent[by_v][j] = place_pair(e, e->bent[by_v][j], e->row[j]);
            }
        }
    return found ? DAE_OK : DAE_RETRY;
}

/* The largest derivative of an equation, times its unknown: of what size its terms are. Found with
 * small increments: exp(v / 0.026) is no measure at v = 4. */
static void measure_terms(dae_equations *e, double t, const double *x, const double *v)
{
    const double small = 1e-4;
    memset(e->terms, 0, (size_t)e->n * sizeof *e->terms);
    for (int by_v = 0; by_v < 2; by_v++)
        for (int color = 0; color < e->colors; color++) {
            if (move(e, t, x, v, by_v, color, small, 1) != DAE_OK) continue;
            for (int i = 0; i < e->n; i++)
                e->terms[i] = fmax(e->terms[i], fabs(e->r[0][i] - e->r[4][i]) / small);
        }
}

int dae_equations_increments(dae_equations *e, double time, double t, const double *x,
                             const double *v)
{
    int answer = DAE_OK;
    e->time = time;
    for (int j = 0; j < e->n; j++) {
        e->step[0][j] = fmax(fabs(x[j]), e->unit[j]);
        e->step[1][j] = fmax(fabs(v[j]), e->step[0][j] / (time * e->swift));
    }
    measure_terms(e, t, x, v);
    e->doubt = 1e-14;
    e->guess[0] = e->guess[1] = 1;
    for (int by_v = 0; by_v < 2; by_v++)
        for (int color = 0; color < e->colors && answer == DAE_OK; color++)
            answer = try_color(e, t, x, v, by_v, color);
    e->increments = answer == DAE_OK ? time : 0;
    return answer;
}

static dae_status undefined(dae_equations *e, double t)
{
    char name[32];
    dae_system *s = &e->system;
    dae_fail(e->report, DAE_E_NONFINITE,
             "the equations are not defined near the point of analysis");
    dae_at(e->report, "t = %.10g%s%s", t, s->bad_retry ? "" : ", ",
           s->bad_retry ? "" : dae_equation_name(s, s->bad_row, name));
    dae_why(e->report, "%s",
            s->bad_retry ? "a callback answered DAE_RETRY" : "a value is not finite");
    dae_hint(e->report, "start from another point");
    return DAE_E_NONFINITE;
}

/* What is met at t alone may be hidden by a factor that is zero just then. */
static int find_pattern(dae_equations *e, double t, const double *x, const double *v,
                        const double *w)
{
    dae_matrix now = { 0 }, later = { 0 };
    double t_later = t + 0.37 * e->time;
    const double *p = e->system.computed ? e->p : v;
    dae_matrix_free(e->memory, &e->pattern);
    int answer = dae_equations_f(e, t, x, v, e->r[0]); /* and e->p */
    if (answer == DAE_OK) answer = dae_pattern_find(&e->system, t, x, p, w, &now);
    int full = answer == DAE_OK && now.count == (int64_t)e->n * e->n;
    if (answer == DAE_OK && !full && dae_equations_f(e, t_later, x, v, e->r[0]) == DAE_OK)
        answer = dae_pattern_find(&e->system, t_later, x, p, w, &later);
    if (answer == DAE_OK)
        answer = dae_matrix_union(&now, later.n > 0 ? &later : &now, e->memory, &e->pattern);
    dae_matrix_free(e->memory, &now);
    dae_matrix_free(e->memory, &later);
    return answer;
}

dae_status dae_equations_learn(dae_equations *e, double t, const double *x, const double *v)
{
    int n = e->n;
    double *w = dae_alloc(e->memory, (size_t)n + 1, sizeof *w);
    if (!w) return DAE_E_NOMEM;
    for (int j = 0; j < n; j++) w[j] = 1e3 / fmax(fabs(x[j]), 1);
    int answer = dae_equations_f(e, t, x, v, e->r[0]);
    if (answer == DAE_OK && e->system.vectors == NULL) /* the probing uses what is taken here */
        answer = dae_system_analyze(&e->system, t, x, e->system.computed ? e->p : v, w, NULL);
    if (answer == DAE_OK) answer = find_pattern(e, t, x, v, w);
    if (answer == DAE_OK) answer = dae_color_columns(&e->pattern, e->memory, e->color, &e->colors);
    dae_free(e->memory, w);
    return answer == DAE_RETRY ? undefined(e, t) : (dae_status)answer;
}

int dae_equations_far(dae_equations *e, double t, const double *x, const double *v, int j, int by_v,
                      double by, double *out)
{
    int answer = dae_equations_f(e, t, x, v, e->r[0]);
    memcpy(e->x, x, (size_t)e->n * sizeof *x);
    memcpy(e->v, v, (size_t)e->n * sizeof *v);
    for (int k = 1; k <= 2 && answer == DAE_OK; k++) {
        (by_v ? e->v : e->x)[j] = (by_v ? v : x)[j] + k * by;
        answer = dae_equations_f(e, t, e->x, e->v, e->r[k]);
    }
    for (int i = 0; i < e->n && answer == DAE_OK; i++) {
        double once = e->r[1][i] - e->r[0][i], twice = e->r[2][i] - e->r[0][i];
        out[i] = fabs(twice - 2 * once) <= 1e-3 * fabs(twice) ? twice / (2 * by) : 0;
    }
    return answer;
}

/* The columns of one colour, by x or by x'. */
static int take_columns(dae_equations *e, double t, const double *x, const double *v, int by_v,
                        int color, double *J)
{
    static const double half[1] = { 0.5 }, whole[1] = { 1 };
    int bent = 0;
    size_t n = (size_t)e->n;
    double near = 1;
    for (int j = 0; j < e->n; j++)
        if (e->color[j] == color && e->bent[by_v][j] > 0) {
            bent = 1;
            near = fmin(near, e->bent[by_v][j]);
        }
    int many = dae_equations_cost(e), pairs = !bent ? !many : e->rough ? 1 : many ? 2 : POINTS;
    double factor = !bent ? 1 : e->rough ? near : many ? finer : 1;
    const double *weights = pairs == 0 ? whole : pairs == 1 ? half : pairs == 2 ? fourth : eighth;
    int answer = move(e, t, x, v, by_v, color, factor, pairs);
    for (int j = 0; j < e->n && answer == DAE_OK; j++) {
        if (e->color[j] != color) continue;
        int64_t end = dae_column_end(&e->pattern, j);
        for (int64_t k = dae_column_begin(&e->pattern, j); k < end; k++) {
            int i = dae_column_row(&e->pattern, j, k);
            double d = difference(e, i, weights, pairs > 0 ? pairs : 1);
            int seen = fabs(d) > rounding(e, i) * fmin(1, 8 * factor);
            J[(size_t)i + (size_t)j * n] = seen ? d / (factor * e->step[by_v][j]) : 0;
        }
    }
    return answer;
}

int dae_equations_jacobian(dae_equations *e, double t, const double *x, const double *v, double *K,
                           double *C)
{
    size_t count = (size_t)e->n * (size_t)e->n;
    memset(K, 0, count * sizeof *K);
    memset(C, 0, count * sizeof *C);
    if (e->given && e->increments > 0 && dae_equations_ask(e, t, x, v, K, C)) return DAE_OK;
    memset(K, 0, count * sizeof *K);
    memset(C, 0, count * sizeof *C);
    int answer = dae_equations_f(e, t, x, v, e->r_here);
    for (int color = 0; color < e->colors && answer == DAE_OK; color++) {
        answer = take_columns(e, t, x, v, 0, color, K);
        if (answer == DAE_OK) answer = take_columns(e, t, x, v, 1, color, C);
    }
    return answer;
}
