/* test_block_adaptive.c: block methods with error control: every problem at every
 * tolerance, errors that follow it, orders in the log, one factor of the size of the
 * system, and what happens on the way: dense output, stop times, events, restarts,
 * backwards.
 */
#include "irk_problems.h"
#include "travels.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct outcome {
    double error[irk_most_unknowns]; /* over rtol |x| + atol, at the end */
    int orders[16];                  /* accepted steps of each order */
    int switches, last_order;
    dae_statistics statistics;
} outcome;

static void note_step(const dae_step_record *r, void *user)
{
    outcome *o = user;
    if (r->verdict != DAE_STEP_ACCEPTED) return;
    assert_true(r->order > 0 && r->order < 16);
    o->orders[r->order]++;
    o->switches += o->last_order != 0 && o->last_order != r->order;
    o->last_order = r->order;
}

static void run(const subject *q, const char *method, double tolerance, outcome *out)
{
    double x[irk_most_unknowns], exact[irk_most_unknowns];
    double ratio = q->p.atol_over_rtol > 0 ? q->p.atol_over_rtol : 1;
    memset(out, 0, sizeof *out);
    dae_options o = { .rtol = tolerance,
                      .atol = tolerance * ratio,
                      .method = method,
                      .max_steps = 100000,
                      .log = note_step,
                      .log_user = out };
    dae_solver *s = dae_open(&q->p.problem, &o);
    expect(s, dae_last_status(s), DAE_OK);
    expect(s, dae_start(s, q->p.t0, q->p.x0, q->p.xdot0), DAE_OK);
    expect(s, dae_set_stop(s, q->p.t1), DAE_OK);
    expect(s, dae_advance(s, q->p.t1), DAE_OK);
    expect(s, dae_read(s, q->p.t1, x, NULL), DAE_OK);
    if (q->p.exact)
        q->p.exact(q->p.t1, exact, q->p.problem.user);
    else
        memcpy(exact, q->p.reference, (size_t)q->n * sizeof(double));
    for (int i = 0; i < q->n; i++)
        out->error[i] =
            isnan(exact[i]) ? 0 : fabs(x[i] - exact[i]) / (tolerance * (ratio + fabs(exact[i])));
    dae_get_statistics(s, &out->statistics);
    dae_close(s);
}

static double worst(const outcome *o, unsigned mask)
{
    double most = 0;
    for (int i = 0; i < irk_most_unknowns; i++)
        if (mask >> i & 1) most = fmax(most, o->error[i]);
    return most;
}

/* ---------------------------------------------------------------- tolerances
 * ------------ */

typedef struct tolerance_case {
    const char *problem, *form;
    unsigned mask; /* unknowns that follow the tolerance */
    double bound;  /* of their error in tolerances */
    int every;     /* so many powers of ten between runs */
} tolerance_case;

/* No failure from 1e-3 to 1e-12. At index 3 velocities and multipliers have weights with
 * h and h^2, and errors over them: positions follow. Van der Pol and the axis multiply
 * errors of single steps by their own. */
static void test_every_tolerance(void **state)
{
    (void)state;
    static const tolerance_case cases[] = {
        { "robertson", NULL, 7, 30, 1 },
        { "akzo", NULL, 0x3f, 30, 1 },
        { "hires", NULL, 0xff, 200, 1 },
        { "vanderpol", NULL, 3, 300, 3 },
        { "transistor-amplifier", NULL, 0xff, 1000, 3 },
        { "pendulum", "index2", 0xf, 300, 1 },
        { "pendulum", "index3", 3, 1000, 1 },
        { "car-axis", "index2", 0xf, 1000, 3 },
        { "car-axis", "index3", 0xf, 1000, 3 },
        { "hessenberg2", NULL, 3, 30, 1 },
    };
    static const char *const methods[] = { "bim", "gam" };
    for (int k = 0; k < COUNT_OF(methods); k++)
        for (int c = 0; c < COUNT_OF(cases); c++) {
            subject q;
            irk_subject_open(&q, cases[c].problem, cases[c].form);
            for (int digits = 3; digits <= 12; digits += cases[c].every) {
                outcome o;
                run(&q, methods[k], pow(10, -digits), &o);
                /* at 1e-12 what is left is rounding, times the condition of the problem
                 * */
                double bound = cases[c].bound * (digits > 10 ? 10 : 1);
                if (!(worst(&o, cases[c].mask) <= bound)) {
                    print_error("%s on %s %s at 1e-%d: error of %.3g tolerances\n", methods[k],
                                cases[c].problem, cases[c].form ? cases[c].form : "", digits,
                                worst(&o, cases[c].mask));
                    fail();
                }
            }
            subject_close(&q);
        }
}

