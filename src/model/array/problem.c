/* problem.c: x' = phi(t, x) from the derivative array of a model, as a dae_problem (model.h).
 *
 * phi(t, x): with the base of a point nearby (base.c) the array is solved for (c_0, c_1, ...), c_0
 * being the consistent point that lies across the constraints from x; phi = c_1 / tau. Its
 * derivative by x, along the constraints, follows from the decomposition at that point, and is exact
 * on them. Where the base is too far away, Newton's method finds a point first, and a new base is
 * taken there.
 *
 * Ranks are looked at after every step, and have to be what they were at the start. A rank that is
 * lost at one point within a step shows in a determinant: with N spanning the kernel of (Gx Gy) at
 * the old point, split as C and Gy split it, that of (Gx Gy) above N^T is not 0 there, and its sign at
 * the new point is another one if an odd number of singular values has passed 0.
 */
#include "model/array/model.h"

#include "linear/lapack.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- points ---------------- */

static void swap_bases(model_array *k)
{
    array_base base = k->base;
    k->base = k->spare;
    k->spare = base;
}

static bool note_lost(model_array *k, const array_base *b, double t, bool turned)
{
    k->lost = true;
    k->lost_t = t;
    k->lost_rank = b->rank;
    k->lost_constraints = b->constraints;
    k->turned = turned;
    return false;
}

/* The sign of det (Gx Gy; N^T), N of `from`. 0: it has none. */
static int orientation(const array_base *at, const array_base *from, double *A, int *pivot)
{
    int n = at->n, rows = at->rows, size = n + at->width, info = 0, sign = 1, row = rows;
    if (rows + n - from->constraints + at->width - from->rank != size) return 0;
    for (int j = 0; j < size; j++)
        memcpy(A + (size_t)j * (size_t)size, at->J + (size_t)j * (size_t)rows,
               (size_t)rows * sizeof *A);
    for (int k = from->constraints; k < n; k++, row++)
        for (int j = 0; j < size; j++)
            A[(size_t)row + (size_t)j * (size_t)size] = j < n ? from->W[k + j * n] : 0;
    for (int k = from->rank; k < at->width; k++, row++)
        for (int j = 0; j < size; j++)
            A[(size_t)row + (size_t)j * (size_t)size] =
                j < n ? 0 : from->V[k + (j - n) * at->width];
    dgetrf_(&size, &size, A, &size, pivot, &info);
    if (info) return 0;
    for (int j = 0; j < size; j++) {
        if (A[(size_t)j + (size_t)j * (size_t)size] < 0) sign = -sign;
        if (pivot[j] != j + 1) sign = -sign;
    }
    return sign;
}

static bool has_turned(model_array *k)
{
    int before = orientation(&k->base, &k->base, k->turn, k->base.pivot);
    int now = orientation(&k->spare, &k->base, k->turn, k->base.pivot);
    return before != 0 && now != 0 && before != now;
}

bool array_take_base(model_array *k, double t)
{
    array_point *p = &k->here;
    bool first = k->rank < 0;
    if (!array_linearize(p, &k->spare)) return false;
    if (!array_decompose(&k->spare, array_rows(&k->a), array_columns(&k->a) - (int)k->a.n))
        return false;
    bool same = k->spare.rank == k->rank && k->spare.constraints == k->constraints &&
                array_is_full(&k->spare);
    if (!first && !same) return note_lost(k, &k->spare, t, false);
    if (!first && has_turned(k)) return note_lost(k, &k->spare, t, true);
    swap_bases(k);
    memcpy(k->c_base, p->c, (size_t)array_columns(&k->a) * sizeof *p->c);
    k->t_base = t;
    k->lost = false;
    return true;
}

static bool settle_from(model_array *k, const double *c, const double *x)
{
    double rate;
    size_t n = k->a.n;
    memmove(k->here.c, c, (size_t)array_columns(&k->a) * sizeof *c);
    memcpy(k->here.c, x, n * sizeof *x);
    return array_settle(&k->here, &k->base, &rate);
}

