/* corrector.c: modified Newton with reuse of Jacobian and factors.
 *
 * Rules, and what they came from (measured on the transistor amplifier, the pendulum and the
 * examples of Higueras, Maerz and Tischendorf; docs/numerics.md):
 *   - The iteration stops when the error that remains, rate / (1 - rate) * |delta|, is below
 *     kappa. A rate remembered from earlier steps is only trusted while somebody looks: it
 *     never counts below a floor, is forgotten when the factors change under an old Jacobian,
 *     and is measured again (by a second iteration) after a few steps. Otherwise one lucky
 *     iteration licenses sloppy ones: with a Jacobian from the middle of a relaxation jump the
 *     corrections are tiny, the true rate is 0.99, and the solution is frozen at any step size.
 *   - The change of a computed d is in the test, in weights of its own.
 *   - c may differ a little from that of the factors; the correction is then scaled by
 *     2 / (1 + c / c_factor), which halves the damage at both ends of the spectrum.
 *   - K and C are kept apart, so a new c costs a factorization but no Jacobian.
 */
#include "nonlinear/corrector.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

/* Floor under a remembered rate, and steps without a look at it. Where C moves, or is felt at
 * level >= 2, it goes stale within a step or two and the caution must be greater. */
static const double OLD_RATE = 0.05, OLD_RATE_CAUTIOUS = 0.3;
enum { MOST_UNMEASURED = 4, MOST_UNMEASURED_CAUTIOUS = 1 };
static const double FAR = 20; /* a prediction off by so many tolerances is far */
enum { LONG_CAUTION = 10 };   /* steps of caution after a poor rate or a failure */
enum { SMALL = 32 };          /* dense systems up to here keep C as a list of nonzeros too */
static const double UNKNOWN_RATE = 0.5; /* of an unknown that has had no correction before */
static const double NOISE_MOST =
    1e4; /* of velocities, in tolerances: steps so short end in rounding alone */
static const double BEARABLE =
    3; /* rounding of levels 0 and 1 above so many tolerances is a failure */
static const double NOTHING = 1e-9; /* of its terms: such an unknown is 0 */
static const double SHAKEN = 4;     /* rounding is so many times what a shake of two units shows */
static const double SETTLING_RATE = 0.1; /* velocities are taken to converge no faster */
static const double GIVE_UP = 0.9;       /* a slower iteration is called divergent */
static const double STIRRING = 3;        /* a look between steps stays within this: rounding */
static const double SLOW = 0.25;         /* slower than this with an old Jacobian: renew it */

static void set_caution(dae_corrector *q)
{
    int cautious = (q->system->facts & (DAE_FACT_HIGH_INDEX | DAE_FACT_D_VARIES)) != 0;
    /* Within this range of c the scaled correction converges about as fast as with fresh
     * factors; with index-2 and index-3 unknowns, which see c and c^2, it does not. */
    q->c_slack = q->system->facts & DAE_FACT_HIGH_INDEX ? 0.02 : 0.25;
    q->old_rate = cautious ? OLD_RATE_CAUTIOUS : OLD_RATE;
    q->most_unmeasured = cautious ? MOST_UNMEASURED_CAUTIOUS : MOST_UNMEASURED;
}

/* What a Jacobian and its factors cost, in Newton iterations: evaluations, and a factorization
 * that is worth more solves the more the pattern fills. */
static int price(const dae_system *s)
{
    int given = s->problem.jacobian || s->problem.jacobian_x;
    return (given ? 1 : s->colors) + (s->matrix.kind == DAE_PATTERN_SPARSE ? 8 : 2 + s->n / 8);
}

dae_status dae_corrector_open(dae_corrector *q, dae_system *system, const char *linear)
{
    const dae_memory *m = system->memory;
    size_t count = (size_t)system->matrix.count, n = (size_t)system->n;
    q->system = system;
    q->linear = dae_linear_find(linear, &system->matrix);
    if (!q->linear) {
        dae_fail(system->report, DAE_E_OPTION, "no linear solver '%s' for this pattern", linear);
        dae_hint(system->report, "use \"auto\"");
        return DAE_E_OPTION;
    }
    int listed = system->matrix.kind == DAE_PATTERN_DENSE && n <= SMALL;
    int compares = (system->facts & DAE_FACT_HIGH_INDEX) && !(system->facts & DAE_FACT_C_CONSTANT);
    dae_vector_wish wish[] = { { &q->C_before, compares ? count : 0 },
                               { &q->K, count },
                               { &q->C, count },
                               { &q->K_kept, count },
                               { &q->C_kept, count },
                               { &q->r, n },
                               { &q->delta, 3 * n },
                               { &q->change, n },
                               { &q->C_diagonal, n },
                               { &q->C_value, listed ? count : 0 },
                               { &q->scaling.row, n },
                               { &q->scaling.column, n },
                               { &q->units_kept, 2 * n },
                               { &q->scaling.K, count },
                               { &q->scaling.C, count } };
    q->vectors = dae_alloc_vectors(m, wish, sizeof wish / sizeof *wish);
    if (listed) q->C_row = dae_alloc(m, 2 * count, sizeof(int));
    int has_levels = (system->facts & DAE_FACT_HIGH_INDEX) != 0;
    if (has_levels) q->velocity = dae_alloc(m, n, sizeof(int));
    int status =
        q->vectors && (!listed || q->C_row) && (!has_levels || q->velocity) ? DAE_OK : DAE_E_NOMEM;
    if (!listed) q->C_value = NULL;
    if (!compares) q->C_before = NULL;
    q->C_felt = compares;
    if (listed && q->C_row) q->C_column = q->C_row + count;
    if (status == DAE_OK) status = q->linear->analyze(&system->matrix, m, &q->analysis);
    if (status == DAE_OK) status = q->linear->open(q->analysis, 0, &q->factor);
    if (status != DAE_OK) {
        dae_fail(system->report, (dae_status)status, "no memory for the linear solver '%s'",
                 q->linear->name);
        dae_why(system->report, "%d unknowns, %lld nonzeros", system->n,
                (long long)system->matrix.count);
        return (dae_status)status;
    }
    system->stats->linear = q->linear->name;
    set_caution(q);
    q->rate = 1;
    q->jacobian_price = price(system);
    return DAE_OK;
}

