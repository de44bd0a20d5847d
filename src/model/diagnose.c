/* diagnose.c: what is wrong with equations that do not match their unknowns, by name.
 *
 * Two questions: are there equations without unknowns left for them, or unknowns without
 * equations (Dulmage and Mendelsohn's parts)? If every variable has its equation when states may
 * be matched too, the equations are well but of higher index: the offsets say which of them would
 * have to be differentiated. And, on the way, where the form that they were given is singular.
 */
#include "model/suspect.h"

#include "expression/walk.h"

#include <stdio.h>
#include <string.h>

enum { LISTED = 4, MANY = 50 };

typedef struct listing {
    char text[1000];
    size_t length;
    int count;
} listing;

static void list_more(listing *l, const char *item)
{
    if (l->count++ >= LISTED || l->length > sizeof l->text - 240) return;
    l->length += (size_t)snprintf(l->text + l->length, sizeof l->text - l->length, "%s%.220s",
                                  l->count > 1 ? ", " : "", item);
}

static const char *list_end(listing *l)
{
    int more = l->count - LISTED;
    if (more > 0 && l->length < sizeof l->text - 30)
        snprintf(l->text + l->length, sizeof l->text - l->length, " and %d more", more);
    return l->text;
}

static void list_equation(model *m, listing *l, const model_equation *e)
{
    char name[160], where[100], both[300];
    if (l->count >= LISTED) {
        l->count++;
        return;
    }
    model_equation_name(m, e, name, sizeof name);
    model_locate(m, e->place, where, sizeof where);
    snprintf(both, sizeof both, "%.120s%.100s", name, where);
    list_more(l, both);
}

static void list_unknown(model *m, listing *l, uint32_t slot)
{
    char quoted[200];
    if (l->count >= LISTED) {
        l->count++;
        return;
    }
    snprintf(quoted, sizeof quoted, "'%.180s'", model_slot_name(m, slot));
    list_more(l, quoted);
}

static const char *plural(size_t count, const char *word)
{
    static const char *const table[][3] = { { "equation", "equation", "equations" },
                                            { "unknown", "unknown", "unknowns" } };
    for (int k = 0; k < 2; k++)
        if (!strcmp(word, table[k][0])) return table[k][count == 1 ? 1 : 2];
    return word;
}

/* An unknown that no equation has anything to do with. */
static bool occurs(const model_incidence *in, uint32_t column)
{
    for (size_t k = 0; k < in->start[in->s.rows]; k++)
        if (in->column[k] == column) return true;
    return false;
}

/* brief: what is wrong has been named, and these would be only the first of many. */
static void say_over(model *m, model_incidence *in, dae_matching *mt, uint32_t row, bool brief)
{
    unsigned char *rows = dae_arena_take(&m->arena, in->s.rows, 1);
    unsigned char *columns = dae_arena_take(&m->arena, in->s.columns + 1, 1);
    listing equations = { 0 }, unknowns = { 0 };
    const equation_list *l = &m->running;
    dae_find_reach(&in->s, mt, &m->scratch, row, true, rows, columns);
    for (uint32_t i = 0; i < in->s.rows; i++)
        if (rows[i]) list_equation(m, &equations, &l->item[i]);
    for (uint32_t j = 0; j < in->s.columns; j++)
        if (columns[j]) list_unknown(m, &unknowns, in->slot[j]);
    if (unknowns.count == 0)
        dae_why(&m->report, "equation %s contains no unknown that the others leave open",
                list_end(&equations));
    else if (brief && unknowns.count > MANY)
        dae_why(&m->report, "by structure: %d equations for %d unknowns that they connect",
                equations.count, unknowns.count);
    else
        dae_why(&m->report, "%d equations for the %d %s %s: %s", equations.count, unknowns.count,
                plural((size_t)unknowns.count, "unknown"), list_end(&unknowns),
                list_end(&equations));
}

