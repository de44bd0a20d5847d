/* watch.c: the watchdog of a run: many steps that achieve little.
 *
 * No progress: 100 steps that bring t forward by less than 1e-8 of the time since the start, and become
 * shorter. Not the number of steps counts but what they achieve; after a jump of a rate steps are as
 * short, but they grow. Or HOPELESS looks in a row with such steps, or with steps near the resolution of
 * time (as where noise is above the tolerance), that do not grow.
 *
 * Or steps that never get there because they become ever shorter while attempts fail. Towards a point
 * t* where noise is amplified by a Jacobian on its way to singular h may shrink like (t* - t)^2: n steps
 * leave a distance of 1/n, each of them an honest one, and millions follow each other. So the ways of
 * periods of 1,000 steps are compared: where the fourth in a row goes less far than the one before, Newton's
 * iteration fails in a tenth of the steps (that the error test rejects some is no sign of noise), and the
 * limit of steps would be reached at this pace, that is said now.
 *
 * Chattering: equations that jump where the solution wants to stay (x' = -sign x, dry friction
 * that sticks). Each step lands on the other side, so the local error keeps its size and changes
 * its sign every few steps, or Newton's iteration is thrown across again and again, at a low
 * order, with steps as small as the tolerance: millions of them, most accepted. One-step methods
 * of high order show neither, only the steps. So small steps are a suspicion, signs make it a strong
 * one, and the equations are asked whether there is a jump where the solution is, and still is
 * many steps later. Along a direction e in which the solution chatters let D(a) = f(x + a e) - f(x - a e).
 * A linear f has D(4a) = 4 D(a), a jump of size J between the two points adds J to both:
 * J = (4 D(a) - D(4a)) / 3, found alike from (a, 4a) and (4a, 16a). Of a kink and of a smooth f
 * nothing is left but terms that grow with a, and noise gives two different numbers.
 *
 * Stiffness: the method says that stability limits its steps, and at this pace the limit of
 * steps will be reached before the target: better said now than ten million steps later.
 */
#include "integrate/solver.h"
#include "base/float_check.h"

#include <math.h>
#include <string.h>

/* A look every LOOK steps (not calls: who reads more must not change the run); MANY signs of trouble, or a pace that fell, and the
 * equations are asked at once. ALIKE looks must find the same jump. */
enum {
    LOOK = 100,
    MANY = 10,
    ALIKE = 3,
    SOME = 20,
    HOPELESS = 8,
    NAMED = 50,
    LONGEST = 1000,
    PERIOD = 10,
    FALLS = 3
};

/* A jump is looked for so many tolerances to both sides, and up to 16 times as far. */
static const double NEAR = 16;

/* Steps below this part of t are near the resolution of time. */
static const double FINEST = 1e4 * DBL_EPSILON;

/* The last of 100 steps beside their mean, where they lead to a singularity: they shrink by a constant
 * factor each. */
static const double SHRUNK = 0.25;

/* Newton fails in this part of the steps. */
static const double FAILING = 0.1;

/* So many more steps at the present pace are not worth a failure. */
static const double BEARABLE = 1e4;

typedef struct jump {
    int row, column; /* row -1: none */
    double size;
} jump;

void dae_watch_start(dae_solver *s)
{
    s->watch = (dae_watch_state){ .t = s->t, .unknown = -1, .ask = 1, .row = -1 };
    s->watch.failures = s->stats.rejected + s->stats.newton_failures;
    s->watch.period_failures = s->stats.newton_failures;
    s->watch.period_t = s->t;
}

static void count_flip(dae_solver *s)
{
    dae_watch_state *w = &s->watch;
    const dae_trial *trial = &s->trial;
    int i = trial->limiting;
    if (i < 0 || trial->error < 0.05) return;
    int sign = trial->e[i] > 0 ? 1 : -1;
    if (i == w->unknown && sign != w->sign) w->flips++;
    w->unknown = i;
    w->sign = sign;
}

/* f(x + a e) - f(x - a e) into D. e is along v as far as v is differential, or (v NULL) one
 * unknown alone; its largest entry is a tolerance, that of unknown `lead`. */
static int difference(dae_solver *s, const double *v, int lead, double a, double *D)
{
    dae_system *sys = &s->system;
    double *x = s->trial_x, *r = s->corrector.r, scale = a / s->w0[lead];
    for (int side = -1; side <= 1; side += 2) {
        memcpy(x, s->x, (size_t)sys->n * sizeof(double));
        for (int i = 0; v && i < sys->n; i++)
            if (sys->level[i] == DAE_DIFFERENTIAL) x[i] += side * scale * v[i] / v[lead];
        if (!v) x[lead] += side * scale;
        int status = dae_system_f(sys, s->t, x, s->p, side < 0 ? D : r);
        if (status != DAE_OK) return status;
    }
    for (int i = 0; i < sys->n; i++) D[i] = r[i] - D[i];
    return DAE_OK;
}

