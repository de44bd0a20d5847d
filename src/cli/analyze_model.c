/* analyze_model.c: daedalus analyze MODEL.mo: the page, the reduced system, both as JSON. */
#include "cli/analyze_model.h"

#include <daedalus/insight.h>
#include <math.h>
#include <string.h>

/* ---- JSON ---- */

static void names_json(dae_json *j, const char *name, const char *const *list)
{
    dae_json_array(j, name);
    for (; list && *list; list++) dae_json_string(j, NULL, *list);
    dae_json_end(j);
}

static void counts_json(dae_json *j, const dae_insight *k)
{
    const struct {
        const char *name;
        size_t value;
    } row[] = {
        { "equations", k->equations },   { "variables", k->variables },
        { "parameters", k->parameters }, { "constants", k->constants },
        { "aliases", k->aliases },       { "unknowns", k->unknowns },
        { "relations", k->relations },   { "delays", k->delays },
    };
    for (size_t i = 0; i < sizeof row / sizeof *row; i++)
        dae_json_integer(j, row[i].name, (int64_t)row[i].value);
    cli_index_json(j, "states", k->by_array ? -1 : (int)k->states);
    cli_index_json(j, "assignments", k->by_array ? -1 : (int)k->assignments);
    cli_index_json(j, "freedom", k->freedom_known ? (int)k->freedom : -1);
}

static void indices_json(dae_json *j, const dae_insight *k)
{
    dae_json_object(j, "indices");
    cli_index_json(j, "structural", k->structural_index);
    cli_index_json(j, "structural_of_rewritten", k->rewritten_index);
    dae_json_integer(j, "by_array", k->by_array);
    dae_json_integer(j, "replaced", (long)k->replaced);
    cli_index_json(j, "differentiation", k->differentiation_index);
    dae_json_string(j, "differentiation_how", k->differentiation_how);
    cli_index_json(j, "tractability", k->tractability_index);
    dae_json_string(j, "tractability_how", k->tractability_how);
    cli_index_json(j, "perturbation_at_least", k->perturbation_low);
    cli_index_json(j, "perturbation_at_most", k->perturbation_high);
    dae_json_string(j, "perturbation_how", k->perturbation_how);
    cli_index_json(j, "linear_constant", k->linear);
    cli_index_json(j, "freedom", k->array_freedom);
    dae_json_end(j);
}

static void choices_json(dae_json *j, const dae_insight *k)
{
    dae_json_array(j, "initial_values");
    for (size_t i = 0; i < k->choices; i++) {
        const dae_insight_choice *c = &k->choice[i];
        dae_json_object(j, NULL);
        names_json(j, "variables", c->variable);
        dae_json_integer(j, "take", (int64_t)c->take);
        dae_json_string(j, "sets_are", c->any == 1 ? "any" : c->any == 0 ? "listed" : "too many");
        dae_json_array(j, "sets");
        for (size_t n = 0; n < c->sets; n++) names_json(j, NULL, c->set[n]);
        dae_json_end(j);
        names_json(j, "singular_at_start", c->singular);
        dae_json_end(j);
    }
    dae_json_end(j);
}

static void equations_json(dae_json *j, const char *name, const dae_insight_equation *e,
                           size_t count)
{
    dae_json_array(j, name);
    for (size_t i = 0; i < count; i++) {
        dae_json_object(j, NULL);
        dae_json_string(j, "equation", e[i].text);
        dae_json_string(j, "from", e[i].origin);
        dae_json_string(j, "at", e[i].place);
        dae_json_integer(j, "differentiated", e[i].times);
        dae_json_integer(j, "has_derivatives", e[i].derivatives);
        dae_json_end(j);
    }
    dae_json_end(j);
}

static void blocks_json(dae_json *j, const dae_insight *k)
{
    size_t torn = 0, largest = 0;
    for (size_t i = 0; i < k->blocks; i++) {
        torn += k->block[i].torn;
        largest = k->block[i].equations > largest ? k->block[i].equations : largest;
    }
    dae_json_integer(j, "loops", (int64_t)k->blocks);
    dae_json_integer(j, "largest_loop", (int64_t)largest);
    dae_json_integer(j, "torn", (int64_t)torn);
    dae_json_array(j, "blocks");
    for (size_t i = 0; i < k->blocks; i++) {
        const dae_insight_block *b = &k->block[i];
        dae_json_object(j, NULL);
        dae_json_integer(j, "equations", (int64_t)b->equations);
        cli_index_json(j, "linear", b->linear);
        names_json(j, "unknowns", b->unknown);
        names_json(j, "torn", b->torn_unknown);
        dae_json_end(j);
    }
    dae_json_end(j);
}

