/* rk_index2.c: orders of Runge-Kutta methods on semi-explicit index-2 problems.
 *
 * Sources: lecture notes on DAEs, table in 2.3.4, which quotes [HW96] Hairer, Wanner,
 * Solving Ordinary Differential Equations II, VII.4 and VII.5, and [HLR89] Hairer,
 * Lubich, Roche, The Numerical Solution of Differential-Algebraic Systems by
 * Runge-Kutta Methods. The method is (2.9); "projected" adds (3.11). The problem must
 * be nonlinear in z: if f is linear in z, projected Radau IA has the local order 2s
 * instead of 2s - 1.
 *
 * The notes misprint three rows; "right" is what the sources prove.
 *
 * Beside the laboratory's steps are those of the library, "projected-NAME" or the table's own name,
 * on the same problem with the same steps: what they differ by is what Newton's iteration leaves,
 * 1e-13 in y and that divided by h in z. |R(oo)| = 1 remembers it and adds it up.
 */
#include "rk_lab.h"

#include <math.h>
#include <string.h>

static const double bound = 0.2; /* between measured and expected order */

typedef struct rule { /* a s + b */
    int a, b;
} rule;

enum { LOCAL_Y, LOCAL_Z, GLOBAL_Y, GLOBAL_Z, KINDS };

typedef struct row {
    const char *method, *stages;
    const char *family;
    lab_form form;
    int s[5];            /* 0 ends */
    rule printed[KINDS]; /* { 0, 0 }: nothing */
    rule right[KINDS];
    int other[3];     /* where the row, as printed, would also have to hold */
    const char *note; /* on the misprint; NULL: none */
} row;

/* clang-format off */
#define ALIKE(...) { __VA_ARGS__ }, { __VA_ARGS__ }
static const row table[] = {
    { "Gauss", "s odd", "gauss", LAB_EMBEDDED, { 1, 3, 5 },
      ALIKE({ 1, 1 }, { 1, 0 }, { 1, 1 }, { 1, -1 }), { 0 }, NULL },
    { "Gauss", "s even", "gauss", LAB_EMBEDDED, { 2, 4, 6 },
      ALIKE({ 1, 1 }, { 1, 0 }, { 1, 0 }, { 1, -2 }), { 0 }, NULL },
    { "projected Gauss", "every s", "gauss", LAB_PROJECTED, { 1, 2, 3, 4, 5 },
      { { 2, 1 }, { 0, 0 }, { 2, 0 }, { 0, 0 } },
      { { 2, 1 }, { 2, 1 }, { 2, 0 }, { 2, 0 } }, { 0 }, NULL },
    { "Radau IA", "every s", "radau1a", LAB_EMBEDDED, { 2, 3, 4, 5 },
      ALIKE({ 1, 0 }, { 1, -1 }, { 1, 0 }, { 1, -1 }), { 0 }, NULL },
    { "projected Radau IA", "every s", "radau1a", LAB_PROJECTED, { 2, 3, 4, 5 },
      { { 2, -1 }, { 0, 0 }, { 2, -2 }, { 0, 0 } },
      { { 2, -1 }, { 2, -1 }, { 2, -2 }, { 2, -2 } }, { 0 }, NULL },
    { "Radau IIA", "every s", "radau2a", LAB_EMBEDDED, { 2, 3, 4, 5 },
      { { 2, 0 }, { 2, -1 }, { 2, -2 }, { 1, -1 } },
      { { 2, 0 }, { 1, 0 }, { 2, -1 }, { 1, 0 } }, { 0 }, "three misprints" },
    { "Lobatto IIIA", "s odd", "lobatto3a", LAB_EMBEDDED, { 3, 5 },
      ALIKE({ 2, -1 }, { 1, 0 }, { 2, -2 }, { 1, -1 }), { 0 }, NULL },
    { "Lobatto IIIA", "s even", "lobatto3a", LAB_EMBEDDED, { 2, 4, 6 },
      ALIKE({ 2, -1 }, { 1, 0 }, { 2, -2 }, { 1, 0 }), { 3, 5 },
      "misprint: 's odd' a second time" },
    { "Lobatto IIIC", "every s", "lobatto3c", LAB_EMBEDDED, { 2, 3, 4, 5 },
      ALIKE({ 2, -1 }, { 1, -1 }, { 2, -2 }, { 1, -1 }), { 0 },
      "misprint: 's odd' alone" },
};
/* clang-format on */

