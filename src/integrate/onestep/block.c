/* block.c: block methods with variable order and step: `bim`, order 4, 6, 8, 10, 12, 14,
 * and `gam`, order 3, 5, 7, 9; `bim-8` and the like for one order alone.
 *
 * The formulas are those of tableau/block.c, their stages are solved by the blended
 * iteration (irk.h): one real factor K + C / (gamma h) of the size of the system for each
 * step size. What p_n is asked for by the explicit first stage is the last stage of the
 * block before.
 *
 * Error. The estimate of block_scheme.c is an error in d; the filter (K + C/(gamma h))^-1
 * C/(gamma h) makes one of x from it, also of the unknowns without a derivative, and with
 * the powers of h in the weights also of those of index 2 and 3. It is of order q while
 * the ends of blocks of bim are of order q + 2 where nothing is stiff; q is what the
 * worst unknown gets.
 *
 * Order. The estimate of the method below, with the same h, costs one solve. The one of
 * the method above is taken from the ratio of both: differences of a smooth solution fall
 * geometrically. The order with the least work per unit of time is next, work being r
 * stages times iterations; a change must promise a gain, for after it there are no
 * factors.
 */
#include "integrate/onestep/block.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SCHEMES = 6 };

typedef struct family {
    const char *name;
    int count;
    const char *table[MOST_SCHEMES];
    int order[MOST_SCHEMES], stages[MOST_SCHEMES];
} family;

static const family bim = {
    "bim",
    6,
    { "bim-4", "bim-6", "bim-8", "bim-10", "bim-12", "bim-14" },
    { 4, 6, 8, 10, 12, 14 },
    { 3, 4, 6, 8, 10, 12 },
};
static const family gam = {
    "gam", 4, { "gam-3", "gam-5", "gam-7", "gam-9" }, { 3, 5, 7, 9 }, { 4, 6, 8, 9 },
};

typedef struct block {
    const family *family;
    int first, last; /* the orders allowed: a part of the family */
    irk_step r;
    double error_low; /* norm of the estimate for the order below, of the last attempt */
    double rough;     /* norm of the unfiltered estimate: of the polynomial */
    double rough_past;
    double refused, h_refused; /* error and size of the attempt before, if it failed */
    double error_past, h_error;
    int steady; /* accepted steps since the order changed */
    int fresh;  /* iterations when the Jacobian was new */
    double rate;
    int most;     /* iterations allowed */
    int level;    /* the highest of all unknowns */
    double floor; /* of that error, weighted: rounding */
} block;

/* The error left by the iteration, in units of the option newton_tolerance. */
static const double NEWTON = 0.1;

/* That error, seen by the estimate, may be this part of a tolerance. */
static const double SEEN = 0.05;

/* And this part of what changes over the block. */
static const double SHARP = 1e-3;

/* What is taken for noise: so many times a sample of it, and not above so many
 * tolerances. */
static const double NOISE = 3, NOISE_MOST = 9;

/* Floor under the rate of the step before. */
static const double OLD_RATE = 0.3;

/* Step sizes in this range of growth are not changed: the factors last. */
static const double GROWTH_KEPT = 1.2;

/* The most growth, by the highest level. The tolerance of a multiplier is that of a
 * position over h^2, and what error it has goes with p_n into the next block: it must not
 * be much longer. */
static const double GROWTH_MOST[] = { 5, 5, 3, 2 };

/* A Jacobian of an earlier step is renewed when the rate was above this. */
static const double RATE_OLD = 0.25;

/* Above this part of the iterations allowed a lower order, whose iteration contracts
 * better. */
static const double SLOW = 0.8;

/* Part of the work per unit of time that another order must save: going up, going down.
 * */
static const double GAIN_UP = 0.9, GAIN_DOWN = 0.8;

/* Work of a block beside its iterations, in iterations: Jacobian, factors, estimate. */
static const double OVERHEAD = 2;

/* After an order that failed, steps before it is tried again. */
enum { WAIT = 8 };

