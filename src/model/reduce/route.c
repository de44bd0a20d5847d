/* route.c: the flat model written anew for a route (route.h).
 *
 * With u_jk for the k-th derivative of x_j (k < d_j) and a_j for the d_j-th, the offsets give
 *
 *     u_jk' = u_j(k+1),  u_j(d_j - 1)' = a_j,     F_i^(c_i)(t, u, a) = 0     an ODE in disguise,
 *     g(t, u) = 0,  g = (F_i^(k), k < c_i)                                   what its solution obeys.
 *
 * Together they are overdetermined. A step that solves the second exactly and the first in the sense
 * of least squares, |W^-1 (u' - ...)| as small as possible, is one of
 *
 *     u_jk' = u_j(k+1) + (W^2 g_u^T mu)_jk,       g = 0,
 *
 * with as many multipliers mu as conditions g: zero along the solution, and of index 2. W has the
 * nominal values. The size of mu is that of u' divided by g_u, which is anything where equations
 * were differentiated often: its errors count by what they do to u (loose.c). (For mechanisms this is the form of Gear, Gupta and Leimkuhler with both the
 * position and the velocity constraint; Führer and Leimkuhler, Numer. Math. 59 (1991) 55.)
 *
 * Written directly the equations stay as they are; derivatives above the first get variables. The
 * error of x_j counts with h^(l - 1) where a disturbance of the equations enters x_j by its
 * (l - 1)-st derivative: l - 1 = max(c_i) - d_j over the equations that x_j depends on.
 */
#include "model/reduce/route.h"

#include "expression/fold.h"
#include "expression/walk.h"

#include <string.h>

static const char *const name_of[] = { "dummy", "projection", "least-squares", "direct", "array" };

flat_route flat_route_find(const char *name)
{
    int k = 0;
    while (name && k < FLAT_ROUTES && strcmp(name, name_of[k])) k++;
    return (flat_route)k;
}

const char *flat_route_name(flat_route route)
{
    return name_of[route];
}

typedef struct writer {
    const flat_signature *o;
    const flat_model *from;
    flat_model *to;
    ex_graph *g;
    dae_arena *arena;
    uint32_t *top;        /* of a column: the highest derivative with a variable */
    uint32_t **u;         /* ... variables of its derivatives 0 .. top */
    bool direct;          /* one derivative more: der() of the last variable */
    unsigned char *state; /* least squares: of a variable, whether it is a u_jk */
    ex_id *added;         /* least squares: of u_jk, what is added to its derivative */
} writer;

/* ---------------------------------------------------------------- variables ------------- */

static void start_model(writer *w)
{
    const flat_model *m = w->from;
    flat_model *to = w->to = dae_arena_take(w->arena, 1, sizeof *to);
    *to = *m;
    to->variable = dae_arena_take(w->arena, m->variables + 1, sizeof *to->variable);
    memcpy(to->variable, m->variable, m->variables * sizeof *to->variable);
    to->variable_capacity = m->variables + 1;
    to->equation = to->initial = to->invariant = NULL;
    to->equations = to->equation_capacity = to->initials = to->initial_capacity = 0;
    to->invariants = to->watches = 0;
    to->taken_over = true;
}

static uint32_t add_derivative(writer *w, uint32_t of)
{
    const flat_variable *x = &w->to->variable[of];
    flat_variable made = { .name = dae_arena_print(w->arena, "der(%s)", x->name),
                           .type = EX_REAL,
                           .variability = FLAT_CONTINUOUS,
                           .fixed = -1,
                           .place = x->place,
                           .hidden = true,
                           .is_protected = x->is_protected,
                           .nominal = x->nominal,
                           .comment = x->comment };
    return flat_add_variable(w->to, &made);
}

/* The highest derivative of each column that occurs in the equations as they are. */
static void find_highest(writer *w)
{
    const flat_signature *o = w->o;
    for (size_t e = 0; e < o->start[o->rows]; e++)
        if (o->order[e] > w->top[o->column[e]]) w->top[o->column[e]] = o->order[e];
    for (uint32_t j = 0; j < o->rows; j++)
        if (w->top[j]) w->top[j]--;
}

