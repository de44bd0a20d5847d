/* study.c: what the reproductions share: verdicts, runs with prescribed steps, orders. */
#include "reproduce.h"

#include <math.h>
#include <stdlib.h>

const char *verdict(verdicts *v, int agrees)
{
    if (agrees)
        v->agree++;
    else
        v->disagree++;
    return agrees ? "agree" : "DISAGREE";
}

int verdict_total(const verdicts *v)
{
    fprintf(v->out, "\n%d comparisons agree, %d disagree.\n", v->agree, v->disagree);
    return v->disagree;
}

/* ---- marching ---- */

/* Counted back from t_end: with dyadic h and t_end the mesh is free of rounding. */
double march_time(const march *m, int step)
{
    int back = m->steps - step;
    double pair = m->ratio > 0 ? 1 + m->ratio : 2;
    return m->t_end - m->h * (pair * (back / 2) + back % 2);
}

static dae_status start(const march *m, dae_solver *s)
{
    enum { most = 8 };
    int n = m->p->problem.size, count = m->ratio > 0 ? m->order + 1 : m->order;
    double t[most], x[most * march_unknowns];
    if (count > most || n > march_unknowns) return DAE_E_LIMIT;
    for (int j = 0; j < count; j++) {
        t[j] = march_time(m, -j);
        m->p->exact(t[j], x + j * n, m->p->problem.user);
        for (int i = 0; i < n; i++)
            if (m->disturbed >> i & 1)
                x[j * n + i] += m->alternate && j % 2 ? -m->disturbance : m->disturbance;
    }
    return dae_start_history(s, count, t, x);
}

/* Tolerances of size one let disturbed starting values pass the test of consistency; for
 * accuracy only the tiny fraction of them counts that Newton may leave. */
dae_status march_run(const march *m, double *path, int *done)
{
    int n = m->p->problem.size, step = 0;
    dae_options options = { .rtol = 1e-3,
                            .atol = 1,
                            .newton_tolerance = 1e-13,
                            .newton_max = 100,
                            .method = m->method,
                            .start = m->method ? DAE_START_TRUST : DAE_START_CORRECT,
                            .fixed_step = fabs(march_time(m, 1) - march_time(m, 0)),
                            .first = DAE_FIRST_PLAIN };
    dae_solver *s = study_open(&m->p->problem, &options);
    dae_status status = dae_last_status(s);
    if (status == DAE_OK) status = start(m, s);
    if (status == DAE_OK) status = dae_read(s, dae_time(s), path, NULL);
    while (status == DAE_OK && step < m->steps) {
        status = dae_step_fixed(s, march_time(m, step + 1) - dae_time(s), m->order);
        if (status != DAE_OK) break;
        step++;
        status = dae_read(s, dae_time(s), path + step * n, NULL);
    }
    dae_close(s);
    if (done) *done = step;
    return status;
}

double march_error(const march *m, unsigned mask, int first, int last)
{
    int n = m->p->problem.size;
    double exact[march_unknowns], largest = 0;
    double *path = study_take((size_t)(m->steps + 1) * (size_t)n, sizeof *path);
    int failed = !path || march_run(m, path, NULL) != DAE_OK;
    for (int step = first; step <= last && !failed; step++) {
        m->p->exact(march_time(m, step), exact, m->p->problem.user);
        for (int i = 0; i < n; i++)
            if (mask >> i & 1) largest = fmax(largest, fabs(path[step * n + i] - exact[i]));
    }
    free(path);
    return failed ? NAN : largest;
}

int march_open(verdicts *v, problem_instance *p, const char *problem, const char *form,
               const char *setting, double value)
{
    const problem_setting set = { .name = setting, .value = value };
    int count = setting ? 1 : 0;
    int status = study_problem(problem_find(problem), form, &set, count, p, NULL);
    if (status == DAE_OK && p->exact && p->problem.size <= march_unknowns) return 1;
    fprintf(v->out, "    problem '%s' cannot be used  %s\n", problem, verdict(v, 0));
    problem_close(p);
    return 0;
}

/* ---- orders ---- */

double fitted_order(int count, const double *h, const double *error)
{
    double mean_x = 0, mean_y = 0, xx = 0, xy = 0;
    for (int i = 0; i < count; i++) {
        if (!(error[i] > 0) || isinf(error[i])) return NAN;
        mean_x += log(h[i]) / count;
        mean_y += log(error[i]) / count;
    }
    for (int i = 0; i < count; i++) {
        double x = log(h[i]) - mean_x;
        xx += x * x;
        xy += x * (log(error[i]) - mean_y);
    }
    return xy / xx;
}

double measured_order(const order_study *s)
{
    enum { points = 4 };
    double h[points], error[points];
    for (int i = 0; i < points; i++) {
        march m = s->m;
        m.h = h[i] = s->high * pow(s->low / s->high, (double)i / (points - 1));
        m.disturbance *= pow(m.h, s->disturbance_order);
        if (!s->at) m.steps = (int)lround(s->length / (m.h * (m.ratio > 0 ? 1 + m.ratio : 2))) * 2;
        error[i] = s->at ? march_error(&m, s->mask, s->at, s->at)
                         : march_error(&m, s->mask, m.steps / 2, m.steps);
    }
    return fitted_order(points, h, error);
}

/* ---- pendulums ---- */

double jacobi_amplitude(double u, double m)
{
    double a[40] = { 1 }, b = sqrt(1 - m), c[40] = { sqrt(m) };
    int n = 0;
    for (; n < 39 && fabs(c[n]) > 1e-17; n++) {
        a[n + 1] = (a[n] + b) / 2;
        c[n + 1] = (a[n] - b) / 2;
        b = sqrt(a[n] * b);
    }
    double phi = ldexp(a[n] * u, n);
    for (; n > 0; n--) phi = (phi + asin(c[n] / a[n] * sin(phi))) / 2;
    return phi;
}
