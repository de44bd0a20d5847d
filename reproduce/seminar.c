/* seminar.c: the smallest index-2 system under three methods, and varying steps.
 *
 * Source: S. Allaart-Bruin, Numerical integration of DAEs, seminar slides, TU Eindhoven. Their
 * test DAE x = sin t, x' + y = 0 is solved from three sets of initial values,
 *
 *     A: x = 0, y = -1      B: x = 0, y = -1 - h      C: x = h, y = -1
 *
 * by the trapezoidal rule, BDF with one step, and MEBDF. With e the numerical minus the exact
 * values, the trapezoidal rule as it is applied on the slides (means of both equations) has
 *
 *     e_x <- -e_x,   e_y <- -e_y + (4/h) e_x + O(h^2):   e_x = (-1)^n h, e_y = (-1)^(n-1) 4n
 *
 * from C: it oscillates with growing amplitude. The slide that analyses it has the difference
 * of the constraint instead of its mean, x_(n+1) = sin t_(n+1) + x_n - sin t_n: then e_x stays
 * as it was ("never equal to sin t") and e_y only alternates. Both are shown.
 *
 * The orders of its table, and its question: what if we use variable stepsizes? A linear system
 * with constant coefficients splits into an ODE and chains y_1 = g, y_(i+1) = y_i' (Weierstrass,
 * Kronecker), so chains tell everything. y_1 is exact. y_2 has the defect of the formula, O(h^k),
 * with a factor that depends on the mesh. y_3 differentiates that: where neighbouring steps
 * differ, its differences are O(h^k), and one order is lost. It comes back only if the steps
 * change slowly.
 */
#include "reproduce.h"

#include <math.h>
#include <string.h>

/* ---- three sets of initial values ---- */

enum { steps = 40 };
static const double h = 1 / 16.;

typedef struct pair {
    double x, y;
} pair;

static pair start_of(char set)
{
    return (pair){ set == 'C' ? h : 0, set == 'B' ? -1 - h : -1 };
}

static pair error_of(pair a, int n)
{
    return (pair){ a.x - sin(n * h), a.y + cos(n * h) };
}

/* mean: the constraint at both ends of the step, as printed; otherwise its difference. */
static void trapezoidal(char set, int mean, pair *e)
{
    pair a = start_of(set);
    e[0] = error_of(a, 0);
    for (int n = 0; n < steps; n++) {
        double s0 = sin(n * h), s1 = sin((n + 1) * h);
        double x = mean ? s1 + s0 - a.x : s1 - s0 + a.x;
        a.y = -a.y - 2 / h * (x - a.x);
        a.x = x;
        e[n + 1] = error_of(a, n + 1);
    }
}

static dae_status by_library(const char *method, char set, pair *e)
{
    problem_instance p;
    pair a = start_of(set);
    if (study_problem(problem_find("sine"), NULL, NULL, 0, &p, NULL) != DAE_OK)
        return DAE_E_INTERNAL;
    dae_options o = { .rtol = 1e-10,
                      .atol = 1e-10,
                      .method = method,
                      .start = DAE_START_TRUST,
                      .max_order = 1,
                      .newton_max = 20,
                      .first = DAE_FIRST_PLAIN,
                      .newton_tolerance = 1e-3 };
    double x[2] = { a.x, a.y }, xdot[2] = { 1, 0 };
    dae_solver *s = study_open(&p.problem, &o);
    dae_status status = dae_start(s, 0, x, xdot);
    e[0] = error_of(a, 0);
    for (int n = 1; n <= steps && status == DAE_OK; n++) {
        status = dae_step_fixed(s, n * h - dae_time(s), 1);
        if (status == DAE_OK) status = dae_read(s, dae_time(s), x, NULL);
        e[n] = error_of((pair){ x[0], x[1] }, n);
    }
    dae_close(s);
    problem_close(&p);
    return status;
}

