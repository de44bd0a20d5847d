/* texts.c: hidden equations as a model in Modelica, and how far its rows are from the truth.
 *
 * Rows, blocks and exact solutions are those of kernel.c; unknowns may have scales, which the text gives
 * as nominal values. Start values are all exact and none is fixed, so that every choice of states finds
 * consistent ones. Every variable of the rows is judged, multipliers and derivatives too: after a
 * reduction of the index nothing is weaker than the rest. With scale S the tolerance of a variable is
 * rtol (S + max |exact|), the maximum over the rows so far.
 */
#include "prove.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

struct prove_text {
    kernel kernel;
    uint64_t seed;
    double scale[KERNEL_MOST];
    int slope[KERNEL_MOST]; /* 1: there is also w_i = der(v_i) */
    int order[KERNEL_MOST]; /* of the equations in the text */
    char *words;
    size_t have, room;
};

static void say(prove_text *m, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    if (m->room - m->have < 400) m->words = realloc(m->words, m->room = 2 * m->room + 400);
    int put = vsnprintf(m->words + m->have, m->room - m->have, format, arguments);
    if (put > 0) m->have += (size_t)put;
    va_end(arguments);
}

static void say_curve(prove_text *m, const curve *s)
{
    say(m, "(%.17g", s->a);
    if (s->b != 0) say(m, " + (%.17g)*sin(%.17g*time + %.17g)", s->b, s->omega, s->phase);
    if (s->c != 0) say(m, " + (%.17g)*exp(-%.17g*time)", s->c, s->mu);
    if (s->e != 0) say(m, " + (%.17g)*tanh((time - %.17g)/%.17g)", s->e, s->middle, s->width);
    say(m, ")");
}

static void say_curve_slope(prove_text *m, const curve *s)
{
    say(m, "(0");
    if (s->b != 0)
        say(m, " + (%.17g)*cos(%.17g*time + %.17g)", s->b * s->omega, s->omega, s->phase);
    if (s->c != 0) say(m, " - (%.17g)*exp(-%.17g*time)", s->c * s->mu, s->mu);
    if (s->e != 0)
        say(m, " + (%.17g)*(1 - tanh((time - %.17g)/%.17g)^2)", s->e / s->width, s->middle,
            s->width);
    say(m, ")");
}

/* z_j as an unknown, or as its exact value. */
static void say_unknown(prove_text *m, int j, int exact)
{
    if (exact)
        say_curve(m, &m->kernel.z[j].s);
    else if (m->scale[j] == 1)
        say(m, "v%d", j + 1);
    else
        say(m, "v%d/%.17g", j + 1, m->scale[j]);
}

static void say_term(prove_text *m, const term *t, int exact)
{
    static const char *const opens[] = { "(", "sin(", "cos(", "0.2*(" };
    say(m, " + (%.17g)*%s", t->a, opens[t->bend]);
    say_unknown(m, t->j, exact);
    say(m, t->bend == BEND_SQUARE ? ")^2" : ")");
    if (t->k < 0) return;
    say(m, "*(");
    say_unknown(m, t->k, exact);
    say(m, ")");
}

static void say_row(prove_text *m, int i)
{
    const kernel *k = &m->kernel;
    for (int exact = 0; exact < 2; exact++) {
        say(m, exact ? " = 0" : "  0");
        if (k->z[i].differential) say(m, " + ");
        if (k->z[i].differential && exact) say_curve_slope(m, &k->z[i].s);
        if (k->z[i].differential && !exact) say(m, "der(v%d)/%.17g", i + 1, m->scale[i]);
        for (int t = 0; t < k->terms; t++)
            if (k->term[t].row == i) say_term(m, &k->term[t], exact);
    }
    say(m, ";\n");
}

static void write_text(prove_text *m)
{
    const kernel *k = &m->kernel;
    say(m, "model Prove%llu \"index %d\"\n", (unsigned long long)m->seed, k->index);
    for (int i = 0; i < k->n; i++) {
        say(m, "  Real v%d(start = %.17g", i + 1, m->scale[i] * curve_value(&k->z[i].s, 0));
        if (m->scale[i] != 1) say(m, ", nominal = %.17g", m->scale[i]);
        say(m, ");\n");
        if (m->slope[i]) say(m, "  Real w%d;\n", i + 1);
    }
    say(m, "equation\n");
    for (int q = 0; q < k->n; q++) {
        int i = m->order[q];
        say_row(m, i);
        if (m->slope[i]) say(m, "  w%d = der(v%d);\n", i + 1, i + 1);
    }
    say(m, "end Prove%llu;\n", (unsigned long long)m->seed);
}

