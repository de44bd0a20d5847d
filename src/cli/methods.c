/* methods.c: daedalus methods [NAME]: what integrates, and tables with what they are.
 *
 * Of a table the facts are computed from its coefficients when asked (tableau/verify.c), and
 * shown beside what the table claims.
 */
#include "cli/methods.h"
#include "integrate/choose.h"
#include "integrate/solver.h"
#include "tableau/verify.h"

#include <stdio.h>
#include <string.h>

/* ---- facts beside claims, for both kinds of output ---- */

enum { RUNGE_KUTTA = 1, IMPLICIT = 2, ROSENBROCK = 4, EVERY = 7 };

typedef struct fact {
    int kinds; /* of methods that it is asked of */
    const char *text, *key;
    int flag;              /* shown as yes and no */
    int computed, claimed; /* claimed -1: the table says nothing about it */
} fact;

enum { MOST_FACTS = 20 };

static int kinds_of(const dae_tableau *t)
{
    if (t->kind == DAE_TABLEAU_ROSENBROCK) return ROSENBROCK;
    return t->kind == DAE_TABLEAU_EXPLICIT ? RUNGE_KUTTA : RUNGE_KUTTA | IMPLICIT;
}

static int list_facts(const dae_tableau *t, const dae_verified *v, fact *out)
{
    unsigned c = t->claims;
    const fact all[] = {
        { EVERY, "order", "order", 0, v->order, t->order },
        { RUNGE_KUTTA, "stage order", "stage_order", 0, v->stage_order, t->stage_order },
        { EVERY, "embedded order", "embedded_order", 0, v->embedded_order, t->embedded_order },
        { EVERY, "dense output, order", "dense_order", 0, v->dense_order, t->dense_order },
        { ROSENBROCK, "order on index 1", "index1_order", 0, v->index1_order, t->index1_order },
        { RUNGE_KUTTA, "B(p): p", "B", 0, v->B, -1 },
        { RUNGE_KUTTA, "C(eta): eta", "C", 0, v->C, -1 },
        { RUNGE_KUTTA, "D(zeta): zeta", "D", 0, v->D, -1 },
        { EVERY, "stiffly accurate", "stiffly_accurate", 1, v->stiffly_accurate,
          !!(c & DAE_CLAIM_STIFFLY_ACCURATE) },
        { EVERY, "embedded formula too", "embedded_stiffly_accurate", 1,
          v->embedded_stiffly_accurate, !!(c & DAE_CLAIM_EMBEDDED_STIFFLY_ACCURATE) },
        { RUNGE_KUTTA, "collocation", "collocation", 1, v->collocation,
          !!(c & DAE_CLAIM_COLLOCATION) },
        { EVERY, "A-stable", "A_stable", 1, v->A_stable, !!(c & DAE_CLAIM_A_STABLE) },
        { EVERY, "L-stable", "L_stable", 1, v->L_stable, !!(c & DAE_CLAIM_L_STABLE) },
        { RUNGE_KUTTA, "algebraically stable", "algebraically_stable", 1, v->algebraic,
          !!(c & DAE_CLAIM_ALGEBRAIC) },
        { IMPLICIT, "spectrum in Re > 0", "positive_spectrum", 1, v->positive_spectrum, -1 },
    };
    int count = 0;
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        if (all[k].kinds & kinds_of(t)) out[count++] = all[k];
    }
    return count;
}

static const char *kind_name(dae_tableau_kind kind)
{
    switch (kind) {
    case DAE_TABLEAU_EXPLICIT: return "explicit";
    case DAE_TABLEAU_DIRK: return "diagonally implicit";
    case DAE_TABLEAU_FULL: return "fully implicit";
    case DAE_TABLEAU_ROSENBROCK: return "Rosenbrock";
    }
    return "";
}

/* ---- text ---- */

static const char AUTO[] = "the default: one of these, by a table ('daedalus methods auto')";

