/* table.c: the tables of the standard library (Modelica.Blocks.Tables, CombiTimeTable), which are
 * functions in C there, as expressions: a tree of comparisons with the abscissae leads to the
 * polynomial of the interval. So they have derivatives, and no foreign code is needed.
 *
 * A table is an external object: the record of what its constructor was given. Its numbers must
 * be known before the simulation. Interpolation by lines, steps, or Akima's spline (H. Akima,
 * J. ACM 17 (1970) 589); the comparisons are no events, those of time tables are asked for by
 * nextTimeEvent.
 */
#include "modelica/instance.h"

#include <math.h>
#include <string.h>

enum { LINES = 1, AKIMA = 2, STEPS = 3 };             /* Modelica.Blocks.Types.Smoothness */
enum { HOLD = 1, LAST_TWO_POINTS = 2, PERIODIC = 3 }; /* Modelica.Blocks.Types.Extrapolation */

typedef struct table {
    mo_model *m;
    const mo_value *object;
    double *x, *y; /* abscissae, the chosen column */
    double *slope; /* AKIMA: at the abscissae */
    int n, smoothness, extrapolation;
    mo_place place;
} table;

/* ------------------------------------------------------------------ external objects - */

/* Class(arguments) of a class that extends ExternalObject: what its constructor is given. */
mo_value *mo_external_object(mo_model *m, const mo_scope *s, mo_view *v, mo_value **argument,
                             const char **label, size_t count, mo_place place)
{
    mo_entry *e = mo_find_entry(m, v, mo_name(m->context, "constructor"));
    if (!e || e->element->kind != MO_NESTED) {
        mo_error(m->context, DAE_E_MODEL, place, "the external object '%s' has no constructor",
                 v->path);
        mo_hint(m->context, "declare 'function constructor' in it");
        return mo_none(m);
    }
    mo_view *f = mo_nested_view(m, e);
    mo_expand(m, f);
    mo_value *r = dae_arena_take(&m->context->arena, 1, sizeof *r);
    *r = (mo_value){ .kind = MO_V_RECORD, .view = v };
    r->item = dae_arena_take(&m->context->arena, f->entries + 1, sizeof *r->item);
    r->field = dae_arena_take(&m->context->arena, f->entries + 1, sizeof *r->field);
    size_t position = 0;
    for (size_t i = 0; i < f->entries; i++) {
        const mo_entry *input = f->entry[i];
        if (input->element->kind != MO_COMPONENT || !input->element->input) continue;
        mo_value *value = NULL;
        for (size_t k = 0; k < count; k++)
            if (label && label[k] == input->name) value = argument[k];
        if (!value && position < count && !(label && label[position])) value = argument[position++];
        if (!value && input->mod && input->mod->value) {
            mo_scope inside = { .view = input->mod->view, .run = s->run };
            value = mo_evaluate(m, &inside, input->mod->value);
        }
        if (!value) {
            mo_error(m->context, DAE_E_MODEL, place, "no argument for '%s' of '%s'", input->name,
                     v->path);
            mo_hint(m->context, "add '%s = ...' to the arguments", input->name);
            return mo_none(m);
        }
        r->field[r->count] = input->name;
        r->item[r->count++] = value;
    }
    return r;
}

/* ------------------------------------------------------------------ known numbers ---- */

static mo_value *field(const table *t, const char *name)
{
    return mo_field(t->m, (mo_value *)t->object, mo_name(t->m->context, name));
}

static bool number(table *t, ex_id e, double *x)
{
    uint32_t culprit;
    if (mo_evaluate_number(t->m, e, x, &culprit)) return true;
    mo_error(t->m->context, DAE_E_MODEL, t->place,
             "a number of the table is not known before the simulation");
    mo_hint(t->m->context, "tables consist of constants and parameters");
    return false;
}

