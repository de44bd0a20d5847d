/* test_modelica_damage.c: texts with random damage, the same in every run. Nothing may crash,
 * hang or leak, and what reading.c asks must hold. scripts/fuzz does the same without end. */
#include "testing.h"
#include "reading.h"

#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char whole[] =
    "within A.B;\n"
    "encapsulated partial model M \"text\" + \"more\"\n"
    "  import C = D.E; import F.*; import G.{H, I};\n"
    "  extends N(redeclare replaceable model P = Q(x = 1) constrainedby R, final each y(start = 2) "
    "= 3,\n"
    "            break z, break connect(a, b));\n"
    "  parameter Real[2] p[3, :](each start = 1e-3) = {1, 2.5} if n > 1 \"text\" annotation(a = "
    "1);\n"
    "  inner outer replaceable T t constrainedby U(v = break) \"c\";\n"
    "  flow Real f; stream Real s; input Integer i; output Boolean b; discrete String d;\n"
    "  type E = enumeration(a \"x\", b); type F = enumeration(:);\n"
    "  connector I = input Real; function g = der(h, x, y);\n"
    "  operator record O \"r\" end O; expandable connector X end X;\n"
    "protected\n"
    "  redeclare function extends k(z = 1) input Real x; output Real y;\n"
    "    external \"C\" y = k(x, size(x, 1)) annotation(Library = \"m\"); end k;\n"
    "initial equation\n"
    "  x = 1;\n"
    "equation\n"
    "  der(x[end]) = -a*x^2 + .B.f(1, u = function h(w = 2)) \"t\";\n"
    "  if a and not b or c <> d then x = [1, 2; 3, 4]; elseif e >= f then y = 2; else z = 3; end "
    "if;\n"
    "  for i in 1:2:n, j loop connect(p[i].q, r) annotation(Line(points = {{1, 2}})); end for;\n"
    "  when {initial(), x > 0} then reinit(x, 1); elsewhen sample(0, 1) then y = pre(y); end "
    "when;\n"
    "  (a, , b) = f(sum(i .* j for i in 1:3));\n"
    "  a - (b - c)*(d + e)^(f^g) = -(a/(b*c)) .+ 2 .^ x + (if a then b else (if c then d else "
    "e));\n"
    "  not (a and (b or c)) = (a < b) == (not (not c)); (1:3) + (1:2:n) = {i for i in (2), j};\n"
    "algorithm\n"
    "  while true loop x := if a then 1 elseif b then 2 else 3; break; end while;\n"
    "  (u, v) := w(x); return; 'q r' := ({1, 2})[1] + (s).t;\n"
    "  annotation(experiment(StopTime = 1), Icon(graphics = {}));\n"
    "end M;\n"
    "final class Z end Z;\n";

static const char *const tokens[] = { "(",
                                      ")",
                                      "[",
                                      "]",
                                      "{",
                                      "}",
                                      ",",
                                      ";",
                                      ":",
                                      ".",
                                      "=",
                                      ":=",
                                      "==",
                                      "<>",
                                      "<",
                                      ">=",
                                      "+",
                                      "-",
                                      "*",
                                      "/",
                                      "^",
                                      ".*",
                                      "\"",
                                      "'",
                                      "//",
                                      "/*",
                                      "*/",
                                      "\\",
                                      "&&",
                                      "!",
                                      "\n",
                                      "\r",
                                      " ",
                                      "\t",
                                      "end",
                                      "if",
                                      "then",
                                      "else",
                                      "elseif",
                                      "elsewhen",
                                      "when",
                                      "for",
                                      "in",
                                      "loop",
                                      "while",
                                      "end if",
                                      "end for",
                                      "end M",
                                      "model",
                                      "model M",
                                      "class",
                                      "function",
                                      "package",
                                      "type",
                                      "record",
                                      "operator",
                                      "der",
                                      "initial",
                                      "equation",
                                      "algorithm",
                                      "public",
                                      "protected",
                                      "external",
                                      "annotation",
                                      "import",
                                      "extends",
                                      "constrainedby",
                                      "redeclare",
                                      "replaceable",
                                      "each",
                                      "final",
                                      "inner",
                                      "flow",
                                      "parameter",
                                      "constant",
                                      "input",
                                      "enumeration",
                                      "connect",
                                      "not",
                                      "and",
                                      "or",
                                      "true",
                                      "break",
                                      "return",
                                      "pure",
                                      "within",
                                      "x",
                                      "Real",
                                      "1",
                                      "2.5",
                                      "1e9",
                                      "1e999",
                                      ".5",
                                      "99999999999999999999",
                                      "endif",
                                      "elif",
                                      "double",
                                      "\xC3\xA4",
                                      "\xFF",
                                      "\xE2\x80\xAE",
                                      "modle",
                                      "as",
                                      "do",
                                      "optimization" };

enum { LONGEST = 20000, SEEDS_MOST = 400 };