/* The table behind 'auto'. */
static int choices(cli *c)
{
    const dae_choice *row;
    dae_json j;
    char bound[48];
    snprintf(bound, sizeof bound, "rtol >= %g", dae_choice_tight());
    if (!c->json)
        dae_sink_print(c->out, "auto: the first row that holds decides\n\n%-50s %-15s %s\n", "",
                       bound, "below");
    for (int i = 0; !c->json && (row = dae_choice_list(i)); i++)
        dae_sink_print(c->out, "%-50s %-15s %s\n    %s\n", row->when, row->method[0],
                       row->method[1], row->why);
    if (!c->json) return 0;
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_string(&j, "name", "auto");
    dae_json_number(&j, "tight", dae_choice_tight());
    dae_json_array(&j, "rows");
    for (int i = 0; (row = dae_choice_list(i)); i++) {
        dae_json_object(&j, NULL);
        dae_json_string(&j, "when", row->when);
        dae_json_string(&j, "coarse", row->method[0]);
        dae_json_string(&j, "fine", row->method[1]);
        dae_json_string(&j, "why", row->why);
        dae_json_end(&j);
    }
    dae_json_end(&j);
    dae_json_end(&j);
    return 0;
}

static void list_text(cli *c)
{
    const char *name;
    int least, most;
    dae_tableau t;
    dae_sink_print(c->out, "%-20s %s\n", "auto", AUTO);
    for (int i = 0; i < dae_method_count(); i++) {
        name = dae_method_name(i);
        if (!dae_tableau_find(name, &t) && !methods_multistep_title(name))
            dae_sink_print(c->out, "%-20s %s\n", name, dae_method_description(name));
    }
    dae_sink_print(c->out, "\n%-20s %6s %5s  %s\n", "table", "stages", "order", "");
    for (int i = 0; (name = dae_tableau_name(i)); i++) {
        if (dae_tableau_find(name, &t))
            dae_sink_print(c->out, "%-20s %6d %5d  %s\n", name, t.stages, t.order, t.title);
    }
    dae_sink_text(c->out, "\nwith any number of stages:\n");
    for (int i = 0; (name = dae_tableau_family(i, &least, &most)); i++)
        dae_sink_print(c->out, "  %-12s S = %d to %d\n", name, least, most);
    dae_sink_text(c->out, "  shifted-lobatto-R  R = 0.001 to 1, a decimal\n");
    methods_list_multistep(c);
    dae_sink_text(
        c->out, "\nvariants:\n"
                "  projected-TABLE  index 2: the end of a step put on the constraints\n"
                "  TABLE+g          index 1: algebraic unknowns from their equations\n"
                "  one-leg-FORMULA  f at the combination of points\n"
                "  raw-FORMULA      on problems it is unstable on: for experiments\n"
                "  late-FORMULA     index 2: discretized before the constraint is applied\n"
                "  mech-TABLE       mechanisms: mech-dopri5, mech-hem4, mech-herk-3, mech-herk-2\n"
                "\n'daedalus methods NAME' tells more about one of them.\n");
}

/* Many stages in few digits: a row shall fit on a screen; JSON has them all. */
static void row_text(dae_sink *out, const char *head, const dae_quad *row, int count, int stages)
{
    int digits = stages <= 3 ? 15 : stages <= 7 ? 6 : 3;
    dae_sink_print(out, "%*s |", digits + 5, head);
    for (int j = 0; j < count; j++)
        dae_sink_print(out, " %*.*f", digits + 4, digits, (double)row[j]);
    dae_sink_text(out, "\n");
}

static void coefficients_text(dae_sink *out, const dae_tableau *t)
{
    int s = t->stages, digits = s <= 3 ? 15 : s <= 7 ? 6 : 3;
    char head[40];
    dae_sink_text(out, t->kind == DAE_TABLEAU_ROSENBROCK ? "\nc | alpha, b:\n" : "\nc | A, b:\n");
    for (int i = 0; i < s; i++) {
        snprintf(head, sizeof head, "%.*f", digits, (double)t->c[i]);
        row_text(out, head, t->A[i], s, s);
    }
    row_text(out, "b", t->b, s, s);
    if (t->embedded_order) row_text(out, "b_hat", t->b_hat, s, s);
    if (t->kind != DAE_TABLEAU_ROSENBROCK) return;
    dae_sink_text(out, "\ngamma:\n");
    for (int i = 0; i < s; i++) row_text(out, "", t->gamma[i], s, s);
}

static void fact_text(dae_sink *out, const fact *f)
{
    char computed[16], claimed[16] = "";
    snprintf(computed, sizeof computed, "%d", f->computed);
    snprintf(claimed, sizeof claimed, "%d", f->claimed);
    dae_sink_print(out, "  %-22s %8s %8s\n", f->text,
                   f->flag ? (f->computed ? "yes" : "no") : computed,
                   f->claimed < 0 ? ""
                   : f->flag      ? (f->claimed ? "yes" : "no")
                                  : claimed);
}