static void print_errors(verdicts *v, const char *scheme, char set, const pair *e)
{
    static const int at[] = { 1, 2, 3, 4, 10, steps };
    for (int component = 0; component < 2; component++) {
        fprintf(v->out, "    %-24s %c  %c ", component ? "" : scheme, set, component ? 'y' : 'x');
        for (size_t i = 0; i < sizeof at / sizeof *at; i++)
            fprintf(v->out, " %10.2e", component ? e[at[i]].y : e[at[i]].x);
        if (component == 0) fprintf(v->out, "\n");
    }
}

/* Largest |error - prediction| over the steps from .. on, the prediction being
 * (-1)^n (x + n growth) or, when not alternating, constant. */
typedef struct law {
    double x, y, growth; /* of e_x; of e_y; of e_y per step */
    int alternates;      /* e_x does; e_y always does */
    int from;
    double allowed_x, allowed_y;
} law;

static int obeys(const law *l, const pair *e)
{
    int good = 1;
    for (int n = l->from; n <= steps; n++) {
        double sign = n % 2 ? -1 : 1;
        double x = l->alternates ? sign * l->x : l->x, y = sign * (l->y + l->growth * n);
        good = good && fabs(e[n].x - x) <= l->allowed_x && fabs(e[n].y - y) <= l->allowed_y;
    }
    return good;
}

static void three_starts(verdicts *v)
{
    static const int first[] = { 1, 2, 3, 4, 10, steps };
    static const char sets[] = "ABC";
    pair e[steps + 1];
    fprintf(v->out, "x = sin t, x' + y = 0 with h = 1/16: errors after n steps\n    %-24s %-5s",
            "scheme", "from");
    for (size_t i = 0; i < sizeof first / sizeof *first; i++)
        fprintf(v->out, "  %s%7d", "n =", first[i]);
    fprintf(v->out, "\n");
    /* e_y has the defect h^2/6 max|cos| of each step, alternating: it does not add up */
    double small = h * h / 4;
    for (int mean = 1; mean >= 0; mean--)
        for (int i = 0; i < 3; i++) {
            int off = sets[i] == 'C';
            law l = { .x = off ? h : 0,
                      .y = sets[i] == 'B' ? -h : 0,
                      .growth = off && mean ? -4 : 0,
                      .alternates = mean,
                      .allowed_x = 1e-13,
                      .allowed_y = small };
            trapezoidal(sets[i], mean, e);
            print_errors(v, mean ? "trapezoidal, printed" : "trapezoidal, differenced", sets[i], e);
            fprintf(v->out, "  %s\n", verdict(v, obeys(&l, e)));
        }
    for (int method = 0; method < 2; method++) {
        for (int i = 0; i < 3; i++) {
            /* x is exact at once, y is off by the formula's h/2 |y'| from the second step on */
            law l = { .from = 2, .allowed_x = 1e-14, .allowed_y = 0.51 * h };
            int ok = by_library(method ? "mebdf" : "bdf", sets[i], e) == DAE_OK;
            int exact = fabs(e[1].x) <= 1e-14; /* and y_1 = -(sin h - x_0) / h, exactly, of BDF */
            double y1 = -cos(h) - (-(sin(h) - (sets[i] == 'C' ? h : 0)) / h);
            exact = exact && (method == 1 || fabs(e[1].y + y1) <= 1e-13);
            print_errors(v, method ? "MEBDF, one step" : "BDF, one step", sets[i], e);
            fprintf(v->out, "  %s\n", verdict(v, ok && exact && obeys(&l, e)));
        }
    }
    fprintf(v->out, "    printed, from C: e_x = (-1)^n h, e_y = (-1)^(n-1) 4 n;  differenced: "
                    "e_x = h\n    for ever;  BDF solves the algebraic equation exactly and "
                    "forgets the start\n");
}

/* ---- orders ---- */

enum { table_orders = 5 };

