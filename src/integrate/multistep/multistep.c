/* multistep.c: linear multistep methods with constant steps, by their tables.
 *
 *     sum_j alpha_j d_{n-j} = h sum_j beta_j d'_{n-j},    f(t_n, x_n, d'_n) = 0          (j = 0 .. k)
 *
 * d is what is differentiated: the unknowns of level 0, or the computed d; the others are never in
 * a sum, so on semi-explicit DAEs of index 1 every formula has its order [BCP89, 3.1].
 *
 * Implicit: d'_n = c d_n + (past), c = alpha_0 / (h beta_0), is the equation of the corrector.
 * Explicit: d_n is known, and the equations give the rest (semi_explicit.h). One-leg twins:
 * f(T, X, P) = 0 with T, D = sum beta_j (t, d)_{n-j}, P = sum alpha_j d_{n-j} / h; then d_n from D, and
 * the rest of x_n from the equations at t_n.
 *
 * Index 2: y' = f(t, y, lambda), 0 = g(t, y). sigma acts on lambda too, and the roots of sigma
 * decide: of the formulas here only BDF has them inside the unit circle. beta-blocking
 * [Arevalo, Fuhrer, Soderlind, BIT 36 (1996)] subtracts h f_lambda(y_n) tau lambda_n. As f is linear in
 * lambda, that is f at another multiplier,
 *
 *     sum alpha_j y_{n-j} = h beta_0 f(y_n, Lambda) + h sum_{j>0} beta_j y'_{n-j},
 *     Lambda = lambda_n - tau lambda_n / beta_0 = (1 - gamma_0 / beta_0) lambda_n - (past) / beta_0.
 *
 * So the corrector solves the plain step for (y_n, Lambda); lambda_n follows from Lambda, and
 * y'_n = f(y_n, lambda_n) from lambda_n (lead.h). Where f is not linear in lambda the two differ by
 * O(h^2k), which costs no order. "late-": the sums have f(y, 0) in them, and
 * beta_0 Lambda = lambda_n. A leading matrix in front of y' changes nothing of this.
 *
 * The first k - 1 steps, and every step whose size differs from the one before, are made by Radau IIA
 * with so many stages that the formula gets what theory asks of starting values (stages_for).
 * There is no error estimate, so steps must be prescribed.
 */
#include "integrate/multistep/multistep.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* ---- choosing ---- */

/* Radau IIA with S stages leaves O(h^2S) in y after one step (index <= 2), O(h^S) in z of index 2; at
 * index 3 O(h^(S-1)) in the multipliers. Theory asks for O(h^p), O(h^k), and O(h^(k+1)) at index 3
 * in all unknowns [BCP89, 3.2]. */
static int stages_for(const dae_lmm *m, int level)
{
    int stages = (m->order + 2) / 2;
    if (level == DAE_INDEX2) stages = m->order;
    if (level > DAE_INDEX2) stages = m->steps + 2;
    return stages > 12 ? 12 : stages < 1 ? 1 : stages;
}

static int highest_level(const dae_solver *s, int *unknown)
{
    int level = 0;
    *unknown = -1;
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] > level) level = s->system.level[ *unknown = i];
    return level;
}

static dae_status refuse(dae_solver *s, int unknown, const char *hint)
{
    char name[32];
    if (unknown >= 0)
        dae_at(&s->report, "unknown '%s', level %d", dae_unknown_name(&s->system, unknown, name),
               s->system.level[unknown]);
    dae_hint(&s->report, "%s", hint);
    return DAE_E_OPTION;
}

