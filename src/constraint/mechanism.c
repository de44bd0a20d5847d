/* mechanism.c: opening and closing a mechanism; all of its memory. */
#include "constraint/tangent.h"
#include "base/float_check.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* When there is no memory even for the object: one that can be asked and closed. */
static dae_mechanism *nobody(void)
{
    static const dae_mechanism none = {
        .report = { .status = DAE_E_NOMEM,
                    .length = 30,
                    .text = "error[E_NOMEM]: out of memory\n" },
    };
    return (dae_mechanism *)(uintptr_t)&none;
}

static const dae_mech_form *find_form(const char *name)
{
    for (int i = 0; i < dae_mech_form_all; i++)
        if (strcmp(dae_mech_forms[i].name, name) == 0) return &dae_mech_forms[i];
    return NULL;
}

static dae_status refuse(dae_mechanism *m, const char *argument, const char *is)
{
    return dae_fail_arg(&m->report, DAE_E_ARG, "dae_mechanism_open", argument, is);
}

static dae_status check_model(dae_mechanism *m, const dae_mechanical *model)
{
    if (!model) return refuse(m, "model", "NULL");
    /* dense: n^2 doubles are taken several times; sparse: 160 n characters of names */
    const int sparse = dae_mech_wants_sparse(model), most = sparse ? 5000000 : 20000;
    const char *range =
        sparse ? "not between 0 and 5000000" : "not between 0 and 20000 (more: give patterns)";
    if (model->coordinates < 1 || model->coordinates > most)
        return refuse(m, "model.coordinates",
                      sparse ? "not between 1 and 5000000"
                             : "not between 1 and 20000 (more: give patterns)");
    if (model->constraints < 0 || model->constraints > most)
        return refuse(m, "model.constraints", range);
    if (model->rolling < 0 || model->rolling > most) return refuse(m, "model.rolling", range);
    if (model->constraints > 0 && !model->constraint && !model->constraint_jet)
        return refuse(m, "model.constraint", "NULL, with constraints > 0");
    if (model->constraint_jet &&
        (model->constraint || model->constraint_q || model->constraint_t || model->constraint_bias))
        return refuse(m, "model.constraint_jet", "set together with another callback of phi");
    if (model->constraint_jet && sparse)
        return refuse(m, "model.constraint_jet", "set together with patterns");
    if (model->rolling > 0 && !model->roll)
        return refuse(m, "model.roll", "NULL, with rolling > 0");
    if (model->mass && model->mass_diagonal)
        return refuse(m, "model.mass_diagonal", "set together with model.mass");
    if (model->kinetic && (model->mass || model->mass_diagonal))
        return refuse(m, "model.kinetic", "set together with a mass matrix");
    if (model->kinetic_jet && (model->mass || model->mass_diagonal || model->kinetic))
        return refuse(m, "model.kinetic_jet", "set together with a mass matrix or model.kinetic");
    if (model->potential_jet && model->potential)
        return refuse(m, "model.potential_jet", "set together with model.potential");
    if (sparse && (model->kinetic || model->kinetic_jet))
        return refuse(m, sparse && model->kinetic ? "model.kinetic" : "model.kinetic_jet",
                      "set together with patterns: give mass and force");
    if (model->symmetries < 0 || model->symmetries > 1000)
        return refuse(m, "model.symmetries", "not between 0 and 1000");
    if (model->symmetries > 0 && !model->symmetry)
        return refuse(m, "model.symmetry", "NULL, with symmetries > 0");
    for (int j = 0; model->scale && j < model->coordinates; j++)
        if (!(model->scale[j] > 0) || !isfinite(model->scale[j]))
            return refuse(m, "model.scale", "not positive and finite");
    if (!(model->time_scale >= 0) || !isfinite(model->time_scale))
        return refuse(m, "model.time_scale", "negative or not finite");
    return DAE_OK;
}

/* Projection is for what drifts: not where phi = 0 is part of the equations, and not where the
 * solution is not on it. */
