/* hidden.c: hidden constraints and the reduced system, as a person would write them.
 *
 * The offsets say which equations are differentiated, and how often. In what comes out
 *
 *     2*x*der(x) + 2*y*der(y) = 0
 *
 * aliases are replaced by one name, derivatives by what the model says they are (der(x) = vx;
 * der(der(x)) = der(vx) = ...), and the rest is multiplied out and collected: x*vx + y*vy = 0. An
 * equation in which no derivative is left constrains the variables: it is hidden in the model.
 * 0 = 0 says nothing. For y' = f(y, z), 0 = g(y) this is g_y f = 0; for the pendulum there are
 * g_y f = 0 and g_yy(f, f) + g_y f_y f = 0.
 *
 * Differentiating the constraints that determine algebraic variables once more gives their
 * derivatives: z' = -(g_yy(f, f) + g_y f_y f) / (g_y f_z). So the model is an ordinary differential
 * equation, after as many differentiations as its index says.
 */
#include "model/insight/insight.h"

#include "expression/tidy.h"
#include "expression/walk.h"

#include <string.h>

enum { MOST = 300, SOLVED = 3, COUPLED = 40 };

typedef struct hider {
    insight *k;
    ex_graph *g;
    uint32_t *same_as; /* of variables: 1 + the one it is equal to, 0 */
    signed char *sign;
    ex_id *rate;                     /* of variables: its derivative without derivatives, 0 */
    bool *used;                      /* of rows: this is where that comes from ... */
    bool *prescribed;                /* ... or its derivative is */
    ex_id *found_left, *found_right; /* derivative-free equations of highest order */
    size_t found;
} hider;

static bool known(const ex_graph *g, ex_id leaf, void *user)
{
    const hider *h = user;
    return !insight_unknown(h->k, ex_at(g, leaf));
}

/* ---------------------------------------------------------------- aliases --------------- */

static uint32_t home(const hider *h, uint32_t v, int *sign)
{
    while (h->same_as[v]) {
        *sign *= h->sign[v];
        v = h->same_as[v] - 1;
    }
    return v;
}

/* +-x; 0: it is not. */
static int plain_variable(const hider *h, ex_id e, uint32_t *v)
{
    const ex_node *n = ex_at(h->g, e);
    int sign = 1;
    if (n->op == EX_NEGATE) {
        sign = -1;
        n = ex_at(h->g, n->a);
    }
    if (!insight_unknown(h->k, n) || n->b) return 0;
    *v = n->a;
    return sign;
}

static bool differentiated(const hider *h, uint32_t v)
{
    uint32_t j = h->k->s->column_of[v];
    const flat_signature *s = h->k->s;
    for (uint32_t i = 0; i < s->rows; i++)
        for (size_t e = s->start[i]; e < s->start[i + 1]; e++)
            if (s->column[e] == j && s->order[e]) return true;
    return false;
}

/* The shorter name stays, but one with a derivative of its own first. */
static bool stays(const hider *h, uint32_t a, uint32_t b)
{
    bool da = differentiated(h, a), db = differentiated(h, b);
    if (da != db) return da;
    return strlen(h->k->flat->variable[a].name) <= strlen(h->k->flat->variable[b].name);
}

static void find_aliases(hider *h)
{
    const flat_signature *s = h->k->s;
    for (uint32_t i = 0; i < s->rows; i++) {
        const flat_equation *e = &h->k->flat->equation[s->equation[i]];
        uint32_t a, b;
        int p = plain_variable(h, e->left, &a), q = p ? plain_variable(h, e->right, &b) : 0;
        if (!p || !q) continue;
        a = home(h, a, &p);
        b = home(h, b, &q);
        if (a == b) continue;
        uint32_t gone = stays(h, a, b) ? b : a;
        h->same_as[gone] = 1 + (gone == a ? b : a);
        h->sign[gone] = (signed char)(p * q);
    }
}

