/* test_theory_dirk.c: diagonally implicit and Rosenbrock methods converge as theory says.
 *
 * Every table of the two kinds, by its name, with prescribed steps: classical order on an ODE;
 * on index-1 systems the classical order in z as well where the method is stiffly accurate or
 * ends with the algebraic equations ("+g"), min(p, q + 1) where -1 <= R(inf) < 1 and it does
 * not (Hairer, Lubich & Roche 1989, thm 3.1); on index 2 at least q + 1 in y and q in z. Then
 * adaptive runs: errors stay near the tolerance, dense output, stop times, refusals.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "testing.h"
#include "integrate/onestep/rosenbrock.h"
#include "tableau/tableau.h"

/* ---------------------------------------------------------------- runs -------------- */

typedef struct study {
    const char *problem, *form;
    double t0, length;
    int steps;           /* coarse, for order 3: order 2 takes twice, 4 and 5 less */
    const char *setting; /* of the problem; NULL: none */
    double value;
} study;

typedef struct errors {
    double y, z, dense; /* largest, over the later half of the steps */
} errors;

static dae_solver *begin(const subject *q, const char *method, double t0, double *x)
{
    double tolerance = q->p.index > 1 ? 1e-8 : 1e-10; /* z feels rounding errors times 1/h */
    dae_options o = { .method = method,
                      .rtol = tolerance,
                      .atol = tolerance,
                      .newton_tolerance = 1e-3,
                      .newton_max = 50,
                      .fixed_step = 0.1 };
    dae_solver *s = dae_open(&q->p.problem, &o);
    expect(s, dae_last_status(s), DAE_OK);
    q->p.exact(t0, x, q->p.problem.user);
    expect(s, dae_start(s, t0, x, NULL), DAE_OK);
    return s;
}

static void compare(const subject *q, dae_solver *s, double t, unsigned algebraic, double *y,
                    double *z)
{
    double x[8], exact[8];
    expect(s, dae_read(s, t, x, NULL), DAE_OK);
    q->p.exact(t, exact, q->p.problem.user);
    for (int i = 0; i < q->n; i++) {
        double *worst = algebraic >> i & 1 ? z : y;
        *worst = fmax(*worst, fabs(x[i] - exact[i]));
    }
}

static errors run(const study *w, const char *method, unsigned algebraic, int steps)
{
    subject q;
    errors e = { 0 };
    double x[8];
    subject_open(&q, w->problem, w->form, w->setting, w->value);
    dae_solver *s = begin(&q, method, w->t0, x);
    double h = w->length / steps;
    for (int i = 1; i <= steps; i++) {
        double t = dae_time(s);
        expect(s, dae_step_fixed(s, w->t0 + i * h - t, 1), DAE_OK);
        if (2 * i < steps) continue;
        compare(&q, s, dae_time(s), algebraic, &e.y, &e.z);
        compare(&q, s, t + 0.37 * h, 0, &e.dense, &e.dense);
    }
    dae_close(s);
    subject_close(&q);
    return e;
}

static int failures;

static void expect_order(const char *what, const char *method, double coarse, double fine,
                         double order, double above)
{
    double measured = log2(coarse / fine);
    if (measured >= order - 0.3 && measured <= order + above) return;
    print_error("%s, %s: order %.2f, expected %.3g (errors %.2e, %.2e)\n", method, what, measured,
                order, coarse, fine);
    failures++;
}

/* Calls `check` for every table of the two kinds. */
static void each_table(void (*check)(const dae_tableau *t))
{
    failures = 0;
    int seen = 0;
    for (int i = 0; dae_tableau_name(i); i++) {
        int kind = dae_tableau_kind_of(dae_tableau_name(i));
        dae_tableau t;
        if (kind != DAE_TABLEAU_DIRK && kind != DAE_TABLEAU_ROSENBROCK) continue;
        assert_true(dae_tableau_find(dae_tableau_name(i), &t));
        check(&t);
        seen++;
    }
    assert_true(seen >= 12);
    assert_int_equal(failures, 0);
}

