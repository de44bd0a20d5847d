/* methods.c: the list of methods; one by its name. */
#include "integrate/solver.h"
#include "multistep/multistep.h"
#include "tableau/tableau.h"

#include <string.h>
#include <strings.h>

static const dae_method *const methods[] = {
    &dae_method_bdf,
    &dae_method_mebdf,
    &dae_method_bim, /* with gam before radau, which takes any table */
    &dae_method_gam,
    &dae_method_radau,
    &dae_method_radau_undamped,
    &dae_method_projected,
    &dae_method_dirk,
    &dae_method_rosenbrock,
    &dae_method_half_explicit,
    &dae_method_adams,
    &dae_method_two_step,
    &dae_method_alpha,
    &dae_method_nordsieck,
    &dae_method_multistep,
    &dae_method_symplectic,
    &dae_method_motion_explicit,
    &dae_method_motion_alpha,
    &dae_method_energy,
    &dae_method_energy_dissipating,
};

enum { METHODS = sizeof methods / sizeof *methods };

const dae_method *dae_method_find(const char *name)
{
    if (strlen(name) >= sizeof((dae_solver *)0)->method_name) return NULL;
    /* by their own names first: to look through all tables takes longer than a few steps */
    for (int i = 0; i < METHODS; i++)
        if (!strcmp(methods[i]->name, name) && (!methods[i]->takes || methods[i]->takes(name)))
            return methods[i];
    for (int i = 0; i < METHODS; i++)
        if (methods[i]->takes && methods[i]->takes(name)) return methods[i];
    return NULL;
}

/* The methods that stand for themselves, then the tables that some family takes. */
static const char *list_method(int wanted, int *count)
{
    *count = 0;
    for (int i = 0; i < METHODS; i++)
        if (dae_method_find(methods[i]->name) == methods[i] && (*count)++ == wanted)
            return methods[i]->name;
    for (int i = 0; dae_tableau_name(i); i++)
        if (dae_method_find(dae_tableau_name(i)) && (*count)++ == wanted)
            return dae_tableau_name(i);
    for (int i = 0; dae_lmm_typical(i); i++)
        if ((*count)++ == wanted) return dae_lmm_typical(i);
    return NULL;
}

int dae_method_count(void)
{
    int count;
    list_method(-1, &count);
    return count;
}

const char *dae_method_name(int i)
{
    int count;
    return i < 0 ? NULL : list_method(i, &count);
}

const char *dae_method_description(const char *name)
{
    const dae_method *method = dae_method_find(name);
    return method ? method->description : NULL;
}

/* ---- what a method cannot do ---- */

dae_status dae_method_adapts(dae_solver *s)
{
    return s->options.fixed_step > 0 || !s->method->adapts ? DAE_OK : s->method->adapts(s);
}

dae_status dae_method_refuse(dae_solver *s, int level, const char *why, const char *hint)
{
    char name[32];
    int unknown = 0;
    while (unknown < s->system.n && s->system.level[unknown] != level) unknown++;
    dae_fail(&s->report, DAE_E_OPTION,
             "method '%s' cannot choose its steps on a problem of index %d", s->method_name, level);
    if (unknown < s->system.n)
        dae_at(&s->report, "unknown '%s', level %d", dae_unknown_name(&s->system, unknown, name),
               level);
    dae_why(&s->report, "%s", why);
    dae_hint(&s->report, "%s%s", hint,
             level < DAE_INDEX3 ? "; with option 'fixed_step' it runs, for studies of order" : "");
    return DAE_E_OPTION;
}

/* ---- there is no such method ---- */

/* 1: name begins like "gauss-S", but for the letter at its end. */
static int begins(const char *name, const char *family)
{
    return !strncmp(name, family, strlen(family) - 1);
}

/* What may follow the name of a family that this one begins with; 1: said. */
static int hint_family(dae_report *report, const char *name)
{
    const char *family, *title;
    int least, most;
    for (int i = 0; (family = dae_tableau_family(i, &least, &most)); i++)
        if (begins(name, family)) {
            dae_hint(report, "'%s' takes %d to %d stages", family, least, most);
            return 1;
        }
    for (int i = 0; (family = dae_lmm_family(i, &least, &most, &title)); i++)
        if (least < most && begins(name, family)) {
            dae_hint(report, "'%s' takes %d to %d steps", family, least, most);
            return 1;
        }
    if (begins(name, "shifted-lobatto-R")) {
        dae_hint(report, "'shifted-lobatto-R' takes R = 0.001 to 1, a decimal");
        return 1;
    }
    for (int i = 0; i < METHODS; i++)
        if (methods[i]->parameter && !strncmp(name, methods[i]->name, strlen(methods[i]->name))) {
            dae_hint(report, "%s", methods[i]->parameter);
            return 1;
        }
    return 0;
}