void dae_corrector_close(dae_corrector *q)
{
    if (!q->system) return;
    const dae_memory *m = q->system->memory;
    if (q->linear) {
        q->linear->close(q->factor);
        q->linear->release(q->analysis);
    }
    dae_free(m, q->vectors);
    dae_free(m, q->C_row);
    dae_free(m, q->velocity);
    memset(q, 0, sizeof *q);
}

/* Does C move from one Jacobian to the next, also in an implicit form? Then it ages. */
static void watch_C(dae_corrector *q)
{
    dae_system *s = q->system;
    double sum = 0, size = 0;
    if (s->facts & (DAE_FACT_C_CONSTANT | DAE_FACT_C_PRESUMED | DAE_FACT_D_VARIES)) return;
    int place = 1; /* 1 + k % 13 */
    for (int64_t k = 0; k < s->matrix.count; k++, place = place == 13 ? 1 : place + 1) {
        double c = q->C[k] * (double)place;
        sum += c;
        size += fabs(c);
    }
    if (q->C_sum != 0 && fabs(sum - q->C_sum) > 1e-4 * size) {
        s->facts |= DAE_FACT_D_VARIES;
        set_caution(q);
    }
    q->C_sum = sum;
}

/* Small dense systems: what is on the diagonal, and the list of nonzeros if there are others. */
static void collect_small(dae_corrector *q)
{
    size_t n = (size_t)q->system->n, count = n * n;
    int others = 0;
    for (size_t k = 0; k < count; k++) others += q->C[k] != 0;
    for (size_t j = 0; j < n; j++) {
        double c = q->C[j * n + j];
        q->C_diagonal[j] = c;
        others -= c != 0;
    }
    q->C_is_diagonal = others == 0;
    if (others == 0) return;
    for (size_t j = 0; j < n; j++)
        for (size_t i = 0; i < n; i++) {
            double c = q->C[j * n + i];
            if (c == 0) continue;
            q->C_value[q->C_count] = c;
            q->C_row[q->C_count] = (int)i;
            q->C_column[q->C_count++] = (int)j;
        }
}

static void collect_velocities(dae_corrector *q)
{
    const dae_matrix *a = &q->system->matrix;
    q->velocities = 0;
    for (int j = 0; q->velocity && j < a->n; j++) {
        int moves = 0;
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++)
            moves |= q->C[k] != 0;
        if (moves && q->system->level[j] == DAE_INDEX2) q->velocity[q->velocities++] = j;
    }
}

static void collect_C(dae_corrector *q)
{
    const dae_matrix *a = &q->system->matrix;
    int n = q->system->n;
    watch_C(q);
    collect_velocities(q);
    q->C_count = 0;
    q->C_is_diagonal = 1;
    if (q->C_value) {
        collect_small(q);
        return;
    }
    for (int j = 0; j < n && q->C_is_diagonal; j++)
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++)
            if (dae_column_row(a, j, k) == j)
                q->C_diagonal[j] = q->C[k];
            else if (q->C[k] != 0)
                q->C_is_diagonal = 0;
}

void dae_corrector_lead(const dae_corrector *q, const double *v, double *y)
{
    int n = q->system->n;
    double c = q->c_factor;
    if (q->c_each) {
        dae_matrix_times(&q->system->matrix, q->C_each, v, y);
        for (int i = 0; i < n; i++) y[i] *= c;
        return;
    }
    if (q->C_is_diagonal) {
        for (int i = 0; i < n; i++) y[i] = c * q->C_diagonal[i] * v[i];
        return;
    }
    if (!q->C_value) {
        dae_matrix_times(&q->system->matrix, q->C, v, y);
        for (int i = 0; i < n; i++) y[i] *= c;
        return;
    }
    for (int i = 0; i < n; i++) y[i] = 0;
    for (int k = 0; k < q->C_count; k++) y[q->C_row[k]] += c * q->C_value[k] * v[q->C_column[k]];
}

int dae_corrector_renew(dae_corrector *q, double t, const double *x, const double *p, double h,
                        const double *w)
{
    /* who borrows K and C as scratch says so by have_jacobian = 0 */
    int keep = q->have_jacobian && (q->system->facts & DAE_FACT_C_CONSTANT);
    q->have_jacobian = q->have_factor = 0;
    int status = dae_system_jacobian(q->system, t, x, p, h, w, q->K, keep ? NULL : q->C);
    if (status != DAE_OK)
        return status == DAE_RETRY ? (q->system->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE)
                                   : status;
    if (!keep) collect_C(q);
    dae_scaling_begin(&q->scaling, q->system->n, w);
    set_caution(q); /* C may have been found to move */
    q->have_jacobian = q->new_jacobian = q->jacobian_current = 1;
    q->want_jacobian = 0;
    q->t_jacobian = t;
    return DAE_OK;
}

