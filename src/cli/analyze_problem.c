/* analyze_problem.c: daedalus analyze PROBLEM: what numbers tell of a black box.
 *
 * The page of daedalus/analysis.h: index, hidden constraints, freedom, how safe the rank
 * decisions are; for constant Jacobians the pencil; with --reduce the transformation to
 * semi-explicit form.
 */
#include "cli/analyze_problem.h"
#include "cli/problem.h"

#include <daedalus/analysis.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MOST_SHOWN = 24, MOST_SQUARE = 12, NAME = 32 };

typedef struct page {
    cli *c;
    const problem_entry *entry;
    const char *form;
    const problem_instance *p;
    const dae_analysis *a;
    const dae_index_facts *f;
    int reduce, perturb;
    dae_response response; /* if perturb is set */
} page;

int cli_names_problem(const cli_arguments *a)
{
    return a->argument_count == 1 && problem_find(a->argument[0]) != NULL;
}

static const char *unknown_of(const problem_instance *p, int i, char buffer[NAME])
{
    const char *const *names = p->problem.names;
    if (names && names[i]) return names[i];
    snprintf(buffer, NAME, "x[%d]", i + 1);
    return buffer;
}

static const char *name_of(const page *g, int i, char buffer[NAME])
{
    return unknown_of(g->p, i, buffer);
}

static const char *equation_of(const page *g, int i, char buffer[NAME])
{
    const char *const *names = g->p->problem.equation_names;
    if (names && names[i]) return names[i];
    snprintf(buffer, NAME, "%d", i + 1);
    return buffer;
}

static int is_own(const page *g, int i)
{
    int own;
    for (int k = 0; dae_analysis_constraint(g->a, k, NULL, &own); k++)
        if (own == i) return 1;
    return 0;
}

/* ---- text ---- */

/* " + 2 name", the first without a sign if it is positive */
static void print_term(dae_sink *out, double factor, const char *name, const char *more, int first)
{
    const char *sign = factor < 0 ? (first ? "-" : " - ") : first ? "" : " + ";
    double size = fabs(factor);
    if (fabs(size - 1) < 1e-12)
        dae_sink_print(out, "%s%s%s", sign, more, name);
    else
        dae_sink_print(out, "%s%.6g %s%s", sign, size, more, name);
}

void cli_constraint_text(dae_sink *out, const problem_instance *p, const double *gradient)
{
    char buffer[NAME];
    int shown = 0;
    for (int j = 0; j < p->problem.size; j++) {
        if (fabs(gradient[j]) < 1e-8) continue;
        if (shown == 8) {
            dae_sink_text(out, " + ..");
            break;
        }
        print_term(out, gradient[j], unknown_of(p, j, buffer), "d ", shown++ == 0);
    }
    dae_sink_text(out, " = 0");
}

static void print_constraints(const page *g)
{
    dae_sink *out = g->c->out;
    int level;
    if (g->f->constraints == 0) return;
    dae_sink_text(out, "\nconstraints, linearized there (d: a small change)\n");
    for (int i = 0; i < g->f->constraints && i < MOST_SHOWN; i++) {
        const double *row = dae_analysis_constraint(g->a, i, &level, NULL);
        dae_sink_print(out, "  %s%d   ", level ? "hidden, level " : "given, level  ", level);
        cli_constraint_text(out, g->p, row);
        dae_sink_text(out, "\n");
    }
    if (g->f->constraints > MOST_SHOWN)
        dae_sink_print(out, "  and %d more\n", g->f->constraints - MOST_SHOWN);
}

static void print_freedom(const page *g)
{
    dae_sink *out = g->c->out;
    char buffer[NAME];
    int shown = 0, n = g->f->size;
    dae_sink_print(out, "  degrees of freedom    %d", g->f->freedom);
    for (int i = 0; g->f->regular && i < n && shown < MOST_SHOWN / 2; i++)
        if (!is_own(g, i))
            dae_sink_print(out, "%s%s",
                           shown++ ? ", " : ": can be given together: ", name_of(g, i, buffer));
    dae_sink_text(out, g->f->freedom > shown && shown > 0 ? ", ..\n" : "\n");
}