static ex_id without_alias(ex_graph *g, ex_id leaf, void *user)
{
    const hider *h = user;
    const ex_node n = *ex_at(g, leaf);
    int sign = 1;
    if (!insight_unknown(h->k, &n)) return leaf;
    ex_id e = ex_variable(g, home(h, n.a, &sign), n.b, EX_REAL);
    return sign < 0 ? ex_unary(g, EX_NEGATE, e) : e;
}

/* ---------------------------------------------------------------- derivatives ----------- */

/* The highest derivative in an expression, how many different ones, one of them. */
static uint32_t highest(const hider *h, ex_id e, size_t *count, ex_id *one)
{
    uint32_t most = 0;
    ex_walk *w = ex_walk_begin(h->g, &e, 1);
    *count = 0;
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *n = ex_at(h->g, w->order[i]);
        if (!insight_unknown(h->k, n) || n->b == 0) continue;
        most = n->b > most ? n->b : most;
        *one = w->order[i];
        ++*count;
    }
    ex_walk_end(h->g, w);
    return most;
}

/* residual = a leaf + b with a that is not 0; false: it is not. */
static bool split(hider *h, ex_id residual, ex_id leaf, ex_id *a, ex_id *b)
{
    double zero;
    if (!insight_split(h->g, residual, leaf, a, b)) return false;
    return !(ex_is_number(h->g, *a, &zero) && zero == 0);
}

static void find_rates(hider *h)
{
    const flat_signature *s = h->k->s;
    for (uint32_t i = 0; i < s->rows; i++) {
        ex_id leaf = 0, a, b,
              residual = insight_residual(h->k, &h->k->flat->equation[s->equation[i]]);
        size_t count;
        ex_substitute(h->g, &residual, 1, without_alias, h);
        if (highest(h, residual, &count, &leaf) != 1 || count != 1) continue;
        uint32_t v = ex_at(h->g, leaf)->a;
        if (h->rate[v] || !split(h, residual, leaf, &a, &b)) continue;
        h->rate[v] = ex_tidy(h->g, ex_binary(h->g, EX_DIVIDE, ex_unary(h->g, EX_NEGATE, b), a));
        h->used[i] = true;
    }
}

static ex_id known_rate(ex_graph *g, ex_id leaf, void *user)
{
    const hider *h = user;
    const ex_node n = *ex_at(g, leaf);
    if (!insight_unknown(h->k, &n) || n.b == 0 || !h->rate[n.a]) return leaf;
    ex_id e = h->rate[n.a], other = ex_number(g, 0);
    for (uint32_t k = 1; k < n.b; k++) {
        if (!insight_differentiate(h->k, &e, &other)) return leaf;
        ex_substitute(g, &e, 1, without_alias, user);
        ex_substitute(g, &e, 1, known_rate, user);
        e = ex_tidy(g, e);
    }
    return e;
}

static void explain(hider *h, ex_id side[2])
{
    ex_substitute(h->g, side, 2, without_alias, h);
    ex_substitute(h->g, side, 2, known_rate, h);
}

/* What is prescribed, x = g(t), has g'(t) as its rate, if the model does not say another one. */
static bool find_prescribed(hider *h)
{
    const flat_signature *s = h->k->s;
    bool more = false;
    for (uint32_t i = 0; i < s->rows; i++) {
        ex_id leaf = 0, a, b, side[2];
        size_t count;
        if (s->c[i] == 0 || h->prescribed[i] || h->used[i]) continue;
        side[0] = s->left[i][1];
        side[1] = s->right[i][1];
        explain(h, side);
        ex_id residual = ex_tidy(h->g, ex_binary(h->g, EX_SUBTRACT, side[0], side[1]));
        if (highest(h, residual, &count, &leaf) != 1 || count != 1) continue;
        if (!split(h, residual, leaf, &a, &b)) continue;
        uint32_t v = ex_at(h->g, leaf)->a;
        h->rate[v] = ex_tidy(h->g, ex_binary(h->g, EX_DIVIDE, ex_unary(h->g, EX_NEGATE, b), a));
        h->prescribed[i] = more = true;
    }
    return more;
}

