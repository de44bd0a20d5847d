/* judge.c: one run as a user makes it, and how far it is from the truth.
 *
 * dae_advance to 100 times in turn, none of them a stop time, and dae_read there. Errors are in
 * tolerances: |x - exact| / (atol_i + rtol max |exact_i|), the maximum over the start and the reads up
 * to now. Errors of x' are multiplied with the last step h: an order less. Unknowns of levels 2 and 3
 * are compared with the estimate of the solver, dae_get_accuracy, when there is one.
 *
 * Rounding. Unknowns of levels 0 and 1 are well conditioned: what rounding does to them is some
 * 1e3 eps of their size at most, far below 100 tolerances of 1e-10. A multiplier follows from level - 1
 * derivatives of constraints known to eps, so it is not known better than FLOOR eps size
 * (unit / h)^(level - 1); once more unit / h where differential equations were added to constraints. That
 * much is forgiven.
 */
#include "prove.h"

#include <float.h>
#include <math.h>
#include <string.h>
#include <time.h>

const char *const method_names[METHODS] = {
    "bdf", "mebdf", "radau", "rodas", "esdirk", "bim", NULL
};
const double tolerances[TOLERANCES] = { 1e-4, 1e-6, 1e-8, 1e-10 };

static const double FLOOR = 1e3;

/* dae_get_accuracy, by another name: this compiles with headers that lack it, and is a null address with
 * libraries that do. */
extern dae_status accuracy_of(dae_solver *s, double *estimate) __asm__("dae_get_accuracy")
    __attribute__((weak));

typedef struct run {
    problem *p;
    dae_solver *s;
    verdict *v;
    double rtol;
    double x[KERNEL_MOST], xdot[KERNEL_MOST], exact[KERNEL_MOST], slope[KERNEL_MOST];
    double largest[KERNEL_MOST], estimate[KERNEL_MOST], atol[KERNEL_MOST];
    double worst_truth[2], worst_estimate[2];
} run;