/* The codes of the field, and which method here is theirs. */
static const struct {
    const char *code, *method, *what;
} codes[] = {
    { "dassl", "bdf", "BDF of order 1 to 5" },
    { "daspk", "bdf", "BDF of order 1 to 5" },
    { "dasrt", "bdf", "BDF of order 1 to 5 with events" },
    { "ida", "bdf", "BDF of order 1 to 5, fixed leading coefficient" },
    { "idas", "bdf", "BDF of order 1 to 5, fixed leading coefficient" },
    { "cvode", "bdf", "BDF (its Adams formulas are 'adams' here)" },
    { "vode", "bdf", "BDF (its Adams formulas are 'adams' here)" },
    { "lsode", "bdf", "BDF (its Adams formulas are 'adams' here)" },
    { "lsodi", "bdf", "BDF for implicit systems" },
    { "lsoda", "bdf", "BDF (its Adams formulas are 'adams' here)" },
    { "lsodar", "bdf", "BDF (its Adams formulas are 'adams' here)" },
    { "ode15s", "bdf", "numerical differentiation formulas, relatives of BDF" },
    { "ode15i", "bdf", "BDF for implicit systems" },
    { "gelda", "bdf", "BDF or Radau IIA on linear systems" },
    { "genda", "bdf", "BDF on nonlinear systems of higher index" },
    { "ddassl", "bdf", "BDF of order 1 to 5" },
    { "mebdfi", "mebdf", "modified extended BDF" },
    { "mebdfdae", "mebdf", "modified extended BDF" },
    { "mebdfv", "mebdf", "modified extended BDF" },
    { "radau5", "radau", "Radau IIA (of order 5 alone: 'radau2a-3')" },
    { "radaup", "radau", "Radau IIA of several orders" },
    { "radauiia", "radau", "Radau IIA" },
    { "pside", "radau", "Radau IIA with four stages (alone: 'radau2a-4')" },
    { "gamd", "gam", "generalized Adams methods" },
    { "bimd", "bim", "blended implicit methods" },
    { "ode23tb", "trbdf2", "the trapezoidal rule and BDF of order 2" },
    { "ode23t", "trbdf2", "the trapezoidal rule; here with BDF of order 2 behind it" },
    { "ode23s", "rodas", "a Rosenbrock method" },
    { "ros4", "rodas", "a Rosenbrock method" },
    { "ode45", "dopri5", "Dormand and Prince's explicit method: for what is not stiff" },
    { "rk45", "dopri5", "Dormand and Prince's explicit method: for what is not stiff" },
    { "dop853", "dopri5", "an explicit Runge-Kutta method: for what is not stiff" },
    { "ode23", "bogacki-shampine",
      "Bogacki and Shampine's explicit method: for what is not stiff" },
    { "ode113", "adams", "Adams-Bashforth-Moulton: for what is not stiff" },
    { "hem5", "hem4", "a half-explicit method for index 2" },
};

const char *dae_method_of_code(const char *name, const char **what)
{
    for (size_t i = 0; i < sizeof codes / sizeof *codes; i++)
        if (!strcasecmp(name, codes[i].code)) {
            *what = codes[i].what;
            return codes[i].method;
        }
    return NULL;
}

dae_status dae_method_unknown(dae_report *report, const char *name)
{
    size_t most = 2;
    const char *nearest = NULL, *other;
    dae_fail(report, DAE_E_OPTION, "option 'method': there is no method '%s'", name);
    const char *what, *method = dae_method_of_code(name, &what);
    if (method) {
        dae_hint(report, "that code is %s: take '%s'", what, method);
        return DAE_E_OPTION;
    }
    if (hint_family(report, name)) return DAE_E_OPTION;
    for (int i = 0; (other = dae_method_name(i)); i++) {
        size_t same = 0;
        while (name[same] && name[same] == other[same]) same++;
        if (same > most) most = same, nearest = other;
    }
    if (nearest)
        dae_hint(report, "did you mean '%s'? 'daedalus methods' lists them all", nearest);
    else
        dae_hint(report, "the first of %d is '%s'; 'daedalus methods' lists them",
                 dae_method_count(), dae_method_name(0));
    return DAE_E_OPTION;
}
