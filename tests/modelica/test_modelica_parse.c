/* test_modelica_parse.c: Modelica text as a tree, and back.
 *
 * Every construct of the grammar is read, written and read again: the text must be the one
 * expected, and the two trees must agree. Then what the tree holds, limits, files, numbers, memory.
 * What is said about wrong texts is in test_messages.c, random damage in test_modelica_damage.c.
 */
#include "testing.h"
#include "modelica_testing.h"
#include "tree_hash.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---------------------------------------------------------------- expressions ----------- */

typedef struct pair {
    const char *in, *out; /* out NULL: the same */
} pair;

static const pair expressions[] = {
    { "1", NULL },
    { "1.", "1.0" },
    { "1.5e3", "1500.0" },
    { "1E-10", "1e-10" },
    { "0.1", NULL },
    { "123456789012", NULL },
    { "true", NULL },
    { "\"a\\tb \\\"c\\\" \\\\ \\n\"", NULL },
    { "\"\\a\\b\\f\\r\\v\\'\\?\"", "\"\\a\\b\\f\\r\\v'?\"" },
    { "time", NULL },
    { ".A.b", NULL },
    { "a.b[1, i + 1].c[:]", NULL },
    { "x[end]", NULL },
    { "x[end - 1:end, 2:2:n]", NULL },
    { "'a b'.'c\\'d'", NULL },
    { "a + b - c", NULL },
    { "a + (b - c)", NULL },
    { "a - (b - c)", NULL },
    { "(a + b) + c", "(a + b) + c" },
    { "-a + b", NULL },
    { "-(a + b)", NULL },
    { "+a", "a" },
    { "+a - b", "a - b" },
    { "-2*x", NULL },
    { "-x^2", NULL },
    { "(-x)^2", NULL },
    { "a .+ b .- c", NULL },
    { "a*b/c", NULL },
    { "a/(b*c)", NULL },
    { "a*(b + c)*d", NULL },
    { "a .* b ./ c", NULL },
    { "2 .^ x", NULL },
    { "a^b", NULL },
    { "(a^b)^c", NULL },
    { "a^(b^c)", NULL },
    { "a^(-b)", NULL },
    { "(a*b)^2", NULL },
    { "a < b", NULL },
    { "a + 1 <= b*2", NULL },
    { "a > b and b >= c or d == e and not f <> g", NULL },
    { "(a or b) and c", NULL },
    { "not (a and b)", NULL },
    { "not (not a)", NULL },
    { "(a < b) == (c < d)", NULL },
    { "1:n", NULL },
    { "1:2:n + 1", NULL },
    { "(1:3) + x", NULL },
    { "if a then b else c", NULL },
    { "if a then b elseif c then d else e", NULL },
    { "if a then b else if c then d else e", "if a then b elseif c then d else e" },
    { "if a then b else (if c then d else e)", NULL },
    { "(if a then b else c) + 1", NULL },
    { "if if a then b else c then d else e", NULL },
    { "f()", NULL },
    { "f(1, x)", NULL },
    { "f(x, a = 1, b = 2)", NULL },
    { "f(a = 1)", NULL },
    { "der(x)", NULL },
    { "initial()", NULL },
    { "pure(f(x))", NULL },
    { "sum(i^2 for i in 1:n)", NULL },
    { "sum(a[i, j] for i in 1:n, j)", NULL },
    { "f(function g(a = 1))", NULL },
    { "f(function A.g(), 1)", NULL },
    { "f(h = function g(a = 1))", NULL },
    { "{1, 2, 3}", NULL },
    { "{}", NULL },
    { "{{1, 2}, {3, 4}}", NULL },
    { "{i for i in 1:3}", NULL },
    { "[1, 2; 3, 4]", NULL },
    { "[a]", NULL },
    { "[a, b; [c; d], e]", NULL },
    { "(a, b)", NULL },
    { "(a, , b)", NULL },
    { "(, b)", NULL },
    { "((a))", "a" },
    { "({1, 2, 3})[2]", NULL },
    { "(f(x)).y", NULL },
    { "cat(1, {a}, b)", NULL },
};

static void test_expressions(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(expressions); i++) {
        const pair *e = &expressions[i];
        mo_context c;
        mo_context_init(&c, NULL, 0);
        const mo_ast *first = parse_expression(&c, e->in);
        const char *text = mo_ast_text(&c, first);
        assert_string_equal(text, e->out ? e->out : e->in);
        assert_true(hash_of_expression(parse_expression(&c, text)) == hash_of_expression(first));
        assert_int_equal(c.warnings, 0);
        mo_context_release(&c);
    }
}

/* ---------------------------------------------------------------- classes --------------- */

