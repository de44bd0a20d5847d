/* semi_explicit.c: simplified Newton for what an explicit method leaves implicit.
 *
 * One factorization serves all stages of many steps (semi_explicit.h says why it can). As in
 * nonlinear/corrector.c the iteration stops when the error that remains, rate / (1 - rate) times
 * the last correction, is below a tolerance. It is a tenth of Newton's in an implicit method: an
 * explicit step asks several times, and the constraints should hold better than the solution
 * is accurate.
 *
 * The hidden constraint g_t + g_y p = 0 is needed for z at the end of a step of index 2 only. g
 * is known through f alone, so it is differentiated along p by a one-sided formula of order 4
 *
 *     (25/12 g(t) - 4 g(t - s) + 3 g(t - 2s) - 4/3 g(t - 3s) + 1/4 g(t - 4s)) / s,   y - i s p,
 *
 * backwards, where the solution has come from: a discontinuity that was declared as a stop time
 * is not looked across. With s = h/16 its error, s^4 g^(5) / 5, is far below that of the step;
 * rounding leaves about 2e-15 |g| / s.
 */
#include "integrate/onestep/semi_explicit.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

enum { ROW_D, ROW_K, ROW_G };
enum { MOST_ITERATIONS = 40, MOST_RENEWALS = 4, MOST_AHEAD = 8, MOST_LOOKS = 40 };
enum { LONG_CALM = 20, LOOK_AGAIN = 16 };
static const double LEAST_RATE = 0.05;           /* a rate below this is not believed */
static const double NEGLIGIBLE = 1e-7;           /* a second correction beside the first */
static const double GIVE_UP = 0.9, HOPELESS = 5; /* rates; the latter for the second correction */
static const double STRICTER = 0.1;              /* than newton_tolerance */

dae_status dae_semi_open(dae_semi *g, dae_corrector *corrector)
{
    dae_system *s = corrector->system;
    size_t n = (size_t)s->n, m = (size_t)s->m;
    g->corrector = corrector;
    g->who = "explicit methods";
    dae_vector_wish wish[] = { { &g->values, (size_t)s->matrix.count },
                               { &g->r, n },
                               { &g->r_side, n },
                               { &g->x_side, n },
                               { &g->p_side, m },
                               { &g->x_kept, n },
                               { &g->p_kept, m },
                               { &g->d_x, m } };
    g->vectors = dae_alloc_vectors(s->memory, wish, sizeof wish / sizeof *wish);
    g->row = dae_alloc(s->memory, n, 1);
    if (!g->vectors || !g->row) return DAE_E_NOMEM;
    int status = corrector->linear->open(corrector->analysis, 0, &g->factor);
    return status == DAE_OK ? DAE_OK : DAE_E_NOMEM;
}

void dae_semi_close(dae_semi *g)
{
    if (!g->corrector) return;
    const dae_memory *m = g->corrector->system->memory;
    g->corrector->linear->close(g->factor);
    dae_free(m, g->vectors);
    dae_free(m, g->row);
    memset(g, 0, sizeof *g);
}

void dae_semi_start(dae_semi *g)
{
    const dae_system *s = g->corrector->system;
    g->algebraic = g->index2 = 0;
    for (int j = 0; j < s->n; j++) {
        g->algebraic += s->level[j] != DAE_DIFFERENTIAL;
        g->index2 |= s->level[j] >= DAE_INDEX2;
    }
    memset(g->row, 0, (size_t)s->n);
    g->affine = !s->computed && g->algebraic == 0 && (s->facts & DAE_FACT_C_CONSTANT);
    g->identity = g->affine && s->problem.mass_kind == DAE_MASS_IDENTITY;
    g->factored = g->once = g->want = g->calm = g->excess = 0;
}

/* ---- the matrix ---- */

/* A row with a derivative is of kind d; among the others a row with an algebraic unknown of
 * level 1 is of kind k. What was seen once stays: an entry may vanish at a point. */
static void find_rows(dae_semi *g)
{
    const dae_corrector *q = g->corrector;
    const dae_system *s = q->system;
    const dae_matrix *a = &s->matrix;
    enum { SEEN_D = 4, SEEN_K = 8 };
    int mixed = 0;
    for (int j = 0; j < s->n; j++) mixed |= s->level[j] == DAE_ALGEBRAIC;
    for (int j = 0; j < s->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++) {
            int i = dae_column_row(a, j, k);
            if (q->C[k] != 0) g->row[i] |= SEEN_D;
            if (mixed && s->level[j] != DAE_DIFFERENTIAL && q->K[k] != 0) g->row[i] |= SEEN_K;
        }
    for (int i = 0; i < s->n; i++) {
        unsigned char seen = g->row[i] & (SEEN_D | SEEN_K);
        int kind = !g->index2 || (seen & SEEN_D) ? ROW_D : seen & SEEN_K ? ROW_K : ROW_G;
        g->row[i] = (unsigned char)(seen | kind);
    }
}