static bool setting(table *t, const char *name, double *x)
{
    mo_value *v = field(t, name);
    return v && v->kind == MO_V_SCALAR && number(t, v->scalar, x);
}

static bool refuse(table *t, const char *what, const char *hint)
{
    mo_error(t->m->context, DAE_E_UNSUPPORTED, t->place, "%s", what);
    mo_hint(t->m->context, "%s", hint);
    return false;
}

static mo_value *matrix_of(table *t)
{
    mo_value *file = field(t, "fileName"), *v = field(t, "table");
    const char *name = file ? mo_constant_text(t->m, file) : NULL;
    if (name && strcmp(name, "NoName") != 0)
        refuse(t, "a table in a file", "write the table as a matrix in the model");
    else if (!v || v->kind != MO_V_ARRAY || v->dimensions != 2 || v->size[0] < 1 || v->size[1] < 2)
        refuse(t, "a table needs a row and two columns", "write table = [x, y; x, y; ...]");
    else
        return v;
    return NULL;
}

/* Akima's slopes: means of the neighbouring differences, weighted by how little those beyond
 * them change; two differences are continued beyond each end. */
static void akima(table *t)
{
    int n = t->n;
    double *d = dae_arena_take(&t->m->context->arena, (size_t)n + 4, sizeof *d);
    t->slope = dae_arena_take(&t->m->context->arena, (size_t)n + 1, sizeof *t->slope);
    for (int i = 0; i < n - 1; i++) d[i + 2] = (t->y[i + 1] - t->y[i]) / (t->x[i + 1] - t->x[i]);
    if (n == 2)
        d[1] = d[0] = d[3] = d[4] = d[2];
    else {
        d[1] = 2 * d[2] - d[3];
        d[0] = 2 * d[1] - d[2];
        d[n + 1] = 2 * d[n] - d[n - 1];
        d[n + 2] = 2 * d[n + 1] - d[n];
    }
    for (int i = 0; i < n; i++) {
        double a = fabs(d[i + 3] - d[i + 2]), b = fabs(d[i + 1] - d[i]);
        t->slope[i] =
            a + b > 0 ? (a * d[i + 1] + b * d[i + 2]) / (a + b) : (d[i + 1] + d[i + 2]) / 2;
    }
}

/* Column `column` of the matrix (from 1; 0: abscissae only). */
static bool read_table(table *t, int column)
{
    mo_value *v = matrix_of(t);
    double smoothness, extrapolation;
    if (!v || !setting(t, "smoothness", &smoothness) ||
        !setting(t, "extrapolation", &extrapolation))
        return false;
    if (column > v->size[1])
        return refuse(t, "the table has fewer columns", "look at 'columns' of the table");
    t->n = v->size[0];
    t->smoothness = (int)smoothness;
    t->extrapolation = (int)extrapolation;
    t->x = dae_arena_take(&t->m->context->arena, (size_t)t->n + 1, sizeof *t->x);
    t->y = dae_arena_take(&t->m->context->arena, (size_t)t->n + 1, sizeof *t->y);
    for (int i = 0; i < t->n; i++) {
        const ex_id *row = v->element + (size_t)i * (size_t)v->size[1];
        if (!number(t, row[0], &t->x[i]) || (column && !number(t, row[column - 1], &t->y[i])))
            return false;
        if (i > 0 && t->x[i] < t->x[i - 1])
            return refuse(t, "the first column of the table decreases", "sort the rows");
    }
    if (t->smoothness > STEPS)
        return refuse(t, "this kind of smooth interpolation of a table",
                      "use LinearSegments, ConstantSegments or ContinuousDerivative");
    if (t->extrapolation > PERIODIC)
        return refuse(t, "a table without extrapolation", "use HoldLastPoint or LastTwoPoints");
    if (t->smoothness == AKIMA && t->n > 1) akima(t);
    return true;
}

/* ------------------------------------------------------------------ the expression --- */