/* ---- names ---- */

static const family *family_of(const char *name, int *only)
{
    const family *all[] = { &bim, &gam };
    for (int f = 0; f < 2; f++) {
        *only = -1;
        if (!strcmp(name, all[f]->name)) return all[f];
        for (int i = 0; i < all[f]->count; i++)
            if (!strcmp(name, all[f]->table[i])) {
                *only = i;
                return all[f];
            }
    }
    return NULL;
}

static int takes_bim(const char *name)
{
    int only;
    return family_of(name, &only) == &bim;
}

static int takes_gam(const char *name)
{
    int only;
    return family_of(name, &only) == &gam;
}

static dae_status block_choose(dae_solver *s)
{
    int only;
    const family *f = family_of(s->method_name, &only);
    s->order_most = f->order[only >= 0 ? only : f->count - 1];
    return DAE_OK;
}

/* ---- opening ---- */

static void block_close(dae_solver *s)
{
    block *m = s->method_state;
    if (!m) return;
    irk_step_close(&m->r, s);
    dae_free(&s->memory, m);
    s->method_state = NULL;
}

static dae_status block_open(dae_solver *s)
{
    block *m = dae_alloc(&s->memory, 1, sizeof *m);
    s->method_state = m;
    if (!m) return DAE_E_NOMEM;
    int only;
    m->family = family_of(s->method_name, &only);
    m->first = only >= 0 ? only : 0;
    m->last = only >= 0 ? only : m->family->count - 1;
    while (m->last > m->first && m->family->order[m->last] > s->options.max_order) m->last--;
    double rtol = s->options.rtol < DBL_MIN ? 1e-6 : s->options.rtol;
    m->level = 1;
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] > m->level) m->level = s->system.level[i];
    m->floor = DBL_EPSILON / (s->safety * rtol);
    m->r.k.patience = 2;
    m->r.k.sweeps = m->level;
    return irk_step_open(&m->r, s, m->family->stages[m->last], 0, 0);
}

static const block_scheme *scheme_at(const block *m, int i)
{
    return block_scheme_ready(m->family->table[i]);
}

static int place_of(const block *m, int order)
{
    int i = m->last;
    while (i > m->first && m->family->order[i] > order) i--;
    return i;
}

static void block_start(dae_solver *s)
{
    block *m = s->method_state;
    m->r.past = NULL;
    m->r.k.factored = NULL;
    m->r.rejected = m->r.full = m->steady = m->fresh = 0;
    m->h_error = m->rate = m->rough_past = 0;
    s->order = m->family->order[m->first];
    s->corrector.have_factor = 0;
}

/* ---- one attempt ---- */

/* h (e_0 p_n + sum e_i P_i) */
static void combine(const dae_solver *s, const block *m, const double *e, double h, double *E)
{
    const irk_stages *k = &m->r.k;
    int wide = k->stride_d;
    for (int i = 0; i < k->m; i++) {
        double sum = e[0] * s->p[i];
        for (int j = 0; j < k->scheme->stages; j++) sum += e[j + 1] * k->P[j * wide + i];
        E[i] = h * sum;
    }
}

/* The norm of E as an error in x, which is left in trial->e. */
static int filtered_norm(dae_solver *s, block *m, dae_trial *trial, double *norm)
{
    int status = irk_step_lead(s, trial, m->r.E, trial->e);
    if (status == DAE_OK) status = dae_corrector_solve_with(&s->corrector, trial->e, 1);
    if (status == DAE_OK)
        *norm = dae_norm(s->options.norm, m->r.k.n, trial->e, s->w_error, &trial->limiting);
    return status;
}

/* What rounding, and the last correction of the iteration, would be taken for:
 * differences of order 12 amplify them by 60, at index 3 the filter by another 400, and a
 * circuit by its own gain. Asked before a step is rejected: no smaller step cures it. */
