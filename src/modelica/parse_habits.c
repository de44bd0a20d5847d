/* parse_habits.c: words of other languages, and misspelt keywords.
 *
 * `double x;` is good grammar, and a package may well have a class `double`. So it is a warning,
 * given at the end of a text that has no such class.
 */
#include "modelica/parse.h"

#include <string.h>

static const struct {
    const char *word, *meant;
} types[] = {
    { "double", "Real" },  { "float", "Real" },      { "real", "Real" },
    { "int", "Integer" },  { "integer", "Integer" }, { "long", "Integer" },
    { "bool", "Boolean" }, { "boolean", "Boolean" }, { "string", "String" },
    { "char", "String" },  { "Double", "Real" },     { "Float", "Real" },
    { "Int", "Integer" },  { "Bool", "Boolean" },    { "number", "Real" },
    { "REAL", "Real" },
};
enum { TYPES = sizeof types / sizeof *types };
_Static_assert((int)TYPES <= (int)MO_FOREIGN_TYPES, "room in the parser");

static int type_of(const char *name)
{
    if (strlen(name) > 7) return -1;
    for (int i = 0; i < TYPES; i++)
        if (strcmp(types[i].word, name) == 0) return i;
    return -1;
}

bool mo_builtin_type(const mo_reference *type)
{
    static const char *const builtin[] = { "Real", "Integer", "Boolean", "String" };
    for (size_t i = 0; i < sizeof builtin / sizeof *builtin; i++)
        if (type->parts == 1 && strcmp(type->part->name, builtin[i]) == 0) return true;
    return false;
}

void mo_own_type(mo_parser *p, const char *name)
{
    int i = type_of(name);
    if (i >= 0) p->foreign->own[i] = true;
}

/* `equaton` on a line of its own would be read as the type of what comes next. */
static void check_section_word(mo_parser *p, const char *word, mo_place place)
{
    static const char *const sections[] = { "equation", "algorithm", "protected", "public" };
    const char *meant = mo_nearest(word, sections, sizeof sections / sizeof *sections);
    if (!meant) return;
    mo_warning(p->c, place, "'%s' is read as the type of what follows", word);
    mo_hint(p->c, "did you mean '%s'?", meant);
}

void mo_foreign_type(mo_parser *p, const mo_reference *type, mo_token name)
{
    if (type->parts != 1 || type->global || p->failed) return;
    int i = type_of(type->part->name);
    if (i >= 0 && p->foreign->used[i].end == 0) p->foreign->used[i] = p->last;
    if (name.first) check_section_word(p, type->part->name, type->place);
}

void mo_tell_foreign_types(mo_parser *p)
{
    for (int i = 0; i < TYPES; i++) {
        if (p->foreign->used[i].end == 0 || p->foreign->own[i]) continue;
        mo_warning(p->c, mo_token_place(&p->lexer, p->foreign->used[i]),
                   "'%s' is not a type of Modelica", types[i].word);
        mo_hint(p->c, "did you mean '%s'?", types[i].meant);
    }
}

const char *mo_foreign_prefix(const char *word)
{
    static const char *const prefixes[] = { "parameter", "constant", "discrete",    "input",
                                            "output",    "flow",     "stream",      "inner",
                                            "outer",     "final",    "replaceable", "redeclare",
                                            "extends",   "import",   "protected",   "public" };
    static const char *const foreign[][2] = {
        { "const", "constant" },    { "param", "parameter" }, { "var", "a type such as Real" },
        { "private", "protected" }, { "static", "constant" }, { "in", "input" },
        { "out", "output" }
    };
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++)
        if (strcmp(word, foreign[i][0]) == 0) return foreign[i][1];
    return mo_nearest(word, prefixes, sizeof prefixes / sizeof *prefixes);
}

mo_token_kind mo_class_meant(mo_parser *p)
{
    static const mo_token_kind kinds[] = { K_MODEL,   K_CLASS,       K_PACKAGE,   K_FUNCTION,
                                           K_RECORD,  K_BLOCK,       K_CONNECTOR, K_TYPE,
                                           K_PARTIAL, K_ENCAPSULATED };
    enum { KINDS = sizeof kinds / sizeof *kinds };
    const char *word[KINDS];
    if (!mo_is(p, T_IDENT) || mo_peek(p) != T_IDENT) return T_EOF;
    for (int i = 0; i < KINDS; i++) word[i] = mo_keyword(kinds[i]);
    const char *meant = mo_nearest(mo_token_name(&p->lexer, p->now), word, KINDS);
    for (int i = 0; i < KINDS; i++)
        if (word[i] == meant) return kinds[i];
    return mo_spelt(p, p->now, "struct") ? K_RECORD : T_EOF;
}