static void print_index(const page *g)
{
    const dae_index_facts *f = g->f;
    dae_sink *out = g->c->out;
    if (f->regular) {
        dae_sink_print(out, "  differential index    %d\n  strangeness index     %d\n", f->index,
                       f->strangeness);
        if (f->perturbation >= 0)
            dae_sink_print(out, "  perturbation index    %d (%s)\n", f->perturbation,
                           f->linear       ? "linear: that of the solution formula"
                           : f->index == 0 ? "an ODE: what Gronwall's lemma bounds"
                           : f->index == 1 ? "M x' = f with constant M: the same"
                                           : "Hessenberg form: the same");
        else
            dae_sink_print(out,
                           "  perturbation index    %d or more (not linear, no Hessenberg form; "
                           "--perturb asks by experiment)\n",
                           f->index);
    } else {
        dae_sink_print(out, "  differential index    not found: %s\n", f->why);
        dae_sink_print(out, "  determined by nothing %d unknowns\n", f->undetermined);
        dae_sink_print(out, "  nothing new or contradictory: %d equations\n", f->redundant);
    }
    if (g->perturb) {
        char buffer[NAME];
        int i = g->response.unknown;
        dae_sink_print(out, "  by experiment         perturbation index %d", g->response.index);
        if (i >= 0)
            dae_sink_print(out, ": '%s' answers eps sin(t/eps^2) with eps^%.2f",
                           name_of(g, i, buffer), g->response.exponent + 0.0);
        dae_sink_text(out, "\n");
    }
    print_freedom(g);
    dae_sink_print(out, "  constraints           %d: %d in the equations", f->constraints,
                   f->known[0]);
    for (int k = 1; k <= f->levels; k++)
        if (f->known[k] > f->known[k - 1])
            dae_sink_print(out, ", %d hidden behind %d differentiation%s",
                           f->known[k] - f->known[k - 1], k, k == 1 ? "" : "s");
    dae_sink_text(out, "\n");
}

static void print_safety(const page *g)
{
    const dae_index_facts *f = g->f;
    dae_sink *out = g->c->out;
    char buffer[NAME];
    dae_sink_print(out, "  rank decisions        closest: rank %d of %d x %d, ", f->weakest.rank,
                   f->weakest.rows, f->weakest.columns);
    if (isfinite(f->weakest.kept)) dae_sink_print(out, "%.2g kept, ", f->weakest.kept);
    dae_sink_print(out, "%.2g dropped, tolerance %.2g: %s\n", f->weakest.dropped, f->tolerance,
                   f->ambiguous ? "AMBIGUOUS, try another --tolerance" : "safe");
    if (f->ambiguous && f->why) dae_sink_print(out, "                        %s\n", f->why);
    if (f->moved_most < 0)
        dae_sink_text(out, "  consistent point      the initial values are consistent\n");
    else
        dae_sink_print(out, "  consistent point      '%s' moved by %.3g\n",
                       name_of(g, f->moved_most, buffer), f->moved);
}

static void print_pencil(const page *g)
{
    const dae_pencil_facts *q = dae_analysis_pencil(g->a);
    dae_sink *out = g->c->out;
    if (!q) return;
    dae_sink_print(out, "\nthe pencil s C + K: %s, index %d\n", q->regular ? "regular" : "singular",
                   q->index);
    static const char *const kinds[] = { "blocks at infinity of size", "column minimal indices",
                                         "row minimal indices" };
    const int *counts[] = { q->infinite, q->columns, q->rows };
    for (int kind = 0; kind < 3; kind++)
        for (int k = 0; k <= q->sizes; k++)
            if (counts[kind][k])
                dae_sink_print(out, "  %-26s %d: %d\n", kinds[kind], k, counts[kind][k]);
    dae_sink_print(out, "  finite eigenvalues         %d", q->finite);
    for (int i = 0; i < q->finite && i < MOST_SHOWN / 2; i++)
        if (q->imaginary[i] >= 0) {
            dae_sink_print(out, "%s%.6g", i ? ", " : ": ", q->real[i] + 0.0);
            if (q->imaginary[i] > 0) dae_sink_print(out, " +- %.6g i", q->imaginary[i]);
        }
    dae_sink_text(out, q->finite > MOST_SHOWN / 2 ? ", ..\n" : "\n");
}

static void print_matrix(dae_sink *out, const char *name, const double *A, int n)
{
    for (int i = 0; i < n; i++) {
        dae_sink_print(out, "  %s", i ? "    " : name);
        for (int j = 0; j < n; j++) dae_sink_print(out, " %10.5g", A[i + j * n] + 0.0);
        dae_sink_text(out, "\n");
    }
}

/* u or v, numbered */
static void new_name(const dae_semi_explicit *s, int i, char buffer[NAME])
{
    snprintf(buffer, NAME, i < s->rank ? "u%d" : "v%d", i < s->rank ? i + 1 : i - s->rank + 1);
}