/* The same constraint with f linear in z: y1' = y1 y2 z, y2' = y1^2 y2^2 - 3 y2^2 z. */
static const lab_term linear_terms[] = {
    { 0, 1, { 1, 1, 1 } }, { 1, 1, { 2, 2, 0 } },  { 1, -3, { 0, 2, 1 } },
    { 2, 1, { 2, 1, 0 } }, { 2, -1, { 0, 0, 0 } },
};
static const lab_problem linear = { "linear in z", 2, 1, 2, 5, linear_terms, { 1, -2, 2 } };

static const row linear_radau = { "projected Radau IA",
                                  "f linear in z",
                                  "radau1a",
                                  LAB_PROJECTED,
                                  { 2, 3, 4 },
                                  { { 0, 0 } },
                                  { { 2, 0 }, { 2, 0 }, { 2, -1 }, { 2, -1 } },
                                  { 0 },
                                  NULL };

/* ---- measuring ---- */

static int at(rule r, int s)
{
    return r.a * s + r.b;
}

static int highest(const row *r, int s)
{
    int most = 0;
    for (int k = 0; k < KINDS; k++)
        if (at(r->right[k], s) > most) most = at(r->right[k], s);
    return most;
}

/* Steps of 1/128 to 1/256; twice that above order 9, where rounding is near even in
 * quad. */
static int measure(verdicts *v, const lab_problem *p, const row *r, int s, double *order)
{
    dae_tableau t;
    if (!lab_find(v, r->family, s, &t)) return 0;
    lab_study study = { .run = { .problem = p, .table = &t, .form = r->form },
                        .length = 0.5,
                        .quad = highest(r, s) > 4,
                        .count = 3,
                        .n = { 64, 96, 128 } };
    for (int i = 0; i < study.count && highest(r, s) > 9; i++) study.n[i] /= 2;
    lab_error e = lab_orders(&study);
    order[GLOBAL_Y] = e.y;
    order[GLOBAL_Z] = e.z;
    study.local = 1;
    e = lab_orders(&study);
    order[LOCAL_Y] = e.y;
    order[LOCAL_Z] = e.z;
    return 1;
}

/* Four steps, small enough for Newton's iteration with one Jacobian for all stages. */
static lab_run beside(const lab_problem *p, const row *r, int s, const dae_tableau *t)
{
    return (lab_run){
        .problem = p, .table = t, .form = r->form, .h = s <= 2 ? 1 / 256. : 1 / 32., .steps = 4
    };
}

/* What rounding may leave, three times what is seen. */
static double left(const row *r)
{
    return r->form == LAB_PROJECTED ? 3e-11 : strcmp(r->family, "gauss") ? 2e-9 : 3e-8;
}

/* ---- printing ---- */

static void print_rules(FILE *out, const char *label, const rule *r)
{
    fprintf(out, "    %-18s", label);
    for (int k = 0; k < KINDS; k++) {
        char text[24] = "-";
        if (r[k].a && r[k].b)
            snprintf(text, sizeof text, "%ss %c %d", r[k].a == 2 ? "2" : "", r[k].b < 0 ? '-' : '+',
                     r[k].b < 0 ? -r[k].b : r[k].b);
        else if (r[k].a)
            snprintf(text, sizeof text, "%ss", r[k].a == 2 ? "2" : "");
        fprintf(out, " %12s", text);
    }
    fprintf(out, "\n");
}

static void print_library(verdicts *v, const lab_problem *p, const row *r, int s)
{
    dae_tableau t;
    lab_error e;
    char method[64];
    if (!lab_find(v, r->family, s, &t)) return;
    lab_run run = beside(p, r, s, &t);
    double apart = lab_apart(&run, NULL, &e);
    lab_method_name(&run, method, sizeof method);
    fprintf(v->out,
            "        library, %-20s errors %7.1e %7.1e of y, z; from quad %7.1e (%.0e)  %s\n",
            method, e.y, e.z, apart, left(r), verdict(v, apart <= left(r)));
}