static void name_derivatives(writer *w)
{
    const flat_signature *o = w->o;
    w->top = dae_arena_take(w->arena, o->rows + 1, sizeof *w->top);
    w->u = dae_arena_take(w->arena, o->rows + 1, sizeof *w->u);
    if (w->direct) find_highest(w);
    for (uint32_t j = 0; j < o->rows; j++) {
        if (!w->direct) w->top[j] = o->d[j];
        w->u[j] = dae_arena_take(w->arena, w->top[j] + 1, sizeof *w->u[j]);
        w->u[j][0] = o->variable[j];
        for (uint32_t k = 1; k <= w->top[j]; k++) w->u[j][k] = add_derivative(w, w->u[j][k - 1]);
    }
}

/* ---------------------------------------------------------------- equations ------------- */

static ex_id leaf(writer *w, uint32_t variable, uint32_t order)
{
    return ex_variable(w->g, variable, order, EX_REAL);
}

static ex_id replace(ex_graph *g, ex_id id, void *user)
{
    writer *w = user;
    const ex_node n = *ex_at(g, id);
    if (n.op != EX_VARIABLE || n.b == 0 || n.a >= w->from->variables) return id;
    uint32_t j = w->o->column_of[n.a];
    if (j == UINT32_MAX) return id;
    if (n.b <= w->top[j]) return leaf(w, w->u[j][n.b], 0);
    return leaf(w, w->u[j][w->top[j]], n.b - w->top[j]);
}

static ex_id in_new_names(writer *w, ex_id e)
{
    ex_substitute(w->g, &e, 1, replace, w);
    return e;
}

static void put(writer *w, ex_id left, ex_id right, const flat_equation *like)
{
    flat_add_equation(w->to, in_new_names(w, left), in_new_names(w, right), like->place,
                      like->component);
}

/* u_jk' = u_j(k+1), and what least squares adds. */
static void put_chains(writer *w)
{
    for (uint32_t j = 0; j < w->o->rows; j++)
        for (uint32_t k = 0; k < w->top[j]; k++) {
            uint32_t here = w->u[j][k];
            ex_id right = leaf(w, w->u[j][k + 1], 0);
            if (w->added && w->added[here]) right = ex_binary(w->g, EX_ADD, right, w->added[here]);
            flat_add_equation(w->to, leaf(w, here, 1), right, w->to->variable[here].place, "");
            w->to->equation[w->to->equations - 1].aside = true;
        }
}

/* Every equation: `highest` its last derivative, otherwise as it is. */
static void put_equations(writer *w, bool highest)
{
    const flat_signature *o = w->o;
    uint32_t *row_of = dae_arena_take(w->arena, w->from->equations + 1, sizeof *row_of);
    for (uint32_t i = 0; i < o->rows; i++) row_of[o->equation[i]] = i + 1;
    for (size_t e = 0; e < w->from->equations; e++) {
        const flat_equation *f = &w->from->equation[e];
        uint32_t c = row_of[e] ? o->c[row_of[e] - 1] : 0;
        if (highest && c > 0)
            put(w, o->left[row_of[e] - 1][c], o->right[row_of[e] - 1][c], f);
        else
            put(w, f->left, f->right, f);
        w->to->equation[w->to->equations - 1].aside = highest && c > 0;
    }
}

static size_t count_conditions(const flat_signature *o)
{
    size_t count = 0;
    for (uint32_t i = 0; i < o->rows; i++) count += o->c[i];
    return count;
}

/* F_i^(k) = 0, k < c_i: conditions on the states. */
static void list_invariants(writer *w)
{
    const flat_signature *o = w->o;
    flat_model *to = w->to;
    to->invariant = dae_arena_take(w->arena, count_conditions(o) + 1, sizeof *to->invariant);
    for (uint32_t i = 0; i < o->rows; i++)
        for (uint32_t k = 0; k < o->c[i]; k++) {
            flat_equation e = w->from->equation[o->equation[i]];
            e.left = in_new_names(w, o->left[i][k]);
            e.right = in_new_names(w, o->right[i][k]);
            e.below = k + 1 == o->c[i];
            to->invariant[to->invariants++] = e;
        }
}

/* Where relations change the highest derivatives are impulses, and those below them jump (impulse.c). */
static void list_jumps(writer *w)
{
    flat_model *to = w->to;
    to->jump = dae_arena_take(w->arena, w->o->rows + 1, sizeof *to->jump);
    to->jumps = 0;
    size_t count = 0;
    for (uint32_t j = 0; j < w->o->rows; j++) count += w->top[j];
    to->lower = dae_arena_take(w->arena, count + 1, sizeof *to->lower);
    for (uint32_t j = 0; j < w->o->rows; j++) {
        uint32_t d = w->top[j];
        for (uint32_t k = 0; k + 1 < d; k++) to->lower[to->lowers++] = leaf(w, w->u[j][k], 0);
        to->jump[to->jumps++] =
            (flat_jump){ leaf(w, w->u[j][d], 0), d > 0 ? leaf(w, w->u[j][d - 1], 0) : 0 };
    }
}

