/* test_matrix.c: every method on every index in every form: right, or refused.
 *
 * Problems are made from their solutions X(t) = a + b sin(omega t + phi), a seed each. With
 * y the differential unknowns, w of index 1, z of index 2 or 3:
 *
 *     y' = X_y' - lambda (y - X_y) + c (sin y - sin X_y) + s (w - X_w) + g(y) z - g(X_y) X_z
 *     0  = w - X_w - a (sin y - sin X_y)
 *     0  = h(y) - h(X_y)                     h_y g = 1 .. 3: index 2
 *
 * index 3: y = (q, v), q' = v, v' as above with g = h_q, h = h(q). The forms:
 *
 *     implicit   B (y' - f) = 0              mass       M y' = B f, M = B, singular with the zeros of w and z
 *     mass(x)    M(x) = B + diag(cos y) / 5  leading    B (d' - d_y f) = 0, d = y + sin(y) / 5
 *     x' = f     index 0 alone
 *
 * Differential and index-1 unknowns must be within 100 tolerances at the ends of steps, 1e4 between
 * them (Kvaerno's pair of order 4 at index 2; nearly all others have 100 there). An unknown of
 * level 2 is of the stage order q, one of level 3 of order q - 1 [HLR89]: with
 * h ~ tol^(1/(p+1)) their errors are tol^(q/(p+1)), tol^((q-1)/(p+1)), of which they may have ten, between
 * steps thirty, but never more than 0.3 of 1 + |x|. Methods that are no tables, of several orders: p = q = 3. These unknowns
 * are judged from t = 0.5 on: in the first steps of multistep methods those of index 3 are wrong by O(1), from
 * the best of start values (dae_first_kind in daedalus.h).
 */
#include "tableau/tableau.h"
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 6, SEEDS = 2 };
static const double END = 2;

typedef enum form { IMPLICIT, MASS, MASS_X, LEADING, PLAIN, FORMS } form;
static const char *const form_names[] = { "implicit", "mass", "mass(x)", "leading", "x' = f" };

typedef struct manufactured {
    int index, n, m; /* m: differential unknowns, the first ones */
    form kind;
    int w, z; /* places, -1: none */
    double a[MOST], b[MOST], omega[MOST], phi[MOST];
    double lambda[MOST], c[MOST][MOST], s[MOST], a_w[MOST], B[MOST][MOST];
    double mass[MOST * MOST];
    unsigned char level[MOST];
} manufactured;

/* ---------------------------------------------------------------- the generator --------- */

static double uniform(uint64_t *state, double low, double high) /* splitmix64 */
{
    uint64_t z = (*state += 0x9e3779b97f4a7c15ULL);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
    z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
    z ^= z >> 31;
    return low + (high - low) * (double)(z >> 11) / 9007199254740992.0;
}

/* X, X', X'' at t. Velocities of index 3 are the derivatives of positions. */
static void exact(const manufactured *q, double t, double *x, double *xdot)
{
    for (int i = 0; i < q->n; i++) {
        int moved = q->index == 3 && (i == 2 || i == 3), k = moved ? i - 2 : i;
        double o = q->omega[k], at = o * t + q->phi[k];
        x[i] = moved ? q->b[k] * o * cos(at) : q->a[k] + q->b[k] * sin(at);
        xdot[i] = moved ? -q->b[k] * o * o * sin(at) : q->b[k] * o * cos(at);
    }
}

static void manufacture(manufactured *q, int index, form kind, uint64_t seed)
{
    uint64_t state = 1000 * seed + (uint64_t)index;
    memset(q, 0, sizeof *q);
    q->index = index;
    q->kind = kind;
    q->m = index == 0 || index == 3 ? 4 : 3;
    q->n = q->m + (index > 0) + (index > 1);
    q->w = index > 0 ? q->m : -1;
    q->z = index > 1 ? q->m + 1 : -1;
    for (int i = 0; i < q->n; i++) {
        q->a[i] = uniform(&state, -1, 1);
        q->b[i] = uniform(&state, 0.3, 1);
        q->omega[i] = uniform(&state, 0.7, 2);
        q->phi[i] = uniform(&state, 0, 6);
        q->lambda[i] = exp(uniform(&state, log(0.2), log(20)));
        q->s[i] = uniform(&state, -0.5, 0.5);
        q->a_w[i] = uniform(&state, -0.5, 0.5);
        for (int j = 0; j < q->n; j++) {
            q->c[i][j] = uniform(&state, -0.3, 0.3);
            q->B[i][j] = (i == j ? uniform(&state, 1, 2) : uniform(&state, -0.3, 0.3));
        }
    }
    if (q->w >= 0) q->level[q->w] = DAE_ALGEBRAIC;
    if (q->z >= 0) q->level[q->z] = (unsigned char)index;
    if (index == 3) q->level[2] = q->level[3] = DAE_INDEX2;
    for (int i = 0; i < q->m; i++)
        for (int j = 0; j < q->m; j++) q->mass[i + j * q->n] = q->B[i][j];
}

/* ---------------------------------------------------------------- the equations --------- */