static void print_new_equations(const page *g, const dae_semi_explicit *s)
{
    dae_sink *out = g->c->out;
    char buffer[NAME], label[2 * NAME];
    int n = g->f->size;
    dae_sink_text(out, "  unknowns x = Q (u, v):\n");
    for (int i = 0; i < n; i++) {
        int shown = 0;
        dae_sink_print(out, "    %s = ", name_of(g, i, buffer));
        for (int j = 0; j < n; j++)
            if (s->Q[i + j * n] != 0) {
                new_name(s, j, buffer);
                print_term(out, s->Q[i + j * n], buffer, "", shown++ == 0);
            }
        dae_sink_text(out, "\n");
    }
    dae_sink_text(out, "  equations, g(k) being what equation k has beside M x', on the right:\n");
    for (int i = 0; i < n; i++) {
        int shown = 0;
        new_name(s, i, buffer);
        dae_sink_print(out, "    %s%s = ", i < s->rank ? buffer : "0", i < s->rank ? "'" : "");
        for (int k = 0; k < n; k++)
            if (s->P[i + k * n] != 0) {
                snprintf(label, sizeof label, "g(%s)", equation_of(g, k, buffer));
                print_term(out, s->P[i + k * n], label, "", shown++ == 0);
            }
        dae_sink_text(out, "\n");
    }
}

static void print_reduced(const page *g)
{
    dae_sink *out = g->c->out;
    const dae_semi_explicit *s = dae_analysis_semi_explicit(g->a);
    dae_sink_text(out, "\nsemi-explicit form\n");
    if (!s) {
        dae_sink_text(out, "  none: M = F_x' is not constant\n");
        return;
    }
    dae_sink_print(out, "  P M Q = diag(%d ones, %d zeros), up to %.1g\n", s->rank,
                   g->f->size - s->rank, s->error);
    if (g->f->size > MOST_SQUARE) {
        dae_sink_print(out, "  %d x %d: shown up to %d; all of it with --json\n", g->f->size,
                       g->f->size, MOST_SQUARE);
        return;
    }
    print_matrix(out, "M = ", s->M, g->f->size);
    print_matrix(out, "P = ", s->P, g->f->size);
    print_matrix(out, "Q = ", s->Q, g->f->size);
    print_new_equations(g, s);
}

static void print_page(const page *g)
{
    const dae_index_facts *f = g->f;
    dae_sink *out = g->c->out;
    dae_sink_print(out, "%s, form %s: %d equations, at t = %.6g, as a black box\n", g->entry->name,
                   g->form, f->size, g->p->t0);
    dae_sink_print(out, "  pattern               %lld places of %lld\n", (long long)f->entries,
                   (long long)f->size * f->size);
    dae_sink_print(out, "  kind                  %s",
                   f->constant ? "linear, constant coefficients\n"
                   : f->linear ? "linear, "
                               : "nonlinear, ");
    if (!f->constant)
        dae_sink_print(out, "%lld entries of F_x and F_x' vary along the solution\n",
                       (long long)f->varying);
    print_index(g);
    print_safety(g);
    print_constraints(g);
    print_pencil(g);
    if (g->reduce) print_reduced(g);
}

/* ---- JSON ---- */

static void integers(dae_json *j, const char *name, const int *list, int count)
{
    dae_json_array(j, name);
    for (int i = 0; i < count; i++) dae_json_integer(j, NULL, list[i]);
    dae_json_end(j);
}

static void numbers(dae_json *j, const char *name, const double *list, int count)
{
    dae_json_array(j, name);
    for (int i = 0; i < count; i++) dae_json_number(j, NULL, list[i]);
    dae_json_end(j);
}

