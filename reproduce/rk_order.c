/* rk_order.c: which order of a Runge-Kutta method survives stiffness and index 1.
 *
 * Sources: lecture notes on DAEs, 2.1.3 (order reduction, stage order), 2.1.4 and 2.3.3
 * (collocation), 2.2.2 (index 1), Corollary 2.1; [HW96] Hairer, Wanner, Solving Ordinary
 * Differential Equations II, IV.15, VI.1, VI.3, VII.4. p is the classical order, q the
 * stage order, both as computed from the coefficients (tableau/verify.c).
 *
 * Beside the steppers of this laboratory, in quadruple precision, are the library's methods of the
 * same tables: the same prescribed steps, so that the results may differ by rounding only.
 */
#include "rk_expand.h"

#include <math.h>

static const double bound = 0.2; /* between measured and expected order */

/* What rounding and Newton's iteration may leave between the library and quadruple precision: some
 * three times what is seen. */
static const double prothero_left = 2e-14, index1_left = 5e-11;

#define COUNT(a) (int)(sizeof(a) / sizeof *(a))

/* ---- Prothero and Robinson ---- */

/* y' = lambda (y - phi) + phi', phi = exp t: the stages solve the linear system
 *
 *     (I - h lambda A) D = 1 (y_n - phi_n) + h A phi'(t_n + c h) + phi_n - phi(t_n + c h)
 *
 * for D_i = Y_i - phi(t_n + c_i h). */
static int stages(const dae_tableau *t, dae_quad h, dae_quad lambda, dae_quad time, dae_quad error,
                  dae_quad *D)
{
    int s = t->stages, pivot[DAE_STAGES_MOST];
    dae_quad M[DAE_STAGES_MOST * DAE_STAGES_MOST], phi[DAE_STAGES_MOST];
    dae_quad now = lab_exp_q(time);
    for (int i = 0; i < s; i++) phi[i] = lab_exp_q(time + t->c[i] * h);
    for (int i = 0; i < s; i++) {
        D[i] = error + now - phi[i];
        for (int j = 0; j < s; j++) {
            D[i] += h * t->A[i][j] * phi[j];
            M[i + j * s] = (i == j) - h * lambda * t->A[i][j];
        }
    }
    if (!lab_factor_q(s, M, pivot)) return 0;
    lab_solve_q(s, M, pivot, D);
    return 1;
}

/* |error| at t = 1 after n steps from the exact value. Stiffly accurate methods end with
 * their last stage: the sum would lose h lambda digits. */
static double prothero(const dae_tableau *t, int accurate, int n, double lambda)
{
    dae_quad D[DAE_STAGES_MOST], error = 0, h = (dae_quad)1 / n;
    for (int k = 0; k < n; k++) {
        dae_quad time = k * h;
        if (!stages(t, h, lambda, time, error, D)) return NAN;
        error += lab_exp_q(time) - lab_exp_q(time + h);
        for (int i = 0; i < t->stages; i++)
            error += h * t->b[i] * (lambda * D[i] + lab_exp_q(time + t->c[i] * h));
        if (accurate) error = D[t->stages - 1];
    }
    return (double)lab_abs_q(error);
}

/* ---- Prothero and Robinson by the library ---- */

static int prothero_rhs(double t, const double *y, double *f, void *user)
{
    f[0] = *(const double *)user * (y[0] - exp(t)) + exp(t);
    return DAE_OK;
}

static int prothero_jacobian(double t, const double *y, const double *ydot, double *J, void *user)
{
    (void)t, (void)y, (void)ydot;
    J[0] = *(const double *)user;
    return DAE_OK;
}

/* |error| as above, with dae_step. */
static double prothero_library(const dae_tableau *t, int n, double lambda)
{
    const dae_problem p = { .size = 1,
                            .rhs = prothero_rhs,
                            .jacobian_x = prothero_jacobian,
                            .pattern = { .kind = DAE_PATTERN_DENSE },
                            .user = &lambda };
    const dae_options o = { .method = t->name,
                            .fixed_step = 1.0 / n,
                            .rtol = 1e-3,
                            .atol = 1,
                            .newton_tolerance = 1e-13,
                            .newton_max = 100,
                            .start = DAE_START_TRUST };
    double y = 1, slope = 1;
    dae_solver *s = study_open(&p, &o);
    dae_status status = dae_start(s, 0, &y, &slope);
    for (int k = 0; k < n && status == DAE_OK; k++) status = dae_step(s, 2);
    if (status == DAE_OK) status = dae_read(s, dae_time(s), &y, NULL);
    dae_close(s);
    return status == DAE_OK ? fabs(y - exp(1)) : NAN;
}