/* ---------------------------------------------------------------- lists ----------------- */

typedef struct listing {
    dae_insight_equation *item;
    ex_id *left, *right;
    size_t count;
} listing;

static listing new_list(hider *h, size_t most)
{
    return (listing){ .item = dae_arena_take(h->k->arena, most + 1, sizeof(dae_insight_equation)),
                      .left = dae_arena_take(h->k->arena, most + 1, sizeof(ex_id)),
                      .right = dae_arena_take(h->k->arena, most + 1, sizeof(ex_id)) };
}

/* Was the equation combined of others, so that it shows what they hide? *was: what it replaced. */
static bool is_combined(const hider *h, uint32_t i, flat_equation *was)
{
    const flat_regular *r = h->k->regular;
    const flat_equation *e = &h->k->flat->equation[h->k->s->equation[i]];
    for (size_t n = r ? r->changes : 0; n-- > 0;) {
        const regular_change *c = &r->change[n];
        if (c->kind != REGULAR_COMBINE && c->kind != REGULAR_CANCEL) continue;
        if (c->now.left != e->left || c->now.right != e->right) continue;
        *was = c->was;
        return true;
    }
    return false;
}

static void add_to(hider *h, listing *l, const ex_id side[2], uint32_t row, uint32_t times)
{
    const flat_equation *from = &h->k->flat->equation[h->k->s->equation[row]];
    flat_equation was;
    size_t count;
    ex_id one;
    if (is_combined(h, row, &was)) from = &was;
    for (size_t i = 0; i < l->count; i++)
        if (l->left[i] == side[0] && l->right[i] == side[1]) return;
    l->left[l->count] = side[0];
    l->right[l->count] = side[1];
    l->item[l->count++] = (dae_insight_equation){
        .text = insight_tidy(h->k, side[0], side[1]),
        .origin = insight_equation(h->k, from->left, from->right),
        .place = insight_place(h->k, from->place),
        .times = (int)times,
        .derivatives = highest(h, ex_binary(h->g, EX_SUBTRACT, side[0], side[1]), &count, &one) > 0
    };
}

/* Derivative t of row i. */
static void sides(const hider *h, uint32_t i, uint32_t t, ex_id out[2])
{
    const flat_signature *s = h->k->s;
    const flat_equation *e = &h->k->flat->equation[s->equation[i]];
    out[0] = s->c[i] ? s->left[i][t] : e->left;
    out[1] = s->c[i] ? s->right[i][t] : e->right;
}

static void note_found(hider *h, const ex_id side[2])
{
    h->found_left[h->found] = side[0];
    h->found_right[h->found++] = side[1];
}

/* Derivative t of row i, explained; false: it says nothing, or is where a rate comes from. *before,
 * *count: derivatives in it as written and now. */
static bool look_at(hider *h, uint32_t i, uint32_t t, ex_id side[2], size_t *before, size_t *count)
{
    ex_id one;
    sides(h, i, t, side);
    highest(h, ex_binary(h->g, EX_SUBTRACT, side[0], side[1]), before, &one);
    if ((t == 0 && h->used[i]) || (t == 1 && h->prescribed[i])) return false;
    explain(h, side);
    if (!ex_tidy_equation(h->g, &side[0], &side[1], known, h)) return false;
    highest(h, ex_binary(h->g, EX_SUBTRACT, side[0], side[1]), count, &one);
    return true;
}

/* Equations that tell derivatives only together. */
typedef struct coupled {
    ex_id *row;
    uint32_t *equation, *times;
    size_t count;
} coupled;

