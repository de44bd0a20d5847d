/* problem.c: x' = phi(t, x) from the derivative array of a model, as a dae_problem (model.h).
 *
 * phi(t, x): with the base of a point nearby (base.c) the array is solved for (c_0, c_1, ...), c_0
 * being the consistent point that lies across the constraints from x; phi = c_1 / tau. Its
 * derivative by x, along the constraints, follows from the decomposition at that point, and is
 * exact on them. Where the base is too far away, Newton's method finds a point first, and another
 * base is taken there for the iteration.
 *
 * Ranks are looked at after every step, and have to be what they were at the start. A rank that is
 * lost at one point within a step shows in a determinant: with N spanning what the constraints and
 * the stages (array.h) leave open at the old point, that of (Gx Gy) above N^T is not 0 there, and its
 * sign at the new point is another one if an odd number of singular values has passed 0.
 */
#include "model/array/model.h"

#include "expression/walk.h"
#include "linear/lapack.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- points ---------------- */

static void swap(array_base *a, array_base *b)
{
    array_base kept = *a;
    *a = *b;
    *b = kept;
}

static bool note_lost(model_array *k, const array_base *b, double t, bool turned)
{
    k->lost = true;
    k->losses++;
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
    for (int stage = 1; stage <= at->width / n; stage++)
        for (int k = from->stage[stage].rank; k < n; k++, row++)
            for (int j = 0; j < size; j++)
                A[(size_t)row + (size_t)j * (size_t)size] =
                    j / n == stage ? from->stage[stage].V[k + j % n * n] : 0;
    dgetrf_(&size, &size, A, &size, pivot, &info);
    if (info) return 0;
    for (int j = 0; j < size; j++) {
        if (A[(size_t)j + (size_t)j * (size_t)size] < 0) sign = -sign;
        if (pivot[j] != j + 1) sign = -sign;
    }
    return sign;
}

static bool has_turned(model_array *k, const array_base *from)
{
    int before = orientation(from, from, k->turn, k->spare.pivot);
    int now = orientation(&k->spare, from, k->turn, k->spare.pivot);
    return before != 0 && now != 0 && before != now;
}

/* ---------------------------------------------------------------- ranks ----------------- */

/* The decomposition at (t, c), into the spare. */
static bool decompose_at(model_array *k, double t, double *c)
{
    array_point p = k->here;
    p.t = t;
    p.c = c;
    return array_linearize(&p, &k->spare) &&
           array_decompose(&k->spare, array_rows(&k->a), array_columns(&k->a) - (int)k->a.n);
}

static bool is_as_before(const model_array *k, const array_base *b)
{
    return b->rank == k->rank && b->constraints == k->constraints && array_is_full(b);
}

/* Units are those of the start, where an entry may happen to be nearly 0: in others ranks here and
 * at the ends of steps before may be what they were, and clearly so. */
static bool is_so_in_units(model_array *k)
{
    if (!decompose_at(k, k->t_base, k->c_base) || !is_as_before(k, &k->spare)) return false;
    swap(&k->base, &k->spare);
    if (k->has_next) {
        if (!decompose_at(k, k->t_next, k->c_next) || !is_as_before(k, &k->spare)) return false;
        swap(&k->next, &k->spare);
    }
    return decompose_at(k, k->here.t, k->here.c) && is_as_before(k, &k->spare) &&
           array_gap(&k->spare) > ARRAY_CLEAR;
}

static void put_units(model_array *k, const double *size, double tau)
{
    double *c[] = { k->here.c, k->c_start, k->c_base, k->c_next }, before = k->a.tau;
    array_put_sizes(k, size);
    for (int i = 0; i < (k->has_next ? 4 : 3); i++) {
        array_point p = k->here;
        p.c = c[i];
        k->a.tau = before;
        array_put_tau(&p, tau);
    }
    k->has_near = false;
}

/* Other units, chosen here, in which ranks are those of the start; false: there are none. */
static bool renew_units(model_array *k)
{
    size_t n = k->a.n;
    double tau = k->a.tau, *size = k->size_before;
    memcpy(size, k->base.size, n * sizeof *size);
    array_choose_units(&k->here, &k->spare, k->metric);
    double chosen = k->a.tau;
    array_put_tau(&k->here, tau);
    memcpy(k->size_now, k->spare.size, n * sizeof *size);
    put_units(k, k->size_now, chosen);
    if (is_so_in_units(k)) return true;
    put_units(k, size, tau);
    if (decompose_at(k, k->t_base, k->c_base)) swap(&k->base, &k->spare);
    if (k->has_next && decompose_at(k, k->t_next, k->c_next)) swap(&k->next, &k->spare);
    decompose_at(k, k->here.t, k->here.c);
    return false;
}