/* ---------------------------------------------------------------- least squares --------- */

/* mu (dg/du) W^2 for every state u in the condition, to what is added to u'. */
static dae_status spread(writer *w, const flat_equation *g, uint32_t mu)
{
    ex_id residual = ex_binary(w->g, EX_SUBTRACT, g->left, g->right), culprit = 0;
    ex_walk *walk = ex_walk_begin(w->g, &residual, 1);
    size_t count = 0;
    ex_id *found = dae_arena_take(w->arena, walk->count + 1, sizeof *found);
    for (size_t k = 0; k < walk->count; k++) {
        const ex_node *n = ex_at(w->g, walk->order[k]);
        if (n->op == EX_VARIABLE && n->b == 0 && w->state[n->a]) found[count++] = walk->order[k];
    }
    ex_walk_end(w->g, walk);
    for (size_t k = 0; k < count; k++) {
        uint32_t here = ex_at(w->g, found[k])->a;
        ex_id push = ex_derivative(w->g, residual, found[k], &culprit);
        ex_id nominal = w->to->variable[here].nominal;
        if (culprit) return DAE_E_UNSUPPORTED;
        push = ex_binary(w->g, EX_MULTIPLY, push, leaf(w, mu, 0));
        if (nominal)
            push =
                ex_binary(w->g, EX_MULTIPLY, push, ex_binary(w->g, EX_MULTIPLY, nominal, nominal));
        w->added[here] = w->added[here] ? ex_binary(w->g, EX_ADD, w->added[here], push) : push;
    }
    return DAE_OK;
}

static dae_status put_conditions(writer *w)
{
    flat_model *to = w->to;
    w->added = dae_arena_take(w->arena, to->variables + 1, sizeof *w->added);
    w->state = dae_arena_take(w->arena, to->variables + 1, 1);
    for (uint32_t j = 0; j < w->o->rows; j++)
        for (uint32_t k = 0; k < w->top[j]; k++) w->state[w->u[j][k]] = 1;
    list_invariants(w);
    for (size_t l = 0; l < to->invariants; l++) {
        flat_variable made = { .name = dae_arena_print(w->arena, "(multiplier %zu)", l + 1),
                               .type = EX_REAL,
                               .variability = FLAT_CONTINUOUS,
                               .fixed = -1,
                               .hidden = true,
                               .level = 2,
                               .loose = true,
                               .place = to->invariant[l].place };
        uint32_t mu = flat_add_variable(to, &made);
        if (spread(w, &to->invariant[l], mu) != DAE_OK) return DAE_E_UNSUPPORTED;
        flat_add_equation(to, to->invariant[l].left, to->invariant[l].right, to->invariant[l].place,
                          to->invariant[l].component);
    }
    to->invariants = 0;
    return DAE_OK;
}

/* ---------------------------------------------------------------- levels ---------------- */

/* Of each column: the largest c of the equations that it depends on, through the matching. From
 * large to small, so that each column is reached once. */
static void find_reach(writer *w, uint32_t *reach)
{
    const flat_signature *o = w->o;
    size_t entries = o->start[o->rows], *user_start;
    uint32_t n = o->rows, most = 0, *user, *stack = dae_arena_take(w->arena, n + 1, sizeof *stack);
    user_start = dae_arena_take(w->arena, n + 2, sizeof *user_start); /* rows of a column */
    user = dae_arena_take(w->arena, entries + 1, sizeof *user);
    for (size_t e = 0; e < entries; e++) user_start[o->column[e] + 2]++;
    for (uint32_t j = 0; j < n; j++) user_start[j + 2] += user_start[j + 1];
    for (uint32_t i = 0; i < n; i++)
        for (size_t e = o->start[i]; e < o->start[i + 1]; e++)
            user[user_start[o->column[e] + 1]++] = i;
    memset(reach, 0xff, n * sizeof *reach);
    for (uint32_t i = 0; i < n; i++) most = o->c[i] > most ? o->c[i] : most;
    for (uint32_t c = most + 1; c-- > 0;)
        for (uint32_t i = 0; i < n; i++) {
            size_t depth = 0;
            if (o->c[i] != c || reach[o->match[i]] != UINT32_MAX) continue;
            reach[o->match[i]] = c;
            stack[depth++] = o->match[i];
            while (depth) {
                uint32_t j = stack[--depth];
                for (size_t k = user_start[j]; k < user_start[j + 1]; k++) {
                    uint32_t next = o->match[user[k]];
                    if (reach[next] != UINT32_MAX) continue;
                    reach[next] = c;
                    stack[depth++] = next;
                }
            }
        }
}