static const double *spread_C(dae_corrector *q)
{
    const dae_matrix *a = &q->system->matrix;
    if (!q->c_each) return q->C;
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++)
            q->C_each[k] = q->C[k] * q->c_each[j];
    return q->C_each;
}

int dae_corrector_factor_other(dae_corrector *q, void *factor, double c_re, double c_im,
                               dae_factor_info *info)
{
    dae_scaling *g = &q->scaling;
    if (!g->ready || q->c_each)
        dae_scaling_make(g, &q->system->matrix, q->K, spread_C(q), hypot(c_re, c_im));
    q->system->stats->factorizations++;
    int status = q->linear->factor(factor, g->K, g->C, c_re, c_im, info);
    q->system->stats->repivots += info->repivoted;
    return status;
}

int dae_corrector_solve_other(const dae_corrector *q, void *factor, double *re, double *im)
{
    return dae_scaling_solve(&q->scaling, q->system->n, q->linear, factor, re, im, 1);
}

int dae_corrector_factor(dae_corrector *q, double c)
{
    q->have_factor = 0;
    int status = dae_corrector_factor_other(q, q->factor, c, 0, &q->info);
    if (status == DAE_E_SINGULAR) return DAE_STEP_SINGULAR;
    if (status != DAE_OK) {
        dae_fail(q->system->report, (dae_status)status, "the factorization failed");
        dae_at(q->system->report, "linear solver '%s', c = %g", q->linear->name, c);
        return status;
    }
    q->have_factor = q->new_factor = 1;
    q->system->stats->factor_nonzeros = q->info.nonzeros;
    q->c_factor = c;
    return DAE_OK;
}

int dae_corrector_solve_with(dae_corrector *q, double *b, int count)
{
    q->system->stats->solves += count;
    int status = dae_scaling_solve(&q->scaling, q->system->n, q->linear, q->factor, b, NULL, count);
    return status == DAE_E_SINGULAR ? DAE_STEP_SINGULAR : status;
}

static int answer_verdict(const dae_system *s, int status)
{
    return status != DAE_RETRY ? status : s->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
}

/* Takes the correction: e -= scale delta, x = x_pred + e, p to match. One pass does it all for
 * d = x; *size becomes the weighted norm of the correction, the change of a computed d in
 * weights of its own included. */
static inline int move_plain(dae_system *s, dae_stage *g, double scale, const double *delta,
                             int fresh, double *size, int *worst)
{
    double most = 0, c = g->c;
    int n = s->n, place = -1;
    for (int i = 0; i < n; i++) {
        double step = scale * delta[i], e = (fresh ? 0 : g->e[i]) - step;
        double a = fabs(step) * g->w[i];
        g->e[i] = e;
        g->x[i] = g->x_pred[i] + e;
        g->p[i] = g->p_pred[i] + c * e;
        if (!(a <= most)) {
            most = a == a ? a : INFINITY;
            place = i;
        }
    }
    *size = most;
    *worst = place;
    return DAE_OK;
}

/* The same where four entries may go at a time. */
static inline int move_padded(dae_system *s, dae_stage *g, double scale, const double *delta,
                              int fresh, double *size, int *worst)
{
    double c = g->c, *e = g->e, *x = g->x, *p = g->p;
    const double *x_pred = g->x_pred, *p_pred = g->p_pred;
    for (int i = 0; i < s->n; i += 4) {
        dae_four v = -scale * *(const dae_four *)(delta + i);
        if (!fresh) v += *(dae_four *)(e + i);
        *(dae_four *)(e + i) = v;
        *(dae_four *)(x + i) = *(const dae_four *)(x_pred + i) + v;
        *(dae_four *)(p + i) = *(const dae_four *)(p_pred + i) + c * v;
    }
    *size = fabs(scale) * dae_norm_max(s->n, delta, g->w, worst);
    return DAE_OK;
}

static int move_computed(dae_system *s, dae_stage *g, double scale, const double *delta,
                         double *size, int *worst)
{
    double most = 0, most_d = 0;
    *worst = -1;
    for (int i = 0; i < s->n; i++) {
        double step = scale * delta[i], a = fabs(step) * g->w[i];
        g->e[i] -= step;
        g->x[i] = g->x_pred[i] + g->e[i];
        if (!(a <= most)) {
            most = a == a ? a : INFINITY;
            *worst = i;
        }
    }
    int status = dae_system_d(s, g->t, g->x, g->d);
    if (status != DAE_OK) return status;
    for (int i = 0; i < s->m; i++) {
        double e_d = g->d[i] - g->d_pred[i];
        if (g->w_d) most_d = fmax(most_d, fabs(e_d - g->e_d[i]) * g->w_d[i]);
        g->e_d[i] = e_d;
        g->p[i] = g->p_pred[i] + g->c * e_d;
    }
    *size = fmax(most, most_d);
    return DAE_OK;
}

/* fresh: e is zero, whatever the array holds (d = x only). */
static int move(dae_corrector *q, dae_stage *g, double scale, const double *delta, int fresh,
                double *size)
{
    dae_system *s = q->system;
    int status = s->computed ? move_computed(s, g, scale, delta, size, &q->worst)
                 : g->padded ? move_padded(s, g, scale, delta, fresh, size, &q->worst)
                 : fresh     ? move_plain(s, g, scale, delta, 1, size, &q->worst)
                             : move_plain(s, g, scale, delta, 0, size, &q->worst);
    for (int i = 0; q->c_each && i < s->n; i++)
        g->p[i] = g->p_pred[i] + g->c * q->c_each[i] * g->e[i];
    if (status == DAE_OK && q->norm == DAE_NORM_RMS && s->n > 0)
        *size = fabs(scale) * dae_norm_rms(s->n, delta, g->w, &q->worst);
    return status;
}