static const pair classes[] = {
    { "model M\nend M;\n", NULL },
    { "within;\nmodel M\nend M;\n", NULL },
    { "within A.B;\nfinal model M\nend M;\nclass N\nend N;\n", NULL },
    { "encapsulated partial model M \"text\"\nend M;\n", NULL },
    { "model M \"a\" + \"b\" + \"c\"\nend M;\n", "model M \"abc\"\nend M;\n" },
    { "block B\nend B;\nrecord R\nend R;\nconnector C\nend C;\ntype T\nend T;\npackage P\nend P;\n",
      NULL },
    { "operator O\nend O;\noperator record R\nend R;\noperator function F\nend F;\n", NULL },
    { "expandable connector C\nend C;\npure function F\nend F;\nimpure function G\nend G;\n",
      NULL },
    { "impure operator function G\nend G;\n", NULL },
    { "optimization O\nend O;\n", NULL },
    { "model 'M 1'\nend 'M 1';\n", NULL },
    /* short classes */
    { "type T = Real;\n", NULL },
    { "type T = Real[3](unit = \"m\") \"text\" annotation(a = 1);\n", NULL },
    { "connector I = input Real;\nconnector O = output Real;\nconnector F = flow Real;\n", NULL },
    { "type T = discrete Integer;\n", NULL },
    { "type E = enumeration(a, b \"text\", c);\n", NULL },
    { "type E = enumeration();\ntype F = enumeration(:);\n", NULL },
    { "type E = enumeration(a \"t\" annotation(x = 1), b);\n", NULL },
    { "function g = der(f, x, y) \"text\";\n", NULL },
    { "function h = .A.f(a = 1);\n", NULL },
    { "package P\n  model extends M(a = 1) \"text\"\n    Real x;\n  end M;\nend P;\n", NULL },
    { "package P\n  redeclare function extends f\n  algorithm\n    y := 1;\n  end f;\nend P;\n",
      NULL },
    /* components */
    { "model M\n  Real x, y[2](start = 1) = z \"t\";\nend M;\n",
      "model M\n  Real x;\n  Real y[2](start = 1) = z \"t\";\nend M;\n" },
    { "model M\n  Real[3] x[2, :];\nend M;\n", NULL },
    { "model M\n  flow Real a;\n  stream Real b;\n  input Real c;\n  output Real d;\nend M;\n",
      NULL },
    { "model M\n  constant Integer n = 3;\n  parameter Real p;\n  discrete Boolean b;\nend M;\n",
      NULL },
    { "model M\n  flow discrete output Real x;\nend M;\n", NULL },
    { "model M\n  inner outer A a;\n  final parameter Real p = 1;\nend M;\n", NULL },
    { "model M\n  Real x if n > 1 \"text\" annotation(b = 2);\nend M;\n", NULL },
    { "model M\n  .A.B a(x(start = 1, fixed = true) = 3);\nend M;\n", NULL },
    { "model M\n  A a(b.c.d(start = 1) = 3);\nend M;\n", NULL },
    { "model M\n  A a(each x = 1, final y = 2, each final z = 3 \"t\");\nend M;\n", NULL },
    { "model M\n  A a(b = break, c());\n  B b(x := 1);\nend M;\n",
      "model M\n  A a(b = break, c());\n  B b(x = 1);\nend M;\n" },
    { "function F\n  output Real x := 3;\nend F;\n", "function F\n  output Real x = 3;\nend F;\n" },
    { "model M\n  A a(redeclare B b, redeclare each final replaceable C c(x = 1) \"t\");\nend M;\n",
      NULL },
    { "model M\n  A a(redeclare model B = C(x = 1), replaceable package P = Q constrainedby R);\n"
      "end M;\n",
      NULL },
    { "model M\n  A a(redeclare parameter Real[2] x = {1, 2});\nend M;\n", NULL },
    { "model M\n  replaceable Real x constrainedby A(b = 1) \"t\" annotation(c = 1);\nend M;\n",
      NULL },
    { "model M\n  replaceable model N = A constrainedby B \"t\";\nend M;\n", NULL },
    { "model M\n  redeclare final inner outer replaceable A a;\nend M;\n", NULL },
    { "model M\n  replaceable model N\n    Real x;\n  end N;\nend M;\n", NULL },
    { "model M\n  Real a;\nprotected\n  Real b;\npublic\n  Real c;\nend M;\n", NULL },
    { "model M\n  Real a;\nequation\n  a = 1;\nprotected\n  Real b;\nequation\n  b = 2;\nend M;\n",
      "model M\n  Real a;\nprotected\n  Real b;\nequation\n  a = 1;\nequation\n  b = 2;\nend "
      "M;\n" },
    /* import, extends */
    { "model M\n  import A.B.C;\n  import D = A.B;\n  import A.*;\n  import A.B.{C, D};\n"
      "  import .A \"t\" annotation(x = 1);\nend M;\n",
      NULL },
    { "model M\n  extends A.B;\n  extends C(x = 1, redeclare D d) annotation(y = 1);\nend M;\n",
      NULL },
    { "model M\n  extends A(break b, break connect(c, d.e[1]));\nend M;\n", NULL },
    /* equations */
    { "model M\ninitial equation\n  x = 1;\ninitial algorithm\n  x := 1;\nend M;\n", NULL },
    { "model M\nequation\n  der(x) = -x \"text\" annotation(a = 1);\nend M;\n", NULL },
    { "model M\nequation\n  (if a then b else c) = d;\n  (x, y) = f(z);\n  {a, b} = c;\nend M;\n",
      NULL },
    { "model M\nequation\n  connect(a.b, c[1].d) annotation(Line(points = {{1, 2}, {3, 4}}));\n"
      "  assert(x > 0, \"no\", level = AssertionLevel.error);\n  A.f(x);\nend M;\n",
      NULL },
    { "model M\nequation\n  if a then\n    x = 1;\n  elseif b then\n    x = 2;\n  else\n    x = "
      "3;\n"
      "  end if;\nend M;\n",
      NULL },
    { "model M\nequation\n  if a then\n  else\n    if b then\n      x = 1;\n    end if;\n  end "
      "if;\n"
      "end M;\n",
      NULL },
    { "model M\nequation\n  for i in 1:n, j in 1:2, k loop\n    x[i] = 1;\n  end for;\nend M;\n",
      NULL },
    { "model M\nequation\n  when a then\n    x = 1;\n  elsewhen {b, initial()} then\n"
      "    reinit(x, 2);\n  end when;\nend M;\n",
      NULL },
    /* algorithms */
    { "function F\nalgorithm\n  x := 1;\n  x[2].y := 2;\n  (a, , b) := f(x);\n  f(x);\n  break;\n"
      "  return;\nend F;\n",
      NULL },
    { "function F\nalgorithm\n  while x > 0 loop\n    x := x - 1;\n  end while;\n"
      "  for i in {1, 2} loop\n    if a then\n      break;\n    end if;\n  end for;\n"
      "  when b then\n    y := 1;\n  elsewhen c then\n    y := 2;\n  end when;\nend F;\n",
      NULL },
    /* external functions */
    { "function F\n  external;\nend F;\n", "function F\nexternal \"C\";\nend F;\n" },
    { "function F\nexternal \"builtin\";\nend F;\n", NULL },
    { "function F\nexternal \"C\" y = f(x, size(x, 1)) annotation(Library = \"m\");\nend F;\n",
      NULL },
    { "function F\nexternal \"FORTRAN 77\" dgesv(n, a);\n annotation(b = 1);\nend F;\n", NULL },
    /* annotations anywhere, joined */
    { "model M\n  annotation(a = 1);\n  Real x;\n  annotation(b = 2);\nequation\n  x = 1;\n"
      "  annotation(c(d = 3));\n  x = 2;\nend M;\n",
      "model M\n  Real x;\nequation\n  x = 1;\n  x = 2;\n annotation(a = 1, b = 2, c(d = 3));\n"
      "end M;\n" },
    { "model M\n annotation(experiment(StopTime = 1), Icon(graphics = {Line(points = {{-1, 2}})}));"
      "\nend M;\n",
      NULL },
    /* comments and blanks */
    { "// a\nmodel M /* b */ \"c\" // d\n\n\tReal\fx; end M /* e */ ; // f",
      "model M \"c\"\n  Real x;\nend M;\n" },
    { "\xEF\xBB\xBFmodel M\r\n  Real x;\r\nend M;\r\n", "model M\n  Real x;\nend M;\n" },
    { "model M\rReal x; // y\rReal z;\rend M;", "model M\n  Real x;\n  Real z;\nend M;\n" },
};