static dae_status refuse_index(dae_solver *s, const dae_lmm *m, int level, int unknown)
{
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' does not take unknowns of index %d", m->name,
             level);
    if (m->claims & DAE_LMM_EXPLICIT)
        dae_why(&s->report, "it is explicit: nothing would determine them");
    else if (m->mode == DAE_LMM_ONE_LEG)
        dae_why(&s->report, "one-leg twins put a combination of points on the constraint, not "
                            "the points");
    else if (level > DAE_INDEX2)
        dae_why(&s->report, "they are differences of differences of y: only BDF bears that");
    else
        dae_why(&s->report, "sigma has a root outside or on the unit circle: their errors would "
                            "not decay");
    if (level > DAE_INDEX2)
        return refuse(s, unknown, "use bdf-K, bdf or radau, or an index-2 formulation");
    return refuse(s, unknown,
                  "use dcbdf-K, beta-adams-K, bdf-K, bdf or radau; the formula as it is, "
                  "for an experiment, has 'raw-' in front of its name");
}

static dae_status multistep_choose(dae_solver *s)
{
    dae_lmm m;
    int unknown, level = highest_level(s, &unknown), raw;
    if (!dae_lmm_find(s->method_name, &m)) return DAE_E_INTERNAL;
    s->order_most = m.order;
    raw = m.mode == DAE_LMM_RAW;
    if (!(m.claims & DAE_LMM_ZERO_STABLE) && !raw) {
        dae_fail(&s->report, DAE_E_OPTION, "method '%s' is unstable on every problem", m.name);
        dae_why(&s->report, "rho has a root outside the unit circle: errors grow at any step size");
        return refuse(s, -1,
                      "use fewer steps; the formula as it is, for an experiment, has 'raw-' in "
                      "front of its name");
    }
    if (level < DAE_INDEX2) return DAE_OK;
    int takes = level == DAE_INDEX2 ? m.claims & (DAE_LMM_INFINITY | DAE_LMM_BLOCKED)
                                    : m.claims & DAE_LMM_INFINITY;
    int never = (m.claims & DAE_LMM_EXPLICIT) || m.mode == DAE_LMM_ONE_LEG;
    if (never || (!takes && !(raw && level == DAE_INDEX2)))
        return refuse_index(s, &m, level, unknown);
    if (m.has_tau && !raw && s->system.computed) {
        dae_fail(&s->report, DAE_E_OPTION, "method '%s' does not take this problem", m.name);
        dae_why(&s->report, "with a computed d there is no beta-blocking");
        return refuse(s, unknown, "use bdf-K, bdf or radau, or give the problem without d");
    }
    return DAE_OK;
}

static dae_status multistep_adapts(dae_solver *s)
{
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' has no error estimate", s->method_name);
    dae_why(&s->report, "its coefficients are those of constant steps, and no step size was given");
    dae_hint(&s->report, "give option 'fixed_step', or use 'bdf', 'radau' or 'rodas'");
    return DAE_E_OPTION;
}

static int multistep_takes(const char *name)
{
    return dae_lmm_known(name);
}

/* ---- opening ---- */

static multistep *enter(dae_solver *s)
{
    multistep *m = s->method_state;
    s->method_state = m->starter;
    return m;
}

static void leave(dae_solver *s, multistep *m)
{
    m->starter = s->method_state;
    s->method_state = m;
}

static void multistep_close(dae_solver *s)
{
    multistep *m = s->method_state;
    if (!m) return;
    dae_semi_close(&m->semi);
    dae_lead_close(&m->lead);
    dae_free(&s->memory, m->vectors);
    enter(s);
    dae_method_radau.close(s);
    dae_free(&s->memory, m);
    s->method_state = NULL;
}

static dae_status open_starter(dae_solver *s, multistep *m)
{
    char own[sizeof s->method_name];
    memcpy(own, s->method_name, sizeof own);
    snprintf(s->method_name, sizeof s->method_name, "%s", m->starter_name);
    enter(s);
    dae_status status = dae_method_radau.open(s);
    leave(s, m);
    memcpy(s->method_name, own, sizeof own);
    return status;
}

