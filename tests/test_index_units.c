/* test_index_units.c: the numerical index of small systems whose entries differ by up to 1e15.
 *
 * Rates, stiffnesses and units do not change an index. Every system is asked for k = 1e2 .. 1e15,
 * from a consistent point and from another: the answer is right, and up to 1e12 it is not called
 * ambiguous where the point was consistent; beyond it is right, or said to be ambiguous. The same
 * for k = 1e-15 .. 1e15 with equations and unknowns in units of 1e-8 .. 1e8, drawn at random.
 */
#include "daedalus/analysis.h"
#include "testing.h"

#include <math.h>

typedef struct scaled {
    const char *name;
    int (*residual)(double t, const double *x, const double *v, double *r, void *user);
    int size, index, freedom;
    double certain; /* up to this k nothing is ambiguous */
    void (*start)(double k, double *x);
} scaled;

/* a <-> b with its flux as an unknown */
static int reaction(double t, const double *x, const double *v, double *r, void *user)
{
    (void)t;
    r[0] = v[0] + x[2];
    r[1] = v[1] - x[2];
    r[2] = x[2] - *(double *)user * (x[0] - 2 * x[1]);
    return DAE_OK;
}

static void reaction_start(double k, double *x)
{
    x[0] = 1;
    x[2] = k;
}

static int spring(double t, const double *x, const double *v, double *r, void *user)
{
    (void)t;
    r[0] = v[0] - x[1];
    r[1] = v[1] - x[2];
    r[2] = x[2] + *(double *)user * x[0] + x[0] * x[0] * x[0];
    return DAE_OK;
}

static void spring_start(double k, double *x)
{
    x[0] = 1;
    x[2] = -k - 1;
}

/* A quartz: 10 mH, 1 / k farad and 50 ohm in series; charge, current, two voltages */
static int quartz(double t, const double *x, const double *v, double *r, void *user)
{
    (void)t;
    r[0] = v[0] - x[1];
    r[1] = v[1] - x[2] / 1e-2;
    r[2] = x[3] - x[0] * *(double *)user;
    r[3] = x[2] + x[3] + 50 * x[1];
    return DAE_OK;
}

static void quartz_start(double k, double *x)
{
    x[0] = 1 / k;
    x[2] = -1;
    x[3] = 1;
}

static int index_2(double t, const double *x, const double *v, double *r, void *user)
{
    double k = *(double *)user;
    r[0] = v[0] - k * x[1];
    r[1] = x[0] / k - sin(t);
    return DAE_OK;
}

static int index_3(double t, const double *x, const double *v, double *r, void *user)
{
    double k = *(double *)user;
    r[0] = v[0] - x[1];
    r[1] = k * v[1] - x[2];
    r[2] = k * x[0] - 1e-3 * sin(t);
    return DAE_OK;
}

/* The same with a stiff spring beside the force that holds it */
static int held_spring(double t, const double *x, const double *v, double *r, void *user)
{
    r[0] = v[0] - x[1];
    r[1] = v[1] + *(double *)user * x[0] - x[2];
    r[2] = x[0] - sin(t);
    return DAE_OK;
}

/* Pendulum of mass 1 / k */
static int pendulum(double t, const double *x, const double *v, double *r, void *user)
{
    (void)t;
    double m = 1 / *(double *)user;
    r[0] = v[0] - x[2];
    r[1] = v[1] - x[3];
    r[2] = m * v[2] + x[0] * x[4];
    r[3] = m * v[3] + x[1] * x[4] + 9.81 * m;
    r[4] = x[0] * x[0] + x[1] * x[1] - 1;
    return DAE_OK;
}

static void pendulum_start(double k, double *x)
{
    (void)k;
    x[0] = 1;
}

/* A reaction whose sum is held: index 2 */
static int held_reaction(double t, const double *x, const double *v, double *r, void *user)
{
    (void)t;
    double flux = *(double *)user * (x[0] - x[1]);
    r[0] = v[0] + flux;
    r[1] = v[1] - flux - x[2];
    r[2] = x[0] + x[1] - 1;
    return DAE_OK;
}

/* Derivatives that cancel leave entries smaller by 1 / k: that ends where rounding begins. */
static int sums(double t, const double *x, const double *v, double *r, void *user)
{
    double k = *(double *)user;
    r[0] = v[0] + v[1] - x[2];
    r[1] = k * (v[0] + v[1]) + x[0] - x[1];
    r[2] = x[2] - k * sin(t);
    r[3] = x[3] - k * v[0];
    return DAE_OK;
}