static void test_classes(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(classes); i++) {
        mo_context c;
        mo_context_init(&c, NULL, 0);
        const mo_file *first = parse_file(&c, classes[i].in);
        const char *text = mo_file_text(&c, first);
        assert_string_equal(text, classes[i].out ? classes[i].out : classes[i].in);
        assert_true(hash_of_file(parse_file(&c, text)) == hash_of_file(first));
        assert_int_equal(c.warnings, 0);
        mo_context_release(&c);
    }
}

/* ---------------------------------------------------------------- what the tree holds --- */

static void test_tree_of_expressions(void **state)
{
    (void)state;
    mo_context c;
    mo_context_init(&c, NULL, 0);
    const mo_ast *e = parse_expression(&c, "-a + b .- 3*c");
    assert_int_equal(e->kind, MO_A_SUM);
    assert_int_equal(e->count, 3);
    assert_int_equal(e->op[0], MO_MINUS);
    assert_int_equal(e->op[1], MO_PLUS);
    assert_int_equal(e->op[2], MO_DOT_MINUS);
    assert_int_equal(e->item[2]->kind, MO_A_PRODUCT);
    assert_int_equal(e->item[2]->op[0], MO_TIMES);
    assert_int_equal(e->item[2]->item[0]->integer, 3);

    e = parse_expression(&c, "f(1, x = 2)");
    assert_int_equal(e->kind, MO_A_CALL);
    assert_null(e->call.label[0]);
    assert_ptr_equal(e->call.label[1], mo_name(&c, "x"));
    assert_null(parse_expression(&c, "f(1)")->call.label);

    e = parse_expression(&c, ".a.b[2].c");
    assert_true(e->call.reference->global);
    assert_int_equal(e->call.reference->parts, 3);
    assert_int_equal(e->call.reference->part[1].subscripts, 1);

    e = parse_expression(&c, "if a then 1 elseif b then 2 else 3");
    assert_int_equal(e->count, 5);
    e = parse_expression(&c, "{i for i in 1:3}");
    assert_int_equal(e->call.iterators, 1);
    assert_int_equal(e->call.iterator[0].range->kind, MO_A_RANGE);
    e = parse_expression(&c, "(a, , b)");
    assert_int_equal(e->count, 3);
    assert_null(e->item[1]);
    assert_int_equal(parse_expression(&c, "true")->integer, 1);
    assert_string_equal(parse_expression(&c, "\"a\\nb\"")->text, "a\nb");
    mo_context_release(&c);
}