static void take_table(dae_solver *s, multistep *m, const dae_lmm *table)
{
    int unknown, level = highest_level(s, &unknown), k = m->steps = table->steps;
    m->order = table->order;
    m->mode = table->mode;
    m->claims = table->claims;
    int blocks = table->has_tau && table->mode == DAE_LMM_PLAIN;
    for (int j = 0; j <= k; j++) {
        m->alpha[j] = dae_rational_value(table->rho[k - j]);
        m->beta[j] = dae_rational_value(table->sigma[k - j]);
        m->gamma[j] = blocks ? dae_rational_value(table->tau[k - j]) : 0;
    }
    m->corrects = level >= DAE_INDEX2 && (blocks || table->mode == DAE_LMM_LATE);
    snprintf(m->starter_name, sizeof m->starter_name, "radau2a-%d", stages_for(table, level));
    m->use_semi = level < DAE_INDEX2 && multistep_needs_slopes(m);
}

static dae_status multistep_open(dae_solver *s)
{
    dae_lmm table;
    multistep *m = dae_alloc(&s->memory, 1, sizeof *m);
    s->method_state = m;
    if (!m) return DAE_E_NOMEM;
    if (!dae_lmm_find(s->method_name, &table)) return DAE_E_INTERNAL;
    take_table(s, m, &table);
    size_t n = (size_t)s->system.n, w = (size_t)s->system.m, computed = (size_t)s->system.computed;
    m->width = s->system.m;
    m->rows = m->steps + 1;
    size_t rows = (size_t)m->rows;
    dae_vector_wish wish[] = {
        { &m->X[0], rows * n }, { &m->F[0], rows * w }, { &m->D[0], rows * computed },
        { &m->F_trial, w },     { &m->p_before, w },    { &m->x_pred, n },
        { &m->p_pred, w },      { &m->d_pred, w },      { &m->base, w },
        { &m->x_leg, n },       { &m->p_leg, w },       { &m->d_leg, w },
    };
    m->vectors = dae_alloc_vectors(&s->memory, wish, sizeof wish / sizeof *wish);
    if (!m->vectors) return DAE_E_NOMEM;
    for (int j = 1; j < m->rows; j++) {
        m->X[j] = m->X[0] + (size_t)j * n;
        m->F[j] = m->F[0] + (size_t)j * w;
        m->D[j] = m->D[0] + (size_t)j * computed;
    }
    dae_status status = open_starter(s, m);
    if (status == DAE_OK && m->use_semi) status = dae_semi_open(&m->semi, &s->corrector);
    if (m->use_semi) m->semi.who = "multistep formulas with derivatives of past points";
    if (status == DAE_OK && !m->use_semi && multistep_needs_slopes(m))
        status = dae_lead_open(&m->lead, &s->corrector);
    return status;
}

static void multistep_start(dae_solver *s)
{
    multistep *m = s->method_state;
    if (m->use_semi) dae_semi_start(&m->semi);
    if (m->lead.corrector) dae_lead_start(&m->lead);
    m->checked = m->started = m->starter_ready = 0;
    multistep_begin(s, m);
    s->order = m->order;
}

/* ---- attempts ---- */

/* out = sum_{j = 1 .. k} (alpha_j d_{n-j} - h beta_j d'_{n-j}) */
static void sum_past(const dae_solver *s, const multistep *m, double h, double *out)
{
    memset(out, 0, (size_t)m->width * sizeof(double));
    for (int j = 1; j <= m->steps; j++) {
        const double *d = s->system.computed ? m->D[j - 1] : m->X[j - 1], *F = m->F[j - 1];
        double a = m->alpha[j], b = m->mode == DAE_LMM_ONE_LEG ? 0 : h * m->beta[j];
        if (a != 0)
            for (int i = 0; i < m->width; i++) out[i] += a * d[i];
        if (b != 0)
            for (int i = 0; i < m->width; i++) out[i] -= b * F[i];
    }
}

/* out = sum_{j = 1 .. k} beta_j v_{n-j} */
static void sum_leg(const multistep *m, double *const *v, int count, double *out)
{
    memset(out, 0, (size_t)count * sizeof(double));
    for (int j = 1; j <= m->steps; j++)
        for (int i = 0; i < count; i++) out[i] += m->beta[j] * v[j - 1][i];
}

