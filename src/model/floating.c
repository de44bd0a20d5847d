/* floating.c: potentials whose level nothing fixes (floating.h).
 *
 * Potentials are what connectors have beside flows: voltages, positions, temperatures, pressures.
 * Those that share an equation are one group. If in every equation the derivatives by all
 * potentials of a group add up to 0, the equations contain only differences of them, and with one
 * solution there is another for every constant that is added. Likewise for time derivatives. The sums are
 * looked at as numbers, at two points.
 */
#include "model/floating.h"

#include "expression/walk.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { POINTS = 2, ORDERS = 3, NAMED = 6 };

typedef struct survey {
    flat_model *m;
    ex_graph *g;
    uint32_t *up; /* of variables: towards the one that stands for their group */
    bool *fixed;  /* of these: some equation speaks of more than differences */
    uint64_t point;
} survey;

static uint32_t root_of(const survey *s, uint32_t v)
{
    while (s->up[v] != v) v = s->up[v] = s->up[s->up[v]];
    return v;
}

/* A number between 0.5 and 1.5 for a leaf that has no value of its own. */
static double some_number(uint64_t point, ex_id leaf)
{
    uint64_t h = (leaf + 1) * 0x9e3779b97f4a7c15u + point * 0xbf58476d1ce4e5b9u;
    h ^= h >> 31;
    h *= 0x94d049bb133111ebu;
    return 0.5 + (double)(h >> 11) / 9007199254740992.0;
}

static ex_id number_for(ex_graph *g, ex_id leaf, void *user)
{
    const survey *s = user;
    const ex_node n = *ex_at(g, leaf);
    double value = some_number(s->point, leaf);
    if (n.op == EX_VARIABLE && n.b == 0) {
        const flat_variable *v = &s->m->variable[n.a];
        ex_id given = v->binding ? v->binding : v->start;
        if (v->variability <= FLAT_PARAMETER && given) ex_is_number(g, given, &value);
    }
    if (n.type != EX_REAL) value = floor(value);
    return ex_constant(g, value, (ex_type)n.type);
}

static bool vanishes(survey *s, ex_id e)
{
    double value;
    if (ex_is_number(s->g, e, &value)) return value == 0;
    for (s->point = 0; s->point < POINTS; s->point++) {
        ex_id number = e;
        ex_substitute(s->g, &number, 1, number_for, s);
        if (!ex_is_number(s->g, number, &value) || !(fabs(value) < 1e-9)) return false;
    }
    return true;
}

/* The potentials of an equation, with their time derivatives; how many there are. */
static size_t list_potentials(survey *s, const flat_equation *e, ex_id **out)
{
    ex_id side[2] = { e->left, e->right };
    size_t count = 0;
    ex_walk *w = ex_walk_begin(s->g, side, 2);
    *out = dae_arena_take(s->g->arena, w->count + 1, sizeof **out);
    for (size_t i = 0; i < w->count; i++) {
        const ex_node *n = ex_at(s->g, w->order[i]);
        if (n->op == EX_VARIABLE && s->m->variable[n->a].potential) (*out)[count++] = w->order[i];
    }
    ex_walk_end(s->g, w);
    return count;
}

static void join(survey *s, const flat_equation *e)
{
    ex_id *leaf;
    size_t count = list_potentials(s, e, &leaf);
    for (size_t k = 1; k < count; k++)
        s->up[root_of(s, ex_at(s->g, leaf[k])->a)] = root_of(s, ex_at(s->g, leaf[0])->a);
}

static void judge(survey *s, const flat_equation *e)
{
    ex_id *leaf;
    size_t count = list_potentials(s, e, &leaf);
    uint32_t group = count ? root_of(s, ex_at(s->g, leaf[0])->a) : 0;
    if (count == 0 || s->fixed[group]) return;
    ex_id residual = ex_binary(s->g, EX_SUBTRACT, e->left, e->right), culprit = 0;
    for (uint32_t order = 0; order < ORDERS && !culprit; order++) {
        ex_id sum = ex_number(s->g, 0);
        for (size_t k = 0; k < count && !culprit; k++)
            if (ex_at(s->g, leaf[k])->b == order)
                sum =
                    ex_binary(s->g, EX_ADD, sum, ex_derivative(s->g, residual, leaf[k], &culprit));
        if (culprit || !vanishes(s, sum)) s->fixed[group] = true;
    }
    for (size_t k = 0; k < count; k++)
        if (ex_at(s->g, leaf[k])->b >= ORDERS) s->fixed[group] = true;
}

/* What usually fixes the level, by the unit of the potentials. */
static const char *remedy(const flat_variable *v)
{
    static const char *const row[][2] = {
        { "V", "connect a ground to one of them" },
        { "m", "connect something fixed in space, or a given position, to one of them" },
        { "rad", "connect something fixed in space, or a given angle, to one of them" },
        { "K", "connect a given temperature, or something that stores heat, to one of them" },
        { "Pa", "connect a given pressure, or something that stores fluid, to one of them" },
    };
    for (size_t k = 0; k < sizeof row / sizeof *row; k++)
        if (v->unit && !strcmp(v->unit, row[k][0])) return row[k][1];
    return "connect something that fixes one of them, as a ground does in a circuit";
}

static void tell(const survey *s, uint32_t group, dae_report *report)
{
    char list[700] = "";
    size_t length = 0, count = 0;
    for (uint32_t v = 0; v < s->m->variables; v++) {
        if (!s->m->variable[v].potential || root_of(s, v) != group) continue;
        if (count++ < NAMED)
            length += (size_t)snprintf(list + length, sizeof list - length, "%s'%.100s'",
                                       length ? ", " : "", s->m->variable[v].name);
    }
    if (count > NAMED)
        snprintf(list + length, sizeof list - length, " and %zu more", count - NAMED);
    dae_report_clear(report);
    dae_fail(report, DAE_E_STRUCTURE,
             "nothing fixes the level of %zu connected potentials: a constant can be added to all "
             "of them",
             count);
    dae_at(report, "%s", list);
    dae_why(report, "all equations contain only their differences");
    dae_hint(report, "%s", remedy(&s->m->variable[group]));
}

bool flat_name_floating(flat_model *m, dae_report *report)
{
    survey s = { .m = m, .g = m->graph };
    bool *met = dae_arena_take(s.g->arena, m->variables + 1, sizeof *met);
    s.up = dae_arena_take(s.g->arena, m->variables + 1, sizeof *s.up);
    s.fixed = dae_arena_take(s.g->arena, m->variables + 1, sizeof *s.fixed);
    for (uint32_t v = 0; v < m->variables; v++) s.up[v] = v;
    for (size_t i = 0; i < m->equations; i++) join(&s, &m->equation[i]);
    for (size_t i = 0; i < m->equations; i++) judge(&s, &m->equation[i]);
    for (uint32_t v = 0; v < m->variables; v++) { /* what stands alone is no group */
        uint32_t group = root_of(&s, v);
        if (!m->variable[v].potential || s.fixed[group]) continue;
        if (met[group]) {
            tell(&s, group, report);
            return true;
        }
        met[group] = true;
    }
    return false;
}