static int kind_of(const dae_semi *g, int i)
{
    return g->row[i] & 3;
}

/* An unknown declared algebraic whose derivative occurs: its column, or -1. */
static int contradiction(const dae_semi *g)
{
    const dae_corrector *q = g->corrector;
    const dae_matrix *a = &q->system->matrix;
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            if (q->system->level[j] != DAE_DIFFERENTIAL && q->C[k] != 0) return j;
    return -1;
}

static int refuse(const dae_semi *g, double t, int column)
{
    dae_system *s = g->corrector->system;
    const dae_factor_info *info = &g->corrector->info;
    char unknown[32], place[DAE_PLACE];
    dae_fail(s->report, DAE_E_OPTION, "the problem is not in the form that %s take", g->who);
    if (column >= 0) {
        dae_at(s->report, "t = %.10g, unknown '%s'", t, dae_unknown_name(s, column, unknown));
        dae_why(s->report, "it was declared algebraic (level %d), but its derivative occurs",
                s->level[column]);
    } else {
        dae_at(s->report, "t = %.10g%s", t, dae_place(s, info->row, info->column, place));
        dae_why(s->report, g->index2 ? "the matrix (f_y' f_z; g_y 0) is singular: the "
                                       "constraints do not determine the unknowns of level 2"
                                     : "the matrix (f_y' f_z) is singular: the equations do not "
                                       "give y' and the algebraic unknowns when y is known");
    }
    dae_hint(s->report, "use bdf or radau; if the index is 2, declare it (problem.level) and use "
                        "hem4; if no unknown is differentiated by itself, give d (leading term)");
    return DAE_E_OPTION;
}

static void fill(dae_semi *g)
{
    const dae_corrector *q = g->corrector;
    const dae_system *s = q->system;
    const dae_matrix *a = &s->matrix;
    memset(g->values, 0, (size_t)a->count * sizeof(double)); /* corners of a band */
    for (int j = 0; j < a->n; j++) {
        int plain = s->level[j] == DAE_DIFFERENTIAL;
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++) {
            int lead = plain && kind_of(g, dae_column_row(a, j, k)) != ROW_G;
            g->values[k] = lead ? q->C[k] : q->K[k];
        }
    }
}

/* The iteration converges like rate / c, with the rates of the system, and like c h times the
 * relative change of d_x over a step. An explicit method resolves all rates, so there is room
 * for a c between. (A c that is large for good, as for initial values, multiplies what a d that
 * bends leaves in d(x) - d, and puts it into p; and rounding leaves c eps |d| there. So a c that
 * was right for a short step does not serve a long one: `outgrown`.) */
static double multiplier_rate(const dae_semi *g, const dae_semi_query *q)
{
    const dae_corrector *k = g->corrector;
    const dae_matrix *a = &k->system->matrix;
    double *k_row = g->r, *c_row = g->r_side, rate = 0;
    memset(k_row, 0, (size_t)a->n * sizeof(double));
    memset(c_row, 0, (size_t)a->n * sizeof(double));
    for (int j = 0; j < a->n; j++)
        for (int64_t e = dae_column_begin(a, j); e < dae_column_end(a, j); e++) {
            int i = dae_column_row(a, j, e);
            k_row[i] += fabs(k->K[e]) / q->w[j];
            c_row[i] += fabs(k->C[e]) / q->w[j];
        }
    for (int i = 0; i < a->n; i++)
        if (c_row[i] > 0) rate = fmax(rate, k_row[i] / c_row[i]);
    return rate;
}

static double multiplier(const dae_semi *g, double h)
{
    return fmax(8 * g->rate, 2 / fabs(h));
}

static int outgrown(const dae_semi *g, double h)
{
    return g->corrector->system->computed && g->c > 8 * multiplier(g, h);
}