static int noise_norm(dae_solver *s, block *m, const block_scheme *g, dae_trial *trial,
                      double *norm)
{
    const irk_stages *k = &m->r.k;
    double left = k->rate > 0 && k->rate < 0.5 ? k->rate / (1 - k->rate) : 1;
    uint64_t bits = 0x9e3779b97f4a7c15ULL;
    for (int i = 0; i < k->n; i++) {
        double sum = g->gain * DBL_EPSILON * fabs(s->x[i]);
        for (int j = 0; j < g->irk.stages; j++)
            sum += left * g->of_stage[j] * fabs(k->R[j * k->stride + i]);
        bits ^= bits << 13;
        bits ^= bits >> 7;
        bits ^= bits << 17;
        m->r.E[i] = bits & 1 ? sum : -sum;
    }
    dae_corrector_lead(&s->corrector, m->r.E,
                       trial->e); /* an error in x, also where d is computed */
    int status = dae_corrector_solve_with(&s->corrector, trial->e, 1), ignored;
    if (status == DAE_OK) *norm = dae_norm(s->options.norm, k->n, trial->e, s->w_error, &ignored);
    return status;
}

static int estimate(dae_solver *s, block *m, const block_scheme *g, dae_trial *trial)
{
    int ignored;
    double noise;
    combine(s, m, g->low, trial->h, m->r.E);
    int status = filtered_norm(s, m, trial, &m->error_low);
    if (status != DAE_OK) return status;
    combine(s, m, g->e, trial->h, m->r.E);
    m->rough =
        s->system.computed ? 0 : dae_norm(s->options.norm, m->r.k.n, m->r.E, s->w0, &ignored);
    status = filtered_norm(s, m, trial, &trial->error);
    trial->constant = 1;
    trial->filtered = 1;
    if (status != DAE_OK || trial->error <= 1 || trial->error > 1 + NOISE_MOST) return status;
    /* inherited: the point where the block begins is off the constraints by a few tolerances, and a
     * multiplier sees that over h: the estimate hardly falls with h; the end is on them again */
    if (m->r.rejected > 1 && fabs(trial->h) < 0.8 * m->h_refused &&
        trial->error > 0.8 * m->refused) {
        trial->error = 1;
        return DAE_OK;
    }
    status = noise_norm(s, m, g, trial, &noise);
    if (status != DAE_OK) return status;
    if (trial->error <= 1 + NOISE * noise)
        trial->error = fmin(1, fmax(trial->error - NOISE * noise, 0.3));
    return status;
}

/* What the iteration leaves in a position is seen, through the filter, in the unknowns of
 * level l times (1 / gamma)^(l - 1) with gamma in units of the step. And p_n of the next
 * block, which has it over h, must be a derivative also where the block is so short that
 * nothing changes by a tolerance. */
static double newton_tolerance(const dae_solver *s, const block *m, const block_scheme *g)
{
    const irk_stages *k = &m->r.k;
    int ignored;
    double change =
        dae_norm(s->options.norm, k->n, k->Z + (g->irk.stages - 1) * k->stride, s->w, &ignored);
    double seen = g->gain, part = fmin(NEWTON * s->options.newton_tolerance, SHARP * change);
    for (int level = 1; level < m->level; level++) seen *= g->irk.gamma;
    return fmax(fmin(part, SEEN / seen), m->floor);
}