static void test_tree_of_classes(void **state)
{
    (void)state;
    mo_context c;
    mo_context_init(&c, NULL, 0);
    const mo_file *f = parse_file(&c, "within A.B;\n"
                                      "model M\n"
                                      "  parameter Real p = 2, q;\n"
                                      "protected\n"
                                      "  replaceable N n constrainedby O;\n"
                                      "  import X = Y.Z;\n"
                                      "  model extends K end K;\n"
                                      "initial equation\n"
                                      "  p = 1;\n"
                                      "algorithm\n"
                                      "  q := 2;\n"
                                      "end M;\n");
    assert_true(f->has_within);
    assert_int_equal(f->within->parts, 2);
    assert_int_equal(f->classes, 1);
    const mo_class *m = f->class_[0];
    assert_int_equal(m->kind, MO_MODEL);
    assert_ptr_equal(m->name, mo_name(&c, "M"));
    assert_int_equal(m->elements, 5);
    assert_int_equal(m->element[0]->variability, MO_PARAMETER);
    assert_int_equal(m->element[0]->modifier->value->integer, 2);
    assert_null(m->element[1]->modifier);
    assert_false(m->element[1]->is_protected);
    assert_true(m->element[2]->is_protected && m->element[2]->replaceable);
    assert_int_equal(m->element[2]->variability, MO_CONTINUOUS);
    assert_string_equal(m->element[2]->constraint->part->name, "O");
    assert_int_equal(m->element[3]->kind, MO_IMPORT);
    assert_ptr_equal(m->element[3]->name, mo_name(&c, "X"));
    assert_true(m->element[4]->nested->extends_itself);
    assert_int_equal(m->sections, 2);
    assert_true(m->section[0].initial && !m->section[0].algorithm);
    assert_true(!m->section[1].initial && m->section[1].algorithm);
    assert_int_equal(m->section[1].clause[0]->kind, MO_C_ASSIGN);
    int line, column;
    mo_find_line(&c, m->section[1].clause[0]->place, &line, &column);
    assert_int_equal(line, 11);
    assert_int_equal(column, 3);
    mo_find_line(&c, m->end, &line, &column);
    assert_int_equal(line, 12);
    mo_context_release(&c);
}

/* A place counts characters, not bytes, and knows all ends of lines. */
static void test_places(void **state)
{
    (void)state;
    mo_context c;
    mo_context_init(&c, NULL, 0);
    static const char text[] = "a\nb\r\nc\rd\xC3\xA4"
                               "e";
    uint32_t s = mo_add_source(&c, "t", text, sizeof text - 1);
    static const int want[][3] = { { 0, 1, 1 }, { 1, 1, 2 }, { 2, 2, 1 },  { 5, 3, 1 },
                                   { 7, 4, 1 }, { 8, 4, 2 }, { 10, 4, 3 }, { 11, 4, 4 } };
    for (int i = 0; i < COUNT_OF(want); i++) {
        int line, column;
        mo_find_line(&c, (mo_place){ s, (uint32_t)want[i][0] }, &line, &column);
        assert_int_equal(line, want[i][1]);
        assert_int_equal(column, want[i][2]);
    }
    mo_context_release(&c);
}

/* ---------------------------------------------------------------- numbers --------------- */

static void check_numbers(void)
{
    static const struct {
        const char *text;
        double value;
    } numbers_[] = {
        { "0.0", 0 },
        { "1.5", 1.5 },
        { "0.1", 0.1 },
        { "1e22", 1e22 },
        { "1e23", 1e23 },
        { "123456789012345678.0", 123456789012345678.0 },
        { "9007199254740993.0", 9007199254740992.0 },
        { "9007199254740993.00000000000000000000000000000000000001", 9007199254740994.0 },
        { "1.7976931348623157e308", 1.7976931348623157e308 },
        { "2.2250738585072011e-308", 2.2250738585072011e-308 },
        { "4.9e-324", 4.9e-324 },
        { "0.000000000000000000000000000000000001e36", 1 },
        { "100000000000000000000000000000000000.0E-35", 1 },
        { "3.E+2", 300 },
        { "0e99999999999", 0 },
    };
    mo_context c;
    mo_context_init(&c, NULL, 0);
    for (int i = 0; i < COUNT_OF(numbers_); i++) {
        const mo_ast *e = parse_expression(&c, numbers_[i].text);
        assert_int_equal(e->kind, MO_A_REAL);
        assert_true(e->number == numbers_[i].value);
        const mo_ast *again = parse_expression(&c, mo_ast_text(&c, e));
        assert_int_equal(again->kind, MO_A_REAL);
        assert_true(again->number == numbers_[i].value);
    }
    assert_true(parse_expression(&c, "9007199254740992")->integer == 9007199254740992);
    mo_context_release(&c);
}

static void test_numbers(void **state)
{
    (void)state;
    check_numbers();
}

/* The decimal point of the locale is none of the parser's business. */
static void test_numbers_in_other_locales(void **state)
{
    (void)state;
    static const char *const locales[] = { "de_DE.UTF-8", "fr_FR.UTF-8", "ps_AF.UTF-8", "C" };
    for (int i = 0; i < COUNT_OF(locales); i++)
        if (setlocale(LC_ALL, locales[i])) check_numbers();
    setlocale(LC_ALL, "C");
}

static char *room(size_t bytes)
{
    char *text = malloc(bytes);
    if (!text) exit(1);
    return text;
}

/* Digits without end: the nearest double all the same, in bounded memory. */
static void test_long_numbers(void **state)
{
    (void)state;
    enum { DIGITS = 1000000 };
    char *text = room(DIGITS + 100);
    mo_context c;
    mo_context_init(&c, NULL, 0);
    strcpy(text, "0.");
    memset(text + 2, '3', DIGITS);
    text[DIGITS + 2] = '\0';
    assert_true(parse_expression(&c, text)->number == 1.0 / 3);
    memset(text, '0', DIGITS);
    strcpy(text + DIGITS, "25.5");
    assert_true(parse_expression(&c, text)->number == 25.5);
    memset(text, '7', DIGITS);
    sprintf(text + DIGITS, ".0e-%d", DIGITS);
    assert_true(parse_expression(&c, text)->number == 7.0 / 9);
    mo_context_release(&c);
    free(text);
}