static void say_under(model *m, model_incidence *in, dae_matching *mt, uint32_t column, bool brief)
{
    unsigned char *rows = dae_arena_take(&m->arena, in->s.rows + 1, 1);
    unsigned char *columns = dae_arena_take(&m->arena, in->s.columns, 1);
    listing equations = { 0 }, unknowns = { 0 };
    const equation_list *l = &m->running;
    if (!occurs(in, column)) {
        dae_why(&m->report, "unknown '%s' occurs in no equation",
                model_slot_name(m, in->slot[column]));
        return;
    }
    dae_find_reach(&in->s, mt, &m->scratch, column, false, rows, columns);
    for (uint32_t i = 0; i < in->s.rows; i++)
        if (rows[i]) list_equation(m, &equations, &l->item[i]);
    for (uint32_t j = 0; j < in->s.columns; j++)
        if (columns[j]) list_unknown(m, &unknowns, in->slot[j]);
    if (brief && unknowns.count > MANY) {
        dae_why(&m->report, "by structure: only %d equations for %d unknowns that they connect",
                equations.count, unknowns.count);
        return;
    }
    dae_why(&m->report, "only %d %s for the %d unknowns %s: %s", equations.count,
            plural((size_t)equations.count, "equation"), unknowns.count, list_end(&unknowns),
            list_end(&equations));
}

/* Are there more unknowns where it does not fit than can be listed? */
static bool is_large(model *m, const model_incidence *in, const dae_matching *mt)
{
    unsigned char *rows = dae_arena_take(&m->arena, in->s.rows + 1, 1);
    unsigned char *columns = dae_arena_take(&m->arena, in->s.columns + 1, 1);
    size_t count = 0;
    dae_find_parts(&in->s, mt, &m->scratch, rows, columns);
    for (uint32_t j = 0; j < in->s.columns; j++) count += columns[j] != DAE_PART_WELL;
    return count > LISTED;
}

static bool is_hybrid(const ex_node *n)
{
    return n->op == EX_PRE || n->op == EX_SAMPLE || n->op == EX_EDGE || n->op == EX_CHANGE;
}

/* The first pre, sample, edge or change in some of these; 0: there is none. */
static ex_id find_hybrid(model *m, const ex_id *root, size_t roots)
{
    ex_id found = 0;
    ex_walk *w = ex_walk_begin(m->g, root, roots);
    for (size_t i = 0; i < w->count && !found; i++)
        if (is_hybrid(ex_at(m->g, w->order[i]))) found = w->order[i];
    ex_walk_end(m->g, w);
    return found;
}

/* Where it is written: an equation, an assertion, a declaration. */
static ex_id locate_hybrid(model *m, dae_place *place)
{
    const flat_model *f = m->flat;
    ex_id found = 0;
    for (size_t i = 0; i < f->equations + f->initials && !found; i++) {
        const flat_equation *e = i < f->equations ? &f->equation[i] : &f->initial[i - f->equations];
        found = find_hybrid(m, (ex_id[]){ e->left, e->right }, 2);
        *place = e->place;
    }
    for (size_t i = 0; i < f->assertions && !found; i++) {
        found = find_hybrid(m, &f->assertion[i].condition, 1);
        *place = f->assertion[i].place;
    }
    for (size_t v = 0; v < f->variables && !found; v++) {
        const flat_variable *x = &f->variable[v];
        found = find_hybrid(m, (ex_id[]){ x->binding, x->start, x->min, x->max, x->nominal }, 5);
        *place = x->place;
    }
    return found;
}

dae_status model_refuse_hybrid(model *m)
{
    char where[LOCATED];
    dae_place place = { 0 };
    ex_id culprit = m->flat->whens ? 0 : locate_hybrid(m, &place);
    if (m->flat->whens) place = m->flat->when[0]->place;
    model_locate(m, place, where, sizeof where);
    return dae_fail(&m->report, DAE_E_UNSUPPORTED, "hybrid models are not simulated yet: '%s'%s",
                    culprit ? ex_print(m->g, culprit, flat_name, m->flat, 80) : m->hybrid, where);
}

static bool is_differentiated(model *m, uint32_t v)
{
    bool found = false;
    for (size_t i = 0; i < m->flat->equations && !found; i++) {
        ex_walk *w = ex_walk_begin(
            m->g, (ex_id[]){ m->flat->equation[i].left, m->flat->equation[i].right }, 2);
        for (size_t k = 0; k < w->count && !found; k++) {
            const ex_node *n = ex_at(m->g, w->order[k]);
            found = n->op == EX_VARIABLE && n->a == v && n->b > 0;
        }
        ex_walk_end(m->g, w);
    }
    return found;
}

/* x = 1 where x is differentiated: meant as an initial value? */
static const flat_equation *find_constant_state(model *m)
{
    for (size_t i = 0; i < m->flat->equations; i++) {
        const flat_equation *e = &m->flat->equation[i];
        const ex_node n = *ex_at(m->g, e->left);
        if (n.op == EX_VARIABLE && n.b == 0 && n.a < m->flat_variables &&
            model_level(m, e->right) <= LEVEL_PARAMETER && is_differentiated(m, n.a))
            return e;
    }
    return NULL;
}