static void origin(double k, double *x)
{
    (void)k, (void)x;
}

static const scaled systems[] = {
    { "reaction", reaction, 3, 1, 2, 2e12, reaction_start },
    { "spring", spring, 3, 1, 2, 2e12, spring_start },
    { "quartz", quartz, 4, 1, 2, 2e14, quartz_start },
    { "index 2", index_2, 2, 2, 0, 2e12, origin },
    { "index 3", index_3, 3, 3, 0, 2e12, origin },
    { "held spring", held_spring, 3, 3, 0, 2e12, origin },
    { "pendulum", pendulum, 5, 3, 2, 2e12, pendulum_start },
    { "held reaction", held_reaction, 3, 2, 1, 2e12, origin },
    { "sums", sums, 4, 2, 1, 2e2, origin },
};

/* Right, or called ambiguous; certain: right and not ambiguous. */
static void judge(dae_analysis *a, const scaled *s, double k, int certain)
{
    const dae_index_facts *f = dae_analysis_facts(a);
    const dae_pencil_facts *q = dae_analysis_pencil(a);
    if (!f && !certain) { /* nothing is said that could be wrong */
        assert_true(dae_analysis_status(a) < 0);
        dae_analysis_close(a);
        return;
    }
    assert_non_null(f);
    int right = f->index == s->index && f->freedom == s->freedom &&
                (!q || (q->index == s->index && q->finite == s->freedom));
    if ((!right && !f->ambiguous) || (certain && (!right || f->ambiguous)))
        print_error("%s, k = %g: index %d, freedom %d, ambiguous %d: %s\n", s->name, k, f->index,
                    f->freedom, f->ambiguous, f->why ? f->why : "");
    assert_true(right || f->ambiguous);
    assert_true(!certain || (right && !f->ambiguous));
    dae_analysis_close(a);
}

static void check(const scaled *s, double k, int consistent)
{
    double x[5] = { 0 };
    dae_problem p = { .size = s->size, .residual = s->residual, .user = &k };
    s->start(k, x);
    if (!consistent)
        x[0] += 0.3;
    judge(dae_analyze(&p, NULL, 0, x, NULL), s, k, consistent && k < s->certain);
}

static void units_do_not_matter(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof systems / sizeof *systems; i++)
        for (double k = 1e2; k < 2e15; k *= 10)
            for (int consistent = 0; consistent < 2; consistent++)
                check(&systems[i], k, consistent);
}

/* ---- in other units ---- */

typedef struct converted {
    const scaled *system;
    double k, row[5], unit[5];
} converted;

static int convert(double t, const double *x, const double *v, double *r, void *user)
{
    converted *c = user;
    double own_x[5] = { 0 }, own_v[5] = { 0 };
    int n = c->system->size;
    for (int j = 0; j < n; j++) {
        own_x[j] = x[j] * c->unit[j];
        own_v[j] = v[j] * c->unit[j];
    }
    int answer = c->system->residual(t, own_x, own_v, r, &c->k);
    for (int i = 0; i < n; i++)
        r[i] *= c->row[i];
    return answer;
}

static double draw(uint64_t *bits)
{
    *bits ^= *bits << 13;
    *bits ^= *bits >> 7;
    *bits ^= *bits << 17;
    return pow(10, 16 * ((double)(*bits >> 11) / 9007199254740992.0) - 8);
}

static void drawn_units_do_not_matter(void **state)
{
    uint64_t bits = 0x9e3779b97f4a7c15ULL;
    (void)state;
    for (int i = 0; i < COUNT_OF(systems); i++)
        for (double k = 1e-15; k < 2e15; k *= 10)
            for (int round = 0; round < (sanitized ? 1 : 4); round++) {
                converted c = { .system = &systems[i], .k = k };
                double x[5] = { 0 };
                dae_problem p = { .size = systems[i].size, .residual = convert, .user = &c };
                systems[i].start(k, x);
                for (int j = 0; j < p.size; j++) {
                    c.row[j] = draw(&bits);
                    c.unit[j] = draw(&bits);
                    x[j] /= c.unit[j];
                }
                judge(dae_analyze(&p, NULL, 0, x, NULL), c.system, k, 0);
            }
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(units_do_not_matter),
                                        cmocka_unit_test(drawn_units_do_not_matter) };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
