/* mechanical.c: from a mechanism to a problem of the collection. */
#include "mechanical.h"

#include <stdio.h>

const char *const mechanical_forms[] = {
    "ggl",
    "ggl-mass",
    "fuehrer-leimkuhler",
    "index3",
    "index2",
    "index1",
    "index0",
    "baumgarte",
    "penalty",
    "augmented-lagrangian",
    "maggi-partition",
    "maggi-qr",
    "maggi-svd",
    "maggi-zero-eigenvalue",
    "maggi-gram-schmidt",
    "index1-projected",
    "index0-projected",
    "maggi-qr-projected",
    "index0-derivative-projected",
    "index3-acceleration", /* of constant leading matrix; not in dae_formulation_name */
    "index2-acceleration",
    "index1-acceleration", /* index1 for patterns */
    "index1-acceleration-projected",
    NULL,
};

/* What the reports watch: only what a form does not satisfy by construction. */
enum { POSITION = 1, VELOCITY = 2, ACCELERATION = 4, ENERGY = 8 };

static int watch(int what, double t, const double *x, double *c, void *user)
{
    dae_mechanism_report r;
    dae_status status = dae_mechanism_check(user, t, x, &r);
    if (status != DAE_OK) return status;
    if (what & POSITION) *c++ = r.position;
    if (what & VELOCITY) *c++ = r.velocity;
    if (what & ACCELERATION) *c++ = r.acceleration;
    if (what & ENERGY) *c++ = r.energy;
    return DAE_OK;
}

#define WATCH(what)                                                                                \
    static int watch_##what(double t, const double *x, double *c, void *user)                      \
    {                                                                                              \
        return watch(what, t, x, c, user);                                                         \
    }
WATCH(1)
WATCH(2)
WATCH(3)
WATCH(6)
WATCH(7)
WATCH(8)
WATCH(9)
WATCH(10)
WATCH(11)
WATCH(14)
WATCH(15)

typedef int (*watcher)(double, const double *, double *, void *);
static const watcher watchers[16] = { NULL,    watch_1, watch_2,  watch_3, NULL,     NULL,
                                      watch_6, watch_7, watch_8,  watch_9, watch_10, watch_11,
                                      NULL,    NULL,    watch_14, watch_15 };
static const char *const watched[4] = { "position, largest", "velocity, largest",
                                        "acceleration, largest", "energy, change since the start" };

static void choose_watcher(const dae_mechanical *model, const char *form, const char **names,
                           problem_instance *out)
{
    int minimal = strncmp(form, "maggi", 5) == 0, what = 0;
    int eliminated = strcmp(form, "index0") == 0 || strcmp(form, "penalty") == 0 ||
                     strcmp(form, "augmented-lagrangian") == 0;
    if (model->constraints > 0) what |= POSITION;
    if (model->constraints + model->rolling > 0 && !minimal)
        what |= eliminated ? VELOCITY : VELOCITY | ACCELERATION;
    if (model->energy) what |= ENERGY;
    for (int k = 0; k < 4; k++)
        if (what & (1 << k)) names[out->constraint_count++] = watched[k];
    out->constraint_names = names;
    out->constraints = watchers[what];
}

static int refresh(double t, double *x, void *user)
{
    return dae_mechanism_refresh(user, t, x);
}

static const char *method(double rtol, void *user)
{
    return dae_mechanism_method(user, rtol);
}

static int settle(double t, double *x, void *user)
{
    return dae_mechanism_settle(user, t, x);
}

typedef struct extra { /* beside the problem's own state: a block that dispose frees */
    dae_mechanism *m;
    double *x0, *xdot0, *reference;
    const char *names[4];
    unsigned char *counted;
    double numbers[];
} extra;

static void dispose(problem_instance *p)
{
    extra *e = p->extra;
    if (e) dae_mechanism_close(e->m);
    free(e);
}

/* Known end values where the form has a place for them. Not those of mu and nu, though
 * they are zero: they measure the run, and would drown its digits. */
