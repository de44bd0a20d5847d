/* text.c: coefficients as text: recursive descent, one function per level of binding.
 *
 * A reader that met something it does not understand keeps `failed` and answers 0 from then
 * on; the outermost call looks at it once.
 */
#include "tableau/text.h"
#include "tableau/quad.h"

#include <string.h>

typedef struct reader {
    const char *at;
    const dae_scope *scope;
    int failed;
} reader;

static dae_quad sum(reader *r);

static void skip_blanks(reader *r)
{
    while (*r->at == ' ' || *r->at == '\n') r->at++;
}

/* The next character that counts; takes it if it is the one wanted. */
static int take(reader *r, char wanted)
{
    skip_blanks(r);
    if (*r->at != wanted) return 0;
    r->at++;
    return 1;
}

static void require(reader *r, char wanted)
{
    if (!take(r, wanted)) r->failed = 1;
}

static int is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int is_letter(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

/* All digits are gathered into one integer first: up to 34 of them it is exact. */
static dae_quad number(reader *r)
{
    dae_quad value = 0, unit = 1;
    int after = 0;
    for (; is_digit(*r->at) || (*r->at == '.' && !after); r->at++) {
        if (*r->at == '.') {
            after = 1;
            continue;
        }
        value = 10 * value + (*r->at - '0');
        if (after) unit *= 10;
    }
    return value / unit;
}

/* Newton's iteration with Horner's scheme; 200 steps are more than enough or it fails. */
static dae_quad root(reader *r)
{
    dae_quad a[8], x = sum(r);
    int count = 0;
    while (!r->failed && take(r, ',')) {
        if (count == 8) {
            r->failed = 1;
            return 0;
        }
        a[count++] = sum(r);
    }
    require(r, ')');
    for (int k = 0; k < 200; k++) {
        dae_quad p = 0, slope = 0;
        for (int i = 0; i < count; i++) {
            slope = slope * x + p;
            p = p * x + a[i];
        }
        if (slope == 0) break;
        dae_quad step = p / slope;
        x -= step;
        if (dae_quad_abs(step) <= 2 * dae_quad_epsilon() * dae_quad_abs(x)) return x;
    }
    r->failed = 1;
    return 0;
}

static dae_quad named(reader *r)
{
    const char *begin = r->at;
    while (is_letter(*r->at) || is_digit(*r->at)) r->at++;
    size_t length = (size_t)(r->at - begin);
    if (length == 4 && !strncmp(begin, "sqrt", 4) && take(r, '(')) {
        dae_quad x = sum(r);
        require(r, ')');
        if (x < 0) r->failed = 1;
        return dae_quad_sqrt(x);
    }
    if (length == 4 && !strncmp(begin, "root", 4) && take(r, '(')) return root(r);
    for (int i = 0; i < r->scope->count; i++)
        if (strlen(r->scope->name[i]) == length && !strncmp(begin, r->scope->name[i], length))
            return r->scope->value[i];
    r->failed = 1;
    return 0;
}

static dae_quad factor(reader *r)
{
    dae_quad value;
    skip_blanks(r);
    if (r->failed) return 0;
    if (take(r, '-')) return -factor(r);
    if (take(r, '(')) {
        value = sum(r);
        require(r, ')');
        return value;
    }
    if (is_digit(*r->at)) return number(r);
    if (is_letter(*r->at)) return named(r);
    r->failed = 1;
    return 0;
}

static dae_quad product(reader *r)
{
    dae_quad value = factor(r);
    for (;;) {
        if (take(r, '*')) {
            value *= factor(r);
        } else if (take(r, '/')) {
            dae_quad divisor = factor(r);
            if (divisor == 0) r->failed = 1;
            value = r->failed ? 0 : value / divisor;
        } else {
            return value;
        }
    }
}

static dae_quad sum(reader *r)
{
    dae_quad value = product(r);
    for (;;) {
        if (take(r, '+'))
            value += product(r);
        else if (take(r, '-'))
            value -= product(r);
        else
            return value;
    }
}

static int define_one(dae_scope *scope, reader *r)
{
    skip_blanks(r);
    const char *begin = r->at;
    while (is_letter(*r->at) || is_digit(*r->at)) r->at++;
    size_t length = (size_t)(r->at - begin);
    if (length == 0 || length >= DAE_TEXT_NAME_LENGTH || scope->count == DAE_TEXT_NAMES) return 0;
    require(r, '=');
    dae_quad value = sum(r);
    if (r->failed) return 0;
    memcpy(scope->name[scope->count], begin, length);
    scope->name[scope->count][length] = '\0';
    scope->value[scope->count++] = value;
    return 1;
}

int dae_text_define(dae_scope *scope, const char *text)
{
    reader r = { text, scope, 0 };
    int before = scope->count, good;
    do good = define_one(scope, &r);
    while (good && take(&r, ';'));
    skip_blanks(&r);
    if (good && *r.at == '\0') return 1;
    scope->count = before;
    return 0;
}

int dae_text_rows(const dae_scope *scope, const char *text,
                  dae_quad out[DAE_STAGES_MOST][DAE_STAGES_MOST])
{
    reader r = { text, scope, 0 };
    int rows = 0;
    do {
        int columns = 0;
        if (rows == DAE_STAGES_MOST) return 0;
        do {
            if (columns == DAE_STAGES_MOST) return 0;
            out[rows][columns++] = sum(&r);
        } while (!r.failed && take(&r, ','));
        rows++;
    } while (!r.failed && take(&r, ';'));
    skip_blanks(&r);
    return r.failed || *r.at ? 0 : rows;
}