/* The differential unknown that moves most along v; -1: none does. */
static int leader(const dae_solver *s, const double *v)
{
    int lead = -1;
    double most = 0;
    for (int i = 0; i < s->system.n; i++) {
        double moved = fabs(v[i]) * s->w0[i];
        if (s->system.level[i] != DAE_DIFFERENTIAL || !(moved > most)) continue;
        most = moved;
        lead = i;
    }
    return isfinite(most) ? lead : -1;
}

/* A jump that matters moves the unknowns by their tolerances within some twenty steps, and is
 * above rounding: the least size by rows. (Methods that let a step make less than a tolerance of
 * error take shorter ones.) */
static void least_jumps(const dae_solver *s, double *least)
{
    const dae_system *sys = &s->system;
    const dae_matrix *a = &sys->matrix;
    const dae_corrector *q = &s->corrector;
    double h = SOME * fmax(fabs(s->stats.h), s->watch.h), noise = 1e3 * DBL_EPSILON;
    memset(least, 0, (size_t)sys->n * sizeof(double));
    for (int j = 0; j < sys->n; j++) {
        double rate = 0.05 / (s->w0[j] * h) + (sys->computed ? 0 : noise * fabs(s->p[j]));
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            least[dae_column_row(a, j, k)] +=
                fabs(q->C[k]) * rate + noise * fabs(q->K[k] * s->x[j]);
    }
}

/* The equation with the clearest jump along v, or in one unknown alone, within a few steps'
 * motion: row -1 if there is none. */
static int find_jump(dae_solver *s, const double *v, int lead, double a, jump *found)
{
    int n = s->system.n;
    double *D = s->corrector.delta, *least = s->look_e, clearest = 0.7;
    if (found->row >= 0 || lead < 0) return DAE_OK;
    if (!s->system.computed) /* four steps of motion, if that is more */
        a = fmax(a, 4 * fabs(s->stats.h * s->p[lead]) * s->w0[lead]);
    least_jumps(s, least);
    for (int k = 0; k < 3; k++, a *= 4) {
        int status = difference(s, v, lead, a, D + (size_t)k * (size_t)n);
        if (status != DAE_OK) return status < 0 ? status : DAE_OK; /* undefined there */
    }
    for (int i = 0; i < n; i++) {
        double last = D[2 * (size_t)n + (size_t)i], middle = D[n + i];
        double near = (4 * D[i] - middle) / 3, far = (4 * middle - last) / 3;
        double alike = fmin(fabs(near), fabs(far)) / fmax(fabs(near), fabs(far));
        if (!(near * far > 0 && alike > clearest && fabs(far) > least[i])) continue;
        clearest = alike;
        *found = (jump){ i, lead, far };
    }
    return DAE_OK;
}

/* Looked for in the unknown that limits the steps, where the last one was corrected, and
 * straight ahead. A failure of a callback is the only failure. */
static int ask_equations(dae_solver *s, jump *found)
{
    const double *e = s->trial.e, *p = s->p;
    found->row = -1;
    int status = find_jump(s, NULL, s->watch.unknown, NEAR, found);
    if (status == DAE_OK) status = find_jump(s, e, leader(s, e), NEAR, found);
    if (status == DAE_OK && !s->system.computed)
        status = find_jump(s, p, leader(s, p), NEAR, found);
    return status;
}

/* The unknown whose derivative stands in an equation; -1: none. */
static int driven_by(const dae_solver *s, int row)
{
    const dae_matrix *a = &s->system.matrix;
    for (int j = 0; j < a->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++)
            if (dae_column_row(a, j, k) == row && s->corrector.C[k] != 0) return j;
    return -1;
}

/* A jump that was found along a direction: the unknown that makes it alone, where one does; the
 * nearest, and first the one whose derivative jumps. */
static void name_unknown(dae_solver *s, jump *found)
{
    int status = DAE_OK, n = s->system.n < NAMED ? s->system.n : NAMED;
    for (double a = NEAR; a <= 64 * NEAR; a *= 4)
        for (int k = -1; k < n && status == DAE_OK; k++) {
            int i = k < 0 ? driven_by(s, found->row) : k;
            jump alone = { .row = -1 };
            if (i < 0 || s->system.level[i] != DAE_DIFFERENTIAL) continue;
            status = find_jump(s, NULL, i, a, &alone);
            if (status != DAE_OK || alone.row != found->row) continue;
            *found = alone;
            return;
        }
}

