/* test_independence.c: the route projection where constraints become dependent, and where they
 * nearly do. What is right is known: energy is kept, and a branch has an equation of its own. */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { TEXT = 1500 };

typedef struct outcome {
    dae_model *m;
    dae_status status;
    size_t branch, energy; /* variables that are 0 */
    double off, drift, t;
} outcome;

static int judge(double t, const double *value, void *user)
{
    outcome *r = user;
    r->off = fmax(r->off, fabs(value[r->branch]));
    r->drift = fmax(r->drift, fabs(value[r->energy]));
    r->t = t;
    return DAE_OK;
}

static outcome simulate(const char *text, double stop, double rtol)
{
    outcome r = { .m = dae_model_load_text("m.mo", text, strlen(text), NULL), .t = -1 };
    dae_simulation s = { .stop = stop, .tolerance = rtol, .intervals = 200, .route = "projection" };
    r.branch = dae_model_find(r.m, "branch");
    r.energy = dae_model_find(r.m, "energy");
    assert_true(r.branch < dae_model_variable_count(r.m));
    assert_true(r.energy < dae_model_variable_count(r.m));
    r.status = dae_model_simulate(r.m, &s, judge, &r);
    return r;
}

/* All rows are right, whatever the end is; passes: it has to get there. */
static void expect_right(const char *text, double stop, double rtol, double scale, int passes)
{
    outcome r = simulate(text, stop, rtol);
    bool good = r.off < 1e-6 + 100 * rtol && r.drift < 100 * rtol * scale;
    bool ends =
        passes ? r.status == DAE_OK && r.t == stop : r.status == DAE_E_IMPASSE && r.t < stop;
    if (!good || !ends)
        print_message("%s\nrtol %g: branch off by %g, energy by %g, up to t = %g\n%s\n", text, rtol,
                      r.off, r.drift, r.t, dae_model_messages(r.m));
    assert_true(good);
    assert_true(ends);
    if (!passes) assert_non_null(strstr(dae_model_messages(r.m), "constraints become dependent"));
    dae_model_close(r.m);
}

static double draw(unsigned *seed) /* in (0, 1) */
{
    *seed = *seed * 1664525u + 1013904223u;
    return ((double)(*seed >> 8) + 0.5) / 16777216.0;
}

/* Cranks of length 1 and r, at 0 and (a, 0), joined by a rod of length c; from below, with speed v.
 * The rod is to the right of the line from (0, -1) to (a, 0). */
static void four_bar(char *text, double a, double r, double c, double v, const char *branch)
{
    double d = hypot(a, 1), along = (d * d + c * c - r * r) / (2 * d),
           off = sqrt(c * c - along * along);
    double x = (along * a + off) / d, y = -1 + (along - off * a) / d;
    snprintf(text, TEXT,
             "model M Real "
             "x1(start=0,fixed=true),y1(start=-1),x2(start=%.15g),y2(start=%.15g),"
             "u1(start=%.15g,fixed=true),v1,u2,v2,L1,L2,L3; Real branch=%s; Real "
             "E(start=0), E0;\n"
             "Real energy=E-E0; initial equation E0=E; equation der(E0)=0;\n"
             "E=(u1^2+v1^2+u2^2+v2^2)/2+9.81*(y1+y2);\n"
             "der(x1)=u1;der(y1)=v1;der(x2)=u2;der(y2)=v2;\n"
             "der(u1)=L1*x1+L3*(x1-x2);der(v1)=L1*y1+L3*(y1-y2)-9.81;\n"
             "der(u2)=L2*(x2-%.15g)-L3*(x1-x2);der(v2)=L2*y2-L3*(y1-y2)-9.81;\n"
             "x1^2+y1^2=1;(x2-%.15g)^2+y2^2=%.15g^2;(x2-x1)^2+(y2-y1)^2=%.15g^2;end M;",
             x, y, v, branch, a, a, r, c);
}

/* A crank of length 1, a rod of length c and a slider on y = 0; from above, with speed v. */
static void slider_crank(char *text, double c, double v, const char *branch)
{
    snprintf(text, TEXT,
             "model M Real x(start=0.8,fixed=true),y(start=0.6),s(start=%.15g),"
             "u(start=%.15g,fixed=true),v,w,L1,L2; Real branch=%s; Real E(start=0), E0;\n"
             "Real energy=E-E0; initial equation E0=E; equation der(E0)=0;\n"
             "E=(u^2+v^2+w^2)/2+9.81*y; der(x)=u;der(y)=v;der(s)=w;\n"
             "der(u)=L1*x+L2*(x-s);der(v)=L1*y+L2*y-9.81;der(w)=-L2*(x-s);\n"
             "x^2+y^2=1;(x-s)^2+y^2=%.15g^2;end M;",
             0.8 + sqrt(c * c - 0.36), v, branch, c);
}

static void test_parallelograms_stop(void **state)
{
    (void)state;
    static const double speed[] = { 6.5, 7, 7.5, 8, 9, 10 }, base[] = { 2, 1.3, 3 },
                        rtol[] = { 1e-3, 1e-4, 1e-5, 3e-6, 1e-6, 1e-8 };
    char text[TEXT], branch[60];
    for (size_t k = 0; k < 6; k++)
        for (size_t i = 0; i < 6; i++)
            for (size_t b = 0; b < 3; b++) {
                snprintf(branch, sizeof branch, "x2-x1-%.15g", base[b]);
                four_bar(text, base[b], 1, base[b], speed[k], branch);
                expect_right(text, 2, rtol[i], speed[k] * speed[k] + 20, 0);
            }
}