static void place_reference(const mechanical_case *c, const char *form, double *to,
                            unsigned char *counted, problem_instance *out)
{
    int n = c->model.coordinates, m = c->model.constraints + c->model.rolling;
    int known = strncmp(form, "maggi", 5) == 0 ? n : 2 * n;
    int third = strcmp(form, "fuehrer-leimkuhler") == 0 || strstr(form, "-acceleration");
    int lambda = third ? 3 * n : 2 * n;
    if (!c->reference) return;
    for (int i = 0; i < out->problem.size; i++) {
        int multiplier = known == 2 * n && i >= lambda && i < lambda + m;
        int part = multiplier ? MECHANICAL_LAMBDA : i < n ? MECHANICAL_Q : MECHANICAL_V;
        to[i] = i < known ? c->reference[i] : NAN;
        if (multiplier) to[i] = c->reference[2 * n + i - lambda];
        counted[i] = !c->counted || (c->counted & part);
    }
    out->reference = to;
    out->counted = counted;
    out->reference_source = c->reference_source;
}

static int index_of(const char *form, const dae_mechanical *model)
{
    for (int i = 0; i < dae_formulation_count(); i++)
        if (strcmp(dae_formulation_name(i), form) == 0) {
            int index = dae_formulation_index(i);
            return index == 3 && model->constraints == 0 ? 2 : index;
        }
    if (strcmp(form, "index3-acceleration") == 0) return model->constraints == 0 ? 2 : 3;
    return strcmp(form, "index2-acceleration") == 0   ? 2
           : strcmp(form, "index1-acceleration") == 0 ? 1
                                                      : 0;
}

/* The formulation of a form, without "-projected" or "-derivative-projected" at its end; what
 * that means. */
static int formulation_of(const char *form, char name[32])
{
    snprintf(name, 32, "%s", form);
    char *end = strstr(name, "-projected"), *derivative = strstr(name, "-derivative-projected");
    if (end) *end = 0;
    if (derivative) *derivative = 0;
    return derivative ? DAE_PROJECT_DERIVATIVE : end ? DAE_PROJECT_BOTH : DAE_PROJECT_NOTHING;
}

int mechanical_build(const mechanical_case *c, const char *asked, problem_instance *out)
{
    char form[32];
    int project = formulation_of(asked, form);
    size_t n = (size_t)c->model.coordinates;
    size_t m = (size_t)(c->model.constraints + c->model.rolling), size = 3 * n + 3 * m;
    extra *e = calloc(1, sizeof *e + (3 * size + 2 * n) * sizeof(double) + size);
    if (!e) return DAE_E_NOMEM;
    out->extra = e;
    out->dispose = dispose;
    e->x0 = e->numbers;
    e->xdot0 = e->x0 + size;
    e->reference = e->xdot0 + size;
    double *q = e->reference + size, *v = q + n;
    e->counted = (unsigned char *)(v + n);
    memcpy(q, c->q0, n * sizeof *q);
    memcpy(v, c->v0, n * sizeof *v);
    e->m = dae_mechanism_open(
        &c->model,
        &(dae_formulation){ .name = form, .alpha = c->alpha, .beta = c->beta, .project = project });
    mechanical_base *base = c->model.user;
    dae_status status = dae_mechanism_assemble(e->m, 0, q, v);
    if (status == DAE_OK && c->model.energy)
        status = c->model.energy(0, q, v, &base->energy0, base);
    if (status == DAE_OK) status = dae_mechanism_pack(e->m, 0, q, v, e->x0, e->xdot0);
    if (status != DAE_OK) {
        snprintf(out->why, sizeof out->why, "%s", dae_mechanism_message(e->m));
        return status;
    }
    out->problem = *dae_mechanism_problem(e->m);
    out->t1 = c->t1;
    out->x0 = e->x0;
    out->xdot0 = e->xdot0;
    out->index = index_of(form, &c->model);
    out->atol_over_rtol = c->atol_over_rtol;
    out->method = method;
    out->settle = settle;
    out->refresh = strncmp(form, "maggi", 5) == 0 ? refresh : NULL;
    place_reference(c, form, e->reference, e->counted, out);
    choose_watcher(&c->model, form, e->names, out);
    return DAE_OK;
}