static int steps_of(const study *w, int order)
{
    return order <= 2 ? 2 * w->steps : order == 3 ? w->steps : (w->steps * 3) / 4;
}

/* ---------------------------------------------------------------- index 0 and 1 ----- */

static int ends_with_equations(const dae_tableau *t)
{
    return (t->claims & DAE_CLAIM_STIFFLY_ACCURATE) != 0;
}

static void check_ode(const dae_tableau *t)
{
    static const study w = { "nonlinear-ode", "ode", 0, 2, 80, "eps", 1 };
    int n = steps_of(&w, t->order);
    errors coarse = run(&w, t->name, 0, n), fine = run(&w, t->name, 0, 2 * n);
    expect_order("an ODE", t->name, coarse.y, fine.y, t->order, 0.6);
    /* a cubic at least; but what does not end with a stage knows no slope there */
    int least = ends_with_equations(t) ? 4 : t->stage_order + 2;
    if (t->kind == DAE_TABLEAU_DIRK && ends_with_equations(t)) least = 5;
    if (t->dense_terms && t->dense_order + 1 > least) least = t->dense_order + 1;
    if (least > t->order) least = t->order;
    expect_order("dense output", t->name, coarse.dense, fine.dense, least, 1.6);
}

static void test_ode(void **state)
{
    (void)state;
    each_table(check_ode);
}

/* Semi-explicit (pendulum), and nonlinear in d' with a computed d (implicit1: as a system in x'
 * its kernel turns, and order is lost to the stages). */
static void check_index1(const dae_tableau *t)
{
    static const study semi = { "pendulum", "index1", 0, 1, 96, NULL, 0 };
    static const study full = { "implicit1", "leading", 1, 1.5, 48, NULL, 0 };
    int n = steps_of(&semi, t->order), stage = t->stage_order + 1;
    double low = stage < t->order ? stage : t->order;
    errors a = run(&semi, t->name, 0x10, n), b = run(&semi, t->name, 0x10, 2 * n);
    expect_order("index 1, y", t->name, a.y, b.y, t->order, 0.7);
    expect_order("index 1, z", t->name, a.z, b.z, ends_with_equations(t) ? t->order : low, 0.7);
    if (ends_with_equations(t)) {
        if (t->kind == DAE_TABLEAU_ROSENBROCK) return; /* d is computed */
        n = steps_of(&full, t->order);
        a = run(&full, t->name, 0, n), b = run(&full, t->name, 0, 2 * n);
        expect_order("leading term", t->name, a.y, b.y, t->order, 0.9);
        return;
    }
    char name[40];
    snprintf(name, sizeof name, "%s+g", t->name);
    a = run(&semi, name, 0x10, n), b = run(&semi, name, 0x10, 2 * n);
    expect_order("index 1, y, +g", name, a.y, b.y, t->order, 0.7);
    expect_order("index 1, z, +g", name, a.z, b.z, t->order, 0.7);
}

static void test_index1(void **state)
{
    (void)state;
    each_table(check_index1);
}

/* ---------------------------------------------------------------- index 2 ----------- */

static void check_index2(const dae_tableau *t)
{
    static const study w = { "hessenberg2", NULL, -0.25, 0.5, 200, NULL, 0 };
    if (t->kind != DAE_TABLEAU_DIRK || !ends_with_equations(t)) return;
    int n = t->stage_order == 1 ? w.steps : w.steps / 4;
    errors a = run(&w, t->name, 4, n), b = run(&w, t->name, 4, 4 * n);
    b.y = sqrt(a.y * b.y); /* over two halvings: single ones meet zeros of the error */
    b.z = sqrt(a.z * b.z);
    int y = t->stage_order + 1 < t->order ? t->stage_order + 1 : t->order;
    expect_order("index 2, y", t->name, a.y, b.y, y, 2.2);
    expect_order("index 2, z", t->name, a.z, b.z, t->stage_order, 2.2);
}

static void test_index2(void **state)
{
    (void)state;
    each_table(check_index2);
}

