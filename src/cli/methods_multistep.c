/* methods_multistep.c: daedalus methods NAME for a multistep formula: its polynomials, and what they
 * are, computed when asked (multistep/verify.c) beside what the table claims. */
#include "cli/methods.h"
#include "multistep/verify.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct flag {
    unsigned bit;
    const char *text, *key;
} flag;

static const flag flags[] = {
    { DAE_LMM_EXPLICIT, "explicit", "explicit" },
    { DAE_LMM_ZERO_STABLE, "zero-stable", "zero_stable" },
    { DAE_LMM_STRONG, "only 1 on the circle", "strongly_stable" },
    { DAE_LMM_A_STABLE, "A-stable", "A_stable" },
    { DAE_LMM_INFINITY, "roots of sigma inside", "strictly_stable_at_infinity" },
    { DAE_LMM_BLOCKED, "roots of sigma-tau in", "beta_blocked" },
};

enum { FLAGS = sizeof flags / sizeof *flags, MOST_INTERVALS = 4 };

static const char *mode_text(dae_lmm_mode mode)
{
    switch (mode) {
    case DAE_LMM_ONE_LEG: return "one-leg twin: f at the combination of points";
    case DAE_LMM_RAW: return "as it is, without refusals or blocking: for experiments";
    case DAE_LMM_LATE: return "discretized before the constraint is applied: for experiments";
    case DAE_LMM_PLAIN: break;
    }
    return NULL;
}

/* Of the one-leg twin at most so much can be had: it is measured on f(t) too. */
static int order_of(const dae_lmm *m, const dae_lmm_facts *f)
{
    return m->mode == DAE_LMM_ONE_LEG ? f->leg_order : f->order;
}

/* ---- text ---- */

void methods_list_multistep(cli *c)
{
    const char *name, *title;
    int least, most;
    dae_sink_print(c->out, "\n%-20s %6s  %s\n", "multistep formula", "K",
                   "constant steps: --fixed-step H");
    for (int i = 0; (name = dae_lmm_family(i, &least, &most, &title)); i++) {
        char range[32] = "";
        if (most > least) snprintf(range, sizeof range, "%d..%d", least, most);
        dae_sink_print(c->out, "%-20s %6s  %s\n", name, range, title);
    }
}

static void polynomial_text(dae_sink *out, const char *name, const dae_rational *a, int k)
{
    char text[DAE_RATIONAL_TEXT];
    dae_sink_print(out, "  %-6s", name);
    for (int j = k; j >= 0; j--) dae_sink_print(out, " %s", dae_rational_text(a[j], text));
    dae_sink_text(out, "\n");
}

static void roots_text(dae_sink *out, const char *name, const dae_rational *a, int degree)
{
    double re[DAE_LMM_STEPS], im[DAE_LMM_STEPS];
    while (degree > 0 && dae_is_zero(a[degree])) degree--;
    int count = dae_lmm_roots(a, degree, re, im);
    dae_sink_print(out, "  roots of %-12s", name);
    for (int i = 0; i < count; i++) {
        if (fabs(im[i]) < 1e-12)
            dae_sink_print(out, " %.5g", re[i]);
        else if (im[i] > 0)
            dae_sink_print(out, " %.5g+-%.5gi", re[i], im[i]);
    }
    dae_sink_text(out, count ? "\n" : " none\n");
}

static void blocking_text(dae_sink *out, const dae_lmm *m)
{
    dae_interval interval[MOST_INTERVALS];
    int count = dae_lmm_blocking(m, interval, MOST_INTERVALS);
    dae_sink_print(out, "  tau = c nabla^%d blocks for", m->steps);
    for (int i = 0; i < count; i++)
        dae_sink_print(out, " %.6g < c < %.6g", interval[i].low, interval[i].high);
    dae_sink_text(out, count ? "\n" : " no c\n");
}

static void facts_text(dae_sink *out, const dae_lmm *m, const dae_lmm_facts *f)
{
    char computed[DAE_RATIONAL_TEXT], claimed[DAE_RATIONAL_TEXT];
    dae_sink_print(out, "\n  %-22s %14s %14s\n", "", "computed", "claimed");
    dae_sink_print(out, "  %-22s %14d %14d\n", "order", f->order, m->order);
    if (m->mode == DAE_LMM_ONE_LEG)
        dae_sink_print(out, "  %-22s %14d\n", "order of the twin", order_of(m, f));
    dae_sink_print(out, "  %-22s %14s %14s\n", "error constant",
                   dae_rational_text(f->constant, computed),
                   dae_rational_text(m->constant, claimed));
    if (m->has_tau)
        dae_sink_print(out, "  %-22s %14d %14d\n", "order of tau", f->tau_order, m->steps);
    for (int i = 0; i < FLAGS; i++)
        dae_sink_print(out, "  %-22s %14s %14s\n", flags[i].text,
                       f->claims & flags[i].bit ? "yes" : "no",
                       m->claims & flags[i].bit ? "yes" : "no");
    dae_sink_print(out, "  %-22s %14.4f %14.2f\n\n", "A(alpha), degrees", f->angle, m->angle);
}