static void start_json(dae_json *j, const dae_insight *k)
{
    dae_json_object(j, "start");
    dae_json_string(j, "status",
                    k->start_status == DAE_OK ? "ok" : dae_status_name(k->start_status));
    dae_json_string(j, "message", k->start_message);
    dae_json_number(j, "t", k->start_time);
    dae_json_object(j, "values");
    for (size_t i = 0; i < k->starts; i++) dae_json_number(j, k->start_name[i], k->start_value[i]);
    dae_json_end(j);
    dae_json_string(j, "eigenvalues_how", k->eigenvalues_how);
    dae_json_array(j, "eigenvalues");
    for (int i = 0; i < k->eigenvalues; i++) {
        dae_json_array(j, NULL);
        dae_json_number(j, NULL, k->real[i]);
        dae_json_number(j, NULL, k->imaginary[i]);
        dae_json_end(j);
    }
    dae_json_end(j);
    dae_json_number(j, "fastest_decay", k->fastest);
    dae_json_number(j, "slowest_decay", k->slowest);
    dae_json_number(j, "growth", k->growth);
    dae_json_number(j, "frequency", k->frequency);
    dae_json_number(j, "stiffness", k->stiffness);
    dae_json_end(j);
    dae_json_string(j, "method", k->method);
    dae_json_string(j, "method_why", k->method_why);
    if (k->other) {
        dae_json_string(j, "other_method", k->other);
        dae_json_string(j, "other_method_why", k->other_why);
    }
}

static void matrix_json(dae_json *j, const char *name, const double *A, int n)
{
    dae_json_array(j, name);
    for (int i = 0; i < n; i++) {
        dae_json_array(j, NULL);
        for (int l = 0; l < n; l++) dae_json_number(j, NULL, A[i * n + l]);
        dae_json_end(j);
    }
    dae_json_end(j);
}

static void reduction_json(dae_json *j, const dae_insight *k)
{
    const dae_insight_mass *m = &k->mass;
    equations_json(j, "reduced", k->reduced, k->reduceds);
    equations_json(j, "constraints", k->constraint, k->constraints);
    names_json(j, "rates", k->rate);
    dae_json_string(j, "rates_why", k->rate_why);
    if (!m->M) return;
    dae_json_object(j, "mass");
    dae_json_integer(j, "rank", m->rank);
    names_json(j, "unknowns", m->unknown);
    matrix_json(j, "M", m->M, m->size);
    matrix_json(j, "P", m->P, m->size);
    matrix_json(j, "Q", m->Q, m->size);
    names_json(j, "u", m->meaning);
    names_json(j, "equations", m->equation);
    dae_json_end(j);
}

static void print_json(cli *c, dae_model *m, const dae_insight *k, const char *words)
{
    dae_json j;
    dae_model_facts f;
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_string(&j, "message", dae_model_messages(m));
    dae_json_string(&j, "model", dae_model_name(m));
    dae_model_get_facts(m, &f);
    if (k) counts_json(&j, k);
    cli_index_json(&j, "index", k ? k->differentiation_index : -1);
    cli_index_json(&j, "structural_index", k ? k->structural_index : f.index);
    if (k) { /* NULL: structure tells nothing, the equations are integrated by their array */
        indices_json(&j, k);
        choices_json(&j, k);
        equations_json(&j, "hidden_constraints", k->hidden, k->hiddens);
        dae_json_integer(&j, "hidden_not_written", (int64_t)k->hidden_left);
        names_json(&j, "state_variables", k->state);
        names_json(&j, "dynamic_states", k->dynamic_state);
        if (!k->by_array) blocks_json(&j, k);
        start_json(&j, k);
        reduction_json(&j, k);
    }
    dae_json_string(&j, "analysis", words);
    dae_json_end(&j);
}

/* ---- the reduced system ---- */

static void list_equations(dae_sink *out, const dae_insight_equation *e, size_t count)
{
    int width = 0;
    for (size_t i = 0; i < count; i++) {
        int length = (int)strlen(e[i].text);
        width = length > width && length <= 60 ? length : width;
    }
    for (size_t i = 0; i < count; i++) {
        dae_sink_print(out, "  %-*s", e[i].times ? width : 0, e[i].text);
        if (e[i].times == 1)
            dae_sink_print(out, "   d/dt of '%s'", e[i].origin);
        else if (e[i].times > 1)
            dae_sink_print(out, "   d^%d/dt^%d of '%s'", e[i].times, e[i].times, e[i].origin);
        dae_sink_text(out, "\n");
    }
}

static void print_constraints(dae_sink *out, const dae_insight *k)
{
    if (k->by_array) {
        dae_sink_print(out,
                       "\nreduced system: all equations, differentiated %d times (the derivative "
                       "array); not written out\n",
                       k->differentiation_index);
        return;
    }
    if (k->hidden_left > 0) {
        dae_sink_text(out, "\nthe model is too large for its reduced system to be written out\n");
        return;
    }
    dae_sink_text(out, k->constraints > 0
                           ? "\nreduced system: every equation differentiated as often as needed\n"
                           : "\nthe system as written needs no reduction\n");
    list_equations(out, k->reduced, k->reduceds);
    if (k->constraints == 0) return;
    dae_sink_text(out, "\nconstraints on the values, the hidden ones among them\n");
    if (k->hiddens > 0)
        dae_sink_text(
            out, "(of g(y) = 0 with y' = f: g_y f = 0, then g_yy(f, f) + g_y f_y f = 0, ...)\n");
    list_equations(out, k->constraint, k->constraints);
}