/* ---------------------------------------------------------------- ready tables ------ */

static void near(const double *a, const double *b, int count)
{
    for (int i = 0; i < count; i++) assert_true(fabs(a[i] - b[i]) <= 1e-13 * (1 + fabs(b[i])));
}

/* What is printed in rosenbrock_ready.c is what the tables say. */
static void test_ready(void **state)
{
    (void)state;
    enum { s = DAE_ROSENBROCK_STAGES };
    for (const dae_rosenbrock_table *r = dae_rosenbrock_ready; r->stages; r++) {
        dae_rosenbrock_table t;
        assert_true(dae_rosenbrock_make(r->name, &t));
        assert_string_equal(r->name, t.name);
        assert_int_equal(r->stages, t.stages);
        assert_int_equal(r->order, t.order);
        assert_int_equal(r->terms, t.terms);
        assert_int_equal(r->estimate_order, t.estimate_order);
        near(&r->gamma, &t.gamma, 1);
        near(&r->rho_end, &t.rho_end, 1);
        for (int i = 0; i < s; i++) {
            near(r->a[i], t.a[i], s);
            near(r->c[i], t.c[i], s);
            near(r->w[i], t.w[i], s);
        }
        near(r->rho, t.rho, s);
        near(r->alpha_sum, t.alpha_sum, s);
        near(r->gamma_sum, t.gamma_sum, s);
        near(r->m, t.m, s);
        near(r->e, t.e, s);
        near(r->w_end, t.w_end, s);
        for (int k = 0; k < DAE_ROSENBROCK_TERMS; k++) near(r->dense[k], t.dense[k], s);
    }
    assert_int_equal(dae_rosenbrock_ready[0].stages, 6);
}

/* ---------------------------------------------------------------- adaptive ---------- */

static const struct {
    const char *name, *form;
    int computed; /* d is a function: not for Rosenbrock methods */
    int turns;    /* the kernel of the leading matrix turns: order is lost in this form */
} collection[] = {
    { "robertson", "implicit", 0, 0 },
    { "robertson", "mass", 0, 0 },
    { "robertson", "leading", 1, 0 },
    { "robertson", "ode", 0, 0 },
    { "vanderpol", "scaled", 0, 0 },
    { "vanderpol", "spp", 0, 0 },
    { "vanderpol", "ode", 0, 0 },
    { "hires", "ode", 0, 0 },
    { "akzo", "mass", 0, 0 },
    { "akzo", "implicit", 0, 0 },
    { "transistor-amplifier", "implicit", 0, 0 },
    { "transistor-amplifier", "mass", 0, 0 },
    { "transistor-amplifier", "leading", 1, 0 },
    { "pendulum", "index1", 0, 0 },
    { "pendulum", "index0", 0, 0 },
    { "heat2d", "implicit", 0, 0 },
    { "heat2d", "mass", 0, 0 },
    { "rc-line", "band", 0, 0 },
    { "rc-line", "sparse", 0, 0 },
    { "nonlinear-ode", "ode", 0, 0 },
    { "nonlinear-ode", "implicit", 0, 0 },
    { "implicit1", "implicit", 0, 1 },
    { "implicit1", "leading", 1, 0 },
    { "mass-state", "mass", 0, 0 },
    { "mass-state", "implicit", 0, 0 },
};

static double ratio_of(const subject *q)
{
    return q->p.atol_over_rtol > 0 ? q->p.atol_over_rtol : 1;
}

/* Mixed error over tolerance; NAN: not solved. */
static double excess(const subject *q, const char *method, double rtol, char message[400])
{
    double *x = numbers(q->n), *known = numbers(q->n), mescd = NAN;
    dae_options o = { .method = method, .rtol = rtol, .atol = rtol * ratio_of(q) };
    dae_status status = subject_run(q, &o, NAN, x, NULL, message);
    if (!q->p.reference) q->p.exact(q->p.t1, known, q->p.problem.user);
    problem_digits(&q->p, x, q->p.reference ? q->p.reference : known, ratio_of(q), NULL, &mescd);
    free(x);
    free(known);
    return status == DAE_OK ? pow(10, -mescd) / rtol : NAN;
}