static int block_attempt(dae_solver *s, dae_trial *trial)
{
    block *m = s->method_state;
    dae_corrector *q = &s->corrector;
    int at = place_of(m, trial->order), status;
    const block_scheme *g = scheme_at(m, at);
    double h = trial->h;
    trial->order = m->family->order[at];
    q->new_jacobian = q->new_factor = q->second_round = q->iterations = 0;
    q->observed_rate = 0;
    for (;;) {
        m->r.k.scheme = &g->irk;
        status = irk_step_predict(&m->r, s, &g->irk, h);
        if (status == DAE_OK) status = irk_step_prepare(&m->r, s, &g->irk, h);
        if (status != DAE_OK) return status;
        m->most = s->options.newton_max > 4 ? s->options.newton_max : 12 + g->irk.stages;
        double tolerance = newton_tolerance(s, m, g);
        double old = m->r.past && m->rate > 0 && m->r.rejected == 0 ? m->rate : 1;
        status = irk_stages_solve(&m->r.k, s, h, tolerance, m->most, fmax(old, OLD_RATE));
        q->iterations += m->r.k.iterations + m->r.k.settling;
        q->observed_rate = m->r.k.rate;
        if (status == DAE_OK) break;
        if (status < 0) return status;
        if (q->jacobian_current) {
            status = irk_step_full(&m->r, s, trial, tolerance, status);
            if (status == DAE_OK) break;
            return status;
        }
        q->want_jacobian = 1; /* once more, with the Jacobian of this step */
        q->second_round = 1;
        s->system.facts &= ~(unsigned)DAE_FACT_C_PRESUMED;
    }
    irk_step_finish(&m->r, s, &g->irk, trial);
    trial->error = 0;
    if (trial->prescribed) return DAE_OK;
    status = estimate(s, m, g, trial);
    if (status != DAE_OK) return status == DAE_RETRY ? DAE_STEP_NONFINITE : status;
    return trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

/* ---- after the attempt ---- */

/* The step that an error allows, over the one that made it. */
static double growth(const block_scheme *g, double error)
{
    return 0.9 * pow(fmax(error, 1e-12), -1.0 / (g->degree + 1));
}

/* Work per unit of time of a method whose step grows by r, when this one takes so many
 * iterations. */
static double work(const block *m, int at, int i, double r)
{
    double iterations =
        m->r.k.iterations * (1 + 0.1 * (m->family->stages[i] - m->family->stages[at]));
    return m->family->stages[i] * (fmax(iterations, 1) + OVERHEAD) / r;
}

/* The estimate above from those of this order and below. */
static double error_above(const block_scheme *g, const block_scheme *up, const block *m,
                          double error)
{
    double difference = error / g->per_difference, low = m->error_low / g->low_per_difference;
    double fall = pow(difference / fmax(low, DBL_MIN), 1.0 / (g->degree - g->low_degree));
    /* up->per_difference counts differences over a block of its own points */
    double finer = pow((double)g->irk.stages / up->irk.stages, up->degree);
    return up->per_difference * finer * difference * pow(fall, up->degree - g->degree);
}

/* The next order, and by how much its step grows. */
static double choose(dae_solver *s, block *m, int at, double error, double by_error)
{
    const block_scheme *g = scheme_at(m, at);
    double r = by_error, best = work(m, at, at, by_error);
    int next = at, slow = m->r.k.iterations > SLOW * m->most;
    if (at > m->first) {
        double r_low = growth(scheme_at(m, at - 1), m->error_low);
        if (work(m, at, at - 1, r_low) < GAIN_DOWN * best || slow) {
            next = at - 1;
            r = r_low;
        }
    }
    if (next == at && at < m->last && m->steady > 1 && !slow) {
        const block_scheme *up = scheme_at(m, at + 1);
        double r_up = growth(up, error_above(g, up, m, error));
        if (work(m, at, at + 1, r_up) < GAIN_UP * best) {
            next = at + 1;
            r = r_up;
        }
    }
    if (next != at) m->steady = 0;
    s->order = m->family->order[next];
    return r;
}

static void plan(dae_solver *s, block *m, int at, const dae_trial *trial)
{
    const block_scheme *g = scheme_at(m, at);
    dae_corrector *q = &s->corrector;
    double r = growth(g, trial->error);
    if (m->h_error != 0) { /* [Gustafsson 1994] */
        double trend = fabs(trial->h / m->h_error) *
                       pow(m->error_past / fmax(trial->error, 1e-10), 1.0 / (g->degree + 1));
        r = fmin(r, r * fmax(trend, 0.5));
    }
    r = choose(s, m, at, trial->error, r);
    if (m->r.rejected > 0) r = fmin(r, 1);
    r = fmax(0.2, fmin(r, GROWTH_MOST[m->level]));
    m->error_past = fmax(trial->error, 1e-2);
    m->h_error = s->order == trial->order ? trial->h : 0;
    if (r >= 1 && r <= GROWTH_KEPT && s->order == trial->order) r = 1;
    s->h = r * trial->h;
    if (q->jacobian_current)
        m->fresh = m->r.k.iterations;
    else if (m->r.k.iterations > m->fresh + 1 || m->r.k.rate > RATE_OLD)
        q->want_jacobian = 1;
    if (r > 2 || (s->system.facts & DAE_FACT_D_VARIES)) q->want_jacobian = 1;
}

static void block_commit(dae_solver *s, dae_trial *trial)
{
    block *m = s->method_state;
    int at = place_of(m, trial->order);
    m->rate = m->r.k.rate > 0 ? m->r.k.rate : m->rate;
    m->steady++;
    if (!trial->prescribed) plan(s, m, at, trial);
    m->rough_past = trial->prescribed ? 0 : m->rough;
    irk_step_take(&m->r, s, trial->h);
}

static void block_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    block *m = s->method_state;
    int at = place_of(m, trial->order);
    m->r.rejected++;
    m->h_error = 0;
    m->refused = verdict == DAE_STEP_ERROR ? trial->error : INFINITY;
    m->h_refused = fabs(trial->h);
    if (verdict == DAE_STEP_ERROR) {
        s->h = trial->h * fmax(0.1, fmin(growth(scheme_at(m, at), trial->error), 0.9));
    } else {
        s->h = trial->h * (verdict == DAE_STEP_NEWTON || verdict == DAE_STEP_SINGULAR ? 0.5 : 0.25);
    }
    /* where a high order fails twice, or at once, the solution is not that smooth */
    if ((m->r.rejected > 1 || m->steady == 0) && verdict == DAE_STEP_ERROR && at > m->first) {
        double r = growth(scheme_at(m, at - 1), m->error_low);
        if (r > 0.5 * s->h / trial->h || m->r.rejected > 2) {
            s->h = trial->h * fmax(0.1, fmin(r, 0.9));
            s->order = m->family->order[at - 1];
            m->steady = -WAIT;
        }
    }
}

