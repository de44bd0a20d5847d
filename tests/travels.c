/* travels.c: see travels.h. */
#include "travels.h"

#include <math.h>

double travel_error(const dae_options *o, const subject *q, double t, int steps, unsigned mask,
                    int late)
{
    double x[travel_unknowns], exact[travel_unknowns], most = 0;
    dae_options study = *o; /* methods that cannot choose their steps here are told of it */
    study.fixed_step = fabs(t - q->p.t0) / steps;
    dae_solver *s = dae_open(&q->p.problem, &study);
    assert_true(q->n <= travel_unknowns);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    for (int i = 1; i <= steps; i++) {
        double next = q->p.t0 + (t - q->p.t0) * i / steps;
        expect(s, dae_step_fixed(s, next - dae_time(s), 1), DAE_OK);
        expect(s, dae_read(s, dae_time(s), x, NULL), DAE_OK);
        q->p.exact(dae_time(s), exact, q->p.problem.user);
        for (int k = 0; k < q->n && (!late || 2 * i >= steps); k++)
            if (mask >> k & 1) most = fmax(most, fabs(x[k] - exact[k]));
    }
    dae_close(s);
    return most;
}

void travel_there_and_back(const dae_options *o, const subject *q, int derivative)
{
    double x[travel_unknowns], xdot[travel_unknowns], stop[] = { 0.4, 0.8 };
    dae_solver *s = dae_open(&q->p.problem, o);
    assert_true(q->n <= travel_unknowns);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    for (int k = 0; k < 2; k++) {
        expect(s, dae_set_stop(s, stop[k]), DAE_OK);
        expect(s, dae_advance(s, stop[k]), DAE_OK);
        assert_true(dae_time(s) == stop[k]);
        expect(s, dae_read(s, stop[k], x, xdot), DAE_OK);
        if (k == 0) expect(s, dae_restart(s, stop[k], x, derivative ? xdot : NULL), DAE_OK);
    }
    expect(s, dae_start(s, stop[1], x, xdot), DAE_OK);
    expect(s, dae_set_stop(s, q->p.t0), DAE_OK);
    expect(s, dae_advance(s, q->p.t0), DAE_OK);
    assert_true(dae_time(s) == q->p.t0);
    expect(s, dae_read(s, q->p.t0, x, NULL), DAE_OK);
    for (int j = 0; j < q->n; j++)
        expect_near(x[j], q->p.x0[j], 30 * o->rtol * (1 + fabs(q->p.x0[j])));
    dae_close(s);
}

static int px(double t, const double *x, const double *xdot, double *g, void *user)
{
    (void)t, (void)xdot, (void)user;
    g[0] = x[0];
    return DAE_OK;
}

void travel_below_the_hinge(const char *method, const char *form)
{
    dae_options o = { .rtol = 1e-8, .atol = 1e-8, .method = method };
    double x[5], xdot[5], t, quarter = 1.8540746773013719 / sqrt(9.81); /* K(1/sqrt 2) */
    int which, direction;
    subject q;
    subject_open(&q, "pendulum", form, NULL, 0);
    q.p.problem.event = px;
    q.p.problem.event_count = 1;
    dae_solver *s = dae_open(&q.p.problem, &o);
    expect(s, dae_start(s, 0, q.p.x0, q.p.xdot0), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_EVENT);
    expect(s, dae_get_event(s, &which, &direction, &t), DAE_OK);
    assert_true(which == 0 && direction == -1);
    expect_near(t, quarter, 1e-6);
    expect(s, dae_read(s, t, x, xdot), DAE_OK);
    expect_near(x[1], -1, 1e-5);
    expect(s, dae_restart(s, t, x, xdot), DAE_OK);
    expect(s, dae_advance(s, 1), DAE_OK);
    expect(s, dae_read(s, 1, x, NULL), DAE_OK);
    expect_near(x[0], q.p.reference[0], 1e-6);
    dae_close(s);
    subject_close(&q);
}
