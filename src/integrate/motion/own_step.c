/* own_step.c: energy-momentum and energy-momentum-dissipating: steps that the problem
 * takes.
 *
 * What makes a step keep energy and momenta is known where they are known: a mechanism
 * brings its step along (dae_problem.leap; src/constraint/energy_step.c has the
 * formulas). Here is what makes a method of it: x at both ends with x', a cubic through
 * both, and the local error from the difference to the trapezoidal rule, O(h^3) as the
 * steps are of second order. Energy is kept step by step, whatever the size of the steps:
 * they may vary.
 *
 * "energy-momentum-dissipating-R", 0 <= R <= 1, hands R to the problem; without a number
 * 0.5.
 */
#include "integrate/solver.h"
#include "base/float_check.h"
#include "base/norm.h"
#include "integrate/multistep/two_step.h"

#include <math.h>
#include <string.h>

typedef struct own_step {
    double damping;
    double *vectors, *x_done, *p_done;
} own_step;

static const char plain[] = "energy-momentum", dissipating[] = "energy-momentum-dissipating";

/* R of a name; -1: not one of ours */
static double damping_of(const char *name)
{
    double R = 0.5;
    if (!strcmp(name, plain)) return 0;
    if (strncmp(name, dissipating, sizeof dissipating - 1) != 0) return -1;
    const char *rest = name + sizeof dissipating - 1;
    if (!*rest) return R;
    if (*rest != '-' || !(rest = dae_read_decimal(rest + 1, &R))) return -1;
    return *rest ? -1 : R;
}

static int plain_takes(const char *name)
{
    return !strcmp(name, plain);
}

static int dissipating_takes(const char *name)
{
    return !plain_takes(name) && damping_of(name) >= 0;
}

static dae_status own_choose(dae_solver *s)
{
    const dae_problem *q = &s->system.problem;
    s->order_most = 2;
    if (q->leap && !s->system.computed) return DAE_OK;
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' cannot be used for this problem",
             s->method_name);
    dae_why(&s->report, "%s",
            q->leap_missing ? q->leap_missing : "it needs a problem that brings its own step");
    dae_hint(&s->report,
             "it is for mechanisms with energy (daedalus/mechanics.h), holonomic "
             "constraints and dense matrices, in ggl, index3, index2, index1 or index0");
    return DAE_E_OPTION;
}

static dae_status own_open(dae_solver *s)
{
    size_t n = (size_t)s->system.n;
    own_step *g = s->method_state = dae_alloc(&s->memory, 1, sizeof *g);
    if (!g) return DAE_E_NOMEM;
    g->damping = damping_of(s->method_name);
    const dae_vector_wish wish[] = { { &g->x_done, n }, { &g->p_done, n } };
    g->vectors = dae_alloc_vectors(&s->memory, wish, 2);
    return g->vectors ? DAE_OK : DAE_E_NOMEM;
}

static void own_close(dae_solver *s)
{
    own_step *g = s->method_state;
    if (g) dae_free(&s->memory, g->vectors);
    dae_free(&s->memory, g);
    s->method_state = NULL;
}

static void own_start(dae_solver *s)
{
    s->order = 2;
}

static int own_attempt(dae_solver *s, dae_trial *trial)
{
    const own_step *g = s->method_state;
    const dae_problem *q = &s->system.problem;
    int n = s->system.n;
    s->system.callback_depth++;
    int answer = q->leap(s->t, trial->h, g->damping, s->x, s->p, trial->x, trial->p, q->user);
    s->system.callback_depth--;
    answer = (int)dae_user_answer(&s->system, answer, "leap", s->t);
    if (answer != DAE_OK) return answer == DAE_RETRY ? DAE_STEP_RETRY : answer;
    if (dae_find_nonfinite(n, trial->x) >= 0) return DAE_STEP_NONFINITE;
    for (int i = 0; i < n; i++) /* multipliers follow from the others: no error of their own */
        trial->e[i] = s->system.level[i] != DAE_DIFFERENTIAL
                          ? 0
                          : s->x[i] + trial->h / 2 * (s->p[i] + trial->p[i]) - trial->x[i];
    trial->constant = 1;
    trial->error = dae_norm(s->options.norm, n, trial->e, s->w, &trial->limiting);
    return trial->prescribed || trial->error <= 1 ? DAE_OK : DAE_STEP_ERROR;
}

static double factor(double error)
{
    return fmax(0.2, fmin(4, 0.9 / cbrt(fmax(error, 1e-10))));
}

static void own_commit(dae_solver *s, dae_trial *trial)
{
    own_step *g = s->method_state;
    size_t bytes = (size_t)s->system.n * sizeof(double);
    memcpy(g->x_done, s->x, bytes);
    memcpy(g->p_done, s->p, bytes);
    if (!trial->prescribed) s->h = trial->h * factor(trial->error);
}

static void own_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    int known = verdict == DAE_STEP_ERROR && isfinite(trial->error);
    s->h = trial->h * (known ? fmin(0.9, factor(trial->error)) : 0.25);
}

static void own_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    const own_step *g = s->method_state;
    (void)d;
    dae_hermite(s, t, g->x_done, g->p_done, x, p);
}

static int own_reach(dae_solver *s)
{
    return s->order_most;
}

const dae_method dae_method_energy = {
    .name = plain,
    .description = "mechanisms: energy and momenta kept to rounding, second order",
    .max_order = 2,
    .one_step = 1,
    .starts_itself = 1,
    .takes = plain_takes,
    .choose = own_choose,
    .open = own_open,
    .close = own_close,
    .start = own_start,
    .attempt = own_attempt,
    .commit = own_commit,
    .reject = own_reject,
    .interpolate = own_interpolate,
    .between = DAE_BETWEEN_OWN,
    .reach = own_reach,
};

const dae_method dae_method_energy_dissipating = {
    .name = dissipating,
    .description = "the same with energy that can only fall: fast vibrations are damped",
    .parameter = "energy-momentum-dissipating-R takes a decimal R from 0 to 1",
    .max_order = 2,
    .one_step = 1,
    .starts_itself = 1,
    .takes = dissipating_takes,
    .choose = own_choose,
    .open = own_open,
    .close = own_close,
    .start = own_start,
    .attempt = own_attempt,
    .commit = own_commit,
    .reject = own_reject,
    .interpolate = own_interpolate,
    .between = DAE_BETWEEN_OWN,
    .reach = own_reach,
};