/* ---- dense output ---- */

static double block_inside(dae_solver *s, int j, double *x, double *d, double *p)
{
    const block *m = s->method_state;
    return irk_step_inside(&m->r, s, j, x, d, p);
}

static void block_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    block *m = s->method_state;
    irk_step_interpolate(&m->r, s, t, x, p, d);
}

static int block_reach(dae_solver *s)
{
    return s->order_most;
}

const dae_method dae_method_bim = {
    .name = "bim",
    .description = "blended implicit methods, order 4 to 14; index 2 and 3 at tight tolerances",
    .max_order = 14,
    .one_step = 1,
    .movable = 1,
    .takes = takes_bim,
    .choose = block_choose,
    .open = block_open,
    .close = block_close,
    .start = block_start,
    .attempt = block_attempt,
    .commit = block_commit,
    .reject = block_reject,
    .interpolate = block_interpolate,
    .between = DAE_BETWEEN_COLLOCATION,
    .inside = block_inside,
    .reach = block_reach,
};

const dae_method dae_method_gam = {
    .name = "gam",
    .description = "generalized Adams methods, order 3, 5, 7, 9: blocks of boundary value methods",
    .max_order = 9,
    .one_step = 1,
    .movable = 1,
    .takes = takes_gam,
    .choose = block_choose,
    .open = block_open,
    .close = block_close,
    .start = block_start,
    .attempt = block_attempt,
    .commit = block_commit,
    .reject = block_reject,
    .interpolate = block_interpolate,
    .between = DAE_BETWEEN_COLLOCATION,
    .inside = block_inside,
    .reach = block_reach,
};