static void table_text(dae_sink *out, const dae_lmm *m, const dae_lmm_facts *f)
{
    dae_rational blocked[DAE_LMM_STEPS + 1];
    int k = m->steps;
    dae_sink_print(out, "%s: %s\n", m->name, m->title);
    if (mode_text(m->mode)) dae_sink_print(out, "  %s\n", mode_text(m->mode));
    dae_sink_print(out, "\n  %d step%s; coefficients from the newest point back\n", k,
                   k == 1 ? "" : "s");
    polynomial_text(out, "rho", m->rho, k);
    polynomial_text(out, "sigma", m->sigma, k);
    if (m->has_tau) polynomial_text(out, "tau", m->tau, k);
    facts_text(out, m, f);
    roots_text(out, "rho", m->rho, k);
    roots_text(out, "sigma", m->sigma, k);
    if (m->has_tau) {
        for (int j = 0; j <= k; j++) blocked[j] = dae_rational_subtract(m->sigma[j], m->tau[j]);
        roots_text(out, "sigma - tau", blocked, k);
    }
    if (!(f->claims & DAE_LMM_EXPLICIT)) blocking_text(out, m);
    dae_sink_text(out, "\nsource:\n");
    cli_wrap(out, m->source, 2);
}

/* ---- JSON ---- */

void methods_list_multistep_json(dae_json *j)
{
    const char *name, *title;
    int least, most;
    dae_json_array(j, "multistep");
    for (int i = 0; (name = dae_lmm_family(i, &least, &most, &title)); i++) {
        dae_json_object(j, NULL);
        dae_json_string(j, "name", name);
        dae_json_string(j, "title", title);
        dae_json_integer(j, "least", least);
        dae_json_integer(j, "most", most);
        dae_json_end(j);
    }
    dae_json_end(j);
}

static void polynomial_json(dae_json *j, const char *name, const dae_rational *a, int k)
{
    char text[DAE_RATIONAL_TEXT];
    dae_json_array(j, name);
    for (int i = k; i >= 0; i--) dae_json_string(j, NULL, dae_rational_text(a[i], text));
    dae_json_end(j);
}

static void facts_json(dae_json *j, const char *name, int order, dae_rational constant,
                       unsigned claims, double angle)
{
    char text[DAE_RATIONAL_TEXT];
    dae_json_object(j, name);
    dae_json_integer(j, "order", order);
    dae_json_string(j, "error_constant", dae_rational_text(constant, text));
    for (int i = 0; i < FLAGS; i++) dae_json_integer(j, flags[i].key, !!(claims & flags[i].bit));
    dae_json_number(j, "angle", angle);
    dae_json_end(j);
}

static void table_json(cli *c, const dae_lmm *m, const dae_lmm_facts *f)
{
    dae_json j;
    dae_json_open(&j, c->out);
    dae_json_object(&j, NULL);
    dae_json_string(&j, "status", "ok");
    dae_json_string(&j, "name", m->name);
    dae_json_string(&j, "title", m->title);
    dae_json_string(&j, "source", m->source);
    dae_json_string(&j, "kind", "multistep");
    dae_json_integer(&j, "steps", m->steps);
    facts_json(&j, "computed", order_of(m, f), f->constant, f->claims, f->angle);
    facts_json(&j, "claimed", m->order, m->constant, m->claims, m->angle);
    polynomial_json(&j, "rho", m->rho, m->steps);
    polynomial_json(&j, "sigma", m->sigma, m->steps);
    if (m->has_tau) polynomial_json(&j, "tau", m->tau, m->steps);
    dae_json_end(&j);
}

int methods_show_multistep(cli *c, const char *name)
{
    dae_lmm m;
    dae_lmm_facts f;
    if (!dae_lmm_find(name, &m)) return 0;
    dae_lmm_verify(&m, &f);
    if (c->json)
        table_json(c, &m, &f);
    else
        table_text(c->out, &m, &f);
    return 1;
}

const char *methods_multistep_title(const char *name)
{
    dae_lmm m;
    return dae_lmm_find(name, &m) ? m.title : NULL;
}