/* For |h lambda| -> oo and -1 <= R(oo) < 1 a step leaves h^(q+1), times 1 / (h lambda)
 * when the last stage is the solution. R(oo) = 1 lets the steps add up. */
static int stiff_order(const dae_tableau *t, const lab_facts *f)
{
    if (f->stiffly_accurate || f->at_infinity > 1 - 1e-9) return t->stage_order;
    return t->stage_order + 1;
}

static void run_prothero_row(verdicts *v, const char *name, int columns, const double *lambda)
{
    enum { points = 3 };
    double order = NAN, h[points], e[points], first = NAN;
    dae_tableau t;
    lab_facts f;
    if (!lab_find(v, name, 0, &t)) return;
    lab_look(&t, &f);
    fprintf(v->out, "    %-12s %d  %d  %-4s", name, t.order, t.stage_order,
            f.stiffly_accurate ? "yes" : "no");
    for (int c = 0; c < columns; c++) {
        for (int i = 0; i < points; i++) {
            h[i] = 1. / (24 + 8 * i);
            e[i] = prothero(&t, f.stiffly_accurate, 24 + 8 * i, -lambda[c]);
        }
        order = fitted_order(points, h, e);
        if (c == 0) first = order;
        fprintf(v->out, " %5.2f", order);
    }
    int stiff = stiff_order(&t, &f);
    fprintf(v->out, "   (%d .. %d)  %s\n", t.order, stiff,
            verdict(v, fabs(first - t.order) <= bound && fabs(order - stiff) <= bound));
}

/* The library's steps: its error at a moderate, a stiff and a very stiff lambda less that of the
 * steps above. exp(t) is known to 1e-16 of itself, and so is lambda (y - exp(t)) / lambda. */
static void run_prothero_library(verdicts *v, const char *name)
{
    static const double lambda[] = { 0.1, 1e3, 1e6 };
    double most = 0;
    dae_tableau t;
    lab_facts f;
    if (!lab_find(v, name, 0, &t)) return;
    lab_look(&t, &f);
    fprintf(v->out, "    %-12s", name);
    for (int c = 0; c < COUNT(lambda); c++) {
        double e = prothero_library(&t, 32, -lambda[c]);
        double apart = fabs(e - prothero(&t, f.stiffly_accurate, 32, -lambda[c]));
        fprintf(v->out, "  %8.1e %8.1e", e, apart);
        most = apart <= most ? most : apart; /* NaN stays */
    }
    fprintf(v->out, "  (%.0e)  %s\n", prothero_left, verdict(v, most <= prothero_left));
}

static void run_prothero(verdicts *v)
{
    static const double lambda[] = { 0.1, 10, 100, 1e3, 1e4, 1e6, 1e9, 1e12 };
    static const char *const name[] = {
        "gauss-1",    "gauss-2",    "gauss-3",    "gauss-4",     "radau1a-2",   "radau1a-3",
        "radau2a-2",  "radau2a-3",  "radau2a-4",  "lobatto3c-2", "lobatto3c-3", "lobatto3c-4",
        "crouzeix-2", "crouzeix-3", "sdirk4-18",  "sdirk2",      "cash-32",     "cash-43",
        "sdirk4-16",  "trbdf2",     "kvaerno-32", "kvaerno-43",  "kvaerno-54",  "esdirk32",
        "esdirk43",   "esdirk54",
    };
    fprintf(v->out,
            "\nOrder reduction: y' = lambda (y - phi) + phi', phi = exp t, h = 1/24 .. "
            "1/40;\n"
            "order in h at fixed lambda. From p it falls to q when a_si = b_i or R(oo) = 1,\n"
            "else to q + 1; in between it is neither\n"
            "    %-12s p  q  a=b  ",
            "-lambda:");
    for (int c = 0; c < COUNT(lambda); c++) fprintf(v->out, " %5.0g", lambda[c]);
    fprintf(v->out, "\n");
    for (int i = 0; i < COUNT(name); i++) run_prothero_row(v, name[i], COUNT(lambda), lambda);
    fprintf(v->out,
            "\nThe library's methods, 32 steps of 1/32 by dae_step: error at t = 1, and what it "
            "differs\nby from the above at -lambda = 0.1, 1e3, 1e6; in brackets what rounding "
            "may leave\n");
    for (int i = 0; i < COUNT(name); i++) run_prothero_library(v, name[i]);
}