typedef struct table_row {
    const char *label, *method, *form;
    unsigned mask;
    int more; /* order k + more */
    int from; /* both bounds hold from this k on; below, k + more is the lower one only */
} table_row;

/* The pendulum: index 1, and index 2 by unknowns. The slides say k + 1 and k for MEBDF; in index 2
 * it is the multiplier that has order k, and with one step even 2. */
static const table_row table[] = {
    { "BDF, index 1", "bdf", "index1", 0x1f, 0, 1 },
    { "BDF, index 2: p, v", "bdf", "index2", 0x0f, 0, 1 },
    { "BDF, index 2: lambda", "bdf", "index2", 0x10, 0, 1 },
    { "MEBDF, index 1", "mebdf", "index1", 0x1f, 1, 1 },
    { "MEBDF, index 2: p, v", "mebdf", "index2", 0x0f, 1, 1 },
    { "MEBDF, index 2: lambda", "mebdf", "index2", 0x10, 0, 2 },
};

static double table_order(const problem_instance *p, const table_row *r, int k)
{
    /* one over the step sizes, for k = 1 .. 5: those of BDF, those of MEBDF */
    static const double high[2][table_orders + 1] = { { 0, 512, 512, 256, 128, 96 },
                                                      { 0, 256, 128, 96, 64, 64 } };
    static const double low[2][table_orders + 1] = { { 0, 4096, 2048, 1024, 384, 192 },
                                                     { 0, 1024, 512, 384, 192, 128 } };
    int more = strcmp(r->method, "mebdf") == 0, first = p->index == 1;
    order_study s = { .m = { .p = p, .order = k, .t_end = first ? 1 : 0.875, .method = r->method },
                      .mask = r->mask,
                      .high = 1 / high[more][k],
                      .low = 1 / low[more][k],
                      .length = first ? 1 : 0.5 };
    return measured_order(&s);
}

static void orders_table(verdicts *v)
{
    fprintf(v->out,
            "\norders of the k-step methods, constant steps, on the pendulum\n"
            "    %-24s %-6s",
            "method", "order");
    for (int k = 1; k <= table_orders; k++) fprintf(v->out, "  k = %d", k);
    fprintf(v->out, "\n");
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const table_row *r = &table[i];
        problem_instance p;
        int good = 1;
        if (!march_open(v, &p, "pendulum", r->form, NULL, 0)) continue;
        fprintf(v->out, "    %-24s %-6s", r->label, r->more ? "k + 1" : "k");
        for (int k = 1; k <= table_orders; k++) {
            double off = table_order(&p, r, k) - (k + r->more);
            good = good && off >= -0.25 && (k < r->from || off <= 0.25);
            fprintf(v->out, " %6.2f", k + r->more + off);
        }
        fprintf(v->out, "  %s\n", verdict(v, good));
        problem_close(&p);
    }
}

/* "convergent with order k after (mu - 1) k + 1 steps", whatever the start; and not before. */
static void steps_needed(verdicts *v)
{
    problem_instance p;
    fprintf(v->out, "\nBDF, constant steps, the test DAE with x and y wrong by 0.1 at the start: "
                    "order of y\n");
    if (!march_open(v, &p, "sine", NULL, NULL, 0)) return;
    for (int after = 0; after < 2; after++) {
        int good = 1;
        fprintf(v->out, "    after k%s steps%6s %-6s", after ? " + 1" : "    ", "",
                after ? "k" : "-1");
        for (int k = 1; k <= table_orders; k++) {
            order_study s = { .m = { .p = &p,
                                     .order = k,
                                     .steps = k + after,
                                     .t_end = 1,
                                     .disturbance = 0.1,
                                     .disturbed = 3 },
                              .mask = 2,
                              .high = 1 / 16.,
                              .low = 1 / 64.,
                              .at = k + after };
            double order = measured_order(&s);
            good = good && fabs(order - (after ? k : -1)) <= 0.25;
            fprintf(v->out, " %6.2f", order);
        }
        fprintf(v->out, "  %s\n", verdict(v, good));
    }
    problem_close(&p);
}