typedef struct seed {
    char *text;
    size_t length;
} seed;

/* ---------------------------------------------------------------- damage ---------------- */

static uint64_t next(uint64_t *random)
{
    *random = *random * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return *random >> 33;
}

static size_t below(uint64_t *random, size_t n)
{
    return n ? (size_t)(next(random) % n) : 0;
}

static void replace(char *text, size_t *length, size_t at, size_t out, const char *in, size_t count)
{
    if (out > *length - at) out = *length - at;
    if (*length - out + count > LONGEST) return;
    memmove(text + at + count, text + at + out, *length - at - out);
    memcpy(text + at, in, count);
    *length = *length - out + count;
}

/* Another letter or digit in place of the next one: the text may well stay right. */
static void reword(char *text, size_t length, size_t at, uint64_t *random)
{
    while (at < length && !isalnum((unsigned char)text[at])) at++;
    if (at < length)
        text[at] = isdigit((unsigned char)text[at]) ? (char)('0' + below(random, 10))
                                                    : (char)('a' + below(random, 26));
}

static void damage(char *text, size_t *length, const seed *other, uint64_t *random)
{
    size_t at = below(random, *length + 1), from = below(random, other->length);
    char byte = (char)next(random);
    const char *token = tokens[below(random, COUNT_OF(tokens))];
    size_t some = 1 + below(random, 30);
    switch (below(random, 9)) {
    case 0: replace(text, length, at, 1, &byte, 1); break;
    case 1: replace(text, length, at, some, "", 0); break;
    case 2: replace(text, length, at, 0, token, strlen(token)); break;
    case 3: replace(text, length, at, below(random, 8), token, strlen(token)); break;
    case 4: *length = at; break;
    case 5:
    case 6: replace(text, length, at, 0, " /* */ ", 7); break;
    case 7: reword(text, *length, at, random); break;
    default:
        if (some > other->length - from) some = other->length - from;
        replace(text, length, at, 0, other->text + from, some);
        break;
    }
}

/* ---------------------------------------------------------------- seeds ----------------- */

static void add_file(seed *s, const char *folder, const char *name)
{
    char path[2000];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    s->text = calloc(LONGEST, 1);
    assert_non_null(s->text);
    s->length = fread(s->text, 1, LONGEST, file);
    fclose(file);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The text above and tests/messages, in the order of their names. */
static int gather(seed seeds[SEEDS_MOST])
{
    char folder[1000], *name[SEEDS_MOST];
    const char *source = getenv("DAEDALUS_SOURCE");
    int count = 0;
    snprintf(folder, sizeof folder, "%s/tests/messages", source ? source : "..");
    DIR *d = opendir(folder);
    assert_non_null(d);
    for (struct dirent *e; (e = readdir(d)) && count < SEEDS_MOST - 1;)
        if (strstr(e->d_name, ".mo")) name[count++] = strdup(e->d_name);
    closedir(d);
    qsort(name, (size_t)count, sizeof *name, by_name);
    for (int i = 0; i < count; i++) {
        add_file(&seeds[i], folder, name[i]);
        free(name[i]);
    }
    seeds[count].text = strdup(whole);
    seeds[count].length = sizeof whole - 1;
    return count + 1;
}

/* ---------------------------------------------------------------- tests ----------------- */

static void must_be_sound(const char *text, size_t length)
{
    const char *fault = fault_of_reading(text, length);
    if (!fault) return;
    print_error("%s\n%.*s\n", fault, (int)length, text);
    fail();
}

static void test_damage(void **state)
{
    (void)state;
    static seed seeds[SEEDS_MOST];
    static char text[LONGEST + 1];
    int count = gather(seeds);
    uint64_t random = 1;
    for (int run = 0; run < 6000; run++) {
        /* half of them begin with the text that has everything */
        const seed *s = &seeds[run % 2 ? count - 1 : (int)below(&random, (size_t)count)];
        size_t length = s->length;
        memcpy(text, s->text, length);
        for (size_t k = 1 + below(&random, 5); k > 0; k--)
            damage(text, &length, &seeds[below(&random, (size_t)count)], &random);
        must_be_sound(text, length);
    }
    for (int i = 0; i < count; i++) free(seeds[i].text);
}

/* The text that has everything, cut off at every byte, and without every byte. */
static void test_every_byte(void **state)
{
    (void)state;
    static char text[sizeof whole];
    must_be_sound(whole, sizeof whole - 1);
    for (size_t i = 0; i < sizeof whole - 1; i++) {
        must_be_sound(whole, i);
        memcpy(text, whole, i);
        memcpy(text + i, whole + i + 1, sizeof whole - 1 - i);
        must_be_sound(text, sizeof whole - 2);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        { "M18 6000 texts with random damage", test_damage, NULL, NULL, NULL },
        { "M18 cut off at every byte, and without every byte", test_every_byte, NULL, NULL, NULL },
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