/* 1 + a = r + c - gap: flat at the left where the gap is 0. */
static void test_random_bars(void **state)
{
    (void)state;
    static const double gap[] = { 0, 0.02, 0.1 }, rtol[] = { 1e-4, 1e-5, 1e-6, 1e-8 };
    char text[TEXT];
    unsigned seed = 11;
    int flat = 0, moves = 0;
    for (int k = 0; k < 36; k++) {
        double r = 0.8 + 0.7 * draw(&seed), c = 1.2 + draw(&seed), a = r + c - 1 - gap[k % 3];
        if (!(hypot(a, 1) < 0.98 * (r + c) && hypot(a, 1) > 1.02 * fabs(r - c))) continue;
        if (fabs(a - 1) < fabs(r - c) + 0.05) continue; /* flat, or no way, at the right */
        four_bar(text, a, r, c, -9 - 3 * draw(&seed), "0");
        for (size_t i = 0; i < 4; i++) expect_right(text, 1.5, rtol[i], 300, k % 3 > 0);
        *(k % 3 == 0 ? &flat : &moves) += 1;
    }
    assert_true(flat >= 4 && moves >= 8);
}

static void test_equal_slider_cranks_stop(void **state)
{
    (void)state;
    static const double speed[] = { -4, -5, -6 }, rtol[] = { 1e-3, 1e-4, 1e-5, 1e-6, 1e-8 };
    char text[TEXT];
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 5; i++) {
            slider_crank(text, 1, speed[k], "s-2*x");
            expect_right(text, 2, rtol[i], 100, 0);
        }
}

/* A slider that is driven past the point where its rod has two ways to go. */
static void test_driven_parallelograms_stop(void **state)
{
    (void)state;
    static const double rtol[] = { 1e-3, 1e-4, 1e-5, 1e-6, 1e-8 }, phase[] = { 0.3, 0.5, 1.1 };
    char text[TEXT];
    for (size_t k = 0; k < 3; k++)
        for (size_t i = 0; i < 5; i++) {
            double p = phase[k];
            snprintf(text, TEXT,
                     "model M constant Real p=%.15g; Real "
                     "x(start=%.15g),y(start=%.15g),u,v,L1,L2;\n"
                     "Real branch=x-2-cos(time+p), energy=y-sin(time+p); equation "
                     "der(x)=u;der(y)=v;\n"
                     "der(u)=L1*(x-2)+L2*(x-cos(time+p));der(v)=L1*y+L2*(y-sin(time+p))-"
                     "9.81;\n"
                     "(x-2)^2+y^2=1;(x-cos(time+p))^2+(y-sin(time+p))^2=4;end M;",
                     p, 2 + cos(p), sin(p));
            expect_right(text, 12, rtol[i], 1, 0);
        }
}

/* At a distance that the tolerance can tell it goes on. */
static void test_near_misses_pass(void **state)
{
    (void)state;
    static const double rtol[] = { 1e-6, 1e-7, 1e-9 };
    static const double rod[] = { 1.5, 1.1, 1.02, 1.001 };
    static const double bars[][2] = {
        { 1.6, 2.5 }, { 1.2, 2.1 }, { 1.02, 2.01 }, { 1.05, 2 }, { 0.95, 2.1 }
    };
    char text[TEXT];
    for (size_t i = 0; i < 3; i++) {
        for (size_t k = 0; k < 4; k++) {
            slider_crank(text, rod[k], 6, "0");
            expect_right(text, 3, rtol[i], 100, 1);
        }
        for (size_t k = 0; k < 5; k++) {
            four_bar(text, 2, bars[k][0], bars[k][1], 8, "0");
            expect_right(text, 2, rtol[i], 100, 1);
        }
    }
}

/* One and two rods in a chain, free to turn over: never dependent. */
static void test_chains_pass(void **state)
{
    (void)state;
    static const double rtol[] = { 1e-4, 1e-6, 1e-9 };
    static const char *const chain[] = {
        "model M Real x(start=0,fixed=true),y(start=-1),u(start=7,fixed=true),v,L; Real "
        "branch=0;\n"
        "Real energy=(u^2+v^2)/2+9.81*y-24.5+9.81; equation "
        "der(x)=u;der(y)=v;der(u)=L*x;\n"
        "der(v)=L*y-9.81;x^2+y^2=1;end M;",
        "model M Real "
        "x1(start=0.6,fixed=true),y1(start=-0.8),u1(start=1,fixed=true),v1,\n"
        "x2(start=1.2,fixed=true),y2(start=-1.6),u2(start=3,fixed=true),v2,L1,L2; Real "
        "branch=0;\n"
        "Real E(start=0),E0,energy=E-E0; initial equation E0=E; equation der(E0)=0;\n"
        "E=(u1^2+v1^2+u2^2+v2^2)/2+9.81*(y1+y2); "
        "der(x1)=u1;der(y1)=v1;der(x2)=u2;der(y2)=v2;\n"
        "der(u1)=L1*x1+L2*(x1-x2);der(v1)=L1*y1+L2*(y1-y2)-9.81;der(u2)=-L2*(x1-x2);\n"
        "der(v2)=-L2*(y1-y2)-9.81;x1^2+y1^2=1;(x1-x2)^2+(y1-y2)^2=1;end M;",
    };
    for (size_t k = 0; k < 2; k++)
        for (size_t i = 0; i < 3; i++) expect_right(chain[k], 3, rtol[i], 100, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_parallelograms_stop),
        cmocka_unit_test(test_random_bars),
        cmocka_unit_test(test_equal_slider_cranks_stop),
        cmocka_unit_test(test_driven_parallelograms_stop),
        cmocka_unit_test(test_near_misses_pass),
        cmocka_unit_test(test_chains_pass),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