/* ---------------------------------------------------------------- names ----------------- */

static void test_names(void **state)
{
    (void)state;
    mo_context c;
    mo_context_init(&c, NULL, 0);
    enum { NAMES = 20000 };
    static const char *name[NAMES];
    char text[40];
    for (int i = 0; i < NAMES; i++) {
        sprintf(text, "name_%d", i);
        name[i] = mo_name(&c, text);
        assert_string_equal(name[i], text);
    }
    for (int i = 0; i < NAMES; i++) {
        sprintf(text, "name_%d", i);
        assert_ptr_equal(mo_name(&c, text), name[i]);
        assert_ptr_equal(mo_intern(&c, text, strlen(text)), name[i]);
    }
    assert_ptr_not_equal(mo_intern(&c, "name_1x", 6), mo_name(&c, "name_1x"));
    mo_context_release(&c);
}

static void test_nearest(void **state)
{
    (void)state;
    static const char *const names[] = { "pressure", "temperature", "T", "x1", "x2", "flow" };
    enum { N = COUNT_OF(names) };
    assert_string_equal(mo_nearest("presure", names, N), "pressure");
    assert_string_equal(mo_nearest("temprature", names, N), "temperature");
    assert_string_equal(mo_nearest("Pressure", names, N), "pressure");
    assert_string_equal(mo_nearest("folw", names, N), "flow");
    assert_string_equal(mo_nearest("x11", names, N), "x1");
    assert_null(mo_nearest("q", names, N));
    assert_null(mo_nearest("velocity", names, N));
    assert_null(mo_nearest("", names, N));
    assert_null(mo_nearest("x", NULL, 0));
}

/* ---------------------------------------------------------------- limits ---------------- */

static size_t append(char *text, size_t at, const char *piece, int times)
{
    size_t length = strlen(piece);
    for (int i = 0; i < times; i++, at += length) memcpy(text + at, piece, length);
    text[at] = '\0';
    return at;
}

/* n times `open`, then `inside`, then n times `close`, in a model, between `head` and `tail` */
static char *nested(const char *head, const char *open, const char *inside, const char *close,
                    const char *tail, int n)
{
    size_t size = strlen(head) + strlen(inside) + strlen(tail) +
                  (size_t)n * (strlen(open) + strlen(close)) + 1;
    char *text = room(size);
    size_t at = append(text, 0, head, 1);
    at = append(text, at, open, n);
    at = append(text, at, inside, 1);
    at = append(text, at, close, n);
    append(text, at, tail, 1);
    return text;
}

static const struct bomb {
    const char *head, *open, *inside, *close, *tail;
    dae_status status; /* of 100,000 levels; DAE_OK: it is not nested at all */
} bombs[] = {
    { "model M Real x = ", "(", "1", ")", "; end M;", DAE_E_LIMIT },
    { "model M Real x = ", "{", "1", "}", "; end M;", DAE_E_LIMIT },
    { "model M Real x = ", "[", "1", "]", "; end M;", DAE_E_LIMIT },
    { "model M Real x = ", "f(", "1", ")", "; end M;", DAE_E_LIMIT },
    { "model M Real x = ", "x[", "1", "]", "; end M;", DAE_E_LIMIT },
    { "model M Real x = ", "1 + 2*3^(", "1", ")", "; end M;", DAE_E_LIMIT },
    { "model M Boolean x = ", "not (", "a", ")", "; end M;", DAE_E_LIMIT },
    { "model M Real x = ", "if a then ", "1", " else 2", "; end M;", DAE_E_LIMIT },
    { "model M Real x = ", "if (", "a", ") then 1 else 2", "; end M;", DAE_E_LIMIT },
    { "model M Real x = ", "sum(", "1", " for i in 1:2)", "; end M;", DAE_E_LIMIT },
    { "model M Real x", "(a", "", ")", "; end M;", DAE_E_LIMIT },
    { "model M A x", "(redeclare A x", "", ")", "; end M;", DAE_E_LIMIT },
    { "", "model M ", "", "end M; ", "", DAE_E_LIMIT },
    { "model M equation ", "if a then ", "x = 1;", " end if;", " end M;", DAE_E_LIMIT },
    { "model M algorithm ", "while a loop ", "x := 1;", " end while;", " end M;", DAE_E_LIMIT },
    { "model M Real x = ", "if a then 1 else ", "2", "", "; end M;", DAE_OK },
    { "model M Real x = ", "a + ", "a", "", "; end M;", DAE_OK },
    { "model M Real x = ", "a*", "a", "", "; end M;", DAE_OK },
    { "model M Boolean x = ", "a and ", "a", "", "; end M;", DAE_OK },
    { "model M Real x = ", "- ", "a", "", "; end M;", DAE_OK },
    { "model M equation ", "x = 1; ", "", "", " end M;", DAE_OK },
    { "model M ", "Real x; ", "", "", " end M;", DAE_OK },
};