/* An equation that speaks of parameters alone. */
static const char *find_parameter_equation(model *m)
{
    for (size_t i = 0; i < m->flat->equations; i++) {
        const flat_equation *e = &m->flat->equation[i];
        const ex_node *n = ex_at(m->g, e->left);
        if (n->op == EX_VARIABLE && m->flat->variable[n->a].variability == FLAT_PARAMETER)
            return m->flat->variable[n->a].name;
    }
    return NULL;
}

static void hint_parts(model *m, size_t equations, size_t unknowns)
{
    const char *parameter = equations > unknowns ? find_parameter_equation(m) : NULL;
    const flat_equation *always = equations > unknowns ? find_constant_state(m) : NULL;
    if (parameter)
        dae_hint(
            &m->report,
            "'%s' is a parameter: its value is given in the declaration, or by a modification, "
            "and not by an equation",
            parameter);
    else if (always)
        dae_hint(&m->report,
                 "'%s = %s' holds always; an initial value is written %s(start = %s, fixed = true)",
                 ex_print(m->g, always->left, flat_name, m->flat, 60),
                 ex_print(m->g, always->right, flat_name, m->flat, 60),
                 ex_print(m->g, always->left, flat_name, m->flat, 60),
                 ex_print(m->g, always->right, flat_name, m->flat, 60));
    else
        dae_hint(&m->report,
                 equations < unknowns
                     ? "is an equation or a connection missing, or should one of them be "
                       "a parameter?"
                 : equations > unknowns ? "remove an equation, or declare what it determines"
                                        : "one equation too many here is one too few there");
}

static dae_status tell_parts(model *m, model_incidence *in, dae_matching *mt)
{
    size_t unknowns = 0, equations = 0;
    for (size_t i = 0; i < m->flat->equations; i++)
        equations += ex_at(m->g, m->flat->equation[i].left)->type != EX_STRING;
    for (size_t v = 0; v < m->flat_variables; v++) unknowns += m->variable[v].kind == UNKNOWN;
    m->unbalanced = equations != unknowns;
    if (m->hybrid)
        model_refuse_hybrid(m);
    else if (equations != unknowns)
        dae_fail(&m->report, DAE_E_STRUCTURE, "the model has %zu %s for %zu %s", equations,
                 plural(equations, "equation"), unknowns, plural(unknowns, "unknown"));
    else
        dae_fail(&m->report, DAE_E_STRUCTURE,
                 "the equations are structurally singular: %zu equations for %zu unknowns, but "
                 "not every unknown can have one of its own",
                 equations, unknowns);
    dae_at(&m->report, "model '%s'", m->flat->name ? m->flat->name : "");
    if (m->hybrid)
        dae_why(&m->report, "what happens at events left out, it has %zu %s for %zu %s", equations,
                plural(equations, "equation"), unknowns, plural(unknowns, "unknown"));
    bool brief = is_large(m, in, mt) && !m->hybrid && model_say_suspects(m);
    int told = 0;
    for (uint32_t i = 0; i < in->s.rows && told < 2; i++)
        if (mt->column_of[i] == NOWHERE) say_over(m, in, mt, i, brief), told++;
    for (uint32_t j = 0, under = 0; j < in->s.columns && under < 2; j++)
        if (mt->row_of[j] == NOWHERE) say_under(m, in, mt, j, brief), under++;
    if (m->hybrid) return DAE_E_UNSUPPORTED;
    hint_parts(m, equations, unknowns);
    return DAE_E_STRUCTURE;
}