static ex_id plus(ex_graph *g, double a, ex_id factor, ex_id times)
{
    return ex_binary(g, EX_ADD, ex_number(g, a), ex_binary(g, EX_MULTIPLY, factor, times));
}

/* In the interval from x[i]: a polynomial of u - x[i]. */
static ex_id piece(const table *t, int i, ex_id u)
{
    ex_graph *g = t->m->graph;
    double h = t->x[i + 1] - t->x[i];
    if (t->smoothness == STEPS || h == 0) return ex_number(g, t->y[i]);
    double secant = (t->y[i + 1] - t->y[i]) / h;
    ex_id d = ex_binary(g, EX_SUBTRACT, u, ex_number(g, t->x[i]));
    if (t->smoothness == LINES) return plus(g, t->y[i], ex_number(g, secant), d);
    double p = t->slope[i], q = t->slope[i + 1]; /* Hermite's cubic */
    double c2 = (3 * secant - 2 * p - q) / h, c3 = (p + q - 2 * secant) / (h * h);
    return plus(g, t->y[i], plus(g, p, plus(g, c2, ex_number(g, c3), d), d), d);
}

/* The pieces from..to-1, chosen by halving. */
static ex_id between(const table *t, int from, int to, ex_id u)
{
    ex_graph *g = t->m->graph;
    if (to - from == 1) return piece(t, from, u);
    int middle = (from + to) / 2;
    ex_id below = ex_binary(g, EX_LESS, u, ex_number(g, t->x[middle]));
    return ex_if(g, below, between(t, from, middle, u), between(t, middle, to, u));
}

/* Beyond an end: the value there, or a line with the slope there. */
static ex_id beyond(const table *t, int end, ex_id u)
{
    ex_graph *g = t->m->graph;
    int i = end ? t->n - 2 : 0, at = end ? t->n - 1 : 0;
    while (end && i > 0 && t->x[i] == t->x[at]) i--;
    double h = t->x[i + 1] - t->x[i];
    if (t->extrapolation == HOLD || t->smoothness == STEPS || h == 0) return ex_number(g, t->y[at]);
    double slope = t->smoothness == AKIMA ? t->slope[at] : (t->y[i + 1] - t->y[i]) / h;
    return plus(g, t->y[at], ex_number(g, slope),
                ex_binary(g, EX_SUBTRACT, u, ex_number(g, t->x[at])));
}

/* u brought back into the table, for periodic ones. */
static ex_id wrapped(const table *t, ex_id u)
{
    ex_graph *g = t->m->graph;
    double length = t->x[t->n - 1] - t->x[0];
    if (t->extrapolation != PERIODIC || length <= 0) return u;
    ex_id along = ex_binary(g, EX_SUBTRACT, u, ex_number(g, t->x[0]));
    return ex_binary(g, EX_ADD, ex_number(g, t->x[0]),
                     ex_binary(g, EX_MOD, along, ex_number(g, length)));
}

static ex_id look_up(const table *t, ex_id u)
{
    ex_graph *g = t->m->graph;
    if (t->n == 1) return ex_number(g, t->y[0]);
    u = wrapped(t, u);
    ex_id inside = between(t, 0, t->n - 1, u);
    if (t->extrapolation == PERIODIC) return inside;
    ex_id low = ex_binary(g, EX_LESS, u, ex_number(g, t->x[0]));
    ex_id high = ex_binary(g, EX_LESS_EQUAL, ex_number(g, t->x[t->n - 1]), u);
    return ex_if(g, low, beyond(t, 0, u), ex_if(g, high, beyond(t, 1, u), inside));
}

/* ------------------------------------------------------------------ the functions ---- */

/* The column of the matrix that output number k reads: columns[k]. */
static int column_of(table *t, const mo_value *k)
{
    double index, column = 0;
    mo_value *columns = field(t, "columns");
    if (k->kind != MO_V_SCALAR || !number(t, k->scalar, &index)) return 0;
    if (!columns || columns->kind != MO_V_ARRAY || index < 1 || index > (double)columns->count) {
        refuse(t, "the table has fewer outputs", "look at 'columns' of the table");
        return 0;
    }
    return number(t, columns->element[(size_t)index - 1], &column) ? (int)column : 0;
}