static void test_nesting(void **state)
{
    (void)state;
    for (int i = 0; i < COUNT_OF(bombs); i++) {
        const struct bomb *b = &bombs[i];
        char *deep = nested(b->head, b->open, b->inside, b->close, b->tail, 100000);
        char *fair = nested(b->head, b->open, b->inside, b->close, b->tail, 400);
        mo_context c;
        assert_int_equal(read_text(&c, deep), b->status);
        if (b->status) {
            assert_int_equal(c.errors, 1);
            assert_non_null(strstr(mo_diagnostics_text(&c), "levels deep"));
        }
        mo_context_release(&c);
        assert_int_equal(read_text(&c, fair), DAE_OK);
        mo_context_release(&c);
        free(deep);
        free(fair);
    }
}

/* A sum of a million terms is one level deep, and written again in linear memory. */
static void test_long_sum(void **state)
{
    (void)state;
    enum { TERMS = 1000000 };
    char *text = nested("", "a+", "a", "", "", TERMS - 1);
    mo_context c;
    mo_context_init(&c, NULL, 0);
    const mo_ast *e = parse_expression(&c, text);
    assert_int_equal(e->count, TERMS);
    assert_int_equal(strlen(mo_ast_text(&c, e)), 4 * (TERMS - 1) + 1);
    mo_context_release(&c);
    free(text);
}

/* Memory grows with the text and not faster. (Work is counted by instructions: docs.) */
static void test_memory_is_linear(void **state)
{
    (void)state;
    static const char *const unit[] = { "Real x(start = 1) \"t\"; ",
                                        "annotation(a = 1); ",
                                        "x = = 3; ",
                                        "model N end N; ",
                                        ";",
                                        "Real x = (; ",
                                        "Real x = [1 2; ",
                                        "Real x \"a\" + \"b\"; " };
    for (int i = 0; i < COUNT_OF(unit); i++) {
        size_t bytes[2];
        for (int k = 0; k < 2; k++) {
            char *text = nested("model M ", unit[i], "", "", "end M;", k ? 40000 : 10000);
            mo_context c;
            read_text(&c, text);
            bytes[k] = c.arena.bytes;
            mo_context_release(&c);
            free(text);
        }
        /* blocks of up to 4 MB, and tables of twice the size needed */
        assert_true(bytes[1] < 8 * bytes[0] + 8000000);
    }
}

static void test_source_limit(void **state)
{
    (void)state;
    mo_context c;
    mo_context_init(&c, NULL, 0);
    c.source_limit = 10;
    int code = setjmp(c.escape);
    if (!code) {
        mo_add_source(&c, "t", "0123456789", 10);
        mo_add_source(&c, "t", "01234567890", 11);
        fail();
    }
    assert_int_equal(mo_escaped(&c, code), DAE_E_LIMIT);
    assert_non_null(strstr(mo_diagnostics_text(&c), "11 bytes, more than the 10 allowed"));
    mo_context_release(&c);
}

/* ---------------------------------------------------------------- diagnostics ----------- */

static void test_count_of_errors(void **state)
{
    (void)state;
    char *text = nested("model M equation ", "x = = 3;\n", "", "", "end M;", 100000);
    mo_context c, again;
    read_text(&c, text);
    assert_int_equal(c.errors, 100000);
    assert_int_equal(c.diagnostics, MO_SHOWN);
    const char *said = mo_diagnostics_text(&c);
    assert_non_null(strstr(said, "... and 99980 more errors"));
    read_text(&again, text); /* with another key of the hash table */
    assert_string_equal(mo_diagnostics_text(&again), said);
    mo_context_release(&again);
    mo_context_release(&c);
    free(text);
}

static bool accepted(mo_context *c, const char *text)
{
    int code = setjmp(c->escape);
    assert_int_equal(code, 0);
    return mo_parse_expression(c, mo_add_source(c, "--set", text, strlen(text))) != NULL;
}

/* Every wrong expression is an error, and its tree is not handed out. */
static void test_wrong_expressions(void **state)
{
    (void)state;
    static const char *const wrong[] = { "",
                                         "1 +",
                                         "(1",
                                         "1)",
                                         "a b",
                                         "f(",
                                         "{1, ",
                                         "x[",
                                         "if a",
                                         "a < b < c",
                                         "2^3^4",
                                         "1e",
                                         "0x1",
                                         "1.2.3",
                                         "a..b",
                                         "a.",
                                         "end",
                                         "not",
                                         "not not a",
                                         "f(1 for)",
                                         "\"a",
                                         "'a",
                                         "a := 1",
                                         "a = 1",
                                         "1e999",
                                         "99999999999999999999",
                                         "\xff",
                                         "a:\xff",
                                         "\"\xff\"",
                                         "1:2:3:4",
                                         "f(a = 1, 2)",
                                         "a ? b",
                                         "x'",
                                         "if",
                                         "der x" };
    for (int i = 0; i < COUNT_OF(wrong); i++) {
        mo_context c;
        mo_context_init(&c, NULL, 0);
        if (accepted(&c, wrong[i]) || c.errors == 0) {
            print_error("'%s' was accepted\n", wrong[i]);
            fail();
        }
        assert_non_null(strstr(mo_diagnostics_text(&c), "at: --set:1:"));
        mo_context_release(&c);
    }
}