/* A shorter step mostly helps; if it does not, that is not to be had by steps. */
enum { OFTEN = 4 };

/* A cut that is lower by this may have the ranks of the start, clearly. */
static const double LOWER = 1e-2;

static bool lower_cut(model_array *k)
{
    double zero = k->spare.zero;
    array_put_zero(k, LOWER * zero);
    bool good = decompose_at(k, k->here.t, k->here.c) && is_as_before(k, &k->spare) &&
                array_gap(&k->spare) > ARRAY_CLEAR;
    array_put_zero(k, zero);
    return good || (decompose_at(k, k->here.t, k->here.c) && false);
}

/* The decomposition at k->here, into the spare; false: ranks are not those of the start. */
static bool look_here(model_array *k)
{
    if (!decompose_at(k, k->here.t, k->here.c)) return false;
    if (k->rank < 0 || is_as_before(k, &k->spare)) return true;
    if (k->losses >= OFTEN && (renew_units(k) || lower_cut(k))) return true;
    return note_lost(k, &k->spare, k->here.t, false);
}

/* Higher derivatives are determined in part only. What is not is made 0: carried on from step to
 * step it would grow. */
static void forget_loose(model_array *k)
{
    const array_base *b = &k->spare;
    int n = b->n;
    double *kept = k->c_spare, rate;
    size_t bytes = (size_t)array_columns(&k->a) * sizeof *kept;
    memcpy(kept, k->here.c, bytes);
    for (int stage = 1; stage <= b->width / n; stage++) {
        double *c = k->here.c + stage * n;
        const double *V = b->stage[stage].V;
        for (int v = b->stage[stage].rank; v < n; v++) {
            double dot = 0;
            for (int j = 0; j < n; j++) dot += V[v + j * n] * kept[stage * n + j] / b->size[j];
            for (int j = 0; j < n; j++) c[j] -= V[v + j * n] * dot * b->size[j];
        }
    }
    if (!array_settle(&k->here, &k->spare, &rate)) memcpy(k->here.c, kept, bytes);
}

bool array_take_base(model_array *k)
{
    if (!look_here(k)) return false;
    if (k->rank >= 0 && has_turned(k, &k->base)) return note_lost(k, &k->spare, k->here.t, true);
    forget_loose(k);
    swap(&k->base, &k->spare);
    memcpy(k->c_base, k->here.c, (size_t)array_columns(&k->a) * sizeof *k->c_base);
    k->t_base = k->here.t;
    k->lost = k->has_near = false;
    k->losses = 0;
    return true;
}

/* The end of a step, which may be rejected yet: the one before is counted on for what is earlier.
 */
static bool take_next(model_array *k)
{
    size_t bytes = (size_t)array_columns(&k->a) * sizeof *k->c_base;
    if (!look_here(k)) return false;
    if (has_turned(k, k->has_next ? &k->next : &k->base))
        return note_lost(k, &k->spare, k->here.t, true);
    forget_loose(k);
    if (k->has_next) {
        swap(&k->base, &k->next);
        memcpy(k->c_base, k->c_next, bytes);
        k->t_base = k->t_next;
    }
    swap(&k->next, &k->spare);
    memcpy(k->c_next, k->here.c, bytes);
    k->t_next = k->here.t;
    k->has_next = true;
    k->lost = k->has_near = false;
    k->losses = 0;
    return true;
}

/* Where to begin at k->here.t, k->x_here: the series of a point before, carried on; x' if it is
 * known. */
static void predict(model_array *k, bool next, const double *xdot)
{
    int n = (int)k->a.n, orders = k->a.level + 2;
    double s = (k->here.t - (next ? k->t_next : k->t_base)) / k->a.tau, *c = k->here.c;
    memcpy(c, next ? k->c_next : k->c_base, (size_t)array_columns(&k->a) * sizeof *c);
    for (int round = 0; fabs(s) < 1 && round < orders - 1;
         round++) /* Horner's scheme, all orders */
        for (int m = orders - 2; m >= round; m--)
            for (int j = 0; j < n; j++) c[m * n + j] += s * c[(m + 1) * n + j];
    for (int j = 0; j < n && xdot; j++) c[n + j] = k->a.tau * xdot[j];
    memcpy(c, k->x_here, (size_t)n * sizeof *c);
}