/* No failures; 95 % of all errors within 30 tolerances, all of them within 3000 (a problem that
 * hires' last jump is: an error in time there is one of size 1); and a tolerance ten times finer
 * gains at least 0.7 digits on average. */
static void check_collection(const char *method, int finest)
{
    int points = 0, good = 0, bad = 0;
    for (int i = 0; i < COUNT_OF(collection); i++) {
        subject q;
        char message[400];
        double first = NAN, last = NAN;
        if (!strcmp(method, "rodas") && collection[i].computed) continue;
        subject_open(&q, collection[i].name, collection[i].form, NULL, 0);
        printf("%-8s %-20s %-9s", method, collection[i].name, collection[i].form);
        for (int k = 3; k <= finest; k++) {
            double e = excess(&q, method, pow(10, -k), message);
            printf(" %8.2g", e);
            if (!(e <= 3000)) {
                print_error("%s: %s %s at 1e-%d: %g tolerances\n%s\n", method, collection[i].name,
                            collection[i].form, k, e, isnan(e) ? message : "");
                bad++;
            }
            if (k == 3) first = e;
            last = e;
            points++;
            good += e <= 30;
        }
        double slope = 1 - log10(last / first) / (finest - 3);
        printf("  %.2f\n", slope);
        if (!(slope > 0.7) && last > 1 && !collection[i].turns) {
            print_error("%s: %s %s: slope %.2f\n", method, collection[i].name, collection[i].form,
                        slope);
            bad++;
        }
        subject_close(&q);
    }
    printf("%s: %d of %d within 30 tolerances\n", method, good, points);
    assert_int_equal(bad, 0);
    assert_true(good >= 0.95 * points);
}

static void test_rodas(void **state)
{
    (void)state;
    check_collection("rodas", 8);
}

static void test_esdirk(void **state)
{
    (void)state;
    check_collection("esdirk", 9);
}

/* ---------------------------------------------------------------- behaviour --------- */

typedef struct wall {
    double t; /* nothing is defined beyond */
    long beyond;
} wall;

static int wall_rhs(double t, const double *x, double *f, void *user)
{
    wall *w = user;
    w->beyond += t > w->t;
    f[0] = t > w->t ? NAN : -x[0] + sqrt(w->t - t);
    f[1] = x[0] - 2 * x[1];
    return DAE_OK;
}

/* No stage looks beyond a stop time, also with tables that have a c above 1. */
static void test_stop(void **state)
{
    (void)state;
    static const char *const methods[] = { "esdirk", "rodas", "kvaerno-43", "sdirk4-16" };
    for (int i = 0; i < COUNT_OF(methods); i++)
        for (int fine = 0; fine < 2; fine++) {
            wall w = { .t = 1 };
            double x[2] = { 1, 0 };
            dae_problem p = { .size = 2, .rhs = wall_rhs, .user = &w };
            dae_options o = { .method = methods[i], .rtol = fine ? 1e-7 : 1e-3, .atol = 1e-6 };
            dae_solver *s = dae_open(&p, &o);
            expect(s, dae_start(s, 0, x, NULL), DAE_OK);
            expect(s, dae_set_stop(s, 1), DAE_OK);
            expect(s, dae_advance(s, 1), DAE_OK);
            assert_true(dae_time(s) == 1);
            assert_int_equal(w.beyond, 0);
            dae_close(s);
        }
}