/* Names of any length, and the message is still to be read. */
static void test_long_names(void **state)
{
    (void)state;
    static const char *const around[][2] = {
        { "model ", "" },       { "model M Real ", " y z" },
        { "model M end ", "" }, { "model M Real x = f(", "" },
        { "modle ", "" },       { "model M '", "" },
        { "model M \"", "" },   { "model M import a as ", "" }
    };
    for (int i = 0; i < COUNT_OF(around); i++) {
        char *text = nested(around[i][0], "\xC3\xA4n", around[i][1], "", "", 100000);
        char *plain = nested(around[i][0], "name", around[i][1], "", "", 100000);
        for (int k = 0; k < 2; k++) {
            mo_context c;
            assert_int_equal(read_text(&c, k ? plain : text), DAE_OK);
            assert_true(c.errors > 0);
            assert_true(strlen(mo_diagnostics_text(&c)) < 2000 * c.diagnostics);
            mo_context_release(&c);
        }
        free(text);
        free(plain);
    }
}

/* Warnings come after errors; names are escaped; no place is no "at:". */
static void test_diagnostics_text(void **state)
{
    (void)state;
    mo_context c;
    mo_context_init(&c, NULL, 0);
    assert_string_equal(mo_diagnostics_text(&c), "");
    uint32_t s = mo_add_source(&c, "a\x1b.mo", "x\ty\n", 4);
    mo_warning(&c, (mo_place){ s, 2 }, "first %d", 1);
    mo_error(&c, DAE_E_MODEL, (mo_place){ 0 }, "second");
    mo_why(&c, "why");
    mo_hint(&c, "h%s", "int");
    assert_string_equal(mo_diagnostics_text(&c), "error[E_MODEL]: second\n"
                                                 "  why: why\n"
                                                 "  hint: hint\n"
                                                 "warning: first 1\n"
                                                 "  at: a\\x1B.mo:1:3\n"
                                                 "        1 | x y\n"
                                                 "          |   ^");
    mo_context_release(&c);
}

/* ---------------------------------------------------------------- bytes ----------------- */

/* A constant text and its length, NUL bytes inside counted. */
#define BYTES(text) text, sizeof text - 1

static void test_bytes(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        size_t length;
        const char *says; /* NULL: nothing */
    } texts[] = {
        { BYTES("model M \"\xC3\xA4\xE2\x82\xAC\xF0\x9F\x98\x80\" end M;"), NULL },
        { BYTES("// \xC0\xAF"), "byte 0xC0 at offset 3" },         /* overlong */
        { BYTES("// \xE0\x80\xAF"), "byte 0xE0 at offset 3" },     /* overlong */
        { BYTES("// \xED\xA0\x80"), "byte 0xED at offset 3" },     /* a surrogate */
        { BYTES("// \xF4\x90\x80\x80"), "byte 0xF4 at offset 3" }, /* beyond U+10FFFF */
        { BYTES("// \xC3"), "byte 0xC3 at offset 3" },             /* cut short */
        { BYTES("// \x80"), "byte 0x80 at offset 3" },
        { BYTES("// \xFF"), "byte 0xFF at offset 3" },
        { BYTES("\xFF\xFEm\0"), "UTF-16" },
        { BYTES("\xFE\xFF\0m"), "UTF-16" },
        { BYTES("model M end M; \0 model"), "NUL byte at offset 15" },
        { BYTES("// \xE2\x80\xAE"), "U+202E changes the direction" },
        { BYTES("// \xE2\x80\x8B"), "U+200B cannot be seen" },
        { BYTES("// \xD8\x9C"), "U+061C" },
    };
    for (int i = 0; i < COUNT_OF(texts); i++) {
        mo_context c;
        assert_int_equal(read_bytes(&c, texts[i].text, texts[i].length), DAE_OK);
        const char *said = mo_diagnostics_text(&c);
        if (texts[i].says ? !strstr(said, texts[i].says) : *said != '\0') {
            print_error("%d: %s\n", i, said);
            fail();
        }
        mo_context_release(&c);
    }
}

/* ---------------------------------------------------------------- files ----------------- */

static void expect_file(const char *path, dae_status status, const char *says)
{
    mo_context c;
    mo_context_init(&c, NULL, 0);
    c.source_limit = 1000;
    int code = setjmp(c.escape);
    assert_int_equal(code, 0);
    uint32_t s = mo_read_file(&c, path);
    const char *said = mo_diagnostics_text(&c);
    if (!status) {
        assert_string_equal(said, "");
        assert_int_not_equal(s, 0);
        assert_int_equal(mo_parse(&c, s)->classes, 1);
    } else {
        assert_int_equal(c.errors, 1);
        assert_int_equal(c.diagnostic[0].status, status);
        if (!strstr(said, says)) {
            print_error("%s\n", said);
            fail();
        }
    }
    mo_context_release(&c);
}

static void write_file(const char *path, size_t bytes)
{
    FILE *file = fopen(path, "wb");
    assert_non_null(file);
    if (bytes == 1) fputs("model M end M;", file);
    for (size_t i = 1; i < bytes; i++) fputc(' ', file);
    fclose(file);
}

static void test_files(void **state)
{
    (void)state;
    char folder[] = "parse-XXXXXX", path[100], longest[5000];
    assert_non_null(mkdtemp(folder));
    sprintf(path, "%s/a \xC3\xA4'\n.mo", folder);
    write_file(path, 1);
    expect_file(path, DAE_OK, NULL);
    unlink(path);
    sprintf(path, "%s/m.mo", folder);
    expect_file(path, DAE_E_IO, "No such file");
    write_file(path, 0);
    expect_file(path, DAE_E_SYNTAX, "is empty");
    write_file(path, 1002);
    expect_file(path, DAE_E_LIMIT, "1001 bytes, more than the 1000 allowed");
    if (geteuid() != 0) { /* root may read everything */
        write_file(path, 1);
        chmod(path, 0);
        expect_file(path, DAE_E_IO, "Permission denied");
    }
    unlink(path);
    assert_int_equal(mkfifo(path, 0600), 0);
    expect_file(path, DAE_E_IO, "it is a pipe");
    unlink(path);
    assert_int_equal(symlink("m.mo", path), 0);
    expect_file(path, DAE_E_IO, "cannot open");
    unlink(path);
    expect_file(folder, DAE_E_IO, "it is a directory");
    expect_file("/dev/zero", DAE_E_IO, "it is a device");
    expect_file("", DAE_E_IO, "No such file");
    memset(longest, 'a', sizeof longest);
    longest[sizeof longest - 1] = '\0';
    expect_file(longest, DAE_E_IO, "too long");
    assert_int_equal(rmdir(folder), 0);
}

