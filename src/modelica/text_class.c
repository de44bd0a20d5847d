/* text_class.c: classes as Modelica text: what was read, laid out anew.
 *
 * Names declared together come out one by one, prefixes in the order of the grammar, annotations
 * at the end of a class joined into one. Reading the result gives the same tree again.
 */
#include "modelica/text.h"

typedef struct printer {
    mo_writer w;
    int level; /* of indentation */
} printer;

static void put(printer *p, const char *text)
{
    mo_put(&p->w, text);
}

static void put_line(printer *p)
{
    put(p, "\n");
    for (int i = 0; i < p->level; i++) put(p, "  ");
}

/* `text` and a blank, if the flag is set */
static void put_flag(printer *p, bool flag, const char *text)
{
    put(p, flag ? text : "");
    put(p, flag ? " " : "");
}

static void put_dimensions(printer *p, mo_ast *const *item, int count)
{
    put(p, count ? "[" : "");
    for (int i = 0; i < count; i++) {
        put(p, i ? ", " : "");
        mo_put_expression(&p->w, item[i]);
    }
    put(p, count ? "]" : "");
}

static void put_comment(printer *p, const char *comment)
{
    if (!comment) return;
    put(p, " ");
    mo_put_string(&p->w, comment);
}

/* ---------------------------------------------------------------- modifiers ------------- */

static void put_class(printer *p, const mo_class *k);
static void put_component(printer *p, const mo_element *e);
static void put_constraint(printer *p, const mo_element *e);
static void put_clause(printer *p, const mo_clause *k);
static void put_modifier(printer *p, const mo_modifier *m);
static void put_annotation(printer *p, const mo_modifier *m);

static void put_value(printer *p, const mo_modifier *m)
{
    if (m->value) {
        put(p, " = ");
        mo_put_expression(&p->w, m->value);
    } else if (m->broken) {
        put(p, " = break");
    }
}

static void put_argument(printer *p, const mo_modifier *m)
{
    if (m->deselects) {
        put(p, "break ");
        if (m->connection)
            put_clause(p, m->connection);
        else
            mo_put_reference(&p->w, m->name);
        return;
    }
    put_flag(p, m->element && m->element->redeclare, "redeclare");
    put_flag(p, m->each, "each");
    put_flag(p, m->final, "final");
    if (m->element) {
        put_flag(p, m->element->replaceable, "replaceable");
        if (m->element->kind == MO_NESTED)
            put_class(p, m->element->nested);
        else
            put_component(p, m->element);
        put_constraint(p, m->element);
        if (m->element->constraint) {
            put_comment(p, m->element->comment);
            put_annotation(p, m->element->annotation);
        }
        return;
    }
    mo_put_reference(&p->w, m->name);
    put_modifier(p, m);
    put_comment(p, m->comment);
}

/* (arguments) = value */
static void put_modifier(printer *p, const mo_modifier *m)
{
    if (!m) return;
    if (m->listed) {
        put(p, "(");
        for (int i = 0; i < m->items; i++) {
            put(p, i ? ", " : "");
            put_argument(p, m->item[i]);
        }
        put(p, ")");
    }
    put_value(p, m);
}

static void put_annotation(printer *p, const mo_modifier *m)
{
    if (!m) return;
    put(p, " annotation");
    put_modifier(p, m);
}

/* ---------------------------------------------------------------- elements -------------- */

static void put_constraint(printer *p, const mo_element *e)
{
    if (!e->constraint) return;
    put(p, " constrainedby ");
    mo_put_reference(&p->w, e->constraint);
    put_modifier(p, e->constraint_modifier);
}

static const char *variability(mo_variability v)
{
    return v == MO_CONSTANT    ? "constant"
           : v == MO_PARAMETER ? "parameter"
           : v == MO_DISCRETE  ? "discrete"
                               : "";
}

static void put_component(printer *p, const mo_element *e)
{
    put_flag(p, e->flow, "flow");
    put_flag(p, e->stream, "stream");
    put_flag(p, e->variability != MO_CONTINUOUS, variability(e->variability));
    put_flag(p, e->input, "input");
    put_flag(p, e->output, "output");
    mo_put_reference(&p->w, e->type);
    put_dimensions(p, e->type_dimension, e->type_dimensions);
    put(p, " ");
    put(p, e->name);
    put_dimensions(p, e->dimension, e->dimensions);
    put_modifier(p, e->modifier);
    if (e->condition) {
        put(p, " if ");
        mo_put_expression(&p->w, e->condition);
    }
    if (!e->constraint) {
        put_comment(p, e->comment);
        put_annotation(p, e->annotation);
    }
}