static dae_status may_project(dae_mechanism *m)
{
    static const char *const never[] = { "index3",   "ggl",
                                         "ggl-mass", "fuehrer-leimkuhler",
                                         "penalty",  "augmented-lagrangian" };
    int derivative = m->how.project & DAE_PROJECT_DERIVATIVE;
    if (m->how.project < 0 || m->how.project > (DAE_PROJECT_BOTH | DAE_PROJECT_DERIVATIVE))
        return refuse(m, "how.project", "not one of DAE_PROJECT_...");
    if (m->how.project == DAE_PROJECT_DERIVATIVE) m->how.project |= DAE_PROJECT_BOTH;
    if (derivative && (m->form->index != 0 || strstr(m->form->name, "-lagrangian") ||
                       strcmp(m->form->name, "penalty") == 0)) {
        dae_fail(&m->report, DAE_E_OPTION, "formulation '%s' takes no derivative projection",
                 m->form->name);
        dae_why(&m->report, "it is for x' = f(t, x) with solutions on phi = 0");
        dae_hint(&m->report, "use index0 or maggi-...");
        m->form = NULL;
        return DAE_E_OPTION;
    }
    for (size_t i = 0; m->how.project && i < sizeof never / sizeof never[0]; i++) {
        if (strcmp(m->form->name, never[i]) != 0) continue;
        int keeps = i < 4;
        dae_fail(&m->report, DAE_E_OPTION, "formulation '%s' takes no projection", never[i]);
        dae_why(&m->report, "%s",
                keeps ? "phi = 0 is one of its equations"
                      : "its solutions satisfy phi = 0 only nearly");
        dae_hint(&m->report, "project with index2, index1, index0, baumgarte or maggi-...");
        m->form = NULL;
        return DAE_E_OPTION;
    }
    return DAE_OK;
}

static dae_status choose(dae_mechanism *m, const dae_formulation *how)
{
    m->how = how ? *how : (dae_formulation){ 0 };
    const char *name = m->how.name ? m->how.name : dae_mech_forms[0].name;
    const dae_mech_form *form = find_form(name);
    if (!form) {
        dae_fail(&m->report, DAE_E_OPTION, "there is no formulation '%.60s'", name);
        dae_hint(&m->report, "index3, index2, index1, index0, ggl, baumgarte, maggi-qr; "
                             "dae_formulation_name lists all");
        return DAE_E_OPTION;
    }
    double scale = m->model.time_scale > 0 ? m->model.time_scale : 1;
    m->beta = m->how.beta != 0 ? m->how.beta : 10 / scale;
    m->alpha = m->how.alpha != 0 ? m->how.alpha : m->beta;
    m->penalty = m->how.penalty > 0 ? m->how.penalty : strcmp(name, "penalty") ? 1e4 : 1e7;
    if (!(m->beta >= 0) || !(m->alpha >= 0) || !isfinite(m->alpha + m->beta)) {
        dae_fail(&m->report, DAE_E_OPTION, "alpha and beta must not be negative");
        dae_why(&m->report, "alpha = %.3g, beta = %.3g: errors would grow", m->alpha, m->beta);
        return DAE_E_OPTION;
    }
    m->form = form;
    return may_project(m);
}

static dae_status take_memory(dae_mechanism *m)
{
    size_t n = (size_t)m->n, k = (size_t)m->m, h = (size_t)m->h, l = n > k ? n : k;
    size_t all = n + k, state = 3 * n + 3 * k + 1; /* the largest state and a bit */
    size_t full = m->sparse == NULL;               /* dense squares are for the dense route */
    size_t in_M = dae_mech_M_count(m), in_W = dae_mech_W_count(m);
    m->lapack_size = full ? (int)(16 * all + 64 * l + 64) : 0;
    const dae_vector_wish wish[] = {
        { &m->step, n },
        { &m->reach, n },
        { &m->U, full * k * k },
        { &m->N0, full * n * n },
        { &m->M, in_M },
        { &m->W, in_W },
        { &m->W_upper, in_W },
        { &m->W_side, full * k * n },
        { &m->T, full * l * l },
        { &m->B, full * l * l },
        { &m->S, full * l * l },
        { &m->kkt, full * all * all },
        { &m->kkt_b, all },
        { &m->G, full ? h * n : in_W },
        { &m->A, full ? (k - h) * n : in_W },
        { &m->b, k },
        { &m->q_side, n },
        { &m->phi_side, k },
        { &m->sum, k },
        { &m->sum_low, k },
        { &m->near, n },
        { &m->column, n },
        { &m->f, n },
        { &m->f_side, n },
        { &m->a_side, n },
        { &m->lambda_side, k },
        { &m->lambda_new, k },
        { &m->rate, k },
        { &m->bias, k },
        { &m->c, k },
        { &m->v_side, n },
        { &m->x_side, state },
        { &m->r_low, state },
        { &m->r_high, state },
        { &m->values, state },
        { &m->leading, state },
        { &m->zero, n },
        { &m->lapack, (size_t)m->lapack_size },
        { &m->kinetic_q, n },
        { &m->kinetic_v, n },
        { &m->kinetic_T, n },
        { &m->jets, 8 * n + 4 * h },
        { &m->base, state },
        { &m->x_near, state },
    };
    m->vectors = dae_alloc_vectors(&m->memory, wish, sizeof wish / sizeof wish[0]);
    m->pivots = dae_alloc(&m->memory, 4 * all, sizeof(int));
    m->level = dae_alloc(&m->memory, state, 1);
    m->names = dae_alloc(&m->memory, 2 * state, sizeof(char *));
    m->text = dae_alloc(&m->memory, dae_mech_text_size((int)state), 1);
    if (!m->vectors || !m->pivots || !m->level || !m->names || !m->text)
        return dae_fail(&m->report, DAE_E_NOMEM,
                        "out of memory for a mechanism of %d "
                        "coordinates",
                        m->n);
    m->iwork = m->pivots + all;
    m->active = m->iwork + 2 * all;
    m->equation_names = m->names + state;
    return DAE_OK;
}