static int factorize(dae_semi *g, const dae_semi_query *q)
{
    dae_corrector *k = g->corrector;
    dae_system *s = k->system;
    int status;
    s->stats->factorizations++;
    g->factored = 0;
    if (s->computed) {
        g->rate = multiplier_rate(g, q);
        g->c = multiplier(g, q->h);
        status = k->linear->factor(g->factor, k->K, k->C, g->c, 0, &k->info);
    } else {
        int column = g->once ? -1 : contradiction(g);
        if (column >= 0) return refuse(g, q->t, column);
        find_rows(g);
        fill(g);
        status = k->linear->factor(g->factor, g->values, g->values, 0, 0, &k->info);
    }
    s->stats->repivots += k->info.repivoted;
    if (status == DAE_E_SINGULAR) return g->once ? DAE_STEP_SINGULAR : refuse(g, q->t, -1);
    if (status != DAE_OK) {
        dae_fail(s->report, (dae_status)status, "the factorization failed");
        dae_at(s->report, "linear solver '%s', t = %g", k->linear->name, q->t);
        return status;
    }
    g->factored = g->once = g->fresh = k->new_factor = 1;
    g->want = g->calm = g->excess = 0;
    return DAE_OK;
}

/* At the very first the Jacobian of the start is at hand. */
static int renew(dae_semi *g, const dae_semi_query *q)
{
    dae_corrector *k = g->corrector;
    int status = DAE_OK;
    if (g->once || !k->have_jacobian || q->kind == DAE_SEMI_PROJECT)
        status = dae_corrector_renew(k, q->t, q->x, q->p, q->h, q->w);
    return status == DAE_OK ? factorize(g, q) : status;
}

/* ---- one correction ---- */

/* g along the straight line y + u p: only rows g of the result mean something. */
static int ahead(dae_semi *g, const dae_semi_query *q, double t, const double *y, double u)
{
    dae_system *s = g->corrector->system;
    for (int j = 0; j < s->n; j++)
        g->x_side[j] = s->level[j] == DAE_DIFFERENTIAL ? y[j] + u * q->p[j] : q->x[j];
    return dae_system_f(s, t, g->x_side, q->p, g->r_side);
}

static int residual(dae_semi *g, const dae_semi_query *q)
{
    static const double weight[] = { 25.0 / 12, -4, 3, -4.0 / 3, 0.25 };
    dae_system *s = g->corrector->system;
    int status = dae_system_f(s, q->t, q->x, q->p, g->r);
    if (status != DAE_OK || q->kind == DAE_SEMI_POINT) return status;
    if (q->kind == DAE_SEMI_PROJECT) {
        for (int i = 0; i < s->n; i++)
            if (kind_of(g, i) != ROW_G) g->r[i] = 0;
        return DAE_OK;
    }
    if (q->kind == DAE_SEMI_STAGE) {
        status = ahead(g, q, q->t_next, q->base, q->theta);
        for (int i = 0; i < s->n && status == DAE_OK; i++)
            if (kind_of(g, i) == ROW_G) g->r[i] = g->r_side[i] / q->theta;
        return status;
    }
    for (int i = 0; i < s->n; i++)
        if (kind_of(g, i) == ROW_G) g->r[i] *= weight[0] / q->delta;
    for (int l = 1; l <= 4 && status == DAE_OK; l++) {
        status = ahead(g, q, q->t - l * q->delta, q->x, -l * q->delta);
        for (int i = 0; i < s->n && status == DAE_OK; i++)
            if (kind_of(g, i) == ROW_G) g->r[i] += weight[l] / q->delta * g->r_side[i];
    }
    return status;
}

/* The size of a correction. */
typedef struct correction {
    double size;  /* weighted */
    double floor; /* what rounding makes of it */
    double loose; /* weighted as in a stage, where z counts with h */
} correction;

/* Corrects z and p, or y. */
static void move(dae_semi *g, dae_semi_query *q, correction *o)
{
    dae_system *s = g->corrector->system;
    double most = 0, largest = 0, loose = 0, h = fabs(q->h);
    int worst = -1;
    for (int j = 0; j < s->n; j++) {
        double a = 0, w = q->w[j];
        if (q->kind == DAE_SEMI_PROJECT) {
            if (s->level[j] != DAE_DIFFERENTIAL) continue; /* mu */
            q->x[j] -= g->r[j];
            a = fabs(g->r[j]) * w;
            largest = fmax(largest, fabs(q->x[j]) * w);
        } else if (s->level[j] == DAE_DIFFERENTIAL) {
            q->p[j] -= g->r[j];
            a = h * fabs(g->r[j]) * w;
            loose = fmax(loose, a);
            largest = fmax(largest, (fabs(q->x[j]) + h * fabs(q->p[j])) * w);
        } else {
            q->x[j] -= g->r[j];
            a = fabs(g->r[j]) * w;
            loose = fmax(loose, fmin(h, 1) * a);
            largest = fmax(largest, fabs(q->x[j]) * w);
        }
        if (!(a <= most)) {
            most = a == a ? a : INFINITY;
            worst = j;
        }
    }
    o->size = most;
    o->floor = (q->kind == DAE_SEMI_HIDDEN ? 1e4 : 32) * DBL_EPSILON * largest;
    o->loose = most < INFINITY ? loose : INFINITY;
    g->corrector->worst = worst;
}

