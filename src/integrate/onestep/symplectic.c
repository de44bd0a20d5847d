/* symplectic.c: symplectic Euler, Stoermer-Verlet, and its composition of order four.
 *
 * For x = (q, p), q' = g(t, p), p' = k(t, q): a Hamiltonian system whose H is a sum T(p) + U(q), or
 * any other in which the halves do not see themselves. Kick, drift, kick:
 *
 *     P = p + h/2 k(q),   Q = q + h g(P),   p_new = P + h/2 k(Q)                        (verlet)
 *
 * symplectic-euler: p_new = p + h k(q), q_new = q + h g(p_new). verlet-4: three steps of verlet
 * with w h, (1 - 2 w) h, w h, w = 1 / (2 - 2^(1/3)) (Yoshida 1990). The map (q, p) -> (q_new, p_new) is
 * symplectic for a constant h: the energy does not drift but swings by O(h^order) (Hairer, Lubich,
 * Wanner 2006, I.1, II.4, IX). Variable steps, sized by the difference to the trapezoidal
 * rule, lose that: fixed_step is what these methods are for.
 */
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <math.h>
#include <string.h>

typedef struct symplectic {
    double *vectors, *f, *x_done, *p_done;
    int asked; /* 1: the halves were looked at since the start */
    int order, power;
} symplectic;

static const char *const names[] = { "symplectic-euler", "verlet", "verlet-4" };
static const int orders[] = { 1, 2, 4 };

static int place_of(const char *name)
{
    for (int i = 0; i < 3; i++)
        if (!strcmp(names[i], name)) return i;
    return -1;
}

static int symplectic_takes(const char *name)
{
    return place_of(name) >= 0;
}

static dae_status symplectic_choose(dae_solver *s)
{
    const dae_problem *q = &s->system.problem;
    s->order_most = orders[place_of(s->method_name)];
    int plain = q->rhs && q->mass_kind == DAE_MASS_IDENTITY;
    if (plain && s->system.n % 2 == 0) return DAE_OK;
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' cannot be used for this problem",
             s->method_name);
    dae_why(&s->report, plain ? "it needs x = (q, p): an even number of unknowns"
                              : "it needs x' = rhs(t, x) with x = (q, p)");
    dae_hint(&s->report, "use dopri5, adams or a Gauss method");
    return DAE_E_OPTION;
}

static dae_status symplectic_open(dae_solver *s)
{
    size_t n = (size_t)s->system.n;
    symplectic *g = s->method_state = dae_alloc(&s->memory, 1, sizeof *g);
    if (!g) return DAE_E_NOMEM;
    g->order = s->order_most;
    g->power = g->order == 1 ? 2 : 3;
    const dae_vector_wish wish[] = { { &g->f, n }, { &g->x_done, n }, { &g->p_done, n } };
    g->vectors = dae_alloc_vectors(&s->memory, wish, 3);
    return g->vectors ? DAE_OK : DAE_E_NOMEM;
}

static void symplectic_close(dae_solver *s)
{
    symplectic *g = s->method_state;
    if (g) dae_free(&s->memory, g->vectors);
    dae_free(&s->memory, g);
    s->method_state = NULL;
}

static void symplectic_start(dae_solver *s)
{
    symplectic *g = s->method_state;
    g->asked = 0;
    s->order = g->order;
}

/* f := rhs(t, x) */
static int evaluate(dae_solver *s, double t, const double *x, double *f)
{
    dae_system *sys = &s->system;
    int status = dae_system_f(sys, t, x, NULL, f);
    for (int i = 0; i < sys->n; i++) f[i] = -f[i];
    return status != DAE_RETRY ? status : sys->bad_retry ? DAE_STEP_RETRY : DAE_STEP_NONFINITE;
}

/* Does q' move with q, or p' with p? Looked at in one direction, at the first step. */
static int look(dae_solver *s, symplectic *g, double *x, double *f)
{
    int n = s->system.n, half = n / 2, first = evaluate(s, s->t, s->x, f);
    double size = 0;
    for (int i = 0; i < n; i++) size = fmax(size, fabs(f[i]));
    if (first != DAE_OK) return first;
    for (int side = 0; side < 2; side++) {
        int from = side * half;
        memcpy(x, s->x, (size_t)n * sizeof(double));
        for (int i = from; i < from + half; i++)
            x[i] += 1e-3 * (fabs(x[i]) + 1 / s->w0[i]) * (1 + 0.3 * sin(i));
        int status = evaluate(s, s->t, x, g->f);
        if (status != DAE_OK) return status;
        for (int i = from; i < from + half; i++) {
            char name[32];
            if (fabs(g->f[i] - f[i]) <= 1e-12 * size) continue;
            dae_fail(&s->report, DAE_E_OPTION, "method '%s' cannot be used for this problem",
                     s->method_name);
            dae_at(&s->report, "t = %.10g, derivative of '%s'", s->t,
                   dae_unknown_name(&s->system, i, name));
            dae_why(&s->report, "it depends on its own half of x = (q, p): the equations are not "
                                "q' = g(p), p' = k(q)");
            dae_hint(&s->report, "Gauss methods are symplectic for all Hamiltonian systems");
            return DAE_E_OPTION;
        }
    }
    g->asked = 1;
    return DAE_OK;
}