prove_text *text_draw(uint64_t seed)
{
    draw d = draw_of(seed, 3);
    prove_text *m = calloc(1, sizeof *m);
    m->seed = seed;
    kernel_draw_model(&m->kernel, &d, (int)draw_log(&d, 1, 40), (int)(seed % 7));
    int scaled = draw_chance(&d, 0.3);
    for (int i = 0; i < m->kernel.n; i++) {
        const hidden *z = &m->kernel.z[i];
        m->scale[i] = scaled ? draw_log(&d, 1e-6, 1e6) : 1;
        m->slope[i] = z->differential && z->level == 0 && z->rate * m->kernel.span <= 3 &&
                      draw_chance(&d, 0.2);
    }
    for (int i = 0; i < m->kernel.n; i++) {
        int j = draw_below(&d, i + 1);
        m->order[i] = m->order[j];
        m->order[j] = i;
    }
    write_text(m);
    return m;
}

void text_close(prove_text *m)
{
    if (!m) return;
    free(m->words);
    free(m);
}

const char *text_of(const prove_text *m)
{
    return m->words;
}

int text_index(const prove_text *m)
{
    return m->kernel.index;
}

/* ------------------------------------------------------------------ judge ------------- */

typedef struct rows {
    const prove_text *m;
    verdict *v;
    double rtol;
    size_t at[KERNEL_MOST], slope_at[KERNEL_MOST], count;
    double largest[KERNEL_MOST];
} rows;

static void compare(rows *r, double t, const char *name, int i, double error)
{
    if (error <= r->v->error) return;
    r->v->error = error;
    r->v->at = t / r->m->kernel.span;
    snprintf(r->v->name, sizeof r->v->name, "%s%d", name, i + 1);
}

static int look(double t, const double *value, void *user)
{
    rows *r = user;
    const kernel *k = &r->m->kernel;
    for (int i = 0; i < k->n; i++) {
        double S = r->m->scale[i], exact = S * curve_value(&k->z[i].s, t);
        r->largest[i] = fmax(r->largest[i], fabs(exact));
        double tol = r->rtol * (S + r->largest[i]);
        compare(r, t, "v", i, r->at[i] < r->count ? fabs(value[r->at[i]] - exact) / tol : HUGE_VAL);
        if (!r->m->slope[i]) continue;
        double slope = S * curve_slope(&k->z[i].s, t);
        compare(r, t, "w", i,
                r->slope_at[i] < r->count ? fabs(value[r->slope_at[i]] - slope) / tol : HUGE_VAL);
    }
    return DAE_OK;
}

static void find_names(rows *r, dae_model *model)
{
    char name[16];
    r->count = dae_model_variable_count(model);
    for (int i = 0; i < r->m->kernel.n; i++) {
        snprintf(name, sizeof name, "v%d", i + 1);
        r->at[i] = dae_model_find(model, name);
        snprintf(name, sizeof name, "w%d", i + 1);
        r->slope_at[i] = dae_model_find(model, name);
        r->largest[i] = r->m->scale[i] * fabs(curve_value(&r->m->kernel.z[i].s, 0));
    }
}

void judge_text(prove_text *m, int method, int tolerance, verdict *v)
{
    rows r = { .m = m, .v = v, .rtol = tolerances[tolerance] };
    double times[READS], span = m->kernel.span;
    clock_t begun = clock();
    draw d = draw_of(m->seed, 4);
    dae_statistics st;
    for (int k = 0; k < READS; k++) times[k] = span * (k + draw_unit(&d)) / READS;
    v->index = m->kernel.index;
    snprintf(v->about, sizeof v->about, "index %d, %d unknowns%s", v->index, m->kernel.n,
             m->kernel.stiff ? ", stiff" : "");
    dae_model *model = dae_model_load_text("prove.mo", m->words, m->have, NULL);
    find_names(&r, model);
    dae_simulation how = { .stop = span,
                           .tolerance = r.rtol,
                           .absolute = r.rtol,
                           .times = times,
                           .time_count = READS,
                           .method = method_names[method] };
    v->status = (int)dae_model_status(model);
    if (v->status == DAE_OK) v->status = (int)dae_model_simulate(model, &how, look, &r);
    v->outcome = v->status == DAE_OK         ? OUTCOME_OK
                 : v->status == DAE_E_OPTION ? OUTCOME_REFUSED
                                             : OUTCOME_FAILED;
    if (v->status != DAE_OK)
        snprintf(v->words, sizeof v->words, "%.270s", dae_model_messages(model));
    for (char *c = v->words; *c; c++)
        if (*c == '\n') *c = ' ';
    if (dae_model_get_statistics(model, &st) == DAE_OK) {
        v->steps = (double)st.steps;
        v->residuals = (double)st.residuals;
    }
    dae_model_close(model);
    v->seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
}