static void print_row(verdicts *v, const lab_problem *p, const row *r, int s)
{
    double order[KINDS];
    int good = 1;
    if (!measure(v, p, r, s, order)) return;
    fprintf(v->out, "      s = %d %-9s", s, highest(r, s) > 4 ? "quad" : "double");
    for (int k = 0; k < KINDS; k++) {
        fprintf(v->out, " %6.2f  (%2d)", order[k], at(r->right[k], s));
        good = good && fabs(order[k] - at(r->right[k], s)) <= bound;
    }
    fprintf(v->out, "  %s\n", verdict(v, good));
    print_library(v, p, r, s);
}

/* What is printed and not right must lie clearly off what is measured: an order or more
 * from theory, hence at least 1 - bound. */
static void refute(verdicts *v, const row *r, int s)
{
    static const char *const name[] = { "local y", "local z", "global y", "global z" };
    double order[KINDS];
    if (!measure(v, &lab_index2, r, s, order)) return;
    for (int k = 0; k < KINDS; k++) {
        int different = at(r->printed[k], s) != at(r->right[k], s);
        if (!r->printed[k].a || (!different && !(r->other[0] && k == GLOBAL_Z))) continue;
        int off = fabs(order[k] - at(r->printed[k], s)) >= 1 - bound;
        fprintf(v->out, "      s = %d: printed %s of order %d, measured %.2f: %s\n", s, name[k],
                at(r->printed[k], s), order[k], lab_refuted(v, off));
    }
}

static void run_row(verdicts *v, const lab_problem *p, const row *r)
{
    fprintf(v->out, "\n  %s, %s%s%s\n    %-18s %12s %12s %12s %12s\n", r->method, r->stages,
            r->note ? ": " : "", r->note ? r->note : "", "", "local y", "local z", "global y",
            "global z");
    if (r->printed[0].a) print_rules(v->out, "printed", r->printed);
    print_rules(v->out, "right", r->right);
    for (int i = 0; i < 5 && r->s[i]; i++) print_row(v, p, r, r->s[i]);
    for (int i = 0; i < 5 && r->s[i] && r->note && !r->other[0]; i++) refute(v, r, r->s[i]);
    for (int i = 0; i < 3 && r->other[i]; i++) refute(v, r, r->other[i]);
}

/* One code in two precisions: the errors of a run differ by rounding only. */
static void run_precisions(verdicts *v)
{
    dae_tableau t;
    if (!lab_find(v, "radau2a", 3, &t)) return;
    lab_run r = { .problem = &lab_index2, .table = &t, .h = 1 / 16., .steps = 8 };
    lab_error d = lab_error_d(&r), q = lab_error_q(&r);
    fprintf(v->out,
            "\n  Radau IIA, s = 3, 8 steps of 1/16: errors of y, z\n"
            "    double %.9e %.9e\n    quad   %.9e %.9e  %s\n",
            d.y, d.z, q.y, q.z,
            verdict(v, fabs(d.y - q.y) <= 1e-13 && fabs(d.z - q.z) <= 1e-11 && q.y > 1e-12));
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    fprintf(out,
            "Index 2: y' = f(y, z), 0 = g(y), f quadratic in z (hessenberg2). Exponents "
            "of h in\n"
            "the errors, measured from three step sizes; in brackets what theory says.\n"
            "Agreement: within %.1f of theory. 'library': 4 steps of 1/32 (s <= 2: 1/256) by\n"
            "dae_step, and how far their end is from that in quadruple precision.\n",
            bound);
    run_precisions(&v);
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) run_row(&v, &lab_index2, &table[i]);
    fprintf(out, "\nIf f is linear in z, projected Radau IA looks better than it is:\n");
    run_row(&v, &linear, &linear_radau);
    return verdict_total(&v);
}

const reproduction reproduction_rk_index2 = {
    .id = "rk-index2",
    .title = "orders of Runge-Kutta methods on index-2 problems, misprints refuted",
    .source = "lecture notes, table in 2.3.4; [HW96] VII.4; [HLR89]",
    .run = run,
};