static double constraint(const double *y)
{
    return y[0] + 0.5 * y[1] + 0.2 * sin(y[1]);
}

/* The vector beside z: at index 3 the gradient of the constraint. */
static void push(const manufactured *q, const double *y, double *g)
{
    memset(g, 0, MOST * sizeof(double));
    double *at = q->index == 3 ? g + 2 : g;
    at[0] = q->index == 3 ? 1 : 1.5 + 0.3 * sin(y[2]);
    at[1] = q->index == 3 ? 0.5 + 0.2 * cos(y[1]) : 0.3;
}

/* f into the first m, the algebraic equations behind. */
static void right_side(const manufactured *q, double t, const double *x, double *f)
{
    double X[MOST], dX[MOST], g[MOST], G[MOST];
    exact(q, t, X, dX);
    push(q, x, g);
    push(q, X, G);
    for (int i = 0; i < q->m; i++) {
        f[i] = dX[i] - q->lambda[i] * (x[i] - X[i]);
        for (int j = 0; j < q->m; j++) f[i] += q->c[i][j] * (sin(x[j]) - sin(X[j]));
        if (q->w >= 0) f[i] += q->s[i] * (x[q->w] - X[q->w]);
        if (q->z >= 0) f[i] += g[i] * x[q->z] - G[i] * X[q->z];
    }
    if (q->index == 3) f[0] = x[2], f[1] = x[3];
    if (q->w >= 0) {
        f[q->w] = x[q->w] - X[q->w];
        for (int j = 0; j < q->m; j++) f[q->w] -= q->a_w[j] * (sin(x[j]) - sin(X[j]));
    }
    if (q->z >= 0) f[q->z] = constraint(x) - constraint(X);
}

static double d_y(double y)
{
    return 1 + 0.2 * cos(y);
}

/* r = B v - B D f for the first m, D = 1 or d_y. */
static int residual(double t, const double *x, const double *v, double *r, void *user)
{
    const manufactured *q = user;
    double f[MOST];
    right_side(q, t, x, f);
    for (int i = 0; i < q->m; i++) {
        r[i] = 0;
        for (int j = 0; j < q->m; j++)
            r[i] += q->B[i][j] * (v[j] - (q->kind == LEADING ? d_y(x[j]) : 1) * f[j]);
    }
    for (int i = q->m; i < q->n; i++) r[i] = f[i];
    return DAE_OK;
}

static int d_of(double t, const double *x, double *d, void *user)
{
    const manufactured *q = user;
    (void)t;
    for (int i = 0; i < q->m; i++) d[i] = x[i] + 0.2 * sin(x[i]);
    return DAE_OK;
}

static int mass(double t, const double *x, double *M, void *user)
{
    const manufactured *q = user;
    (void)t;
    memcpy(M, q->mass, (size_t)(q->n * q->n) * sizeof(double));
    for (int i = 0; i < q->m; i++) M[i + i * q->n] += 0.2 * cos(x[i]);
    return DAE_OK;
}

static int rhs(double t, const double *x, double *out, void *user)
{
    const manufactured *q = user;
    double f[MOST];
    right_side(q, t, x, f);
    for (int i = 0; i < q->n; i++) out[i] = f[i];
    for (int i = 0; i < q->m && q->kind != PLAIN; i++) {
        out[i] = q->kind == MASS_X ? 0.2 * cos(x[i]) * f[i] : 0;
        for (int j = 0; j < q->m; j++) out[i] += q->B[i][j] * f[j];
    }
    return DAE_OK;
}

static dae_problem pose(manufactured *q)
{
    dae_problem p = { .size = q->n, .level = q->level, .user = q };
    if (q->kind == IMPLICIT || q->kind == LEADING)
        p.residual = residual;
    else
        p.rhs = rhs;
    if (q->kind == LEADING) p.d = d_of, p.d_size = q->m;
    if (q->kind == MASS) p.mass_kind = DAE_MASS_CONSTANT, p.mass_values = q->mass;
    if (q->kind == MASS_X) p.mass_kind = DAE_MASS_FUNCTION, p.mass = mass;
    p.mass_pattern.kind = DAE_PATTERN_DENSE;
    return p;
}

/* ---------------------------------------------------------------- one run --------------- */

typedef struct outcome {
    dae_status status;
    double end[4], inside[4]; /* errors by level, at ends of steps and between them */
    char message[1200];
} outcome;

static void compare(const manufactured *q, double t, const double *x, double worst[4])
{
    double X[MOST], dX[MOST];
    exact(q, t, X, dX);
    for (int i = 0; i < q->n; i++) {
        double e = fabs(x[i] - X[i]) / (1 + fabs(X[i]));
        if (q->level[i] >= DAE_INDEX2 && t < 0.5) continue;
        if (!(e <= worst[q->level[i]])) worst[q->level[i]] = e == e ? e : INFINITY;
    }
}