static dae_status explain(dae_solver *s, const jump *found, double h)
{
    char place[DAE_PLACE];
    const dae_watch_state *w = &s->watch;
    dae_status status = dae_explain_position(s);
    if (status != DAE_OK) return status;
    dae_fail(&s->report, DAE_E_CHATTER,
             "the solution is held at a jump of the equations: it chatters");
    dae_at(&s->report, "t = %.12g, h = %.3g%s", s->t, h,
           dae_place(&s->system, found->row, found->column, place));
    dae_why(&s->report,
            "the equation jumps by %.3g where the unknown passes %.6g; in the last %d "
            "steps, %.3g in time, the local error changed its sign %d times",
            fabs(found->size), s->x[found->column], w->steps, fabs(s->t - w->t), w->flips);
    dae_hint(&s->report, "make the switch an event (problem.event) and restart there, or smooth "
                         "it over more than its atol: x / (abs(x) + eps) for sign(x)");
    return DAE_E_CHATTER;
}

dae_status dae_explain_chatter(dae_solver *s)
{
    jump found;
    int status = ask_equations(s, &found);
    if (status < 0) return (dae_status)status;
    return found.row >= 0 ? explain(s, &found, s->stats.h) : DAE_OK;
}

/* Asked at ever longer intervals as long as there is no jump, and anew when the pace falls or there
 * are signs. h is the mean step since the last look. */
static dae_status suspect_chatter(dae_solver *s, double rest, double h)
{
    dae_watch_state *w = &s->watch;
    jump found;
    int64_t failures = s->stats.rejected + s->stats.newton_failures;
    int signs = w->flips + (int)(failures - w->failures), fell = h < 0.25 * w->h;
    w->failures = failures;
    w->h = h;
    if (rest <= BEARABLE * h || s->options.fixed_step > 0) {
        w->slow = w->confirmed = 0;
        w->ask = 1;
        return DAE_OK;
    }
    if (fell || (signs >= MANY && w->slow < ALIKE)) w->slow = w->ask - 1;
    if (++w->slow < w->ask) return DAE_OK;
    int status = ask_equations(s, &found);
    if (status < 0) return (dae_status)status;
    w->confirmed = found.row < 0 ? 0 : found.row == w->row ? w->confirmed + 1 : 1;
    w->row = found.row;
    w->ask = found.row >= 0 || w->slow > LONGEST ? w->slow + 1 : 2 * w->slow;
    if (w->confirmed < ALIKE) return DAE_OK;
    name_unknown(s, &found);
    return explain(s, &found, h);
}

/* Will steps become ever shorter until there are too many? Asked at every look. */
static int never_arrives(dae_solver *s, double target)
{
    dae_watch_state *w = &s->watch;
    if (++w->looks < PERIOD) return 0;
    double way = fabs(s->t - w->period_t), steps = PERIOD * LOOK;
    int64_t failures = s->stats.newton_failures - w->period_failures;
    w->falls = way < w->period_way && (double)failures > FAILING * steps ? w->falls + 1 : 0;
    w->looks = 0;
    w->period_t = s->t;
    w->period_way = way;
    w->period_failures = s->stats.newton_failures;
    return w->falls >= FALLS && fabs(target - s->t) > (double)s->options.max_steps * way / steps;
}

dae_status dae_watch(dae_solver *s, double target)
{
    dae_watch_state *w = &s->watch;
    count_flip(s);
    if (++w->steps < LOOK) return DAE_OK;
    double progress = fabs(s->t - w->t), done = fabs(s->t - s->t_begin), h = progress / w->steps;
    double last = fabs(s->stats.h);
    int still = !(progress > 1e-8 * done), fine = h < FINEST * fabs(s->t);
    dae_status status = suspect_chatter(s, fabs(target - s->t), h);
    w->hopeless = (still || fine) && last < 1.5 * h ? w->hopeless + 1 : 0;
    if ((still && last < SHRUNK * h) || never_arrives(s, target)) w->hopeless = HOPELESS;
    if (status == DAE_OK && w->hopeless >= HOPELESS)
        status = dae_explain(s, DAE_STEP_ERROR, &s->trial);
    if (status == DAE_OK &&
        fabs(target - s->t) > (double)s->options.max_steps * progress / w->steps)
        status = dae_explain_stiffness(s, fabs(target - s->t));
    w->steps = w->flips = 0;
    w->t = s->t;
    return status;
}

/* What is made of a failure here, a restart with a larger pattern, forgets the step: so that is looked at when the
 * next one is wanted, and not before what has been reached could be read. */
dae_status dae_watch_pending(dae_solver *s, double target)
{
    return s->watch.pending ? dae_watch(s, target) : DAE_OK;
}