/* One round of the multiplier's iteration: with rho = d(x) - d,
 *     (K + cC) delta = f(x, p) + c f_p rho,   x -= delta,   p += c rho(x).
 * f at p + c rho itself would be far off where f bends in p: rho begins at h p. */
static int round_computed(dae_semi *g, dae_semi_query *q, int first, correction *o)
{
    dae_corrector *k = g->corrector;
    dae_system *s = k->system;
    double most = 0, largest = 0, h = fabs(q->h);
    int worst = -1;
    int status = first ? dae_system_d(s, q->t, q->x, g->d_x) : DAE_OK;
    if (status == DAE_OK) status = dae_system_f(s, q->t, q->x, q->p, g->r);
    for (int i = 0; i < s->m && status == DAE_OK; i++) g->p_side[i] = g->d_x[i] - q->d[i];
    if (status == DAE_OK)
        status = dae_system_push_p(s, q->t, q->x, q->p, g->r, g->p_side, g->r_side);
    if (status != DAE_OK) return status;
    for (int i = 0; i < s->n; i++) g->r[i] += g->c * g->r_side[i];
    s->stats->solves++;
    status = k->linear->solve(g->factor, g->r, NULL, 1, 0);
    if (status != DAE_OK) return status == DAE_E_SINGULAR ? DAE_STEP_SINGULAR : status;
    for (int j = 0; j < s->n; j++) {
        double a = fabs(g->r[j]) * q->w[j];
        q->x[j] -= g->r[j];
        largest = fmax(largest, fabs(q->x[j]) * q->w[j]);
        if (!(a <= most)) {
            most = a == a ? a : INFINITY;
            worst = j;
        }
    }
    status = dae_system_d(s, q->t, q->x, g->d_x);
    for (int i = 0; i < s->m && status == DAE_OK; i++) {
        double change = g->c * (g->d_x[i] - q->d[i]);
        q->p[i] += change;
        most = fmax(most, h * fabs(change) * q->w_d[i]);
        largest = fmax(largest, (1 + h * g->c) * fabs(g->d_x[i]) * q->w_d[i]);
    }
    *o = (correction){ .size = most, .floor = 16 * DBL_EPSILON * largest, .loose = most };
    k->worst = worst;
    return status;
}

static int correct(dae_semi *g, dae_semi_query *q, int first, correction *o)
{
    dae_corrector *k = g->corrector;
    dae_system *s = k->system;
    if (s->computed) return round_computed(g, q, first, o);
    int status = residual(g, q);
    if (status != DAE_OK) return status;
    s->stats->solves++;
    status = k->linear->solve(g->factor, g->r, NULL, 1, 0);
    if (status != DAE_OK) return status == DAE_E_SINGULAR ? DAE_STEP_SINGULAR : status;
    move(g, q, o);
    return DAE_OK;
}

/* ---- the iteration ---- */

/* A single correction is trusted only where nothing is implicit but y' and the equations have
 * proved affine in it with a constant matrix: the second correction was nothing, many times in
 * a row at different points. (A rate seen once proves nothing: with the matrix of the very point
 * it is zero wherever f is affine in p and z.) Now and then somebody looks again. */
static int trusted(const dae_semi *g)
{
    return g->affine || (g->calm >= LONG_CALM && g->calm % LOOK_AGAIN != 0);
}

static void learn(dae_semi *g, int iterations, double worst)
{
    dae_corrector *k = g->corrector;
    int nothing = iterations == 1 || worst < NEGLIGIBLE;
    int plain = g->algebraic == 0 && !k->system->computed;
    g->calm = plain && nothing ? g->calm + 1 : 0;
    k->observed_rate = fmax(k->observed_rate, fmin(worst, 1));
    /* old factors cost iterations beyond the third: as many as new ones, and they are renewed */
    if (iterations > 3 && !g->fresh) g->excess += iterations - 3;
    if (g->excess > k->jacobian_price) g->want = 1;
}