static int differential(const dae_solver *s, int i)
{
    return s->system.level[i] == DAE_DIFFERENTIAL;
}

/* Entries of p that are no derivative in the equations. */
static void secants(const dae_solver *s, const multistep *m, dae_trial *trial)
{
    if (s->system.computed || !multistep_needs_slopes(m)) return;
    for (int i = 0; i < s->system.n; i++)
        if (!differential(s, i)) trial->p[i] = (trial->x[i] - s->x[i]) / trial->h;
}

/* x and p at t where d is `base`. */
static int point(dae_solver *s, multistep *m, double t, double h, const double *base, double *x,
                 double *p)
{
    dae_semi_query q = {
        .kind = DAE_SEMI_POINT, .t = t, .h = h, .x = x, .p = p, .d = base, .w = s->w, .w_d = s->w_d
    };
    for (int i = 0; i < s->system.n && !s->system.computed; i++)
        if (differential(s, i)) x[i] = base[i];
    return dae_semi_solve(&m->semi, &q);
}

/* d_n = base is known; the rest of the new point from the equations there. */
static int end_at(dae_solver *s, multistep *m, dae_trial *trial)
{
    memcpy(trial->x, m->x_pred, (size_t)s->system.n * sizeof(double));
    memcpy(trial->p, m->p_pred, (size_t)m->width * sizeof(double));
    int status = point(s, m, trial->t, trial->h, m->base, trial->x, trial->p);
    if (s->system.computed) memcpy(trial->d, m->base, (size_t)m->width * sizeof(double));
    memcpy(m->F_trial, trial->p, (size_t)m->width * sizeof(double));
    return status;
}

static int attempt_explicit(dae_solver *s, multistep *m, dae_trial *trial)
{
    sum_past(s, m, trial->h, m->base);
    for (int i = 0; i < m->width; i++) m->base[i] /= -m->alpha[0];
    return end_at(s, m, trial);
}

static dae_stage stage(dae_solver *s, multistep *m, dae_trial *trial)
{
    return (dae_stage){ .t = trial->t,
                        .c = m->alpha[0] / (trial->h * m->beta[0]),
                        .h = trial->h,
                        .x_pred = m->x_pred,
                        .p_pred = m->p_pred,
                        .d_pred = m->d_pred,
                        .x = trial->x,
                        .p = trial->p,
                        .e = trial->e,
                        .d = trial->d,
                        .e_d = trial->e_d,
                        .w = s->w,
                        .w_d = s->w_d };
}

/* The sum over the past of tau lambda, and f at which lambda the step is to have: see the head. */
static double tau_past(const multistep *m, int i)
{
    double sum = 0;
    for (int j = 1; j <= m->steps; j++) sum += m->gamma[j] * m->X[j - 1][i];
    return sum;
}

static double to_step(const multistep *m, int i, double lambda)
{
    if (m->mode == DAE_LMM_LATE) return lambda / m->beta[0];
    return ((m->beta[0] - m->gamma[0]) * lambda - tau_past(m, i)) / m->beta[0];
}

static double from_step(const multistep *m, int i, double lambda)
{
    if (m->mode == DAE_LMM_LATE) return m->beta[0] * lambda;
    return (m->beta[0] * lambda + tau_past(m, i)) / (m->beta[0] - m->gamma[0]);
}

/* "late": F = f(y, 0), from F as a guess. */
static int without_lambda(dae_solver *s, multistep *m, double t, const double *x, double *F)
{
    memcpy(m->x_leg, x, (size_t)s->system.n * sizeof(double));
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] >= DAE_INDEX2) m->x_leg[i] = 0;
    return dae_lead_solve(&m->lead, t, s->trial.h, m->x_leg, F, s->w);
}