/* 0 if an unknown is beyond the levels that integrators know. */
static int set_levels(writer *w)
{
    const flat_signature *o = w->o;
    uint32_t *reach = dae_arena_take(w->arena, o->rows + 1, sizeof *reach);
    find_reach(w, reach);
    for (uint32_t j = 0; j < o->rows; j++)
        for (uint32_t k = 0; k <= w->top[j]; k++) {
            uint32_t smooth = o->d[j] - k;
            uint32_t level = reach[j] > smooth ? 1 + reach[j] - smooth : smooth > 0 ? 0 : 1;
            if (level > 3) return 0;
            w->to->variable[w->u[j][k]].level = (unsigned char)level;
        }
    return 1;
}

static dae_status refuse_index(const flat_reduction *r, dae_report *report)
{
    dae_fail(report, DAE_E_UNSUPPORTED,
             "the model is of index %d: too high to be integrated as it is", r->index);
    dae_why(report, "methods of this library control the error of unknowns up to index 3");
    dae_hint(report, "--route dummy, projection or least-squares");
    return DAE_E_UNSUPPORTED;
}

/* ---------------------------------------------------------------- together -------------- */

static void translate_assertions(writer *w)
{
    flat_assertion *a = dae_arena_take(w->arena, w->from->assertions + 1, sizeof *a);
    for (size_t k = 0; k < w->from->assertions; k++) {
        a[k] = w->from->assertion[k];
        a[k].condition = in_new_names(w, a[k].condition);
    }
    w->to->assertion = a;
}

/* What has to stay away from 0, in the new names. */
static void translate_guards(writer *w)
{
    const flat_model *m = w->from;
    w->to->watch = dae_arena_take(w->arena, m->guards + 1, sizeof *w->to->watch);
    for (size_t k = 0; k < m->guards; k++)
        w->to->watch[k] = in_new_names(w, m->watch[m->watches - m->guards + k]);
    w->to->watches = m->guards;
}

static void list_derivatives(writer *w, flat_reduction *out)
{
    size_t count = 0;
    for (uint32_t j = 0; j < w->o->rows; j++) count += w->top[j];
    out->dummy = dae_arena_take(w->arena, count + 1, sizeof *out->dummy);
    out->dummies = 0;
    out->dummy_of = NULL;
    for (uint32_t j = 0; j < w->o->rows; j++)
        for (uint32_t k = 1; k <= w->top[j]; k++)
            out->dummy[out->dummies++] =
                (flat_dummy){ w->o->variable[j], k, w->u[j][k], w->direct || k < w->top[j] };
}

dae_status flat_take_route(const flat_reduction *r, flat_route route, flat_reduction *out,
                           dae_report *report)
{
    flat_model *m = r->from;
    writer w = { .o = &r->signature,
                 .from = m,
                 .g = m->graph,
                 .arena = m->graph->arena,
                 .direct = route == FLAT_DIRECT };
    dae_status status = DAE_OK;
    start_model(&w);
    name_derivatives(&w);
    if (route == FLAT_LEAST_SQUARES) status = put_conditions(&w);
    if (status != DAE_OK) return dae_fail(report, status, "a constraint cannot be differentiated");
    put_chains(&w);
    put_equations(&w, route != FLAT_DIRECT);
    if (route == FLAT_PROJECTION) list_invariants(&w), list_jumps(&w);
    if (route == FLAT_LEAST_SQUARES) /* algebraic: the highest derivatives, of index 1 */
        for (uint32_t j = 0; j < w.o->rows; j++) w.to->variable[w.u[j][w.top[j]]].level = 1;
    if (route == FLAT_DIRECT && !set_levels(&w)) return refuse_index(r, report);
    w.to->whole = route != FLAT_PROJECTION;
    translate_assertions(&w);
    translate_guards(&w);
    *out = *r;
    out->flat = w.to;
    list_derivatives(&w, out);
    return DAE_OK;
}