/* The slope of log(error) over log(tolerance), least squares. */
static double slope_of(const double *log_error, int first, int count)
{
    double mean_x = 0, mean_y = 0, xy = 0, xx = 0;
    for (int i = 0; i < count; i++) {
        mean_x += (double)-(first + i) / count;
        mean_y += log_error[i] / count;
    }
    for (int i = 0; i < count; i++) {
        double x = -(first + i) - mean_x;
        xy += x * (log_error[i] - mean_y);
        xx += x * x;
    }
    return xy / xx;
}

static void test_error_follows_the_tolerance(void **state)
{
    (void)state;
    enum { first = 4, last = 11, count = last - first + 1 };
    static const struct {
        const char *method, *problem, *form;
        unsigned mask;
    } cases[] = {
        { "bim", "akzo", NULL, 0x3f },         { "gam", "akzo", NULL, 0x3f },
        { "bim", "hires", NULL, 0xff },        { "gam", "hires", NULL, 0xff },
        { "bim", "pendulum", "index1", 0x1f }, { "gam", "pendulum", "index1", 0x1f },
        { "bim", "pendulum", "index2", 0xf },  { "gam", "pendulum", "index2", 0xf },
        { "bim", "pendulum", "index3", 3 },    { "gam", "pendulum", "index3", 3 },
        { "bim", "car-axis", "index3", 0xf },
    };
    for (int c = 0; c < COUNT_OF(cases); c++) {
        double log_error[count];
        subject q;
        irk_subject_open(&q, cases[c].problem, cases[c].form);
        for (int i = 0; i < count; i++) {
            outcome o;
            double tolerance = pow(10, -(first + i));
            run(&q, cases[c].method, tolerance, &o);
            log_error[i] = log10(fmax(worst(&o, cases[c].mask) * tolerance, 1e-16));
        }
        double slope = slope_of(log_error, first, count);
        /* velocities of index 3 are solved for beyond what their powers of h ask: at tight tolerances that shows */
        if (!(slope >= 0.8 && slope <= (cases[c].mask == 3 ? 1.5 : 1.4))) {
            print_error("%s on %s %s: error ~ tol^%.2f\n", cases[c].method, cases[c].problem,
                        cases[c].form ? cases[c].form : "", slope);
            fail();
        }
        subject_close(&q);
    }
}

/* ---------------------------------------------------------------- order
 * ----------------- */

/* Orders of the family only; the highest is that of the statistics; tight tolerances want
 * high ones, loose ones do not. */
static void test_orders_in_the_log(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        int orders[7];
    } families[] = { { "bim", { 4, 6, 8, 10, 12, 14, 0 } }, { "gam", { 3, 5, 7, 9, 0 } } };
    static const char *const problems[][2] = { { "hires", NULL },
                                               { "akzo", NULL },
                                               { "car-axis", "index2" } };
    for (int f = 0; f < COUNT_OF(families); f++)
        for (int p = 0; p < COUNT_OF(problems); p++) {
            int loose = 0;
            for (int digits = 4; digits <= 12; digits += 8) {
                outcome o;
                subject q;
                int all = 0, highest = 0;
                irk_subject_open(&q, problems[p][0], problems[p][1]);
                run(&q, families[f].method, pow(10, -digits), &o);
                for (int k = 0; families[f].orders[k]; k++) {
                    all += o.orders[families[f].orders[k]];
                    if (o.orders[families[f].orders[k]]) highest = families[f].orders[k];
                }
                assert_int_equal(all, o.statistics.steps);
                assert_int_equal(highest, o.statistics.order_highest);
                assert_true(o.switches > 0);
                if (digits == 4)
                    loose = highest;
                else
                    assert_true(highest > loose || highest == families[f].orders[f ? 3 : 5]);
                subject_close(&q);
            }
        }
}

static void test_max_order_and_names(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        int max_order, lowest, highest;
    } cases[] = { { "bim", 8, 4, 8 },      { "bim", 5, 4, 4 }, { "bim", 1, 4, 4 },
                  { "bim-10", 0, 10, 10 }, { "gam", 6, 3, 5 }, { "gam-7", 0, 7, 7 } };
    for (int c = 0; c < COUNT_OF(cases); c++) {
        outcome out = { .switches = 0 };
        dae_options o = { .rtol = 1e-8,
                          .atol = 1e-8,
                          .method = cases[c].method,
                          .max_order = cases[c].max_order,
                          .log = note_step,
                          .log_user = &out };
        dae_statistics st;
        subject q;
        irk_subject_open(&q, "pendulum", "index1");
        dae_solver *s = dae_open(&q.p.problem, &o);
        expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
        expect(s, dae_advance(s, 1), DAE_OK);
        dae_get_statistics(s, &st);
        assert_int_equal(st.order_highest, cases[c].highest);
        for (int k = 0; k < cases[c].lowest; k++) assert_int_equal(out.orders[k], 0);
        dae_close(s);
        subject_close(&q);
    }
}