/* ---- collocation ---- */

static void run_collocation_row(verdicts *v, const lab_problem *p, const char *name, int same)
{
    dae_tableau t;
    if (!lab_find(v, name, 0, &t)) return;
    /* the polynomials that are no Runge-Kutta method explode: one step will do */
    lab_run rk = { .problem = p, .table = &t, .h = 1 / 16., .steps = same ? 8 : 1 };
    lab_run polynomials = rk;
    polynomials.form = LAB_COLLOCATION;
    double d = lab_difference_d(&rk, &polynomials), q = lab_difference_q(&rk, &polynomials);
    int good = same ? d <= 1e-11 && q <= 1e-29 : q >= 1e-10 && fabs(d - q) <= 1e-12;
    fprintf(v->out, "    %-8s %-12s %8.1e %8.1e  %-9s  %s\n", p->name, name, d, q,
            same ? "equal" : "different", verdict(v, good));
}

static void run_collocation(verdicts *v)
{
    static const lab_problem *const problem[] = { &lab_index0, &lab_index1, &lab_index2 };
    static const char *const equal[] = { "gauss-2",   "gauss-3",     "radau2a-3",
                                         "radau2a-4", "lobatto3a-3", "lobatto3a-4" };
    static const char *const other[] = { "radau1a-3", "lobatto3c-3" };
    fprintf(v->out, "\nCollocation (2.10), the coefficients of u and v as unknowns, "
                    "against the method\n"
                    "(2.1), (2.7), (2.9): largest difference after 8 steps of 1/16 (1 "
                    "step where it must\n"
                    "not vanish), in double and in quadruple precision. v has degree s, "
                    "and s - 1 if\n"
                    "c_1 = 0\n");
    for (int k = 0; k < COUNT(problem); k++) {
        for (int i = 0; i < COUNT(equal); i++) run_collocation_row(v, problem[k], equal[i], 1);
        for (int i = 0; i < COUNT(other); i++) run_collocation_row(v, problem[k], other[i], 0);
    }
}

/* ---- index 1 ---- */

/* The order of z by (2.7d). A first stage x_n (ESDIRK, Lobatto IIIA) comes with a last
 * stage x_{n+1}. */
static int index1_order(const dae_tableau *t, const lab_facts *f)
{
    if (f->stiffly_accurate) return t->order;
    if (f->at_infinity > 1 - 1e-9)
        return t->order - 1 < t->stage_order ? t->order - 1 : t->stage_order;
    return t->order < t->stage_order + 1 ? t->order : t->stage_order + 1;
}

static void run_index1_row(verdicts *v, const char *name)
{
    dae_tableau t;
    lab_facts f;
    if (!lab_find(v, name, 0, &t)) return;
    lab_look(&t, &f);
    lab_study s = { .run = { .problem = &lab_index1, .table = &t },
                    .length = 0.5,
                    .quad = t.order > 3,
                    .count = 3,
                    .n = { 48, 72, 96 } };
    for (int i = 0; i < s.count; i++) /* what low order allows, and needs */
        s.n[i] *= t.order <= 3 ? 8 : t.order == 4 ? 4 : 1;
    lab_error d = lab_orders(&s);
    s.run.form = LAB_STATE_SPACE;
    lab_error e = lab_orders(&s);
    int z = index1_order(&t, &f);
    char at_infinity[16] = "-";
    if (f.invertible) snprintf(at_infinity, sizeof at_infinity, "%.3f", f.at_infinity);
    fprintf(v->out, "    %-19s %2d  %d  %-4s %6s   %5.2f (%2d)  %5.2f (%2d)   %5.2f (%2d)  %s\n",
            name, t.order, t.stage_order, f.stiffly_accurate ? "yes" : "no", at_infinity, d.y,
            t.order, d.z, z, e.z, t.order,
            verdict(v, fabs(d.y - t.order) <= bound && fabs(d.z - z) <= bound &&
                           fabs(e.y - t.order) <= bound && fabs(e.z - t.order) <= bound));
}