static void table_text(dae_sink *out, const dae_tableau *t, const dae_verified *v)
{
    fact facts[MOST_FACTS];
    int count = list_facts(t, v, facts);
    dae_sink_print(out, "%s: %s\n\n  %s, %d stage%s\n", t->name, t->title, kind_name(t->kind),
                   t->stages, t->stages == 1 ? "" : "s");
    coefficients_text(out, t);
    dae_sink_print(out, "\n  %-22s %8s %8s\n", "", "computed", "claimed");
    for (int k = 0; k < count; k++) fact_text(out, &facts[k]);
    if (v->bounded)
        dae_sink_print(out, "  %-22s %8.5g\n", "R(inf)", (double)v->R_infinity);
    else
        dae_sink_print(out, "  %-22s %8s\n", "R(inf)", "infinite");
    dae_sink_text(out, "\nsource:\n");
    cli_wrap(out, t->source, 2);
}

/* ---- JSON ---- */

static void list_json(cli *c)
{
    const char *name;
    int least, most;
    dae_json j;
    dae_tableau t;
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_array(&j, "methods");
    for (int i = 0; i < dae_method_count(); i++) {
        name = dae_method_name(i);
        dae_json_object(&j, NULL);
        dae_json_string(&j, "name", name);
        const char *title = methods_multistep_title(name);
        if (!title) title = dae_tableau_find(name, &t) ? t.title : dae_method_description(name);
        dae_json_string(&j, "title", title);
        dae_json_end(&j);
    }
    dae_json_end(&j);
    dae_json_array(&j, "tables");
    for (int i = 0; (name = dae_tableau_name(i)); i++) {
        if (!dae_tableau_find(name, &t)) continue;
        dae_json_object(&j, NULL);
        dae_json_string(&j, "name", name);
        dae_json_string(&j, "title", t.title);
        dae_json_string(&j, "kind", kind_name(t.kind));
        dae_json_integer(&j, "stages", t.stages);
        dae_json_integer(&j, "order", t.order);
        dae_json_end(&j);
    }
    dae_json_end(&j);
    dae_json_array(&j, "families");
    for (int i = 0; (name = dae_tableau_family(i, &least, &most)); i++) {
        dae_json_object(&j, NULL);
        dae_json_string(&j, "name", name);
        dae_json_integer(&j, "least", least);
        dae_json_integer(&j, "most", most);
        dae_json_end(&j);
    }
    dae_json_end(&j);
    methods_list_multistep_json(&j);
    dae_json_end(&j);
}

static void vector_json(dae_json *j, const char *name, const dae_quad *x, int count)
{
    dae_json_array(j, name);
    for (int i = 0; i < count; i++) dae_json_number(j, NULL, (double)x[i]);
    dae_json_end(j);
}

static void matrix_json(dae_json *j, const char *name,
                        const dae_quad x[DAE_STAGES_MOST][DAE_STAGES_MOST], int rows, int columns)
{
    dae_json_array(j, name);
    for (int i = 0; i < rows; i++) vector_json(j, NULL, x[i], columns);
    dae_json_end(j);
}

static void facts_json(dae_json *j, const char *name, const fact *facts, int count, int claimed)
{
    dae_json_object(j, name);
    for (int k = 0; k < count; k++) {
        if (!claimed || facts[k].claimed >= 0)
            dae_json_integer(j, facts[k].key, claimed ? facts[k].claimed : facts[k].computed);
    }
    dae_json_end(j);
}

static void table_json(cli *c, const dae_tableau *t, const dae_verified *v)
{
    fact facts[MOST_FACTS];
    int count = list_facts(t, v, facts), s = t->stages;
    dae_json j;
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_string(&j, "name", t->name);
    dae_json_string(&j, "title", t->title);
    dae_json_string(&j, "source", t->source);
    dae_json_string(&j, "kind", kind_name(t->kind));
    dae_json_integer(&j, "stages", s);
    facts_json(&j, "computed", facts, count, 0);
    facts_json(&j, "claimed", facts, count, 1);
    if (v->bounded)
        dae_json_number(&j, "R_infinity", (double)v->R_infinity);
    else
        dae_json_string(&j, "R_infinity", NULL);
    vector_json(&j, "numerator", v->P.a, v->P.degree + 1);
    vector_json(&j, "denominator", v->Q.a, v->Q.degree + 1);
    vector_json(&j, "c", t->c, s);
    matrix_json(&j, "A", t->A, s, s);
    if (t->kind == DAE_TABLEAU_ROSENBROCK) matrix_json(&j, "gamma", t->gamma, s, s);
    vector_json(&j, "b", t->b, s);
    if (t->embedded_order) vector_json(&j, "b_hat", t->b_hat, s);
    if (t->dense_terms) matrix_json(&j, "dense", t->dense, s, t->dense_terms);
    dae_json_end(&j);
}