static dae_status take_leap(dae_mechanism *m)
{
    if (dae_mech_leap_open(m) == DAE_OK) return DAE_OK;
    return dae_fail(&m->report, DAE_E_NOMEM, "out of memory for a mechanism of %d coordinates",
                    m->n);
}

dae_mechanism *dae_mechanism_open_version(const dae_mechanical *model, const dae_formulation *how,
                                          int version, size_t model_bytes, size_t how_bytes)
{
    int known = version == DAE_VERSION && model_bytes == sizeof *model && how_bytes == sizeof *how;
    dae_memory memory;
    dae_memory_init(&memory, known && how ? how->allocator : NULL);
    dae_mechanism *m = dae_alloc(&memory, 1, sizeof *m);
    if (!m) return nobody();
    m->memory = memory;
    if (!known) {
        dae_fail(&m->report, DAE_E_VERSION, "built against another header");
        dae_why(&m->report, "version %d, structs of %zu and %zu bytes; here %d, %zu and %zu",
                version, model_bytes, how_bytes, DAE_VERSION, sizeof *model, sizeof *how);
        dae_hint(&m->report, "compile your program again");
        return m;
    }
    if (check_model(m, model) != DAE_OK) return m;
    m->model = *model;
    m->n = model->coordinates;
    m->h = model->constraints;
    m->m = model->constraints + model->rolling;
    m->rank = m->m < m->n ? m->m : m->n;
    if (choose(m, how) != DAE_OK) return m;
    if ((dae_mech_wants_sparse(model) && dae_mech_sparse_open(m) != DAE_OK) ||
        take_memory(m) != DAE_OK || take_leap(m) != DAE_OK) {
        m->form = NULL; /* it can be asked why, and closed */
        return m;
    }
    m->mu_unit = 1;
    dae_mech_lay_out(m);
    dae_mech_problem_fill(m);
    return m;
}

void dae_mechanism_close(dae_mechanism *m)
{
    if (!m || m == nobody()) return;
    dae_memory memory = m->memory;
    dae_mech_tangent_close(m);
    dae_mech_sparse_close(m);
    dae_mech_leap_close(m);
    dae_free(&memory, m->vectors);
    dae_free(&memory, m->pivots);
    dae_free(&memory, m->level);
    dae_free(&memory, m->names);
    dae_free(&memory, m->text);
    dae_free(&memory, m);
}

dae_status dae_mechanism_status(const dae_mechanism *m)
{
    return m ? m->report.status : DAE_E_ARG;
}

const char *dae_mechanism_message(const dae_mechanism *m)
{
    return m ? m->report.text : "";
}

/* Of ggl, maggi-qr, index1 and baumgarte with radau, bim and mebdf at 1e-3 ... 1e-11 only ggl
 * and maggi-qr with radau never failed on Andrews' mechanism, the rigid slider-crank and the car
 * axis alike, and ggl is the cheaper one. What they lost, up to four digits, they lost on the
 * elastic slider-crank, whose vibrations keep every error: hence radau-undamped
 * (docs/mechanics.md). */
const char *dae_mechanism_method(const dae_mechanism *m, double rtol)
{
    (void)m, (void)rtol;
    return "auto";
}

const dae_problem *dae_mechanism_problem(const dae_mechanism *m)
{
    return m ? &m->problem : NULL;
}