/* The library's steps by (2.7d), and by (2.7e) where it has that (fully implicit tables). */
static void run_index1_library(verdicts *v, const char *name)
{
    dae_tableau t;
    char method[64];
    if (!lab_find(v, name, 0, &t)) return;
    for (int g = 0; g <= (t.kind == DAE_TABLEAU_FULL); g++) {
        lab_run r = { .problem = &lab_index1,
                      .table = &t,
                      .h = 1 / 16.,
                      .steps = 8,
                      .form = g ? LAB_STATE_SPACE : LAB_EMBEDDED };
        lab_error e;
        double apart = lab_apart(&r, NULL, &e);
        lab_method_name(&r, method, sizeof method);
        fprintf(v->out, "    %-21s errors %7.1e %7.1e of y, z; from quad %7.1e (%.0e)  %s\n",
                method, e.y, e.z, apart, index1_left, verdict(v, apart <= index1_left));
    }
}

static void run_index1(verdicts *v)
{
    static const char *const name[] = {
        "gauss-1",
        "gauss-2",
        "gauss-3",
        "gauss-4",
        "gauss-5",
        "radau1a-2",
        "radau1a-3",
        "radau1a-4",
        "crouzeix-2",
        "crouzeix-3",
        "sdirk4-18",
        "radau2a-2",
        "radau2a-3",
        "radau2a-4",
        "lobatto3c-2",
        "lobatto3c-3",
        "lobatto3c-4",
        "sdirk2",
        "cash-32",
        "cash-43",
        "sdirk4-16",
        "lobatto3a-3",
        "lobatto3a-4",
        "trbdf2",
        "kvaerno-32",
        "kvaerno-43",
        "kvaerno-54",
        "esdirk32",
        "esdirk43",
        "esdirk54",
        "shifted-lobatto-0.5",
    };
    fprintf(v->out,
            "\nIndex 1: orders of y and z by (2.7d), of z by (2.7e). z: p if a_si = b_i, "
            "else\n"
            "min(p, q + 1) for -1 <= R(oo) < 1 and min(p - 1, q) for R(oo) = 1; with "
            "(2.7e) p\n"
            "    %-19s  p  q  a=b   R(oo)    y            z            z by (2.7e)\n",
            "");
    for (int i = 0; i < COUNT(name); i++) run_index1_row(v, name[i]);
    fprintf(v->out,
            "\nIndex 1 by the library, (2.7d) and with +g (2.7e): 8 steps of 1/16 by dae_step, "
            "and how\nfar their end is from that in quadruple precision\n");
    for (int i = 0; i < COUNT(name); i++) run_index1_library(v, name[i]);
}

/* ---- Corollary 2.1 ---- */

enum { SIZES = 3 };

/* Orders of Delta y^0, Delta y^1, Delta z^0, Delta z^1, which must reach p, q + 1, and
 * for z q + 1 (p if stiffly accurate), q. */
static int expansion(expand_case *c, const dae_tableau *t, int n, double order[4])
{
    double h[SIZES], e[4][SIZES];
    for (int i = 0; i < SIZES; i++) {
        dae_quad delta[2][LAB_UNKNOWNS];
        int steps = n * (2 + i) / 2;
        h[i] = c->length / steps;
        if (!expand_deltas(c, t, steps, 2, delta)) return 0;
        for (int k = 0; k < 4; k++) e[k][i] = expand_norm(c->p, delta[k % 2], k / 2);
    }
    for (int k = 0; k < 4; k++) order[k] = fitted_order(SIZES, h, e[k]);
    return 1;
}