/* The start of an iteration: e = 0. With a computed d the prediction of x and that of d need
 * not match, so p is not p_pred even there. */
static int reset_stage(dae_corrector *q, dae_stage *g)
{
    dae_system *s = q->system;
    size_t n = (size_t)s->n;
    memset(g->e, 0, n * sizeof(double));
    if (s->computed) {
        double size;
        int worst;
        memset(g->e_d, 0, (size_t)s->m * sizeof(double));
        return move_computed(s, g, 0, g->x_pred, &size, &worst);
    }
    memcpy(g->x, g->x_pred, n * sizeof(double));
    memcpy(g->p, g->p_pred, n * sizeof(double));
    return DAE_OK;
}

/* Below this the iteration only stirs rounding errors. The rounding of p is eps |d| c. */
static double rounding_floor(const dae_system *s, const dae_stage *g)
{
    double largest = 0;
    for (int i = 0; i < s->n; i++)
        largest =
            fmax(largest, (fabs(g->x[i]) + fabs(g->h * (s->computed ? 0 : g->p[i]))) * g->w[i]);
    for (int i = 0; g->w_d && i < s->computed; i++)
        largest = fmax(largest, fabs(g->d[i]) * g->w_d[i]);
    return 32 * DBL_EPSILON * largest;
}

/* The rate seen in iteration m >= 2: of the last two corrections, and on average. */
static double observe(int m, double size, double last, double first)
{
    double rate = size / last;
    return m == 2 ? rate : fmax(rate, pow(size / first, 1.0 / (m - 1)));
}

/* Quotients of norms are no rate where the norms are of different unknowns: one that is driven by time alone has a
 * large first correction and no second, and vouches for nothing but itself. So what the next correction will be is asked of
 * each unknown by its own rate; one that had no correction before has a rate that the next one must tell. With the rate
 * of the unknown that has the largest. */
static double size_to_come(const dae_corrector *q, const dae_stage *g, double scale,
                           const double *delta, double *rate)
{
    double most = 0;
    for (int i = 0; i < q->system->n; i++) {
        double now = fabs(delta[i]), before = fabs(q->delta[i]);
        double own = now < UNKNOWN_RATE * before ? now / before : UNKNOWN_RATE,
               next = own * now * g->w[i];
        if (next > most) most = next, *rate = own;
    }
    return fabs(scale) * most;
}

static double power(double a, int k)
{
    double product = 1;
    while (k-- > 0) product *= a;
    return product;
}

/* f where x, and with it a computed d, is other by a rounding, up or down as the bits say. */
static int shaken(dae_system *s, double c, double t, const double *x, const double *p,
                  uint64_t bits, double *r)
{
    for (int j = 0; j < s->n; j++) {
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        s->x_moved[j] = x[j] * (bits & 1 ? 1 + 2 * DBL_EPSILON : 1 - 2 * DBL_EPSILON);
    }
    memcpy(s->p_moved, p, (size_t)s->m * sizeof(double));
    if (s->computed) {
        int status = dae_system_d(s, t, x, s->d_base);
        if (status == DAE_OK) status = dae_system_d(s, t, s->x_moved, s->d_moved);
        if (status != DAE_OK) return status;
        for (int i = 0; i < s->m; i++) s->p_moved[i] += c * (s->d_moved[i] - s->d_base[i]);
    }
    return dae_system_f(s, t, s->x_moved, s->p_moved, r);
}

/* What rounding may do to the rows of f at (t, x, p): by the sizes of K x and C p; at index 2 and 3, where it is multiplied,
 * by what two shakes show, too, for rows may hold larger terms than these. A computed d is rounded itself, and its derivative by c times as
 * much. */