static void run(manufactured *q, const char *method, double tol, outcome *o)
{
    double x[MOST], X[MOST], dX[MOST], before = 0;
    dae_problem p = pose(q);
    dae_solver *s = dae_open(&p, &(dae_options){ .rtol = tol, .atol = tol, .method = method });
    memset(o, 0, sizeof *o);
    o->status = dae_last_status(s);
    exact(q, 0, X, dX);
    for (int i = 0; i < q->m && q->kind == LEADING; i++) dX[i] *= d_y(X[i]);
    for (int i = q->m; i < q->n; i++) dX[i] = 0;
    if (o->status == DAE_OK) o->status = dae_start(s, 0, X, dX);
    for (long k = 0; o->status == DAE_OK && before < END; k++) {
        o->status = dae_step(s, END);
        double now = dae_time(s), at = before + (0.1 + 0.2 * (double)(k % 5)) * (now - before);
        if (o->status == DAE_OK && k % 8 == 0) o->status = dae_read(s, at, x, NULL);
        if (o->status == DAE_OK && k % 8 == 0) compare(q, at, x, o->inside);
        if (o->status == DAE_OK) o->status = dae_read(s, now, x, NULL);
        if (o->status == DAE_OK) compare(q, now, x, o->end);
        before = now;
    }
    snprintf(o->message, sizeof o->message, "%s", dae_message(s));
    dae_close(s);
}

/* ---------------------------------------------------------------- the matrix ------------ */

/* What an unknown of this level may be off by. */
static double bound(const char *method, int level, double tol, int inside)
{
    dae_tableau a;
    int known = dae_tableau_find(method, &a), p = known ? a.order : 3,
        q = known ? a.stage_order : 3;
    if (level < DAE_INDEX2) return (inside ? 1e4 : 100) * tol;
    return fmin(0.3, (inside ? 30 : 10) * pow(tol, (level == DAE_INDEX2 ? q : q - 1) / (p + 1.0)));
}

/* Known to be weak at index 3, where a run may fail, with a message. Of formulas with fixed
 * coefficients, and those that begin with implicit Euler, multipliers see every change of the step
 * (two_step.c), and are not judged. */
static int sees_changes(const char *method, int index)
{
    return index == 3 && (!strcmp(method, "two-step") || !strcmp(method, "generalized-alpha") ||
                          !strcmp(method, "nordsieck"));
}

static int weak(const char *method, int index)
{
    return sees_changes(method, index) ||
           (index == 3 && (!strcmp(method, "bim-4") || !strcmp(method, "bim-14")));
}

/* "ok", "-" refused, "WRONG", or the status of a failure. */
static const char *judge(const char *method, int index, double tol, const outcome *o)
{
    if (o->status == DAE_E_OPTION)
        return strstr(o->message, "hint:") && strstr(o->message, method) ? "-" : "MUTE";
    if (o->status != DAE_OK) return weak(method, index) ? "weak" : dae_status_name(o->status);
    for (int l = 0; l < 4 - sees_changes(method, index); l++)
        if (!(o->end[l] <= bound(method, l, tol, 0)) || !(o->inside[l] <= bound(method, l, tol, 1)))
            return "WRONG";
    return "ok";
}

static const char *cell(const char *method, int index, form kind)
{
    static const double tols[] = { 1e-4, 1e-7 };
    const char *said = "ok";
    for (int k = 0; k < COUNT_OF(tols); k++)
        for (int seed = 0; seed < SEEDS; seed++) {
            manufactured q;
            outcome o;
            manufacture(&q, index, kind, (uint64_t)seed);
            run(&q, method, tols[k], &o);
            const char *now = judge(method, index, tols[k], &o);
            if (!strcmp(now, "ok")) continue;
            if (strcmp(now, "-") && strcmp(now, "weak"))
                print_error(
                    "%s, index %d, %s, seed %d, tolerance %g: %s; errors %.2g %.2g %.2g %.2g, "
                    "between %.2g %.2g %.2g %.2g\n%s\n",
                    method, index, form_names[kind], seed, tols[k], now, o.end[0], o.end[1],
                    o.end[2], o.end[3], o.inside[0], o.inside[1], o.inside[2], o.inside[3],
                    o.message);
            said = now;
        }
    return said;
}

static void test_every_method_index_and_form(void **state)
{
    int bad = 0;
    (void)state;
    print_message("%-28s", "index:");
    for (int index = 0; index < 4; index++)
        for (form f = IMPLICIT; f < FORMS; f++)
            if (f != PLAIN || index == 0) print_message(" %d %-8s", index, form_names[f]);
    print_message("\n");
    for (int i = 0; dae_method_name(i); i++) {
        print_message("%-28s", dae_method_name(i));
        for (int index = 0; index < 4; index++)
            for (form f = IMPLICIT; f < FORMS; f++) {
                if (f == PLAIN && index > 0) continue;
                const char *said = cell(dae_method_name(i), index, f);
                bad += strcmp(said, "ok") && strcmp(said, "-") && strcmp(said, "weak");
                print_message(" %-10s", said);
            }
        print_message("\n");
    }
    assert_int_equal(bad, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = { cmocka_unit_test(test_every_method_index_and_form) };
    return cmocka_run_group_tests_name("matrix", tests, NULL, NULL);
}