/* There and back again, with nothing allocated on the way. */
static void test_back(void **state)
{
    (void)state;
    static const char *const methods[] = { "esdirk", "rodas", "rodas5p", "trbdf2", "rodas3" };
    for (int i = 0; i < COUNT_OF(methods); i++) {
        ledger l;
        ledger_open(&l);
        subject q;
        subject_open(&q, "nonlinear-ode", "ode", NULL, 0);
        double x[8], exact[8];
        dae_options o = { .method = methods[i], .rtol = 1e-6, .atol = 1e-6, .allocator = &l.hook };
        dae_solver *s = dae_open(&q.p.problem, &o);
        q.p.exact(0, x, q.p.problem.user);
        expect(s, dae_start(s, 0, x, NULL), DAE_OK);
        long taken = l.taken;
        expect(s, dae_advance(s, 1), DAE_OK);
        expect(s, dae_read(s, 1, x, NULL), DAE_OK);
        assert_int_equal(l.taken, taken);
        expect(s, dae_start(s, 1, x, NULL), DAE_OK);
        expect(s, dae_advance(s, 0.75), DAE_OK);
        expect(s, dae_read(s, 0.75, x, NULL), DAE_OK);
        assert_int_equal(l.taken, taken);
        q.p.exact(0.75, exact, q.p.problem.user);
        expect_below(largest_difference(x, exact, q.n), 1e-4);
        dae_close(s);
        subject_close(&q);
        assert_int_equal(l.live, 0);
        ledger_empty(&l);
    }
}

/* An algebraic sine under steps far longer than its period: right between them too. */
static int sine_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    (void)user;
    r[0] = xdot[0] + 1e-3 * x[0];
    r[1] = x[1] - sin(t) - x[0];
    return DAE_OK;
}

static void test_dense_algebraic(void **state)
{
    (void)state;
    static const char *const methods[] = { "esdirk", "sdirk4-16" };
    for (int i = 0; i < COUNT_OF(methods); i++) {
        double x[2] = { 1, 1 };
        dae_problem p = { .size = 2, .residual = sine_residual };
        dae_options o = { .method = methods[i], .rtol = 1e-5, .atol = 1e-5 };
        dae_solver *s = dae_open(&p, &o);
        dae_statistics work;
        expect(s, dae_start(s, 0, x, NULL), DAE_OK);
        for (int k = 1; k <= 500; k++) {
            expect(s, dae_advance(s, 0.7 * k), DAE_OK);
            expect(s, dae_read(s, 0.7 * k, x, NULL), DAE_OK);
            expect_below(fabs(x[1] - sin(0.7 * k) - exp(-0.7e-3 * k)), 1e-3);
        }
        dae_get_statistics(s, &work);
        dae_close(s);
    }
}

static void test_refusals(void **state)
{
    (void)state;
    subject q;
    dae_options o = { .method = "rodas" };
    subject_open(&q, "pendulum", "index3", NULL, 0);
    dae_solver *s = dae_open(&q.p.problem, &o);
    expect(s, dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "rodas", "level", "esdirk");
    dae_close(s);
    o.method = "esdirk";
    s = dae_open(&q.p.problem, &o);
    expect(s, dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "esdirk", "level of 3", "radau");
    dae_close(s);
    subject_close(&q);
    o.method = "crouzeix-3";
    subject_open(&q, "hessenberg2", NULL, NULL, 0);
    s = dae_open(&q.p.problem, &o);
    expect(s, dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "crouzeix-3", "stiffly accurate");
    dae_close(s);
    subject_close(&q);
    subject_open(&q, "nonlinear-ode", NULL, NULL, 0);
    s = dae_open(&q.p.problem, &o);
    expect(s, dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "crouzeix-3", "fixed_step");
    dae_close(s);
    subject_close(&q);
    subject_open(&q, "implicit1", "leading", NULL, 0); /* d is computed */
    o.method = "rodas";
    s = dae_open(&q.p.problem, &o);
    expect(s, dae_last_status(s), DAE_E_OPTION);
    expect_words(s, "rodas", "computed", "esdirk");
    dae_close(s);
    subject_close(&q);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ready),
        cmocka_unit_test(test_ode),
        cmocka_unit_test(test_index1),
        cmocka_unit_test(test_index2),
        cmocka_unit_test(test_rodas),
        cmocka_unit_test(test_esdirk),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_back),
        cmocka_unit_test(test_dense_algebraic),
        cmocka_unit_test(test_refusals),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