/* What is left of them without derivatives. */
static void list_coupled(hider *h, coupled *c, listing *hidden, listing *constraint)
{
    bool *free = dae_arena_take(h->k->arena, c->count + 1, sizeof *free);
    if (c->count < 2 || c->count > COUPLED) return;
    insight_eliminate(h->k, c->row, c->count, free);
    for (size_t i = 0; i < c->count; i++) {
        ex_id side[2] = { c->row[i], ex_number(h->g, 0) };
        if (!free[i]) continue;
        explain(h, side);
        if (!ex_tidy_equation(h->g, &side[0], &side[1], known, h)) continue;
        add_to(h, hidden, side, c->equation[i], c->times[i]);
        add_to(h, constraint, side, c->equation[i], c->times[i]);
    }
}

static void list_hidden(hider *h, listing *hidden, listing *constraint, size_t most)
{
    const flat_signature *s = h->k->s;
    coupled c = { .row = dae_arena_take(h->k->arena, most + 1, sizeof *c.row),
                  .equation = dae_arena_take(h->k->arena, most + 1, sizeof *c.equation),
                  .times = dae_arena_take(h->k->arena, most + 1, sizeof *c.times) };
    for (uint32_t i = 0; i < s->rows; i++)
        for (uint32_t t = 0; t <= s->c[i]; t++) {
            size_t before, count;
            ex_id side[2];
            flat_equation was;
            if (!look_at(h, i, t, side, &before, &count)) continue;
            if (count == 0 && t == s->c[i]) note_found(h, side);
            if (count > 0 && t == s->c[i]) {
                c.row[c.count] = ex_binary(h->g, EX_SUBTRACT, side[0], side[1]);
                c.equation[c.count] = i;
                c.times[c.count++] = t;
            }
            bool constrains = count == 0 || t < s->c[i];
            bool new = t > 0 || before > 0 || is_combined(h, i, &was);
            if (constrains && new) add_to(h, hidden, side, i, t);
            if (constrains && (new || s->c[i] > 0)) add_to(h, constraint, side, i, t);
        }
    list_coupled(h, &c, hidden, constraint);
}

static void list_reduced(hider *h, listing *l)
{
    const flat_signature *s = h->k->s;
    for (uint32_t i = 0; i < s->rows; i++) {
        ex_id side[2];
        sides(h, i, s->c[i], side);
        if (s->c[i] && !ex_tidy_equation(h->g, &side[0], &side[1], known, h)) continue;
        add_to(h, l, side, i, s->c[i]);
    }
}

/* ---------------------------------------------------------------- z' = ... -------------- */

typedef struct system {
    ex_id *a, *b; /* equation i: sum of a[i n + j] z_j' + b[i] = 0 */
    uint32_t *z;
    size_t n;
    bool *done_row, *done_column;
} system;

static bool is_zero(const hider *h, ex_id e)
{
    double x;
    return ex_is_number(h->g, e, &x) && x == 0;
}

/* Unknowns without a rate and not equal to another. */
static size_t find_algebraic(hider *h, uint32_t *z)
{
    const flat_signature *s = h->k->s;
    size_t n = 0;
    for (uint32_t j = 0; j < s->columns; j++) {
        uint32_t v = s->variable[j];
        if (!h->same_as[v] && !h->rate[v]) z[n++] = v;
    }
    return n;
}

/* Every equation differentiated, as linear in the z'. */
static bool open_system(hider *h, system *y)
{
    y->a = dae_arena_take(h->k->arena, y->n * y->n + 1, sizeof *y->a);
    y->b = dae_arena_take(h->k->arena, y->n + 1, sizeof *y->b);
    y->done_row = dae_arena_take(h->k->arena, y->n + 1, sizeof *y->done_row);
    y->done_column = dae_arena_take(h->k->arena, y->n + 1, sizeof *y->done_column);
    for (size_t i = 0; i < y->n; i++) {
        ex_id side[2] = { h->found_left[i], h->found_right[i] };
        if (!insight_differentiate(h->k, &side[0], &side[1])) return false;
        explain(h, side);
        ex_id rest = ex_binary(h->g, EX_SUBTRACT, side[0], side[1]);
        for (size_t j = 0; j < y->n; j++) {
            ex_id leaf = ex_variable(h->g, y->z[j], 1, EX_REAL), a, b = rest;
            bool there = insight_contains(h->g, rest, leaf);
            if (there && !split(h, rest, leaf, &a, &b)) {
                if (insight_contains(h->g, ex_tidy(h->g, rest), leaf)) return false;
                there = false;
                b = rest;
            }
            y->a[i * y->n + j] = there ? a : ex_number(h->g, 0);
            rest = b;
        }
        y->b[i] = ex_tidy(h->g, rest);
        size_t count;
        ex_id one;
        if (highest(h, y->b[i], &count, &one)) return false;
    }
    return true;
}