static bool settle(model_array *k, array_base *b, bool next, const double *xdot)
{
    predict(k, next, xdot);
    return array_settle(&k->here, b, &k->rate);
}

/* A base at a point beside those that count. It serves the iteration only: where that begins, and
 * so which of several solutions is meant, is always said by ends of steps. */
static bool take_near(model_array *k, bool next, const double *xdot)
{
    predict(k, next, xdot);
    if (!array_satisfy(&k->here, &k->spare, false) || !look_here(k)) return false;
    swap(&k->near, &k->spare);
    return k->has_near = true;
}

bool array_go_to(model_array *k, double t, const double *x, const double *xdot)
{
    size_t bytes = k->a.n * sizeof *x;
    bool next = k->has_next && t >= k->t_next;
    if (k->known_here && k->here.t == t && !memcmp(k->x_here, x, bytes)) return true;
    k->here.t = t;
    memcpy(k->x_here, x, bytes);
    k->known_here = settle(k, next ? &k->next : &k->base, next, xdot) ||
                    (k->has_near && settle(k, &k->near, next, xdot)) ||
                    (take_near(k, next, xdot) && settle(k, &k->near, next, xdot)) ||
                    (k->has_next && settle(k, next ? &k->base : &k->next, !next, xdot));
    return k->known_here;
}

/* ---------------------------------------------------------------- callbacks ------------- */

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    model_array *k = ((model *)user)->array;
    size_t n = k->a.n;
    if (!array_go_to(k, t, x, xdot)) return DAE_RETRY;
    for (size_t j = 0; j < n; j++) r[j] = xdot[j] - k->here.c[n + j] / k->a.tau;
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    model_array *k = ((model *)user)->array;
    size_t n = k->a.n;
    if (!array_go_to(k, t, x, xdot) || !array_linearize(&k->here, &k->spare)) return DAE_RETRY;
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

/* Between the ends of steps a new base is taken only where the old one has become too far away. */
static const double SLOW = 0.1;

static int project(double t, double *x, const double *weight, void *user)
{
    model_array *k = ((model *)user)->array;
    (void)weight;
    if (!array_go_to(k, t, x, NULL)) return DAE_RETRY;
    memcpy(x, k->here.c, k->a.n * sizeof *x);
    if (t <= k->t_base || (k->has_next && t <= k->t_next && k->rate < SLOW)) return DAE_OK;
    if (k->has_next && t <= k->t_next) return array_take_base(k) ? DAE_OK : DAE_RETRY;
    return take_next(k) ? DAE_OK : DAE_RETRY;
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
    if (m->modes_used)
        return refuse(m, "relations cause events", "ranks are those of smooth equations");
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
    if (status == DAE_E_NOMEM)
        return dae_fail(&m->report, status, "no memory for a derivative array");
    if (status != DAE_OK)
        return refuse(m, "an equation cannot be differentiated",
                      culprit ? ex_print(m->g, culprit, flat_name, m->flat, 80) : "?");
    return DAE_OK;
}

/* Does the equation contain the unknown, or its derivative? use[i, j]; more than x itself: 2. */
static void list_uses(model *m, unsigned char *use)
{
    const model_problem *p = &m->p;
    size_t n = p->states;
    uint32_t *at = dae_arena_take(&m->arena, m->variables + 1, sizeof *at); /* 1 + place */
    for (size_t j = 0; j < n; j++) at[p->variable[j]] = (uint32_t)j + 1;
    for (size_t i = 0; i < n; i++) {
        ex_walk *w = ex_walk_begin(m->g, &p->residual[i], 1);
        for (size_t k = 0; k < w->count; k++) {
            uint32_t slot = leaf_slot(m->g, w->order[k]);
            if (slot == NOWHERE || slot == 0 || at[slot_variable(slot)] == 0) continue;
            size_t entry = i * n + at[slot_variable(slot)] - 1;
            use[entry] |= slot_is_derivative(slot) ? 2 : 1;
        }
        ex_walk_end(m->g, w);
    }
}