/* ---------------------------------------------------------------- memory ---------------- */

static const char busy[] = "within A; model M \"text\" extends N(redeclare B b = 2);\n"
                           "  Real x[2](each start = 1e300) = {1, 2*x[end]} if a, y;\n"
                           "  type E = enumeration(a, b); function g = der(f, x);\n"
                           "equation\n  when a then x = sum(i for i in 1:3); end when;\n"
                           "  x = = 3; y := 2; 'a b' = \"c\\n\";\n  double z;\n"
                           "  annotation(a = 1); annotation(b(c = 2));\nend M;\n";

/* Everything that reading does, with the memory of the ledger. */
static dae_status busy_run(ledger *l, size_t limit, char said[5000])
{
    mo_context c;
    mo_context_init(&c, &l->hook, limit);
    int code = setjmp(c.escape);
    if (code) {
        mo_escaped(&c, code);
    } else {
        const mo_file *f = mo_parse(&c, mo_add_source(&c, "busy.mo", busy, sizeof busy - 1));
        for (int i = 0; i < 3000; i++) mo_name(&c, dae_arena_print(&c.arena, "name %d", i));
        assert_int_equal(f->classes, 1);
    }
    dae_status status = c.fatal;
    snprintf(said, 5000, "%s", mo_diagnostics_text(&c));
    mo_context_release(&c);
    assert_int_equal(l->live, 0);
    return status;
}

static void test_no_memory(void **state)
{
    (void)state;
    ledger l;
    char good[5000], said[5000];
    ledger_open(&l);
    assert_int_equal(busy_run(&l, 0, good), DAE_OK);
    assert_non_null(strstr(good, "error[E_SYNTAX]"));
    long requests = l.asked;
    assert_true(requests >= 4);
    for (int forever = 0; forever < 2; forever++)
        for (long k = 1; k <= requests; k++) {
            ledger_fail(&l, k, forever);
            dae_status status = busy_run(&l, 0, said);
            /* the last request may be the text of the diagnostics, which has a way out */
            if (status != DAE_E_NOMEM && k < requests)
                fail_msg("request %ld refused: status %d", k, status);
            assert_non_null(strstr(said, "error[E_NOMEM]: out of memory"));
            ledger_fail(&l, 0, 0);
            assert_int_equal(busy_run(&l, 0, said), DAE_OK);
            assert_string_equal(said, good);
        }
    ledger_empty(&l);
}

static void test_memory_limit(void **state)
{
    (void)state;
    ledger l;
    char said[5000];
    ledger_open(&l);
    for (size_t limit = 1000; limit < 200000; limit += 10000) {
        assert_int_equal(busy_run(&l, limit, said), DAE_E_LIMIT);
        assert_non_null(strstr(said, "error[E_LIMIT]: the model needs more memory"));
    }
    assert_int_equal(busy_run(&l, 10000000, said), DAE_OK);
    ledger_empty(&l);
}

#define CASE(title, function)                                                                      \
    {                                                                                              \
        title, function, NULL, NULL, NULL                                                          \
    }

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE("every kind of expression: read, written, the same tree", test_expressions),
        CASE("every kind of class, element and clause: read, written, the same tree", test_classes),
        CASE("the tree of expressions", test_tree_of_expressions),
        CASE("the tree of classes", test_tree_of_classes),
        CASE("places: lines and columns", test_places),
        CASE("M15 numbers: the nearest double, there and back", test_numbers),
        CASE("M15 P07 numbers do not depend on the locale", test_numbers_in_other_locales),
        CASE("M13 M15 numbers of a million digits", test_long_numbers),
        CASE("M20 names: equal names are equal pointers", test_names),
        CASE("M22 the nearest name", test_nearest),
        CASE("M01 M02 100,000 levels of 15 kinds: E_LIMIT; chains are not levels", test_nesting),
        CASE("M02 a sum of a million terms", test_long_sum),
        CASE("M13 memory grows with the text, right or wrong", test_memory_is_linear),
        CASE("M13 a text too large: E_LIMIT", test_source_limit),
        CASE("M21 M24 100,000 errors: 20 shown, all counted, the same twice", test_count_of_errors),
        CASE("M14 M15 M16 wrong expressions are refused", test_wrong_expressions),
        CASE("M13 names of 400,000 characters in messages", test_long_names),
        CASE("N15 diagnostics as text, control characters escaped", test_diagnostics_text),
        CASE("M11 M12 bytes that are not UTF-8, NUL, invisible characters", test_bytes),
        CASE("M17 N12 directories, pipes, devices, empty, unreadable, missing files", test_files),
        CASE("O01 O02 every k-th request refused", test_no_memory),
        CASE("O04 a limit on memory", test_memory_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