/* lambda_n from that of the step, and y' that belongs to it; "late": to lambda = 0. */
static int finish_blocked(dae_solver *s, multistep *m, dae_trial *trial)
{
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] >= DAE_INDEX2) trial->x[i] = from_step(m, i, trial->x[i]);
    int status = dae_lead_solve(&m->lead, trial->t, trial->h, trial->x, trial->p, s->w);
    memcpy(m->F_trial, trial->p, (size_t)m->width * sizeof(double));
    if (status != DAE_OK || m->mode != DAE_LMM_LATE) return status;
    return without_lambda(s, m, trial->t, trial->x, m->F_trial);
}

static int attempt_implicit(dae_solver *s, multistep *m, dae_trial *trial)
{
    const double *d = s->system.computed ? m->d_pred : m->x_pred;
    double scale = 1 / (trial->h * m->beta[0]);
    int bdf = !multistep_needs_slopes(m); /* differences of anything do no harm */
    for (int i = 0; m->corrects && i < s->system.n; i++)
        if (s->system.level[i] >= DAE_INDEX2) m->x_pred[i] = to_step(m, i, m->x_pred[i]);
    sum_past(s, m, trial->h, m->base);
    for (int i = 0; i < m->width; i++) {
        int counts = s->system.computed || differential(s, i);
        m->p_pred[i] = counts || bdf ? scale * (m->alpha[0] * d[i] + m->base[i]) : 0;
    }
    dae_stage g = stage(s, m, trial);
    int status = dae_corrector_solve(&s->corrector, &g);
    if (status != DAE_OK) return status;
    memcpy(m->F_trial, trial->p, (size_t)m->width * sizeof(double));
    return m->corrects ? finish_blocked(s, m, trial) : DAE_OK;
}

/* T, D (or X) and P of the leg, then the new point. */
static int attempt_one_leg(dae_solver *s, multistep *m, dae_trial *trial)
{
    int computed = s->system.computed, n = s->system.n, status;
    double back = 0, h = trial->h;
    const double *d = computed ? m->d_pred : m->x_pred;
    for (int j = 1; j <= m->steps; j++) back += j * m->beta[j];
    sum_past(s, m, h, m->base);
    sum_leg(m, m->X, n, m->x_leg);
    if (computed) sum_leg(m, m->D, m->width, m->d_leg);
    double *leg = computed ? m->d_leg : m->x_leg; /* without the new point */
    double b = m->beta[0], a = m->alpha[0], t = trial->t - back * h;
    if (b == 0) {
        memcpy(trial->x, m->x_leg, (size_t)n * sizeof(double));
        memcpy(trial->p, m->p_pred, (size_t)m->width * sizeof(double));
        memcpy(m->p_leg, leg, (size_t)m->width * sizeof(double));
        status = point(s, m, t, h, m->p_leg, trial->x, trial->p);
        for (int i = 0; i < m->width; i++) m->base[i] = (h * trial->p[i] - m->base[i]) / a;
        return status == DAE_OK ? end_at(s, m, trial) : status;
    }
    dae_stage g = stage(s, m, trial);
    for (int i = 0; i < m->width; i++) m->p_leg[i] = (a * d[i] + m->base[i]) / h;
    for (int i = 0; i < n; i++) m->x_leg[i] += b * m->x_pred[i];
    for (int i = 0; i < computed; i++) m->d_leg[i] += b * m->d_pred[i];
    g.t = t;
    g.x_pred = m->x_leg;
    g.p_pred = m->p_leg;
    g.d_pred = m->d_leg;
    status = dae_corrector_solve(&s->corrector, &g);
    for (int i = 0; i < m->width; i++) m->base[i] = (h * trial->p[i] - m->base[i]) / a;
    return status == DAE_OK ? end_at(s, m, trial) : status;
}

static int attempt_starter(dae_solver *s, multistep *m, dae_trial *trial)
{
    enter(s);
    if (!m->starter_ready) dae_method_radau.start(s);
    int status = dae_method_radau.attempt(s, trial);
    leave(s, m);
    m->starter_ready = 1;
    memcpy(m->F_trial, trial->p, (size_t)m->width * sizeof(double));
    if (status != DAE_OK || m->mode != DAE_LMM_LATE || !m->corrects) return status;
    return without_lambda(s, m, trial->t, trial->x, m->F_trial);
}