static void row_rounding(dae_corrector *q, double t, const double *x, const double *p, double *r)
{
    static const uint64_t seed[2] = { 0x9e3779b97f4a7c15ULL, 0xbf58476d1ce4e5b8ULL };
    dae_system *s = q->system;
    const dae_matrix *a = &s->matrix;
    double c = q->c_factor, *still = s->r_above, *moved = s->r_below;
    memset(r, 0, (size_t)s->n * sizeof(double));
    for (int j = 0; j < s->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            r[dae_column_row(a, j, k)] +=
                fabs(q->K[k] * x[j]) + fabs(q->C[k] * (s->computed ? c * x[j] : p[j]));
    for (int i = 0; i < s->n; i++) r[i] *= 16 * DBL_EPSILON;
    int shakes = (s->facts & DAE_FACT_HIGH_INDEX) && dae_system_f(s, t, x, p, still) == DAE_OK;
    for (int round = 0; round < 2 && shakes; round++)
        if (shaken(s, c, t, x, p, seed[round], moved) == DAE_OK)
            for (int i = 0; i < s->n; i++) r[i] = fmax(r[i], SHAKEN * fabs(moved[i] - still[i]));
}

/* Rows may hold terms that K x and C p know nothing of: of time, and of what was eliminated, which cancel. An unknown
 * that is 0 beside them makes 0 of its own noise, and no correction is ever small enough. Who has written the
 * residual may know what rounding does in it. Twice that stays: the last correction has answered one rounding, and
 * f is now rounded otherwise. */
static void add_known_rounding(dae_system *s, double t, const double *x, const double *p, double *r)
{
    double *known = s->r_above;
    const dae_problem *q = &s->problem;
    if (!q->rounding || !q->residual || s->computed) return;
    s->callback_depth++;
    int answer = q->rounding(t, x, p, known, q->user);
    s->callback_depth--;
    for (int i = 0; answer == DAE_OK && i < s->n; i++)
        if (known[i] < INFINITY) r[i] = fmax(r[i], 2 * known[i]);
}

/* What rounding of rows does to x: of three patterns of signs the largest, since with one of them rows may cancel. */
static int spread_rounding(dae_corrector *q, const double *rows, double *noise)
{
    int n = q->system->n, status = DAE_OK;
    uint64_t bits = 0x9e3779b97f4a7c15ULL;
    memset(noise, 0, (size_t)n * sizeof(double));
    for (int round = 0; round < 3 && status == DAE_OK; round++) {
        double *v = q->delta;
        for (int i = 0; i < n; i++) {
            bits ^= bits << 13;
            bits ^= bits >> 7;
            bits ^= bits << 17;
            v[i] = bits & 1 ? rows[i] : -rows[i];
        }
        status = dae_corrector_solve_with(q, v, 1);
        for (int i = 0; i < n && status == DAE_OK; i++) noise[i] = fmax(noise[i], fabs(v[i]));
    }
    return status;
}

int dae_corrector_noise(dae_corrector *q, double t, const double *x, const double *p, double *noise)
{
    double *rows = q->delta + q->system->n;
    row_rounding(q, t, x, p, rows);
    if (!(q->system->facts & DAE_FACT_HIGH_INDEX)) add_known_rounding(q->system, t, x, p, rows);
    return spread_rounding(q, rows, noise);
}

/* Of what the problem knows only that is forgiven which is due to zeros: an unknown that is nothing beside its terms has no size
 * of its own, and its atol was a guess at one. Where rounding is above the tolerance of another, the solution is about to
 * leave the numbers, say, and its terms with it: that is a failure. */
static int only_zeros(dae_corrector *q, const double *w, const double *x, const double *rows,
                      double *noise)
{
    if (!q->have_factor || spread_rounding(q, rows, noise) != DAE_OK) return 0;
    for (int i = 0; i < q->system->n; i++)
        if (noise[i] * w[i] > BEARABLE && !(fabs(x[i]) * DBL_EPSILON <= NOTHING * noise[i]))
            return 0;
    return 1;
}

/* The rounding of rows is left in `rows`; `noise` is scratch. */
static int is_quiet(dae_corrector *q, double t, const double *x, const double *p, const double *w,
                    double *rows, double *noise)
{
    dae_system *s = q->system;
    int quiet = 1, plain = 1;
    row_rounding(q, t, x, p, rows);
    if (dae_system_f(s, t, x, p, q->r) != DAE_OK) return -1;
    for (int i = 0; i < s->n; i++) plain &= fabs(q->r[i]) <= rows[i];
    if (plain || !s->problem.rounding || (s->facts & DAE_FACT_HIGH_INDEX)) return plain;
    add_known_rounding(s, t, x, p, rows);
    for (int i = 0; i < s->n; i++) quiet &= fabs(q->r[i]) <= rows[i];
    return quiet && only_zeros(q, w, x, rows, noise);
}

int dae_corrector_quiet(dae_corrector *q, double t, const double *x, const double *p,
                        const double *w)
{
    double *rows = q->delta + q->system->n;
    return is_quiet(q, t, x, p, w, rows, rows + q->system->n) > 0;
}

/* Is f at rounding level in every row? Then Newton has done what it can, however badly the unknowns are
 * determined. At index 2 and 3 rounding is amplified by 1 / h and more: there the last correction may be as large as
 * what rounding does to x through the matrix, if that is of this step; of multipliers whatever it is, of unknowns of levels
 * 0 and 1 a few tolerances at most. Asked only when the iteration fails. */
static int only_noise(dae_corrector *q, dae_stage *g, double size)
{
    dae_system *s = q->system;
    double *rows = q->delta + s->n, *noise = q->delta + 2 * (size_t)s->n, most = 0;
    int quiet = is_quiet(q, g->t, g->x, g->p, g->w, rows, noise);
    if (quiet < 0) return 0;
    if (!(s->facts & DAE_FACT_HIGH_INDEX)) {
        q->drowned |= quiet;
        return quiet;
    }
    if (q->worst < 0 || (s->level[q->worst] < DAE_INDEX2 && size > BEARABLE)) return 0;
    if (quiet || !q->jacobian_current) return quiet;
    if (spread_rounding(q, rows, noise) != DAE_OK) return 0;
    for (int i = 0; i < s->n; i++)
        most = fmax(most, s->level[i] < DAE_INDEX2 ? fmin(noise[i] * g->w[i], BEARABLE)
                                                   : noise[i] * g->w[i]);
    return size <= most;
}

/* The last correction is not followed by a look at f. Where the equations are known to be
 * undefined nearby, look, and take back part of it: the point before was fine. */
static int look_again(dae_corrector *q, dae_stage *g, double scale)
{
    dae_system *s = q->system;
    double size, kept = 1;
    for (int round = 0; round < 12; round++, kept *= 0.5) {
        int status = dae_system_f(s, g->t, g->x, g->p, q->r);
        if (status != DAE_RETRY) return status;
        status = move(q, g, -0.5 * kept * scale, q->change, 0, &size);
        if (status != DAE_OK) return answer_verdict(s, status);
    }
    return answer_verdict(s, DAE_RETRY);
}

/* f where Newton is; the Jacobian may just have asked for it there. */
static int ask_f(dae_corrector *q, double t, const double *x, const double *p, double *r)
{
    dae_system *s = q->system;
    if (!q->base_known) return dae_system_f(s, t, x, p, r);
    q->base_known = 0;
    memcpy(r, s->r_base, (size_t)s->n * sizeof(double));
    return DAE_OK;
}

static double velocity_size(const dae_corrector *q, const double *delta)
{
    double most = 0;
    for (int k = 0; k < q->velocities; k++)
        most = fmax(most, fabs(delta[q->velocity[k]]) * q->w_full[q->velocity[k]]);
    return most;
}

/* Velocities that gain no more are as right as rounding lets them be, or the iteration diverges in them, which the
 * weights with powers of h do not see: what rounding does to them through the matrix tells which it is. */
int dae_corrector_velocities_done(dae_corrector *q, double t, const double *x, const double *p,
                                  double size)
{
    if (size <= 1) return 1;
    if (size > NOISE_MOST) return 0;
    return dae_corrector_noise(q, t, x, p, q->r) == DAE_OK && size <= velocity_size(q, q->r);
}

/* Powers of h forgive errors of velocities that are gone with the next step. In the directions that constraints
 * leave free they are not: there a velocity is as differential as anything, and stays wrong. So an iteration that
 * has converged goes on until velocities are right to the tolerance itself, or no longer gain. */
static int settle_velocities(dae_corrector *q, dae_stage *g)
{
    double scale = 2 / (1 + g->c / q->c_factor), rate = fmax(q->rate, SETTLING_RATE),
           *delta = q->change;
    double last = INFINITY, size;
    int most = q->iterations + q->max_iterations;
    for (; q->velocities > 0; q->iterations++) {
        double v = fabs(scale) * velocity_size(q, delta);
        if (rate * v <= q->tolerance * (1 - rate)) return DAE_OK;
        if (v > 0.5 * last || q->iterations >= most)
            return dae_corrector_velocities_done(q, g->t, g->x, g->p, v) ? DAE_OK : DAE_STEP_NEWTON;
        int status = dae_system_f(q->system, g->t, g->x, g->p, delta);
        if (status == DAE_OK) status = dae_corrector_solve_with(q, delta, 1);
        if (status == DAE_OK) status = move(q, g, scale, delta, 0, &size);
        if (status != DAE_OK) return answer_verdict(q->system, status);
        q->system->stats->newton_iterations++;
        last = v;
    }
    return DAE_OK;
}

static int iterate(dae_corrector *q, dae_stage *g)
{
    dae_system *s = q->system;
    double scale = 2 / (1 + g->c / q->c_factor), rate = fmax(q->rate, q->old_rate);
    double *delta = q->change, first = 0, last = 0, size;
    int m = 1, plain = !s->computed; /* then the first look is at the prediction itself */
    int status = plain ? DAE_OK : reset_stage(q, g);
    if (status != DAE_OK) return answer_verdict(s, status);
    q->observed_rate = 0;
    for (;; m++) {
        int fresh = plain && m == 1;
        q->iterations++;
        if (m > 1) memcpy(q->delta, delta, (size_t)s->n * sizeof(double));
        status = ask_f(q, g->t, fresh ? g->x_pred : g->x, fresh ? g->p_pred : g->p, delta);
        if (status != DAE_OK) return answer_verdict(s, status);
        status = dae_corrector_solve_with(q, delta, 1);
        if (status != DAE_OK) return status;
        s->stats->newton_iterations++;
        status = move(q, g, scale, delta, fresh, &size);
        if (status != DAE_OK) return answer_verdict(s, status);
        if (!(size < 1e300)) return DAE_STEP_NEWTON;
        if (m == 1) {
            first = size;
            if (size <= 1e-4 * q->tolerance) return DAE_OK; /* nothing to learn about the rate */
        } else {
            q->observed_rate = rate = observe(m, size, last, first);
        }
        double left = rate < 1 ? rate / (1 - rate) * size : INFINITY;
        if (m >= 2 && q->norm == DAE_NORM_MAX && left <= q->tolerance) {
            double own = 0, next = size_to_come(q, g, scale, delta, &own);
            left = fmax(left, next / (1 - own));
        }
        /* from a far prediction the second correction can be small by overshooting (an
         * exponential throws the iterate to its flat side): then a third must confirm */
        int hasty = m == 2 && first > FAR && size > 0.1 * q->tolerance;
        if (!hasty && left <= q->tolerance) break;
        if (m >= 2 && rate > 0.5 && size <= rounding_floor(s, g)) break;
        int lost =
            m >= q->max_iterations || (m >= 2 && rate > GIVE_UP) ||
            /* the iterations left cannot do it */
            (m >= 2 && size * power(rate, q->max_iterations - m + 1) > q->tolerance * (1 - rate));
        if (lost && m >= 2 && only_noise(q, g, size)) {
            q->observed_rate = 0; /* quotients of rounding are no rate */
            return DAE_OK;
        }
        if (lost) return DAE_STEP_NEWTON;
        last = size;
    }
    if (q->verify && (status = look_again(q, g, scale)) != DAE_OK) return status;
    if (m >= 2) {
        q->rate = fmax(0.2 * q->rate, rate);
        q->unmeasured = 0;
    } else if (++q->unmeasured >= (q->caution > 0 ? 1 : q->most_unmeasured)) {
        q->rate = 1; /* the Jacobian has aged since the rate was seen: look again */
    }
    return DAE_OK;
}

/* From one point to the next C changes by O(h), cC by O(1). Where K and C are parallel in part (a
 * constraint on d itself) that is felt at level >= 2, and an old Jacobian is useless; a mass matrix
 * that moves is not felt. Which it is tells (K + cC)^-1 c (C - C_before) in a random direction, for
 * a change of C over h. */
static void feel_C(dae_corrector *q, const dae_stage *g)
{
    const dae_matrix *a = &q->system->matrix;
    const double *w = g->w;
    if (!q->C_before || (q->have_before && g->t == q->t_before)) return;
    double steps = q->have_before ? fabs((g->t - q->t_before) / g->h) : 1;
    if (q->have_before && (q->system->facts & DAE_FACT_D_VARIES)) {
        memset(q->r, 0, (size_t)a->n * sizeof(double));
        for (int j = 0; j < a->n; j++) {
            double v = q->c_factor * (0.6 + 0.4 * sin(2.3 * j + 1)) * (j % 3 ? 1 : -1) / w[j];
            for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++)
                q->r[dae_column_row(a, j, k)] += (q->C[k] - q->C_before[k]) * v;
        }
        int worst, solved = dae_corrector_solve_with(q, q->r, 1) == DAE_OK;
        q->C_felt = solved ? dae_norm(DAE_NORM_MAX, a->n, q->r, w, &worst) / steps : 1;
    }
    memcpy(q->C_before, q->C, (size_t)a->count * sizeof(double));
    q->have_before = 1;
    q->t_before = g->t;
}