static double clock_now(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void say(verdict *v, const char *words)
{
    size_t k = 0;
    for (; words[k] && k + 1 < sizeof v->words; k++)
        v->words[k] = words[k] == '\n' ? ' ' : words[k];
    v->words[k] = 0;
}

static double floor_of(const run *r, int i, int inner, double h)
{
    const problem *p = r->p;
    int power = p->level[i] - 1 + p->dress.full;
    return FLOOR * DBL_EPSILON * p->dress.scale[inner] * pow(fmax(1, p->dress.unit / h), power);
}

static void look_high(run *r, int i, int inner, double error, double tol, double h)
{
    verdict *v = r->v;
    int at = r->p->level[i] - 2;
    error = fmax(0, error - floor_of(r, i, inner, h));
    if (!(error / tol <= v->high_error[at])) {
        v->high_error[at] = error / tol;
        v->high_unknown[at] = i;
    }
    if (v->high_share[at] < 0) return;
    double share = error > 0 ? error / r->estimate[i] : 0;
    if (!(share <= v->high_share[at])) v->high_share[at] = share;
    r->worst_truth[at] = fmax(r->worst_truth[at], error / tol);
    r->worst_estimate[at] = fmax(r->worst_estimate[at], r->estimate[i] / tol);
}

static void look_slope(run *r, double h)
{
    const problem *p = r->p;
    int count = 0;
    for (int i = 0; i < p->kernel.n; i++) {
        const hidden *z = &p->kernel.z[i];
        int lead = p->dress.form == FORM_LEADING, at = p->dress.place[i];
        if (lead && !z->differential) continue;
        int k = lead ? count++ : at;
        double tol = lead ? p->dress.scale[i] * r->rtol : r->atol[at] + r->rtol * r->largest[at];
        double error = fabs(r->xdot[k] - r->slope[k]) * h / tol,
               *worst = &r->v->slope_error[!z->differential];
        if (z->level < 2 && !(error <= *worst)) *worst = error;
    }
}

static void look(run *r, double t)
{
    problem *p = r->p;
    verdict *v = r->v;
    dae_statistics st;
    dress_exact(p, t, r->exact, r->slope);
    dae_get_statistics(r->s, &st);
    if (accuracy_of && p->kernel.index >= 2 && accuracy_of(r->s, r->estimate) != DAE_OK)
        memset(r->estimate, 0, sizeof r->estimate); /* no estimate: any error is beyond it */
    for (int i = 0; i < p->kernel.n; i++) {
        int at = p->dress.place[i];
        r->largest[at] = fmax(r->largest[at], fabs(r->exact[at]));
        double tol = r->atol[at] + r->rtol * r->largest[at], error = fabs(r->x[at] - r->exact[at]);
        if (p->level[at] >= 2)
            look_high(r, at, i, error, tol, st.h);
        else if (!(error / tol <= v->error)) {
            v->error = error / tol;
            v->unknown = at;
            v->at = (t - p->dress.t0) / (p->end - p->dress.t0);
        }
    }
    look_slope(r, st.h);
}

/* Looks at the ends of steps only. What is wrong here is the integration, what is wrong only with
 * reads is what is between steps. */
static dae_status go_by_steps(run *r)
{
    problem *p = r->p;
    dae_status status = dae_start(r->s, p->dress.t0, r->x, p->with_slope ? r->xdot : NULL);
    while (status == DAE_OK && dae_time(r->s) < p->end) {
        status = dae_step(r->s, p->end);
        if (status == DAE_OK) status = dae_read(r->s, dae_time(r->s), r->x, r->xdot);
        if (status == DAE_OK) look(r, dae_time(r->s));
    }
    return status;
}

static dae_status go(run *r)
{
    problem *p = r->p;
    draw d = draw_of(p->seed, 2);
    dress_exact(p, p->dress.t0, r->x, r->xdot);
    for (int i = 0; i < p->kernel.n; i++) r->largest[i] = fabs(r->x[i]);
    if (p->by_steps) return go_by_steps(r);
    dae_status status = dae_start(r->s, p->dress.t0, r->x, p->with_slope ? r->xdot : NULL);
    for (int k = 0; status == DAE_OK && k < READS; k++) {
        double t = p->dress.t0 + (p->end - p->dress.t0) * (k + draw_unit(&d)) / READS;
        status = dae_advance(r->s, t);
        if (status == DAE_OK) status = dae_read(r->s, t, r->x, r->xdot);
        if (status == DAE_OK) look(r, t);
    }
    return status;
}

static void conclude(run *r, dae_status status)
{
    verdict *v = r->v;
    dae_statistics st;
    v->status = (int)status;
    v->outcome = status == DAE_OK ? OUTCOME_OK : OUTCOME_FAILED;
    if (status != DAE_OK) say(v, dae_message(r->s));
    if (dae_get_statistics(r->s, &st) == DAE_OK) {
        v->steps = (double)st.steps;
        v->residuals = (double)st.residuals;
    }
    for (int at = 0; at < 2; at++)
        v->high_caution[at] =
            r->worst_truth[at] > 0 ? r->worst_estimate[at] / r->worst_truth[at] : -1;
}

/* --log: every attempt of a run, a line each. */
static void write_attempt(const dae_step_record *a, void *user)
{
    static const char *const verdicts[] = { "accepted", "error",     "Newton",
                                            "singular", "undefined", "retry" };
    (void)user;
    printf("%5ld %-9s t %.15g h %.3g order %d error %.3g (%s) Newton %d, rate %.2g%s%s%s\n",
           a->step, verdicts[a->verdict], a->t, a->h, a->order, a->error, a->limiting_name,
           a->newton_iterations, a->newton_rate, a->new_jacobian ? ", Jacobian" : "",
           a->new_factor ? ", factors" : "", a->filtered ? ", filtered" : "");
}

void judge_problem(problem *p, int method, int tolerance, verdict *v)
{
    run r = { .p = p, .v = v, .rtol = tolerances[tolerance] };
    double begun = clock_now();
    dae_options o = { .rtol = r.rtol, .method = method_names[method] };
    if (p->log) o.log = write_attempt;
    for (int i = 0; i < p->kernel.n; i++)
        r.atol[i] = r.rtol * (p->atol_over_rtol > 0 ? p->atol_over_rtol : p->atol_part[i]);
    if (p->atol_over_rtol == 0) {
        o.atol_each = r.atol;
        o.atol_count = p->kernel.n;
    } else if (p->atol_over_rtol != 1e-3)
        o.atol = r.atol[0];
    v->index = p->kernel.index;
    problem_describe(p, v->about, sizeof v->about);
    v->unknown = -1;
    for (int at = 0; at < 2; at++) v->high_share[at] = accuracy_of ? 0 : -1;
    r.s = dae_open(&p->api, &o);
    v->status = (int)dae_last_status(r.s);
    if (v->status != DAE_OK) {
        v->outcome = OUTCOME_REFUSED;
        say(v, dae_message(r.s));
    } else
        conclude(&r, go(&r));
    dae_close(r.s);
    snprintf(v->name, sizeof v->name, "x[%d]", v->unknown + 1);
    v->seconds = clock_now() - begun;
}