static ex_id value_1d(table *t, mo_value **argument)
{
    int column = column_of(t, argument[1]);
    return column > 0 && read_table(t, column) ? look_up(t, argument[2]->scalar) : 0;
}

static ex_id value_of_time(table *t, mo_value **argument)
{
    ex_graph *g = t->m->graph;
    double start, shift;
    int column = column_of(t, argument[1]);
    if (column < 1 || !read_table(t, column) || !setting(t, "startTime", &start) ||
        !setting(t, "shiftTime", &shift))
        return 0;
    ex_id time = argument[2]->scalar;
    ex_id y = look_up(t, ex_binary(g, EX_SUBTRACT, time, ex_number(g, shift)));
    return ex_if(g, ex_binary(g, EX_LESS, time, ex_number(g, start)), ex_number(g, 0), y);
}

/* The first abscissa after u; none: as large as Modelica.Constants.inf. */
static ex_id next_event(table *t, mo_value **argument)
{
    ex_graph *g = t->m->graph;
    double shift;
    if (!read_table(t, 0) || !setting(t, "shiftTime", &shift)) return 0;
    ex_id u = ex_binary(g, EX_SUBTRACT, argument[1]->scalar, ex_number(g, shift)),
          in = wrapped(t, u);
    ex_id turn = ex_binary(g, EX_SUBTRACT, argument[1]->scalar, in);
    bool periodic = t->extrapolation == PERIODIC && t->n > 1;
    ex_id next = ex_number(g, periodic ? t->x[t->n - 1] : 1e60);
    for (int i = t->n; i-- > 0;)
        next =
            ex_if(g, ex_binary(g, EX_LESS, in, ex_number(g, t->x[i])), ex_number(g, t->x[i]), next);
    return ex_binary(g, EX_ADD, next, periodic ? turn : ex_number(g, shift));
}

static ex_id least(table *t, mo_value **argument)
{
    (void)argument;
    return read_table(t, 0) ? ex_number(t->m->graph, t->x[0]) : 0;
}

static ex_id largest(table *t, mo_value **argument)
{
    (void)argument;
    return read_table(t, 0) ? ex_number(t->m->graph, t->x[t->n - 1]) : 0;
}