static dae_status tell_index(model *m, model_incidence *in, unsigned char *order)
{
    uint32_t *c = dae_arena_take(&m->arena, in->s.rows, sizeof *c);
    uint32_t *d = dae_arena_take(&m->arena, in->s.columns, sizeof *d);
    dae_matching mt;
    listing equations = { 0 }, unknowns = { 0 };
    dae_matching_open(&mt, &in->s, &m->scratch);
    int status = dae_find_offsets(&in->s, order, &m->scratch, c, d, &mt, &m->index);
    if (status != DAE_OK) return DAE_E_STRUCTURE;
    for (uint32_t i = 0; i < in->s.rows; i++)
        if (c[i] > 0) list_equation(m, &equations, &m->running.item[i]);
    for (uint32_t j = 0; j < in->s.columns; j++)
        if (d[j] == 0) list_unknown(m, &unknowns, in->slot[j]);
    dae_fail(
        &m->report, DAE_E_UNSUPPORTED,
        "variables that are differentiated are bound to each other by constraints, which cannot be "
        "differentiated here");
    dae_at(&m->report, "model '%s'", m->flat->name ? m->flat->name : "");
    dae_why(&m->report, "differentiating %s %s would be needed: structural index %d",
            equations.count == 1 ? "equation" : "equations", list_end(&equations), m->index);
    if (unknowns.count)
        dae_why(&m->report, "only their derivatives say what %s %s", list_end(&unknowns),
                unknowns.count == 1 ? "is" : "are");
    dae_hint(&m->report,
             "write the constraint differentiated, with der(...), or leave out a variable that "
             "follows from the others");
    return DAE_E_UNSUPPORTED;
}

/* Columns are variables now, whatever derivative of them occurs. */
static void find_variables(model *m, const model_incidence *in, model_incidence *out,
                           unsigned char **order)
{
    size_t capacity = 0, order_capacity = 0, entries = 0;
    uint32_t *column_of = dae_arena_take(&m->arena, m->variables, sizeof *column_of);
    size_t *last = dae_arena_take(&m->arena, in->s.columns, sizeof *last);
    memset(column_of, 0xff, m->variables * sizeof *column_of);
    *out = (model_incidence){ .slot = dae_arena_take(&m->arena, in->s.columns, sizeof *out->slot),
                              .start = dae_arena_take(&m->arena, (size_t)in->s.rows + 1,
                                                      sizeof *out->start) };
    for (uint32_t j = 0; j < in->s.columns; j++) {
        column_of[slot_variable(in->slot[j])] = j;
        out->slot[j] = slot_of(slot_variable(in->slot[j]), 0);
    }
    *order = NULL;
    for (uint32_t i = 0; i < in->s.rows; i++) {
        model_coefficient *c;
        double zero;
        size_t leaves = model_coefficients(m, &m->running.item[i], &c);
        for (size_t k = 0; k < leaves; k++) {
            uint32_t v = c[k].slot ? slot_variable(c[k].slot) : NOWHERE;
            bool cancels = c[k].value && ex_is_number(m->g, c[k].value, &zero) && zero == 0;
            bool derivative = slot_is_derivative(c[k].slot);
            if (v == NOWHERE || column_of[v] == NOWHERE || cancels) continue;
            uint32_t j = column_of[v];
            if (last[j] > out->start[i]) { /* x and der(x) in one equation */
                if (derivative) (*order)[last[j] - 1] = 1;
                continue;
            }
            out->column =
                dae_arena_grow(&m->arena, out->column, entries, &capacity, sizeof *out->column);
            *order = dae_arena_grow(&m->arena, *order, entries, &order_capacity, 1);
            out->column[entries] = j;
            (*order)[entries++] = derivative;
            last[j] = entries;
        }
        out->start[i + 1] = entries;
    }
    out->s = (dae_structure){ in->s.rows, in->s.columns, out->start, out->column };
}

dae_status model_diagnose(model *m, model_incidence *in, dae_matching *matching)
{
    (void)matching;
    model_incidence all;
    unsigned char *order;
    dae_matching mt;
    find_variables(m, in, &all, &order);
    dae_matching_open(&mt, &all.s, &m->scratch);
    dae_match(&all.s, all.s.rows, &m->scratch, &mt);
    if (mt.rank < all.s.rows || mt.rank < all.s.columns) return tell_parts(m, &all, &mt);
    return tell_index(m, &all, order);
}

/* What an equation was multiplied with when it was combined with others (regular.h) is 0, or has
 * passed 0 in a step. */
dae_status model_tell_guard(model *m, double t, size_t guard, double value, bool passed)
{
    const char *what = ex_print(m->g, m->flat->watch[guard], flat_name, m->flat, 120);
    dae_fail(&m->report, DAE_E_IMPASSE,
             "the form in which the equations are integrated is singular");
    dae_at(&m->report, "t = %.10g", t);
    dae_why(&m->report,
            "%s is %.3g there%s: an equation that was combined with others to find the index says "
            "nothing where this is 0",
            what, value, passed ? " and had the other sign" : "");
    dae_hint(&m->report, "'daedalus analyze' shows the combination; start elsewhere, or write the "
                         "equations in another form");
    return DAE_E_IMPASSE;
}
