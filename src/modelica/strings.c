/* strings.c: functions on text that the standard library has in C (Modelica.Utilities.Strings), for
 * texts that are known; printing is left out.
 */
#include "modelica/instance.h"

#include <ctype.h>
#include <string.h>

typedef struct call {
    mo_model *m;
    const char *text;       /* the first argument                     */
    mo_value **argument;
    size_t count;
} call;

static int integer_at(const call *c, size_t i)
{
    double x = 0;
    uint32_t culprit;
    if (i >= c->count || c->argument[i]->kind != MO_V_SCALAR ||
        !mo_evaluate_number(c->m, c->argument[i]->scalar, &x, &culprit))
        return 0;
    return x > 1e9 ? 1000000000 : x < -1e9 ? -1000000000 : (int)x;
}

static mo_value *length_of(const call *c)
{
    return mo_integer(c->m, (double)strlen(c->text));
}

/* substring(s, from, to), from 1; outside of the text there is nothing. */
static mo_value *substring(const call *c)
{
    int length = (int)strlen(c->text), from = integer_at(c, 1), to = integer_at(c, 2);
    if (from < 1)
        from = 1;
    if (to < from)
        to = from;
    if (to > length)
        to = length;
    return mo_string(c->m, from > length ? ""
                           : dae_arena_copy(&c->m->context->arena, c->text + from - 1,
                                            (size_t)(to - from + 1)));
}

static mo_value *skip_white_space(const call *c)
{
    int at = integer_at(c, 1), length = (int)strlen(c->text);
    if (at < 1)
        at = 1;
    while (at <= length && isspace((unsigned char)c->text[at - 1]))
        at++;
    return mo_integer(c->m, at);
}

/* Types.Compare: Less, Equal, Greater */
static mo_value *compare(const call *c)
{
    const char *other = c->count > 1 ? mo_constant_text(c->m, c->argument[1]) : NULL;
    if (!other)
        return NULL;
    bool exact = integer_at(c, 2) != 0;
    int order = 0;
    for (size_t i = 0; order == 0; i++) {
        unsigned char a = (unsigned char)c->text[i], b = (unsigned char)other[i];
        order = exact ? a - b : tolower(a) - tolower(b);
        if (!a || !b)
            break;
    }
    int value = order < 0 ? 1 : order == 0 ? 2 : 3;
    return mo_scalar(c->m, ex_constant(c->m->graph, value, EX_ENUMERATION), EX_ENUMERATION, NULL);
}

static mo_value *nothing(const call *c)
{
    mo_value *none = dae_arena_take(&c->m->context->arena, 1, sizeof *none);
    *none = (mo_value){ .kind = MO_V_TUPLE };
    return none;
}

static const struct {
    const char *name;
    mo_value *(*run)(const call *c);
} functions[] = {
    { "ModelicaStrings_length", length_of }, { "ModelicaStrings_substring", substring },
    { "ModelicaStrings_skipWhiteSpace", skip_white_space }, { "ModelicaStrings_compare", compare },
    { "ModelicaInternal_print", nothing },
};

/* A function on text of the library in C; NULL: it is none of them, or the text is not known. */
mo_value *mo_text_function(mo_model *m, const char *name, mo_value **argument, size_t count)
{
    const char *text = count ? mo_constant_text(m, argument[0]) : NULL;
    for (size_t i = 0; text && i < sizeof functions / sizeof *functions; i++)
        if (strcmp(functions[i].name, name) == 0)
            return functions[i].run(&(call){ m, text, argument, count });
    return NULL;
}