/* x[from ..] += h f[from ..] over one half */
static void move(double *x, const double *f, int from, int half, double h)
{
    for (int i = from; i < from + half; i++) x[i] += h * f[i];
}

/* One kick, drift, kick from x at t; f holds rhs there, and at the end rhs at the new point. */
static int verlet(dae_solver *s, double t, double h, double *x, double *f)
{
    int half = s->system.n / 2;
    move(x, f, half, half, h / 2);
    int status = evaluate(s, t + h / 2, x, f);
    if (status != DAE_OK) return status;
    move(x, f, 0, half, h);
    status = evaluate(s, t + h, x, f);
    if (status != DAE_OK) return status;
    move(x, f, half, half, h / 2);
    return evaluate(s, t + h, x, f);
}

static int euler(dae_solver *s, double t, double h, double *x, double *f)
{
    int half = s->system.n / 2;
    move(x, f, half, half, h);
    int status = evaluate(s, t, x, f);
    if (status != DAE_OK) return status;
    move(x, f, 0, half, h);
    return evaluate(s, t + h, x, f);
}

static int symplectic_attempt(dae_solver *s, dae_trial *trial)
{
    symplectic *g = s->method_state;
    int n = s->system.n, status = g->asked ? DAE_OK : look(s, g, trial->x, trial->p);
    const double w = 1 / (2 - cbrt(2)), part[3] = { w, 1 - 2 * w, w };
    double t = s->t;
    memcpy(trial->x, s->x, (size_t)n * sizeof(double));
    memcpy(trial->p, s->p, (size_t)n * sizeof(double));
    if (g->order == 1 && status == DAE_OK) status = euler(s, t, trial->h, trial->x, trial->p);
    if (g->order == 2 && status == DAE_OK) status = verlet(s, t, trial->h, trial->x, trial->p);
    for (int k = 0; k < 3 && g->order == 4 && status == DAE_OK; k++) {
        status = verlet(s, t, part[k] * trial->h, trial->x, trial->p);
        t += part[k] * trial->h;
    }
    if (status != DAE_OK) return status;
    for (int i = 0; i < n; i++)
        trial->e[i] = s->x[i] + trial->h / 2 * (s->p[i] + trial->p[i]) - trial->x[i];
    trial->constant = 1;
    trial->error = dae_norm(s->options.norm, n, trial->e, s->w, &trial->limiting);
    return trial->prescribed || trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

static double factor(const symplectic *g, double error)
{
    return fmax(0.2, fmin(4, 0.9 * pow(fmax(error, 1e-10), -1.0 / g->power)));
}

static void symplectic_commit(dae_solver *s, dae_trial *trial)
{
    symplectic *g = s->method_state;
    size_t bytes = (size_t)s->system.n * sizeof(double);
    memcpy(g->x_done, s->x, bytes);
    memcpy(g->p_done, s->p, bytes);
    if (!trial->prescribed) s->h = trial->h * factor(g, trial->error);
}

static void symplectic_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    int known = verdict == DAE_STEP_ERROR && isfinite(trial->error);
    s->h = trial->h * (known ? fmin(0.9, factor(s->method_state, trial->error)) : 0.25);
}

static void symplectic_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    const symplectic *g = s->method_state;
    (void)d;
    dae_hermite(s, t, g->x_done, g->p_done, x, p);
}

static int symplectic_reach(dae_solver *s)
{
    return s->order_most;
}

const dae_method dae_method_symplectic = {
    .name = "verlet",
    .description = "Stoermer-Verlet for q' = g(p), p' = k(q), fixed steps; symplectic-euler, "
                   "verlet-4",
    .max_order = 4,
    .one_step = 1,
    .starts_itself = 1,
    .takes = symplectic_takes,
    .choose = symplectic_choose,
    .open = symplectic_open,
    .close = symplectic_close,
    .start = symplectic_start,
    .attempt = symplectic_attempt,
    .commit = symplectic_commit,
    .reject = symplectic_reject,
    .interpolate = symplectic_interpolate,
    .between = DAE_BETWEEN_OWN,
    .reach = symplectic_reach,
};