static int prepare(dae_corrector *q, dae_stage *g)
{
    int status = DAE_OK, renewed = 0;
    q->base_known = 0;
    if (!q->have_jacobian || q->want_jacobian || !dae_jacobian_serves(q->system, g->c)) {
        q->system->c_wanted = q->c_each ? 0 : g->c;
        status = dae_corrector_renew(q, g->t, g->x_pred, g->p_pred, g->h, g->w);
        q->system->c_wanted = 0;
        if (status != DAE_OK) return status;
        renewed = 1;
        /* Newton starts at x_pred, p_pred (not so with a computed d) */
        q->base_known = q->system->base_known && !q->system->computed;
    }
    double ratio = q->have_factor ? g->c / q->c_factor : 0;
    if (!(fabs(ratio - 1) <= q->c_slack)) {
        status = dae_corrector_factor(q, g->c);
        if (status == DAE_OK && renewed) feel_C(q, g);
        /* with an old Jacobian a new c changes the rate in a way nobody has measured */
        q->rate = q->jacobian_current ? q->old_rate : 1;
    }
    return status;
}

/* An old Jacobian costs iterations beyond the second; once they add up to what a new one costs,
 * it is renewed. */
static void weigh_age(dae_corrector *q)
{
    if (q->jacobian_current)
        q->excess = 0;
    else if (q->iterations > 2)
        q->excess += q->iterations - 2;
    if (q->excess > q->jacobian_price) q->want_jacobian = 1;
}