/* ---------------------------------------------------------------- linear algebra
 * -------- */

/* A sparse system of 1000: one factorization of that size for a step size, whatever the
 * order, two solves for each stage and sweep, two for the estimates. */
static void test_one_factor(void **state)
{
    (void)state;
    static const char *const methods[] = { "bim", "gam" }, *const backends[] = { "klu", "band" };
    for (int k = 0; k < 2; k++)
        for (int b = 0; b < 2; b++) {
            dae_options o = {
                .rtol = 1e-5, .atol = 1e-8, .method = methods[k], .linear = backends[b]
            };
            dae_statistics st;
            subject q;
            subject_open(&q, "rc-line", "sparse", "nodes", 1000);
            double t = q.p.t0 + 0.1 * (q.p.t1 - q.p.t0);
            dae_solver *s = dae_open(&q.p.problem, &o);
            expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
            dae_get_statistics(s, &st);
            int64_t before = st.factorizations;
            expect(s, dae_advance(s, t), DAE_OK);
            dae_get_statistics(s, &st);
            assert_string_equal(st.linear, backends[b]);
            int64_t attempts = st.steps + st.rejected + st.newton_failures;
            assert_true(st.steps > 5 && st.order_highest > 5);
            assert_true(st.factorizations - before <= attempts + st.jacobians);
            int64_t stages = k ? 9 : 12;
            assert_true(st.solves <= 2 * stages * st.newton_iterations + 3 * attempts + 10);
            assert_true(st.residuals <= stages * st.newton_iterations + 2 * attempts + 100);
            dae_close(s);
            subject_close(&q);
        }
}

/* ---------------------------------------------------------------- along the way
 * --------- */

static const char *const travellers[][3] = {
    { "bim", "pendulum", "index1" },    { "bim", "implicit1", "leading" }, { "bim", "bent", NULL },
    { "bim", "implicit1", "implicit" }, { "gam", "pendulum", "index1" },   { "gam", "bent", NULL },
    { "gam", "implicit1", "leading" },  { "bim", "hessenberg2", "mass" },
};

static void test_dense_output(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(travellers); i++) {
        double before = INFINITY;
        for (int digits = 4; digits <= 10; digits += 3) {
            double x[irk_most_unknowns], exact[irk_most_unknowns], most = 0;
            double tolerance = pow(10, -digits);
            dae_options o = { .rtol = tolerance, .atol = tolerance, .method = travellers[i][0] };
            subject q;
            irk_subject_open(&q, travellers[i][1], travellers[i][2]);
            dae_solver *s = dae_open(&q.p.problem, &o);
            expect(s, dae_start(s, q.p.t0, q.p.x0, q.p.xdot0), DAE_OK);
            for (int k = 1; k <= 200; k++) {
                double t = q.p.t0 + (q.p.t1 - q.p.t0) * k / 200;
                expect(s, dae_advance(s, t), DAE_OK);
                expect(s, dae_read(s, t, x, NULL), DAE_OK);
                q.p.exact(t, exact, q.p.problem.user);
                for (int j = 0; j < q.n; j++)
                    if (!q.p.problem.level || q.p.problem.level[j] < DAE_INDEX2)
                        most = fmax(most, fabs(x[j] - exact[j]) / (1 + fabs(exact[j])));
            }
            dae_close(s);
            subject_close(&q);
            if (!(most <= 50 * tolerance && most < before)) {
                print_error("%s on %s %s at 1e-%d: %.3g between steps (%.3g before)\n",
                            travellers[i][0], travellers[i][1],
                            travellers[i][2] ? travellers[i][2] : "", digits, most, before);
                fail();
            }
            before = most;
        }
    }
}

static void test_there_and_back(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(travellers) - 1; i++) {
        dae_options o = { .rtol = 1e-8, .atol = 1e-8, .method = travellers[i][0] };
        subject q;
        irk_subject_open(&q, travellers[i][1], travellers[i][2]);
        travel_there_and_back(&o, &q, i % 2 == 0);
        subject_close(&q);
    }
}

static void test_events(void **state)
{
    (void)state;
    travel_below_the_hinge("bim", "index1");
    travel_below_the_hinge("bim", "index3");
    travel_below_the_hinge("gam", "index2");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_tolerance),
        cmocka_unit_test(test_error_follows_the_tolerance),
        cmocka_unit_test(test_orders_in_the_log),
        cmocka_unit_test(test_max_order_and_names),
        cmocka_unit_test(test_one_factor),
        cmocka_unit_test(test_dense_output),
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_events),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