static void put_import(printer *p, const mo_element *e)
{
    put(p, "import ");
    if (e->name) {
        put(p, e->name);
        put(p, " = ");
    }
    mo_put_reference(&p->w, e->import);
    put(p, e->import_all ? ".*" : e->import_names ? ".{" : "");
    for (int i = 0; i < e->import_names; i++) {
        put(p, i ? ", " : "");
        put(p, e->import_name[i]);
    }
    put(p, e->import_names ? "}" : "");
}

static void put_element(printer *p, const mo_element *e)
{
    if (e->kind == MO_IMPORT) {
        put_import(p, e);
    } else if (e->kind == MO_EXTENDS) {
        put(p, "extends ");
        mo_put_reference(&p->w, e->type);
        put_modifier(p, e->modifier);
    } else {
        put_flag(p, e->redeclare, "redeclare");
        put_flag(p, e->final, "final");
        put_flag(p, e->inner, "inner");
        put_flag(p, e->outer, "outer");
        put_flag(p, e->replaceable, "replaceable");
        if (e->kind == MO_NESTED)
            put_class(p, e->nested);
        else
            put_component(p, e);
        put_constraint(p, e);
        if (e->kind == MO_COMPONENT && !e->constraint) {
            put(p, ";");
            return;
        }
    }
    put_comment(p, e->comment);
    put_annotation(p, e->annotation);
    put(p, ";");
}

/* ---------------------------------------------------------------- clauses --------------- */

static void put_clauses(printer *p, mo_clause *const *clause, int count)
{
    p->level++;
    for (int i = 0; i < count; i++) {
        put_line(p);
        put_clause(p, clause[i]);
        put(p, ";");
    }
    p->level--;
}

/* A block: its branches with the words before them, and its end. */
static void put_block(printer *p, const mo_clause *k)
{
    static const char *const words[][3] = { [MO_C_IF] = { "if ", "elseif ", "end if" },
                                            [MO_C_WHEN] = { "when ", "elsewhen ", "end when" },
                                            [MO_C_FOR] = { "for", "", "end for" },
                                            [MO_C_WHILE] = { "while ", "", "end while" } };
    bool loop = k->kind == MO_C_FOR || k->kind == MO_C_WHILE;
    for (int i = 0; i < k->branches; i++) {
        const mo_branch *b = &k->branch[i];
        if (i) put_line(p);
        put(p, b->condition || loop ? words[k->kind][i > 0] : "else");
        if (b->condition) mo_put_expression(&p->w, b->condition);
        if (k->kind == MO_C_FOR) mo_put_iterators(&p->w, k->iterator, k->iterators);
        put(p, loop ? " loop" : b->condition ? " then" : "");
        put_clauses(p, b->clause, b->clauses);
    }
    put_line(p);
    put(p, words[k->kind][2]);
}

static void put_clause(printer *p, const mo_clause *k)
{
    switch (k->kind) {
    case MO_C_EQUAL:
    case MO_C_ASSIGN:
        mo_put_left_side(&p->w, k->left);
        put(p, k->kind == MO_C_EQUAL ? " = " : " := ");
        mo_put_expression(&p->w, k->right);
        break;
    case MO_C_CALL: mo_put_expression(&p->w, k->left); break;
    case MO_C_CONNECT:
        put(p, "connect(");
        mo_put_expression(&p->w, k->left);
        put(p, ", ");
        mo_put_expression(&p->w, k->right);
        put(p, ")");
        break;
    case MO_C_BREAK: put(p, "break"); break;
    case MO_C_RETURN: put(p, "return"); break;
    default: put_block(p, k); break;
    }
    put_comment(p, k->comment);
    put_annotation(p, k->annotation);
}

static void put_external(printer *p, const mo_external *x)
{
    put(p, "external ");
    mo_put_string(&p->w, x->language);
    if (x->result) {
        put(p, " ");
        mo_put_expression(&p->w, x->result);
        put(p, " =");
    }
    if (x->function) {
        put(p, " ");
        put(p, x->function);
        put(p, "(");
        for (int i = 0; i < x->arguments; i++) {
            put(p, i ? ", " : "");
            mo_put_expression(&p->w, x->argument[i]);
        }
        put(p, ")");
    }
    put_annotation(p, x->annotation);
    put(p, ";");
}