/* ---- random meshes ---- */

enum { most_order = 6, most_points = 4096, chain = 3 };

typedef struct mesh {
    int points;
    double t[most_points];
} mesh;

static double random_number(uint64_t *bits) /* 0 .. 1 */
{
    *bits ^= *bits << 13;
    *bits ^= *bits >> 7;
    *bits ^= *bits << 17;
    return (double)(*bits >> 11) / 9007199254740992.0;
}

/* kind 1: steps between h/2 and 3h/2; 2: h (1 + sin(t)/2); 0: h */
static void make_mesh(mesh *m, int kind, double size, double length, uint64_t *bits)
{
    double t = 0;
    m->points = 0;
    while (t < length && m->points < most_points) {
        m->t[m->points++] = t;
        double u = kind == 1 ? 0.5 + random_number(bits) : kind == 2 ? 1 + 0.5 * sin(t) : 1;
        t += u * size;
    }
}

/* Weights of the derivative at t[0] of the polynomial through t[0] .. t[-k]. */
static void derivative_weights(int k, const double *t, double *w)
{
    w[0] = 0;
    for (int j = 1; j <= k; j++) {
        double above = 1, below = t[-j] - t[0];
        for (int m = 1; m <= k; m++) {
            if (m == j) continue;
            above *= t[0] - t[-m];
            below *= t[-j] - t[-m];
        }
        w[j] = above / below;
        w[0] += 1 / (t[0] - t[-j]);
    }
}

/* Sum of squares, so that no single triple of steps decides. */
typedef struct sum {
    double square[chain];
    int count;
} sum;

/* Variable-coefficient BDF: errors of y_2 and y_3. */
static void bare_errors(const mesh *m, int k, sum *e)
{
    double y[2][most_points] = { { 0 } }, w[most_order + 1];
    for (int n = 0; n < m->points; n++) {
        double t = m->t[n], exact[chain] = { sin(t), cos(t), -sin(t) };
        y[0][n] = exact[0];
        y[1][n] = exact[1]; /* starting values */
        if (n < k) continue;
        double second = 0, third = 0;
        derivative_weights(k, m->t + n, w);
        for (int j = 0; j <= k; j++) second += w[j] * y[0][n - j];
        y[1][n] = second;
        for (int j = 0; j <= k; j++) third += w[j] * y[1][n - j];
        if (n < 2 * k) continue; /* the first k steps after exact values are another matter */
        e->square[1] += (second - exact[1]) * (second - exact[1]);
        e->square[2] += (third - exact[2]) * (third - exact[2]);
        e->count++;
    }
}

/* The same with the library: fixed leading coefficient. */
static void library_errors(const problem_instance *p, const mesh *m, int k, sum *e)
{
    double t[most_order + 1], x[(most_order + 1) * chain], exact[chain];
    dae_options o = { .rtol = 1e-3, .atol = 1, .newton_tolerance = 1e-13, .newton_max = 100 };
    dae_solver *s = study_open(&p->problem, &o);
    for (int j = 0; j <= k; j++) {
        t[j] = m->t[k - j];
        p->exact(t[j], x + j * chain, p->problem.user);
    }
    dae_status status = dae_start_history(s, k + 1, t, x);
    for (int n = k + 1; n < m->points && status == DAE_OK; n++) {
        status = dae_step_fixed(s, m->t[n] - dae_time(s), k);
        if (status == DAE_OK) status = dae_read(s, dae_time(s), x, NULL);
        p->exact(dae_time(s), exact, p->problem.user);
        for (int i = 0; i < chain && n > 3 * k + 2; i++)
            e->square[i] += (x[i] - exact[i]) * (x[i] - exact[i]);
        e->count += n > 3 * k + 2;
    }
    for (int i = 0; i < chain && status != DAE_OK; i++) e->square[i] = NAN;
    dae_close(s);
}