/* Linear in both directions: along the columns for every row, then between the rows. */
static ex_id value_2d(table *t, mo_value **argument)
{
    mo_model *m = t->m;
    mo_value *v = matrix_of(t);
    double smoothness, extrapolation;
    if (!v || !setting(t, "smoothness", &smoothness) ||
        !setting(t, "extrapolation", &extrapolation))
        return 0;
    int rows = v->size[0] - 1, columns = v->size[1] - 1;
    if ((int)smoothness != LINES || extrapolation > LAST_TWO_POINTS || rows < 2 || columns < 2)
        return (ex_id)refuse(t, "this kind of table of two variables",
                             "use LinearSegments, and HoldLastPoint or LastTwoPoints");
    table *row = dae_arena_take(&m->context->arena, (size_t)rows, sizeof *row);
    double *x = dae_arena_take(&m->context->arena, (size_t)columns, sizeof *x);
    double *u = dae_arena_take(&m->context->arena, (size_t)rows, sizeof *u);
    for (int k = 0; k < columns; k++)
        if (!number(t, v->element[k + 1], &x[k])) return 0;
    ex_graph *g = m->graph;
    ex_id *at = dae_arena_take(&m->context->arena, (size_t)rows, sizeof *at);
    for (int i = 0; i < rows; i++) {
        const ex_id *from = v->element + (size_t)(i + 1) * (size_t)(columns + 1);
        row[i] = (table){ .m = m,
                          .x = x,
                          .n = columns,
                          .smoothness = LINES,
                          .extrapolation = (int)extrapolation,
                          .place = t->place };
        row[i].y = dae_arena_take(&m->context->arena, (size_t)columns, sizeof *row[i].y);
        if (!number(t, from[0], &u[i])) return 0;
        for (int k = 0; k < columns; k++)
            if (!number(t, from[k + 1], &row[i].y[k])) return 0;
        at[i] = look_up(&row[i], argument[2]->scalar);
    }
    ex_id along = argument[1]->scalar, result = 0;
    if ((int)extrapolation == HOLD)
        along = ex_binary(g, EX_MAX, ex_number(g, u[0]),
                          ex_binary(g, EX_MIN, ex_number(g, u[rows - 1]), along));
    for (int i = rows - 1; i-- > 0;) {
        ex_id part = ex_binary(g, EX_DIVIDE, ex_binary(g, EX_SUBTRACT, along, ex_number(g, u[i])),
                               ex_number(g, u[i + 1] - u[i]));
        ex_id line =
            ex_binary(g, EX_ADD, at[i],
                      ex_binary(g, EX_MULTIPLY, part, ex_binary(g, EX_SUBTRACT, at[i + 1], at[i])));
        result = result
                     ? ex_if(g, ex_binary(g, EX_LESS, along, ex_number(g, u[i + 1])), line, result)
                     : line;
    }
    return result;
}

static const struct {
    const char *name;
    ex_id (*make)(table *t, mo_value **argument);
    size_t arguments;
} functions[] = {
    { "CombiTable1D_getValue", value_1d, 3 },
    { "CombiTable1D_minimumAbscissa", least, 1 },
    { "CombiTable1D_maximumAbscissa", largest, 1 },
    { "CombiTable2D_getValue", value_2d, 3 },
    { "CombiTimeTable_getValue", value_of_time, 3 },
    { "CombiTimeTable_minimumTime", least, 1 },
    { "CombiTimeTable_maximumTime", largest, 1 },
    { "CombiTimeTable_nextTimeEvent", next_event, 2 },
};

/* The smallest or largest abscissae of a table of two variables: rows, then columns. */
static mo_value *corners_2d(table *t, bool last)
{
    int two = 2;
    mo_value *v = matrix_of(t), *both = mo_new_array(t->m, 1, &two, EX_REAL);
    if (!v || v->size[0] < 2 || v->size[1] < 2) return mo_none(t->m);
    size_t width = (size_t)v->size[1];
    both->element[0] = v->element[last ? (size_t)(v->size[0] - 1) * width : width];
    both->element[1] = v->element[last ? width - 1 : 1];
    return both;
}

/* A function of the library's tables in C; NULL: it is none of them. */
mo_value *mo_table_function(mo_model *m, const char *name, mo_value **argument, size_t count,
                            mo_place place)
{
    static const char prefix[] = "ModelicaStandardTables_";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0 || !count || argument[0]->kind != MO_V_RECORD)
        return NULL;
    bool last = strcmp(name + sizeof prefix - 1, "CombiTable2D_maximumAbscissa") == 0;
    if (last || strcmp(name + sizeof prefix - 1, "CombiTable2D_minimumAbscissa") == 0)
        return corners_2d(&(table){ .m = m, .object = argument[0], .place = place }, last);
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
        if (strcmp(functions[i].name, name + sizeof prefix - 1) != 0 ||
            count < functions[i].arguments)
            continue;
        table t = { .m = m, .object = argument[0], .place = place };
        for (size_t k = 1; k < functions[i].arguments; k++)
            if (argument[k]->kind != MO_V_SCALAR) return mo_none(m);
        ex_id e = functions[i].make(&t, argument);
        return e ? mo_scalar(m, e, EX_REAL, NULL) : mo_none(m);
    }
    return NULL;
}