/* ---------------------------------------------------------------- classes --------------- */

static void put_body(printer *p, const mo_class *k)
{
    bool is_protected = false;
    put_comment(p, k->comment);
    p->level++;
    for (int i = 0; i < k->elements; i++) {
        if (k->element[i]->is_protected != is_protected) {
            is_protected = !is_protected;
            p->level--;
            put_line(p);
            put(p, is_protected ? "protected" : "public");
            p->level++;
        }
        put_line(p);
        put_element(p, k->element[i]);
    }
    p->level--;
    for (int i = 0; i < k->sections; i++) {
        put_line(p);
        put_flag(p, k->section[i].initial, "initial");
        put(p, k->section[i].algorithm ? "algorithm" : "equation");
        put_clauses(p, k->section[i].clause, k->section[i].clauses);
    }
    put_line(p);
    if (k->external) {
        put_external(p, k->external);
        put_line(p);
    }
    if (k->annotation) {
        put_annotation(p, k->annotation);
        put(p, ";");
        put_line(p);
    }
    put(p, "end ");
    put(p, k->name);
}

static void put_short(printer *p, const mo_class *k)
{
    put(p, " = ");
    if (k->is_enumeration) {
        put(p, k->enumeration_open ? "enumeration(:" : "enumeration(");
        for (int i = 0; i < k->literals; i++) {
            put(p, i ? ", " : "");
            put(p, k->literal[i]);
            put_comment(p, k->literal_comment[i]);
            put_annotation(p, k->literal_annotation[i]);
        }
        put(p, ")");
    } else if (k->is_derivative) {
        put(p, "der(");
        mo_put_reference(&p->w, k->alias);
        for (int i = 0; i < k->derivatives; i++) {
            put(p, ", ");
            put(p, k->derivative[i]);
        }
        put(p, ")");
    } else {
        put_flag(p, k->alias_flow, "flow");
        put_flag(p, k->alias_stream, "stream");
        put_flag(p, k->alias_variability != MO_CONTINUOUS, variability(k->alias_variability));
        put_flag(p, k->alias_input, "input");
        put_flag(p, k->alias_output, "output");
        mo_put_reference(&p->w, k->alias);
        put_dimensions(p, k->alias_dimension, k->alias_dimensions);
        put_modifier(p, k->alias_modifier);
    }
    put_comment(p, k->comment);
    put_annotation(p, k->annotation);
}

static void put_class(printer *p, const mo_class *k)
{
    static const char *const kinds[] = {
        [MO_CLASS] = "class ",
        [MO_MODEL] = "model ",
        [MO_BLOCK] = "block ",
        [MO_RECORD] = "record ",
        [MO_CONNECTOR] = "connector ",
        [MO_TYPE] = "type ",
        [MO_PACKAGE] = "package ",
        [MO_FUNCTION] = "function ",
        [MO_OPERATOR] = "operator ",
        [MO_OPERATOR_RECORD] = "operator record ",
        [MO_OPERATOR_FUNCTION] = "operator function ",
        [MO_EXPANDABLE_CONNECTOR] = "expandable connector ",
        [MO_OPTIMIZATION] = "optimization ",
    };
    put_flag(p, k->encapsulated, "encapsulated");
    put_flag(p, k->partial, "partial");
    put_flag(p, k->pure, "pure");
    put_flag(p, k->impure, "impure");
    put(p, kinds[k->kind]);
    put_flag(p, k->extends_itself, "extends");
    put(p, k->name);
    if (k->is_short || k->is_derivative) {
        put_short(p, k);
        return;
    }
    put_modifier(p, k->alias_modifier);
    put_body(p, k);
}

const char *mo_file_text(mo_context *c, const mo_file *f)
{
    printer p = { .w = { .c = c } };
    put(&p, f->has_within ? "within" : "");
    if (f->within) {
        put(&p, " ");
        mo_put_reference(&p.w, f->within);
    }
    put(&p, f->has_within ? ";\n" : "");
    for (int i = 0; i < f->classes; i++) {
        put_flag(&p, f->class_final[i], "final");
        put_class(&p, f->class_[i]);
        put(&p, ";\n");
    }
    return p.w.text;
}