/* sup over eps <= h of |error| / bound for y and z, for h halved twice: must not grow. */
static int uniform(expand_case *c, const dae_tableau *t, const lab_facts *f, int n,
                   double most[2][SIZES])
{
    int p = t->order, q = t->stage_order;
    for (int i = 0; i < SIZES; i++)
        for (int j = 0; j < 4; j++) {
            dae_quad e[LAB_UNKNOWNS];
            double h = c->length / (n << i), eps = ldexp(h, -3 * j);
            double y = pow(h, p) + eps * pow(h, q + 1), z = pow(h, q + 1);
            if (f->stiffly_accurate) z = pow(h, p) + eps * pow(h, q);
            if (!expand_error(c, t, n << i, eps, e)) return 0;
            y = expand_norm(c->p, e, EXPAND_Y) / y;
            z = expand_norm(c->p, e, EXPAND_Z) / z;
            most[0][i] = y > most[0][i] ? y : most[0][i];
            most[1][i] = z > most[1][i] ? z : most[1][i];
        }
    return 1;
}

static void run_corollary_row(verdicts *v, expand_case *c, const dae_tableau *t, const lab_facts *f)
{
    double order[4] = { NAN, NAN, NAN, NAN }, most[2][SIZES] = { { 0 } };
    int p = t->order, q = t->stage_order, n = t->stages <= 3 ? 128 : 32;
    int within =
        f->right_half && fabs(f->at_infinity) < 1 - 1e-9 && (t->claims & DAE_CLAIM_A_STABLE);
    int least[] = { p, q + 1, f->stiffly_accurate ? p : q + 1, q };
    int good = expansion(c, t, n, order);
    if (within) good = good && uniform(c, t, f, 16, most);
    fprintf(v->out, "    %-14s %-5s", t->name, f->stiffly_accurate ? "2.32" : "2.31");
    for (int k = 0; k < 4; k++) {
        fprintf(v->out, " %5.2f (%d)", order[k], least[k]);
        good = good && order[k] >= least[k] - bound;
    }
    for (int k = 0; k < 2 && within; k++)
        for (int i = 0; i < SIZES; i++) {
            fprintf(v->out, "%s%.0e", i ? " " : "  ", most[k][i]);
            good = good && (i == 0 || most[k][i] <= 1.5 * most[k][i - 1]);
        }
    if (within)
        fprintf(v->out, "  %s\n", verdict(v, good));
    else
        fprintf(v->out, "  not covered: |R(oo)| = %.2f\n", fabs(f->at_infinity));
}

static void run_corollary(verdicts *v)
{
    expand_case c;
    int covered = 0;
    fprintf(v->out,
            "\nCorollary 2.1 for every table with invertible A: orders of the "
            "coefficients of 1\n"
            "and eps in the errors of y and z (at least), and sup over eps <= h of error "
            "/ bound\n"
            "for h = 1/32, 1/64, 1/128: bounded\n"
            "    %-14s        y: 1       eps     z: 1       eps       sup y              "
            "  sup z\n",
            "");
    if (!expand_open(&c, &lab_index1, 0.5)) verdict(v, 0);
    for (int i = 0; dae_tableau_name(i); i++) {
        dae_tableau t;
        lab_facts f;
        if (!lab_find(v, dae_tableau_name(i), 0, &t) || t.kind == DAE_TABLEAU_ROSENBROCK ||
            t.kind == DAE_TABLEAU_EXPLICIT)
            continue;
        lab_look(&t, &f);
        covered += f.invertible;
        if (f.invertible) run_corollary_row(v, &c, &t, &f);
    }
    fprintf(v->out, "    %d tables  %s\n", covered, verdict(v, covered >= 4));
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    fprintf(out,
            "Orders of Runge-Kutta methods on stiff problems and on DAEs of index 1. Theory\n"
            "in brackets; agreement: within %.1f.\n",
            bound);
    run_prothero(&v);
    run_collocation(&v);
    run_index1(&v);
    run_corollary(&v);
    return verdict_total(&v);
}

const reproduction reproduction_rk_order = {
    .id = "rk-order",
    .title = "order reduction, collocation, index 1 and Corollary 2.1 for all tables",
    .source = "lecture notes, 2.1.3, 2.1.4, 2.2.2, 2.3.3, (2.31), (2.32); [HW96] IV.15, "
              "VI, VII",
    .run = run,
};