static void facts_json(dae_json *j, const page *g)
{
    const dae_index_facts *f = g->f;
    const struct {
        const char *name;
        int64_t value;
    } row[] = {
        { "size", f->size },
        { "entries", f->entries },
        { "varying", f->varying },
        { "linear", f->linear },
        { "constant", f->constant },
        { "regular", f->regular },
        { "index", f->index },
        { "strangeness", f->strangeness },
        { "perturbation", f->perturbation },
        { "freedom", f->freedom },
        { "constraints", f->constraints },
        { "undetermined", f->undetermined },
        { "redundant", f->redundant },
        { "contradiction", f->contradiction },
        { "ambiguous", f->ambiguous },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        dae_json_integer(j, row[i].name, row[i].value);
    integers(j, "known", f->known, f->levels + 1);
    dae_json_number(j, "kept", f->weakest.kept);
    dae_json_number(j, "dropped", f->weakest.dropped);
    dae_json_number(j, "tolerance", f->tolerance);
    dae_json_number(j, "time_scale", f->time_scale);
    dae_json_number(j, "moved", f->moved);
    if (f->why) dae_json_string(j, "why", f->why);
    if (g->perturb) {
        dae_json_integer(j, "perturbation_by_experiment", g->response.index);
        dae_json_number(j, "response_exponent", g->response.exponent);
    }
}

static void constraints_json(dae_json *j, const page *g)
{
    char buffer[NAME];
    int level, own;
    dae_json_array(j, "constraint_list");
    for (int i = 0; i < g->f->constraints; i++) {
        const double *row = dae_analysis_constraint(g->a, i, &level, &own);
        dae_json_object(j, NULL);
        dae_json_integer(j, "level", level);
        dae_json_string(j, "own", name_of(g, own, buffer));
        numbers(j, "gradient", row, g->f->size);
        dae_json_end(j);
    }
    dae_json_end(j);
}

static void pencil_json(dae_json *j, const dae_pencil_facts *q)
{
    dae_json_object(j, "pencil");
    dae_json_integer(j, "regular", q->regular);
    dae_json_integer(j, "index", q->index);
    integers(j, "infinite", q->infinite, q->sizes + 1);
    integers(j, "columns", q->columns, q->sizes + 1);
    integers(j, "rows", q->rows, q->sizes + 1);
    numbers(j, "real", q->real, q->finite);
    numbers(j, "imaginary", q->imaginary, q->finite);
    dae_json_end(j);
}

static void page_json(const page *g)
{
    dae_json j;
    const dae_pencil_facts *q = dae_analysis_pencil(g->a);
    const dae_semi_explicit *s = dae_analysis_semi_explicit(g->a);
    int square = g->f->size * g->f->size;
    dae_json_open(&j, g->c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_string(&j, "problem", g->entry->name);
    dae_json_string(&j, "form", g->form);
    facts_json(&j, g);
    constraints_json(&j, g);
    if (q) pencil_json(&j, q);
    if (g->reduce && s) {
        dae_json_object(&j, "semi_explicit");
        dae_json_integer(&j, "rank", s->rank);
        numbers(&j, "M", s->M, square);
        numbers(&j, "P", s->P, square);
        numbers(&j, "Q", s->Q, square);
        dae_json_end(&j);
    }
    dae_json_end(&j);
}

/* ---- the verb ---- */

static int failed(cli *c, const dae_analysis *a)
{
    c->report.status = dae_analysis_status(a);
    c->report.length =
        (size_t)snprintf(c->report.text, sizeof c->report.text, "%s", dae_analysis_message(a));
    return cli_fail(c);
}

/* A leading term's initial values hold d', not x': then x' is left to the analysis. */
static int show(page *g, const dae_analysis_options *o)
{
    const problem_instance *p = g->p;
    dae_analysis *a = dae_analyze(&p->problem, o, p->t0, p->x0, p->problem.d ? NULL : p->xdot0);
    int code = 0;
    g->a = a;
    g->f = dae_analysis_facts(a);
    if (!g->f || (g->perturb && dae_analysis_perturb(a, &g->response) != DAE_OK))
        code = failed(g->c, a);
    else if (g->c->json)
        page_json(g);
    else
        print_page(g);
    dae_analysis_close(a);
    return code;
}

int cli_analyze_problem(cli *c, const cli_arguments *arguments)
{
    int code = 0;
    problem_instance p;
    const char *set[CLI_MOST_REPEATS], *tolerance = cli_value(arguments, "tolerance");
    dae_analysis_options o = { 0 };
    page g = { .c = c,
               .form = cli_value(arguments, "form"),
               .p = &p,
               .reduce = cli_given(arguments, "reduce"),
               .perturb = cli_given(arguments, "perturb") };
    int count = cli_repeated(arguments, "set", set);
    g.entry = cli_problem_find(c, arguments->argument[0], &code);
    if (!g.entry) return code;
    if (tolerance) code = cli_number(c, "--tolerance", tolerance, &o.tolerance);
    if (code == 0) code = cli_problem_open(c, g.entry, g.form, set, count, &p);
    if (code) return code;
    g.form = g.form ? g.form : g.entry->forms[0];
    o.time_scale = 0.1 * fabs(p.t1 - p.t0);
    code = show(&g, &o);
    problem_close(&p);
    return code;
}