int dae_corrector_solve(dae_corrector *q, dae_stage *g)
{
    q->new_jacobian = q->new_factor = q->jacobian_current = q->second_round = 0;
    q->iterations = 0;
    for (int round = 0;; round++) {
        int status = prepare(q, g);
        if (status == DAE_OK) status = iterate(q, g);
        if (status == DAE_OK) status = settle_velocities(q, g);
        if (q->caution > 0) q->caution--;
        if (status != DAE_OK || q->observed_rate > 0.2) q->caution = LONG_CAUTION;
        if (status == DAE_OK) {
            /* converged, but slowly with an old Jacobian: the next step gets a new one */
            if (q->observed_rate > SLOW && !q->jacobian_current) q->want_jacobian = 1;
            weigh_age(q);
            return DAE_OK;
        }
        q->rate = 1;
        int strayed =
            status == DAE_STEP_NEWTON ||
            ((status == DAE_STEP_RETRY || status == DAE_STEP_NONFINITE) && q->iterations > 1);
        if (strayed && q->jacobian_current && q->stubborn) {
            int used = q->iterations, plainly = status;
            status = dae_corrector_damped(q, g, 20, q->stubborn > 1 ? DAE_HALVINGS : 0);
            q->iterations += used;
            q->want_jacobian = 1;
            return status > 0 ? plainly : status;
        }
        if (status < 0 || round > 0 || q->jacobian_current) return status;
        q->want_jacobian = 1; /* once more with the Jacobian of this step */
        q->second_round = 1;
        q->system->facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
    }
}

int dae_corrector_touch_up(dae_corrector *q, dae_stage *g)
{
    dae_system *s = q->system;
    double first = 0, last = 0, size = 0, rate = fmax(q->rate, OLD_RATE_CAUTIOUS);
    double left = g->exact ? 1e-3 * q->tolerance : q->tolerance;
    int worst = q->worst, good = 0;
    if (!q->have_factor) return 0;
    g->c = q->c_factor;
    int status = reset_stage(q, g);
    for (int m = 1; m <= 8 && status == DAE_OK && !good; m++) {
        status = dae_system_f(s, g->t, g->x, g->p, q->delta);
        if (status == DAE_OK) status = dae_corrector_solve_with(q, q->delta, 1);
        if (status == DAE_OK) status = move(q, g, 1, q->delta, 0, &size);
        if (status != DAE_OK || !(size < 1e300)) break;
        if (m == 1) first = size;
        if (m > 1) rate = size / last;
        int hasty = m <= 2 && first > FAR && size > 0.1 * left;
        good = size <= 0.01 * left || (g->once && size <= FAR) ||
               (!hasty && rate < GIVE_UP && rate * size <= left * (1 - rate)) ||
               (m > 1 && rate > 0.5 && size <= rounding_floor(s, g));
        if (m > 2 && rate > GIVE_UP && !good) break;
        last = size;
    }
    q->first = first > 0 ? first : INFINITY;
    q->left = status == DAE_OK && size < 1e300 ? size : INFINITY;
    if (!good && status == DAE_OK) good = only_noise(q, g, size);
    if (good) q->worst = worst;
    return good;
}