typedef struct mesh_row {
    const char *label;
    int library, kind, component, less; /* order k - less */
} mesh_row;

static const mesh_row mesh_rows[] = {
    { "y2 (index 2), even", 0, 0, 1, 0 },           { "y2 (index 2), random", 0, 1, 1, 0 },
    { "y3 (index 3), even", 0, 0, 2, 0 },           { "y3 (index 3), random", 0, 1, 2, 1 },
    { "y3 (index 3), slowly varying", 0, 2, 2, 0 }, { "y2 (index 2), random", 1, 1, 1, 0 },
    { "y3 (index 3), even", 1, 0, 2, 0 },           { "y3 (index 3), random", 1, 1, 2, 1 },
};

static double mesh_order(const problem_instance *p, const mesh_row *r, int k)
{
    enum { sizes = 4, meshes = 8 };
    uint64_t bits = 0x9e3779b97f4a7c15ULL;
    static const double largest[most_order] = {
        1 / 64., 1 / 64., 1 / 32., 1 / 24., 1 / 16., 1 / 12.
    };
    static const double factor[most_order] = { 0.5, 0.5, 0.6, 0.7, 0.75, 0.8 };
    double size[sizes], error[sizes];
    mesh m;
    for (int i = 0; i < sizes; i++) {
        size[i] = largest[k - 1] * pow(factor[k - 1], i);
        sum e = { .count = 0 };
        for (int which = 0; which < (r->kind == 1 ? meshes : 1); which++) {
            make_mesh(&m, r->kind, size[i], 5, &bits);
            if (r->library)
                library_errors(p, &m, k, &e);
            else
                bare_errors(&m, k, &e);
        }
        error[i] = sqrt(e.square[r->component] / e.count);
    }
    return fitted_order(sizes, size, error);
}

static void random_meshes(verdicts *v)
{
    problem_instance p;
    fprintf(v->out,
            "\nwhat if we use variable stepsizes? y1 = sin t, y2 = y1', y3 = y2', steps "
            "between h/2 and 3h/2,\nroot mean square over eight meshes\n    %-17s %-30s %-6s",
            "formula", "error of", "order");
    for (int k = 1; k <= most_order; k++) fprintf(v->out, "  k = %d", k);
    fprintf(v->out, "\n");
    if (!march_open(v, &p, "chain", NULL, NULL, 0)) return;
    for (size_t i = 0; i < sizeof mesh_rows / sizeof *mesh_rows; i++) {
        const mesh_row *r = &mesh_rows[i];
        int good = 1, most = r->library ? 5 : 6;
        fprintf(v->out, "    %-17s %-30s %-6s", r->library ? "the library's" : "BDF", r->label,
                r->less ? "k - 1" : "k");
        for (int k = 1; k <= most; k++) {
            double order = mesh_order(&p, r, k);
            good = good && fabs(order - (k - r->less)) <= 0.25;
            fprintf(v->out, " %6.2f", order);
        }
        fprintf(v->out, "%s  %s\n", r->library ? "       " : "", verdict(v, good));
    }
    problem_close(&p);
    fprintf(v->out, "    so: index 2 keeps order k; each further index loses one, and implicit "
                    "Euler does\n    not converge in index 3; slowly varying steps lose nothing\n");
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    three_starts(&v);
    orders_table(&v);
    steps_needed(&v);
    random_meshes(&v);
    return verdict_total(&v);
}

const reproduction reproduction_seminar = {
    .id = "seminar",
    .title = "the smallest index-2 system: trapezoidal rule, BDF, MEBDF; orders; varying "
             "steps",
    .source = "Allaart-Bruin, seminar slides on DAEs; Brenan, Campbell, Petzold 1996, ch. 3",
    .run = run,
};