/* Would it take more iterations at this rate than a new matrix costs? Where f bends in z, as in
 * the first stage of a half-explicit step, whose Z_1 is far from z_n, plain simplified Newton
 * would crawl to a tight tolerance. */
static int crawls(const dae_semi *g, double size, double rate, double tolerance)
{
    if (rate >= 1) return 1;
    double most = fmin(2 + g->corrector->jacobian_price, MOST_AHEAD);
    return log(tolerance / size) / log(rate) > most;
}

/* The state of an iteration. */
typedef struct progress {
    int m, since; /* corrections; since the matrix was last renewed */
    int renewals;
    double size, last, before; /* the last three corrections */
    double floor;              /* what rounding makes of one */
    double loose;              /* the last one as a stage would weigh it */
    double rate, worst;
} progress;

/* A single small second correction can be luck: p and z take turns. */
static int converged(const dae_semi *g, const progress *k)
{
    double rate = k->since == 1 ? (trusted(g) ? 0 : 1) : fmax(k->rate, LEAST_RATE);
    double tolerance = STRICTER * g->corrector->tolerance;
    if (k->size <= k->floor) return 1;
    if (rate < 1 && rate * k->size <= tolerance * (1 - rate)) return 1;
    return k->since > 2 && rate > 0.5 && k->last <= 100 * k->floor; /* stirring rounding errors */
}

/* When y alone has moved, the first correction sets z and the second, as large, p. So no
 * progress means none over two corrections. */
static int lost(const progress *k, int most)
{
    if (k->m >= most || !(k->size < 1e300)) return 1;
    if (k->m > 1 && k->size > HOPELESS * k->last) return 1;
    return k->since > 2 && k->size > GIVE_UP * fmax(k->last, k->before);
}

/* In short steps the rounding of g over delta is more than z shall be accurate to, the more so the
 * shorter they are: to cut the step is no cure (slider-crank-rigid, index2: it was cut down to 1e-26). As
 * long as p is good, and z as good as in a stage, what the iteration stirs is that noise; z_{n+1}
 * is a guess for the next stages, and soon replaced by a better one. */
static int noise(const dae_semi *g, const dae_semi_query *q, const progress *k)
{
    return q->kind == DAE_SEMI_HIDDEN && k->m > 2 && k->loose <= STRICTER * g->corrector->tolerance;
}

static int renew_midway(dae_semi *g, dae_semi_query *q, progress *k)
{
    double tolerance = fmax(STRICTER * g->corrector->tolerance, k->floor);
    if (k->since < 2 || k->renewals >= MOST_RENEWALS || !crawls(g, k->size, k->rate, tolerance))
        return DAE_OK;
    /* the second time in a row: a new matrix is no cure */
    int futile = k->since == 2 && k->renewals > 0 && k->rate > 0.03;
    k->renewals = futile ? MOST_RENEWALS : k->renewals + 1;
    k->since = 0;
    return renew(g, q);
}

static int iterate(dae_semi *g, dae_semi_query *q, int most, int remember)
{
    dae_corrector *c = g->corrector;
    dae_system *s = c->system;
    progress k = { 0 };
    for (;;) {
        k.m++;
        k.since++;
        correction now = { 0 };
        int status = correct(g, q, k.m == 1, &now);
        k.size = now.size;
        k.floor = now.floor;
        k.loose = now.loose;
        if (status == DAE_RETRY) return s->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
        if (status != DAE_OK) return status;
        s->stats->newton_iterations += remember;
        c->iterations += remember;
        k.rate = k.since > 1 ? k.size / k.last : 1;
        if (k.since > 1 && k.size > k.floor) k.worst = fmax(k.worst, k.rate);
        if (converged(g, &k)) break;
        if (lost(&k, most) && noise(g, q, &k)) break;
        if (lost(&k, most)) return DAE_STEP_NEWTON;
        if (remember) status = renew_midway(g, q, &k);
        if (status != DAE_OK) return status;
        k.before = k.last;
        k.last = k.size;
    }
    if (remember) learn(g, k.m, k.worst);
    return DAE_OK;
}

/* y at the end of the stage, from the p that was found. */
static void finish(dae_semi *g, dae_semi_query *q)
{
    const dae_system *s = g->corrector->system;
    if (q->kind != DAE_SEMI_STAGE) return;
    for (int j = 0; j < s->n; j++) {
        int moves = s->level[j] == DAE_DIFFERENTIAL;
        q->x_next[j] = moves ? q->base[j] + q->theta * q->p[j] : q->x[j];
    }
}