/* ---- the verb ---- */

static int unknown(cli *c, const char *name)
{
    char shown[CLI_SHOWN];
    const char *what, *method = dae_method_of_code(name, &what);
    cli_nearest near = { .typed = name };
    for (int i = 0; i < dae_method_count(); i++) cli_nearest_try(&near, dae_method_name(i));
    for (int i = 0; dae_tableau_name(i); i++) cli_nearest_try(&near, dae_tableau_name(i));
    dae_fail(&c->report, DAE_E_OPTION, "there is no method '%s'", cli_show(name, shown));
    if (method)
        dae_hint(&c->report, "that code is %s: see 'daedalus methods %s'", what, method);
    else if (near.best)
        dae_hint(&c->report, "did you mean '%s'? 'daedalus methods' lists them all", near.best);
    else
        dae_hint(&c->report, "'daedalus methods' lists them all");
    return cli_fail(c);
}

int cli_method(cli *c, const char *name, const char **out)
{
    const char *what;
    *out = name && strcmp(name, "auto") ? name : NULL;
    if (!*out || dae_method_find(name)) return 0;
    *out = dae_method_of_code(name, &what);
    if (!*out) {
        dae_method_unknown(&c->report, name);
        return cli_fail(c);
    }
    char text[256];
    snprintf(text, sizeof text, "warning: '%s' is a code with %s; method '%s' is taken", name, what,
             *out);
    cli_warning_print(c, text);
    return 0;
}

static void plain(cli *c, const char *name, const char *description)
{
    dae_json j;
    if (!c->json) {
        dae_sink_print(c->out, "%s: %s\n", name, description);
        return;
    }
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_string(&j, "name", name);
    dae_json_string(&j, "title", description);
    dae_json_end(&j);
}

/* projected-TABLE, TABLE+g: what the variant is, then the table. 1: it is one. */
static int variant(cli *c, const char *name)
{
    char base[40];
    dae_tableau t;
    dae_verified v;
    size_t length = strlen(name);
    int projected = strncmp(name, "projected-", 10) == 0;
    int with_g = length > 2 && strcmp(name + length - 2, "+g") == 0;
    if (c->json || length >= sizeof base || !(projected || with_g) || !dae_method_description(name))
        return 0;
    snprintf(base, sizeof base, "%s", projected ? name + 10 : name);
    if (with_g) base[strlen(base) - 2] = 0;
    if (!dae_tableau_find(base, &t)) return 0;
    dae_sink_print(c->out, "%s: %s, with %s\n\n", name, base,
                   projected
                       ? "the end of each step put on the constraints (index 2)"
                       : "algebraic unknowns from their equations at the end of a step (index 1)");
    dae_tableau_verify(&t, &v);
    table_text(c->out, &t, &v);
    return 1;
}

static int run(cli *c, const cli_arguments *a)
{
    const char *name = a->argument_count > 0 ? a->argument[0] : NULL;
    dae_tableau t;
    dae_verified v;
    if (!name) {
        if (c->json)
            list_json(c);
        else
            list_text(c);
        return 0;
    }
    if (!strcmp(name, "auto")) return choices(c);
    if (dae_tableau_find(name, &t)) {
        dae_tableau_verify(&t, &v);
        if (c->json)
            table_json(c, &t, &v);
        else
            table_text(c->out, &t, &v);
        return 0;
    }
    if (methods_show_multistep(c, name) || variant(c, name)) return 0;
    if (!dae_method_description(name)) return unknown(c, name);
    plain(c, name, dae_method_description(name));
    return 0;
}

const cli_verb cli_verb_methods = {
    .name = "methods",
    .arguments = "[NAME]",
    .summary = "list the integration methods, or show a table and what it is",
    .most_arguments = 1,
    .run = run,
};