bool array_go_to(model_array *k, double t, const double *x)
{
    size_t bytes = k->a.n * sizeof *x;
    if (k->known_here && k->here.t == t && !memcmp(k->x_here, x, bytes)) return true;
    k->known_here = false;
    k->here.t = t;
    memcpy(k->x_here, x, bytes);
    bool good = settle_from(k, k->c_base, x);
    if (!good) {
        memcpy(k->here.c, k->c_base, (size_t)array_columns(&k->a) * sizeof *x);
        memcpy(k->here.c, x, bytes);
        good = array_satisfy(&k->here, &k->spare, false) && array_take_base(k, t) &&
               settle_from(k, k->c_base, k->x_here);
    }
    k->known_here = good;
    return good;
}

/* ---------------------------------------------------------------- callbacks ------------- */

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    model_array *k = ((model *)user)->array;
    size_t n = k->a.n;
    if (!array_go_to(k, t, x)) return DAE_RETRY;
    for (size_t j = 0; j < n; j++) r[j] = xdot[j] - k->here.c[n + j] / k->a.tau;
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    model_array *k = ((model *)user)->array;
    size_t n = k->a.n;
    (void)xdot;
    if (!array_go_to(k, t, x) || !array_linearize(&k->here, &k->spare)) return DAE_RETRY;
    if (!array_decompose(&k->spare, array_rows(&k->a), array_columns(&k->a) - (int)n))
        return DAE_RETRY;
    array_slope(&k->spare, K);
    for (size_t e = 0; e < n * n; e++) K[e] /= -k->a.tau;
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    size_t n = ((model *)user)->array->a.n;
    (void)t, (void)x, (void)xdot;
    for (size_t j = 0; j < n; j++) C[j + j * n] = 1;
    return DAE_OK;
}

static int project(double t, double *x, const double *weight, void *user)
{
    model_array *k = ((model *)user)->array;
    (void)weight;
    if (!array_go_to(k, t, x)) return DAE_RETRY;
    memcpy(x, k->here.c, k->a.n * sizeof *x);
    return t == k->t_base || array_take_base(k, t) ? DAE_OK : DAE_RETRY;
}

/* ---------------------------------------------------------------- building -------------- */

static dae_status refuse(model *m, const char *what, const char *why)
{
    dae_fail(&m->report, DAE_E_UNSUPPORTED, "the derivative array is not for this model: %s", what);
    dae_why(&m->report, "%s", why);
    return DAE_E_UNSUPPORTED;
}

/* What is left of the variables; DAE_OK if all are of a kind that can be differentiated. */
static dae_status list_unknowns(model *m)
{
    model_problem *p = &m->p;
    size_t n = 0;
    p->variable = dae_arena_take(&m->arena, m->variables + 1, sizeof *p->variable);
    for (uint32_t v = 0; v < m->variables; v++) {
        const model_variable *x = &m->variable[v];
        if (x->kind == FREE)
            return refuse(m, "a parameter is to be found by the initialization", x->name);
        if (x->kind != UNKNOWN || x->alias_of != NOWHERE || x->alias_value || x->string) continue;
        if (x->type != EX_REAL) return refuse(m, "an unknown is not Real", x->name);
        p->variable[n++] = v;
    }
    p->states = n;
    p->problem.size = (int)n;
    if (m->modes_used) return refuse(m, "relations cause events", "ranks are those of smooth equations");
    if (m->delays) return refuse(m, "it has delays", "their past is not known");
    if (n != m->running.count)
        return refuse(m, "it has not as many equations as unknowns", "this is for square systems");
    if (2 * n > ARRAY_ROWS) return refuse(m, "it is too large", "arrays have at most 600 rows");
    return DAE_OK;
}