/* M x' = g(t, x) with M = 1: no equation to solve. */
static int evaluate(dae_semi *g, dae_semi_query *q)
{
    dae_system *s = g->corrector->system;
    memset(q->p, 0, (size_t)s->n * sizeof(double));
    int status = dae_system_f(s, q->t, q->x, q->p, g->r);
    if (status == DAE_RETRY) return s->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
    for (int i = 0; i < s->n && status == DAE_OK; i++) q->p[i] = -g->r[i];
    return status;
}

double dae_semi_delta(const dae_semi *g, const double *x, const double *p, const double *w,
                      double h, double most)
{
    const dae_system *s = g->corrector->system;
    double y = 0, slope = 0, delta = fabs(h) / 16;
    for (int j = 0; j < s->n; j++) {
        if (s->level[j] != DAE_DIFFERENTIAL) continue;
        y = fmax(y, fabs(x[j]) * w[j]);
        slope = fmax(slope, fabs(p[j]) * w[j]);
    }
    if (y > 0 && slope > 0) {
        double scale = y / slope, finest = fmin(3e-3, 2000 * DBL_EPSILON * y);
        delta = fmin(delta, most * scale);
        delta = fmax(delta, fmin(finest * scale, 1e5 * fabs(h)));
    }
    return copysign(delta, h);
}

int dae_semi_solve(dae_semi *g, dae_semi_query *q)
{
    dae_system *s = g->corrector->system;
    size_t nb = (size_t)s->n * sizeof(double), mb = (size_t)s->m * sizeof(double);
    int status = DAE_OK;
    if (g->identity) return evaluate(g, q);
    memcpy(g->x_kept, q->x, nb);
    memcpy(g->p_kept, q->p, mb);
    if (!g->factored || g->want || q->kind == DAE_SEMI_PROJECT)
        status = renew(g, q);
    else if (outgrown(g, q->h))
        status = factorize(g, q);
    if (status == DAE_OK) status = iterate(g, q, MOST_ITERATIONS, 1);
    if (status > 0 && !g->fresh) { /* once more with the matrix of this attempt */
        memcpy(q->x, g->x_kept, nb);
        memcpy(q->p, g->p_kept, mb);
        s->facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
        g->want = 1;
        status = renew(g, q);
        if (status == DAE_OK) status = iterate(g, q, MOST_ITERATIONS, 1);
    }
    if (status == DAE_OK) finish(g, q);
    if (status > 0) g->want = 1;
    return status;
}

int dae_semi_look(dae_semi *g, dae_semi_query *q)
{
    int worst = g->corrector->worst;
    if (g->identity) return evaluate(g, q) == DAE_OK;
    if (!g->factored) return 0;
    int good = iterate(g, q, MOST_LOOKS, 0) == DAE_OK;
    g->corrector->worst = worst;
    return good;
}

/* (f_y' f_z) (., e_z) = -K e_y; or with a computed d, where e holds c f_p e_d, plainly the
 * factors applied to it. */
int dae_semi_spread(dae_semi *g, dae_semi_query *q, double *e)
{
    dae_corrector *k = g->corrector;
    dae_system *s = k->system;
    int status = DAE_OK;
    if (!s->computed) {
        if (!k->have_jacobian) status = dae_corrector_renew(k, q->t, q->x, q->p, q->h, q->w);
        if (status != DAE_OK) return status;
        dae_matrix_times(&s->matrix, k->K, e, g->r);
    } else {
        status = dae_system_f(s, q->t, q->x, q->p, g->r_side);
        if (status == DAE_OK)
            status = dae_system_push_p(s, q->t, q->x, q->p, g->r_side, q->d, g->r);
        if (status == DAE_RETRY) return s->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
        if (status != DAE_OK) return status;
        for (int i = 0; i < s->n; i++) g->r[i] *= g->c;
    }
    s->stats->solves++;
    status = k->linear->solve(g->factor, g->r, NULL, 1, 0);
    if (status != DAE_OK) return status == DAE_E_SINGULAR ? DAE_STEP_SINGULAR : status;
    for (int j = 0; j < s->n; j++)
        if (s->computed || s->level[j] != DAE_DIFFERENTIAL) e[j] = -g->r[j];
    return DAE_OK;
}