static void say_rate(hider *h, const char **out, size_t *count, uint32_t z, ex_id top, ex_id bottom)
{
    ex_id n, d;
    double one;
    ex_tidy_quotient(h->g, top, bottom, &n, &d);
    bool whole = ex_is_number(h->g, d, &one) && one == 1;
    h->rate[z] = whole ? n : ex_binary(h->g, EX_DIVIDE, n, d);
    const char *left = insight_print(h->k, ex_variable(h->g, z, 1, EX_REAL));
    const char *above = ex_tidy_text(h->g, n, flat_name, h->k->flat, 2000);
    const char *below = ex_tidy_text(h->g, d, flat_name, h->k->flat, 2000);
    out[(*count)++] =
        dae_arena_print(h->k->arena, whole ? "%s = %s" : "%s = (%s)/(%s)", left, above, below);
}

static ex_id minus(hider *h, ex_id a, ex_id b)
{
    return ex_binary(h->g, EX_SUBTRACT, a, b);
}

static ex_id times(hider *h, ex_id a, ex_id b)
{
    return ex_binary(h->g, EX_MULTIPLY, a, b);
}

/* Determinant of up to three rows; column `by` replaced by `with` (by < 0: none). */
static ex_id determinant(hider *h, const system *y, const size_t *row, const size_t *column,
                         size_t n, int by, ex_id (*with)(const system *y, size_t row))
{
    ex_id x[SOLVED][SOLVED];
    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < n; j++)
            x[i][j] = (int)j == by ? with(y, row[i]) : y->a[row[i] * y->n + column[j]];
    if (n == 1) return x[0][0];
    if (n == 2) return minus(h, times(h, x[0][0], x[1][1]), times(h, x[0][1], x[1][0]));
    ex_id sum = ex_number(h->g, 0);
    for (size_t j = 0; j < 3; j++) {
        size_t p = (j + 1) % 3, q = (j + 2) % 3;
        ex_id minor = minus(h, times(h, x[1][p], x[2][q]), times(h, x[1][q], x[2][p]));
        sum = ex_binary(h->g, EX_ADD, sum, times(h, x[0][j], minor));
    }
    return sum;
}

static ex_id right_side(const system *y, size_t row)
{
    return y->b[row];
}

/* What is solved moves to the right sides. */
static void put_in(hider *h, system *y, size_t column)
{
    y->done_column[column] = true;
    for (size_t i = 0; i < y->n; i++) {
        ex_id a = y->a[i * y->n + column];
        if (y->done_row[i] || is_zero(h, a)) continue;
        ex_id more = ex_binary(h->g, EX_ADD, y->b[i], times(h, a, h->rate[y->z[column]]));
        y->b[i] = ex_tidy(h->g, more);
    }
}

static void solve_rows(hider *h, system *y, const size_t *row, const size_t *column, size_t n,
                       const char **out, size_t *count)
{
    ex_id below = determinant(h, y, row, column, n, -1, right_side);
    for (size_t j = 0; j < n; j++) {
        ex_id above = determinant(h, y, row, column, n, (int)j, right_side);
        say_rate(h, out, count, y->z[column[j]], ex_unary(h->g, EX_NEGATE, above), below);
    }
    for (size_t j = 0; j < n; j++) {
        y->done_row[row[j]] = true;
        put_in(h, y, column[j]);
    }
}