/* The same with a Jacobian of the point: where the last step's is too far away. */
int dae_corrector_look(dae_corrector *q, dae_stage *g)
{
    double c = q->c_factor;
    int good = 0;
    for (int round = 0; round < 3 && !good; round++) {
        const double *x = round ? g->x : g->x_pred, *p = round ? g->p : g->p_pred;
        if (dae_corrector_renew(q, g->t, x, p, g->h, g->w) != DAE_OK ||
            dae_corrector_factor(q, c) != DAE_OK)
            break;
        /* corrections of Newton's method itself that do not become smaller are rounding */
        good = dae_corrector_touch_up(q, g) || q->left <= STIRRING;
    }
    return good;
}

void dae_corrector_keep(dae_corrector *q, dae_corrector *kept)
{
    size_t bytes = (size_t)q->system->matrix.count * sizeof(double), n = (size_t)q->system->n;
    memcpy(q->K_kept, q->K, bytes);
    memcpy(q->C_kept, q->C, bytes);
    memcpy(q->units_kept, q->scaling.row, n * sizeof(double));
    memcpy(q->units_kept + n, q->scaling.column, n * sizeof(double));
    *kept = *q;
}

int dae_corrector_take_back(dae_corrector *q, const dae_corrector *kept)
{
    size_t bytes = (size_t)q->system->matrix.count * sizeof(double), n = (size_t)q->system->n;
    unsigned facts = q->system->facts;
    memcpy(q->K, q->K_kept, bytes);
    memcpy(q->C, q->C_kept, bytes);
    *q = *kept;
    if (q->have_jacobian) collect_C(q);
    q->C_sum = kept->C_sum;
    q->system->facts = facts;
    memcpy(q->scaling.row, q->units_kept, n * sizeof(double));
    memcpy(q->scaling.column, q->units_kept + n, n * sizeof(double));
    if (q->have_factor) dae_scaling_apply(&q->scaling, &q->system->matrix, q->K, spread_C(q));
    return q->have_factor ? dae_corrector_factor(q, q->c_factor) : DAE_OK;
}

/* ---- damped Newton for initial values ---- */

/* One Newton correction at the current point; returns its norm. */
static int correction(dae_corrector *q, dae_stage *g, double *delta, double *size)
{
    dae_system *s = q->system;
    int status = ask_f(q, g->t, g->x, g->p, delta);
    if (status != DAE_OK) return answer_verdict(s, status);
    status = dae_corrector_solve_with(q, delta, 1);
    if (status != DAE_OK) return status;
    *size = dae_norm(DAE_NORM_MAX, s->n, delta, g->w, &q->worst);
    if (!g->w_r) return DAE_OK;
    int row;
    dae_corrector_lead(q, delta, q->r);
    *size = fmax(*size, dae_norm(DAE_NORM_MAX, s->n, q->r, g->w_r, &row));
    return DAE_OK;
}

int dae_corrector_damped(dae_corrector *q, dae_stage *g, int max, int halvings)
{
    dae_system *s = q->system;
    int n = s->n, small_before = 0;
    double *delta = q->delta, *next = q->delta + n, *e_old = q->delta + 2 * (size_t)n;
    double size, size_next, change, lambda = 1;
    int status = reset_stage(q, g);
    if (status != DAE_OK) return answer_verdict(s, status);
    for (q->iterations = 1; q->iterations <= max; q->iterations++) {
        status = dae_corrector_renew(q, g->t, g->x, g->p, g->h, g->w);
        q->base_known = status == DAE_OK && q->system->base_known;
        if (status == DAE_OK) status = dae_corrector_factor(q, g->c);
        if (status == DAE_OK) status = correction(q, g, delta, &size);
        if (status != DAE_OK) return status;
        memcpy(e_old, g->e, (size_t)n * sizeof(double));
        /* at fine tolerances rounding may be above 1e-6 of them: there what stalls is done */
        double least = fmax(1e-6, rounding_floor(s, g));
        /* natural monotonicity test [Deuflhard 2004, 3.3]: the simplified correction at the
         * new point must be smaller than this one */
        for (lambda = fmin(1, 4 * lambda);; lambda *= 0.5) {
            memcpy(g->e, e_old, (size_t)n * sizeof(double));
            status = move(q, g, lambda, delta, 0, &change);
            if (status == DAE_OK)
                status = correction(q, g, next, &size_next);
            else
                status = answer_verdict(s, status);
            if (status < 0) return status;
            if (status == DAE_OK && size_next <= (1 - lambda / 4) * size) break;
            if (status == DAE_OK && size <= least) break; /* rounding */
            if (ldexp(lambda, halvings) <= 1) return status > 0 ? status : DAE_STEP_NEWTON;
        }
        int is_small = lambda == 1 && size_next <= 1e-6;
        if (lambda == 1 && size_next <= least && size_next > 0.5 * size) return DAE_OK;
        if (is_small && (small_before || size_next <= 1e-12)) return DAE_OK;
        small_before = is_small;
    }
    return DAE_STEP_NEWTON;
}