static void print_rates(dae_sink *out, const dae_insight *k)
{
    if (!k->rate[0] && !*k->rate_why) return;
    dae_sink_text(out, "\nderivatives of the algebraic variables, by differentiating once more\n");
    for (const char *const *r = k->rate; *r; r++) dae_sink_print(out, "  %s\n", *r);
    if (*k->rate_why)
        dae_sink_print(out, "  %s: %s\n", k->rate[0] ? "no more" : "none", k->rate_why);
}

static void print_matrix(dae_sink *out, const char *name, const double *A, int n)
{
    for (int i = 0; i < n; i++) {
        dae_sink_print(out, "  %s", i == n / 2 ? name : "     ");
        for (int j = 0; j < n; j++)
            dae_sink_print(out, " %8.4g", A[i * n + j] == 0 ? 0 : A[i * n + j]);
        dae_sink_text(out, "\n");
    }
    dae_sink_text(out, "\n");
}

static void print_mass(dae_sink *out, const dae_insight_mass *m)
{
    if (!m->M || m->plain || m->rank == m->size) return;
    dae_sink_print(out, "\nM y' = f with a constant M of rank %d: P M Q = diag(I, 0), y = Q u\n\n",
                   m->rank);
    dae_sink_text(out, "  y   =");
    for (int i = 0; i < m->size; i++) dae_sink_print(out, "%s%s", i ? ", " : " ", m->unknown[i]);
    dae_sink_text(out, "\n\n");
    if (m->size <= 12) {
        print_matrix(out, "M   =", m->M, m->size);
        print_matrix(out, "P   =", m->P, m->size);
        print_matrix(out, "Q   =", m->Q, m->size);
    }
    for (int i = 0; i < m->size; i++) dae_sink_print(out, "  %s\n", m->meaning[i]);
    dae_sink_text(out, "\n  semi-explicit:\n");
    for (int i = 0; i < m->size; i++) dae_sink_print(out, "  %s\n", m->equation[i]);
}

static void one_index(dae_sink *out, const char *name, int low, int high, const char *how)
{
    dae_sink_print(out, "  %-16s", name);
    if (low < 0 && high < 0)
        dae_sink_print(out, "not known: %s\n", how);
    else if (low == high)
        dae_sink_print(out, "%d   (%s)\n", low, how);
    else if (high < 0)
        dae_sink_print(out, ">= %d (%s)\n", low, how);
    else if (low < 0)
        dae_sink_print(out, "<= %d (%s)\n", high, how);
    else
        dae_sink_print(out, "%d to %d (%s)\n", low, high, how);
}

static void print_indices(dae_sink *out, const dae_insight *k)
{
    dae_sink_text(out, "\nindices\n");
    one_index(out, "structural", k->structural_index, k->structural_index,
              k->structural_index < 0 ? "the highest derivatives depend on each other"
                                      : "offsets: Pantelides, Pryce");
    if (k->rewritten_index >= 0)
        one_index(out, "  rewritten", k->rewritten_index, k->rewritten_index, "as above");
    one_index(out, "differentiation", k->differentiation_index, k->differentiation_index,
              k->differentiation_how);
    one_index(out, "tractability", k->tractability_index, k->tractability_index,
              k->tractability_how);
    one_index(out, "perturbation", k->perturbation_low, k->perturbation_high, k->perturbation_how);
}

static void print_start(dae_sink *out, const dae_insight *k)
{
    enum { SHOWN = 40 };
    if (k->start_status != DAE_OK) {
        dae_sink_print(out, "\nno consistent start: %s\n", k->start_message);
        return;
    }
    dae_sink_print(out, "\nconsistent start at t = %g\n", k->start_time);
    for (size_t i = 0; i < k->starts && i < SHOWN; i++)
        dae_sink_print(out, "  %s = %.10g\n", k->start_name[i],
                       k->start_value[i] == 0 ? 0 : k->start_value[i]);
    if (k->starts > SHOWN) dae_sink_print(out, "  ... and %zu more\n", k->starts - SHOWN);
}

static void print_reduction(dae_sink *out, const dae_insight *k)
{
    print_mass(out, &k->mass);
    print_constraints(out, k);
    print_rates(out, k);
    print_start(out, k);
    print_indices(out, k);
}

/* ---- the verb's part ---- */

int cli_analyze_model(cli *c, const cli_arguments *a)
{
    dae_model *m;
    int code = cli_model_load(c, a, CLI_WHOLE, &m);
    const dae_insight *k = code == 0 ? dae_model_insight(m) : NULL;
    const char *words = code == 0 ? dae_model_analysis(m) : ""; /* decides what is integrated */
    if (code == 0) code = cli_model_lacks_memory(c, m);
    if (code == 0) {
        cli_model_warnings(c, m);
        if (c->json)
            print_json(c, m, k, words);
        else
            dae_sink_text(c->out, words);
        if (!c->json && k && cli_given(a, "reduce")) print_reduction(c->out, k);
    }
    dae_model_close(m);
    return code;
}