/* The next equation with one z' left in it; then whatever is left, if it is little. */
static bool solve_next(hider *h, system *y, const char **out, size_t *count)
{
    size_t row[SOLVED], column[SOLVED], rows = 0, columns = 0;
    for (size_t i = 0; i < y->n; i++) {
        size_t left = 0, last = 0;
        if (y->done_row[i]) continue;
        for (size_t j = 0; j < y->n; j++)
            if (!y->done_column[j] && !is_zero(h, y->a[i * y->n + j])) {
                left++;
                last = j;
            }
        if (left == 1) {
            solve_rows(h, y, &i, &last, 1, out, count);
            return true;
        }
        if (rows < SOLVED) row[rows] = i;
        rows++;
    }
    for (size_t j = 0; j < y->n; j++) {
        if (y->done_column[j]) continue;
        if (columns < SOLVED) column[columns] = j;
        columns++;
    }
    if (rows != columns || rows > SOLVED) return false;
    solve_rows(h, y, row, column, rows, out, count);
    return true;
}

static void list_rates(hider *h)
{
    dae_insight *o = &h->k->out;
    system y = { .z = dae_arena_take(h->k->arena, h->k->s->columns + 1, sizeof *y.z) };
    y.n = find_algebraic(h, y.z);
    const char **out = dae_arena_take(h->k->arena, y.n + 1, sizeof *out);
    size_t count = 0;
    o->rate = out;
    o->rate_why = "";
    if (y.n == 0) return;
    if (y.n > 30) {
        o->rate_why = "there are more than 30 algebraic variables";
        return;
    }
    if (h->found != y.n) {
        o->rate_why = "derivatives are not given one by one: the equations determine them together";
        return;
    }
    if (!open_system(h, &y)) {
        o->rate_why = "an equation cannot be differentiated once more, or is not linear in them";
        return;
    }
    while (count < y.n)
        if (!solve_next(h, &y, out, &count)) {
            o->rate_why = "the others are coupled by more than three equations";
            return;
        }
}

/* ---------------------------------------------------------------- all ------------------- */

void insight_hidden(insight *k)
{
    const flat_signature *s = k->s;
    size_t most = 0;
    hider h = { .k = k, .g = k->g };
    k->out.rate = dae_arena_take(k->arena, 1, sizeof *k->out.rate);
    k->out.rate_why = s->rows ? "the model is too large for it" : "";
    for (uint32_t i = 0; i < s->rows; i++) most += s->c[i] + 1;
    if (s->rows == 0 || s->rows > MOST) {
        k->out.hidden_left = k->r->differentiated;
        return;
    }
    h.same_as = dae_arena_take(k->arena, k->flat->variables + 1, sizeof *h.same_as);
    h.sign = dae_arena_take(k->arena, k->flat->variables + 1, 1);
    h.rate = dae_arena_take(k->arena, k->flat->variables + 1, sizeof *h.rate);
    h.used = dae_arena_take(k->arena, s->rows + 1, sizeof *h.used);
    h.prescribed = dae_arena_take(k->arena, s->rows + 1, sizeof *h.prescribed);
    h.found_left = dae_arena_take(k->arena, most + 1, sizeof *h.found_left);
    h.found_right = dae_arena_take(k->arena, most + 1, sizeof *h.found_right);
    listing hidden = new_list(&h, 2 * most), constraint = new_list(&h, 2 * most),
            reduced = new_list(&h, most);
    find_aliases(&h);
    find_rates(&h);
    while (find_prescribed(&h)) continue;
    list_hidden(&h, &hidden, &constraint, most);
    list_reduced(&h, &reduced);
    list_rates(&h);
    k->out.hidden = hidden.item;
    k->out.hiddens = hidden.count;
    k->out.constraint = constraint.item;
    k->out.constraints = constraint.count;
    k->out.reduced = reduced.item;
    k->out.reduceds = reduced.count;
}