/* Unknowns in one equation only, without a derivative, and then those which are so without these
 * equations: an output, a kinetic energy. All are integrated, but the errors of these concern nobody: they
 * follow at the end of every step. The way onto the constraints, the shortest of all x, would spread
 * such errors to the unknowns that count, anew after every step: these move first. */
static const double READY = 1e4;

static void find_followers(model *m)
{
    size_t n = m->p.states;
    model_array *k = m->array;
    unsigned char *use = dae_arena_take(&m->arena, n * n + 1, sizeof *use);
    size_t followers = 0;
    bool more = true;
    k->follows = dae_arena_take(&m->arena, n + 1, sizeof *k->follows);
    list_uses(m, use);
    while (more) {
        more = false;
        for (size_t j = 0; j < n; j++) {
            size_t count = 0, row = 0;
            for (size_t i = 0; i < n; i++)
                if (use[i * n + j]) count += use[i * n + j] == 1 ? 1 : 2, row = i;
            if (k->follows[j] || count != 1) continue;
            k->follows[j] = more = true;
            followers++;
            memset(use + row * n, 0, n);
        }
    }
    if (followers == n) memset(k->follows, 0, n * sizeof *k->follows); /* then all count */
    if (followers == 0 || followers == n) return;
    k->ease = dae_arena_take(&m->arena, n + 1, sizeof *k->ease);
    for (size_t j = 0; j < n; j++) k->ease[j] = k->follows[j] ? READY : 1;
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
    k->size_before = dae_arena_take(&m->arena, 2 * n + 1, sizeof *k->size_before);
    k->size_now = k->size_before + n;
    name_things(m);
    find_followers(m);
    p->problem = (dae_problem){ .size = (int)n,
                                .residual = residual,
                                .jacobian_x = jacobian_x,
                                .jacobian_xdot = jacobian_xdot,
                                .project = project,
                                .pattern = { .kind = DAE_PATTERN_DENSE },
                                .level = p->level,
                                .names = p->names,
                                .equation_names = p->equation_names,
                                .user = m };
    return DAE_OK;
}

void model_close_array(model *m)
{
    if (!m->array) return;
    array_close(&m->array->a);
    unit_close(m, &m->array->initial);
    m->array = NULL;
}

/* Singular values that count have become this much smaller since the start. */
static const double FADED = 1e-3;

static bool is_stuck(const model_array *k, dae_status status)
{
    bool numeric = status == DAE_E_REFUSED || status == DAE_E_CONVERGENCE ||
                   status == DAE_E_STEP_UNDERFLOW || status == DAE_E_SINGULAR;
    return numeric && k->base.kept < FADED * k->kept;
}

bool model_tell_array(model *m, dae_status status, double t)
{
    const model_array *k = m->array;
    if (!k || (!k->lost && !is_stuck(k, status))) return false;
    dae_report_clear(&m->report);
    dae_fail(&m->report, DAE_E_IMPASSE, "the ranks of the derivative array change on the way");
    dae_at(&m->report, "%s t = %.10g", k->lost && k->turned ? "in the step to" : "near",
           k->lost && k->turned ? k->lost_t : t);
    if (!k->lost)
        dae_why(&m->report,
                "its smallest singular value that counts is %.1e of the largest there, %.1e at the "
                "start: where it is 0 the solution is not unique, or there is none",
                k->base.kept, k->kept);
    else if (k->turned)
        dae_why(&m->report,
                "a determinant of it has the other sign there: in between it is singular, and "
                "beyond that the solution is not unique, or there is none");
    else
        dae_why(&m->report,
                "there %d constraints and rank %d of the derivatives, %d and %d at the start: "
                "beyond it the solution is not unique, there is none, or it has another index",
                k->lost_constraints, k->lost_rank, k->constraints, k->rank);
    dae_hint(&m->report, "results up to there are right; start behind it");
    return true;
}

void model_put_array_rates(model *m, double t, const double *x, const double *xdot)
{
    model_array *k = m->array;
    size_t n = k->a.n;
    if (k->rank < 0 || !array_go_to(k, t, x, xdot)) return; /* as the integrator has them */
    for (size_t j = 0; j < n; j++)
        m->value[slot_of(m->p.variable[j], 1)] = k->here.c[n + j] / k->a.tau;
}