static dae_status list_equations(model *m)
{
    model_problem *p = &m->p;
    size_t n = p->states;
    model_array *k = m->array;
    ex_id culprit = 0;
    p->residual = dae_arena_take(&m->arena, n + 1, sizeof *p->residual);
    p->row_equation = dae_arena_take(&m->arena, n + 1, sizeof *p->row_equation);
    for (size_t i = 0; i < n; i++) {
        const model_equation *e = &m->running.item[i];
        p->residual[i] = ex_binary(m->g, EX_SUBTRACT, e->left, e->right);
        p->row_equation[i] = (uint32_t)i;
    }
    dae_status status = array_open(&k->a, m->g, &m->arena, &m->memory, p->residual, p->variable,
                                   (uint32_t)n, &culprit);
    if (status == DAE_E_NOMEM) return dae_fail(&m->report, status, "no memory for a derivative array");
    if (status != DAE_OK)
        return refuse(m, "an equation cannot be differentiated",
                      culprit ? ex_print(m->g, culprit, flat_name, m->flat, 80) : "?");
    return DAE_OK;
}

static void name_things(model *m)
{
    model_problem *p = &m->p;
    size_t n = p->states;
    p->names = dae_arena_take(&m->arena, n + 1, sizeof *p->names);
    p->equation_names = dae_arena_take(&m->arena, n + 1, sizeof *p->equation_names);
    p->level = dae_arena_take(&m->arena, n + 1, 1);
    for (size_t j = 0; j < n; j++) {
        p->names[j] = model_slot_name(m, slot_of(p->variable[j], 0));
        p->equation_names[j] =
            dae_arena_print(&m->arena, "der(%s) = ..., by the derivative array", p->names[j]);
    }
}

dae_status model_build_array(model *m)
{
    model_problem *p = &m->p;
    model_array *k = m->array = dae_arena_take(&m->arena, 1, sizeof *k);
    k->index = k->rank = k->freedom = -1;
    dae_status status = list_unknowns(m);
    if (status == DAE_OK) status = list_equations(m);
    if (status == DAE_OK) status = unit_open(m, &p->equations, p->residual, p->states);
    model_clear_images(m);
    if (status == DAE_OK) status = model_compile_beside(m);
    if (status == DAE_OK) status = model_build_array_start(m);
    if (status != DAE_OK) return status;
    size_t n = p->states;
    k->slope = dae_arena_take(&m->arena, n * n + 1, sizeof *k->slope);
    k->x_here = dae_arena_take(&m->arena, n + 1, sizeof *k->x_here);
    name_things(m);
    p->problem = (dae_problem){
        .size = (int)n, .residual = residual, .jacobian_x = jacobian_x,
        .jacobian_xdot = jacobian_xdot, .project = project, .pattern = { .kind = DAE_PATTERN_DENSE },
        .level = p->level, .names = p->names, .equation_names = p->equation_names, .user = m };
    return DAE_OK;
}

void model_close_array(model *m)
{
    if (!m->array) return;
    array_close(&m->array->a);
    unit_close(m, &m->array->initial);
    m->array = NULL;
}

bool model_tell_array(model *m, double t)
{
    const model_array *k = m->array;
    if (!k || !k->lost) return false;
    dae_report_clear(&m->report);
    dae_fail(&m->report, DAE_E_IMPASSE, "the ranks of the derivative array change on the way");
    dae_at(&m->report, "%s t = %.10g", k->turned ? "in the step to" : "near", k->turned ? k->lost_t : t);
    if (k->turned)
        dae_why(&m->report, "a determinant of it has the other sign there: in between it is singular, and "
                            "beyond that the solution is not unique, or there is none");
    else
        dae_why(&m->report, "there %d constraints and rank %d of the derivatives, %d and %d at the start: "
                            "beyond it the solution is not unique, there is none, or it has another index",
                k->lost_constraints, k->lost_rank, k->constraints, k->rank);
    dae_hint(&m->report, "results up to there are right; start behind it");
    return true;
}