/* Before the first step. The leading matrix must have full rank where it has columns: otherwise
 * y'_n is not determined by the equations, and the part that is not obeys sigma like a
 * multiplier. */
static int check_form(dae_solver *s, multistep *m)
{
    if (m->checked) return DAE_OK;
    m->checked = 1;
    if (m->corrects && m->mode == DAE_LMM_LATE) return without_lambda(s, m, s->t, s->x, m->F[0]);
    if (!multistep_needs_slopes(m) || s->system.computed) return DAE_OK;
    memcpy(m->x_leg, s->x, (size_t)s->system.n * sizeof(double));
    memcpy(m->p_leg, s->p, (size_t)m->width * sizeof(double));
    memcpy(m->d_leg, s->x, (size_t)m->width * sizeof(double));
    if (!m->use_semi) return dae_lead_solve(&m->lead, s->t, s->trial.h, m->x_leg, m->p_leg, s->w);
    return point(s, m, s->t, s->trial.h, m->d_leg, m->x_leg, m->p_leg);
}

static int attempt_formula(dae_solver *s, multistep *m, dae_trial *trial)
{
    dae_corrector *q = &s->corrector;
    int status;
    q->new_jacobian = q->new_factor = q->second_round = q->iterations = 0;
    multistep_extrapolate(s, m, trial->h);
    if (m->mode == DAE_LMM_ONE_LEG)
        status = attempt_one_leg(s, m, trial);
    else if (m->claims & DAE_LMM_EXPLICIT)
        status = attempt_explicit(s, m, trial);
    else
        status = attempt_implicit(s, m, trial);
    if (status == DAE_OK) secants(s, m, trial);
    return status;
}

static int multistep_attempt(dae_solver *s, dae_trial *trial)
{
    multistep *m = s->method_state;
    int same = m->steps == 1 || fabs(trial->h - m->h) <= 1e-9 * fabs(m->h);
    m->started = m->count < m->steps || !same;
    int status = check_form(s, m);
    if (status == DAE_OK)
        status = m->started ? attempt_starter(s, m, trial) : attempt_formula(s, m, trial);
    if (status != DAE_OK) return status;
    memset(trial->e, 0, (size_t)s->system.n * sizeof(double)); /* nothing is known of the error */
    trial->constant = 0;
    trial->error = 0;
    trial->order = m->order;
    return status;
}

/* ---- the rest of a method ---- */

static void multistep_commit(dae_solver *s, dae_trial *trial)
{
    multistep *m = s->method_state;
    if (m->started) {
        enter(s);
        dae_method_radau.commit(s, trial);
        leave(s, m);
    } else {
        m->starter_ready = 0;
    }
    multistep_push(s, m, trial);
    s->order = m->order;
}

/* Prescribed steps are not repeated. */
static void multistep_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    (void)verdict;
    s->h = 0.5 * trial->h;
}

static void interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    multistep *m = s->method_state;
    if (!m->started) {
        multistep_interpolate(s, t, x, p, d);
        return;
    }
    enter(s);
    dae_method_radau.interpolate(s, t, x, p, d);
    leave(s, m);
}

static int reach(dae_solver *s)
{
    return s->order_most;
}

const dae_method dae_method_multistep = {
    .name = "multistep",
    .description = "a linear multistep formula with constant steps, by the name of its table",
    .max_order = DAE_LMM_STEPS + 1,
    .starts_itself = 1,
    .takes = multistep_takes,
    .choose = multistep_choose,
    .adapts = multistep_adapts,
    .open = multistep_open,
    .close = multistep_close,
    .start = multistep_start,
    .start_history = multistep_take_past,
    .attempt = multistep_attempt,
    .commit = multistep_commit,
    .reject = multistep_reject,
    .interpolate = interpolate,
    .between = DAE_BETWEEN_OWN, /* prescribed steps: the polynomial has the order of the formula */
    .reach = reach,
};
