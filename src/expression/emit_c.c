/* emit_c.c: a program as C.
 *
 * Elements are taken in the order of the code, which is depth first here (ex_compile_ordered), and
 * written with the same formulas as the machine's (operations.h):
 *
 *     { const double a = x[3], b = v7; const double y = a * b; v9 = y; }
 *
 * The program itself is cut into functions of some PIECE elements, where no branch is open, since
 * compilers take more than linear time. A register is a local variable; one that a later function
 * reads is stored in r[] at the end of its own. Procedures keep all their registers in a frame.
 * Only numbers reach the text.
 *
 * Tangents are not written as C. They were: 2000 equations became 700 kB of code, whose fetching
 * alone made it slower than the machine's tangents (14.6 against 10.5 us per lane), after half a
 * minute of compiling.
 */
#include "base/number.h"
#include "expression/code.h"
#include "expression/native.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum { PIECE = 300 };

static const char *const formula[EX_CODES] = {
#define ONE(name, code, value, p)        [EX_C_##code] = #value,
#define STEP1(name, code, value)         [EX_C_##code] = #value,
#define TWO(name, code, value, p, q)     [EX_C_##code] = #value,
#define FIXED(name, code, value, p)      [EX_C_##code] = #value,
#define STEP2(name, code, value)         [EX_C_##code] = #value,
#define SUM(name, code, op)              [EX_C_##code] = "a " #op " b",
#define PICK2(name, code, first)         [EX_C_##code] = #first " ? a : b",
#define PICK3(name, code, first)         [EX_C_##code] = #first " ? b : z",
#define FUSED(name, code, value, su, sz) [EX_C_##code] = #value,
#include "expression/operations.h"
};

static const char prelude[] =
    "double fabs(double), sqrt(double), sin(double), cos(double), tan(double), asin(double),\n"
    "    acos(double), atan(double), sinh(double), cosh(double), tanh(double), exp(double),\n"
    "    log(double), log10(double), floor(double), ceil(double), trunc(double),\n"
    "    pow(double, double), atan2(double, double);\n"
    "struct K { double *value; unsigned long size; long work; int what; unsigned note; };\n"
    "static int stop(struct K *k, int what, unsigned note)\n"
    "{\n    k->what = what;\n    k->note = note;\n    return 1;\n}\n";

/* ---------------------------------------------------------------- text ------------------ */

typedef struct emitter {
    dae_arena *arena;
    const ex_program *p;
    const ex_routine *f;
    uint32_t routine;
    char *text;
    size_t length, capacity;
    uint32_t constants;     /* the first register that is a constant */
    uint32_t *written;      /* register -> 1 + the piece that wrote it last */
    uint32_t *first_output; /* register -> 1 + an output it holds ... */
    uint32_t *next_output;  /* ... and the next one */
    uint32_t *exports;      /* pairs: piece, register */
    size_t export_count, export_capacity;
    uint32_t *cut; /* where pieces begin, in words; the last is the end */
    size_t pieces, cut_capacity;
    uint32_t piece; /* 1 + the piece being written; procedures have none */
    bool *target;   /* is a word jumped to? */
} emitter;

static void say(emitter *e, const char *format, ...) DAE_PRINTF(2, 3);
static void say(emitter *e, const char *format, ...)
{
    for (;;) {
        size_t room = e->capacity - e->length;
        va_list list;
        va_start(list, format);
        int k = vsnprintf(e->text + e->length, room, format, list);
        va_end(list);
        if (k >= 0 && (size_t)k < room) {
            e->length += (size_t)k;
            return;
        }
        size_t capacity = 2 * e->capacity + 4096;
        char *more = dae_arena_take(e->arena, capacity, 1);
        if (e->length) memcpy(more, e->text, e->length);
        e->text = more;
        e->capacity = capacity;
    }
}

static bool is_main(const emitter *e)
{
    return e->routine == 0;
}

static bool is_constant(const emitter *e, uint32_t reg)
{
    return reg >= e->constants;
}

static void say_number(emitter *e, double value)
{
    char text[DAE_NUMBER_TEXT];
    if (isnan(value) || isinf(value)) {
        say(e, isnan(value) ? "(0.0 / 0.0)" : value > 0 ? "(1.0 / 0.0)" : "(-1.0 / 0.0)");
        return;
    }
    dae_number_text(text, value);
    say(e, "%s%s", text, strpbrk(text, ".e") ? "" : ".0");
}

static void say_value(emitter *e, uint32_t reg)
{
    if (is_constant(e, reg))
        say_number(e, e->f->constant[reg - e->constants]);
    else if (is_main(e) && reg < e->f->inputs)
        say(e, "x[%u]", reg);
    else if (is_main(e) && e->written[reg] == e->piece)
        say(e, "v%u", reg);
    else
        say(e, "r[%u]", reg);
}

/* ---------------------------------------------------------------- elements -------------- */

/* The names a, b, z of the formulas. */
static void say_operands(emitter *e, const uint32_t *operand, uint32_t count)
{
    static const char *const names[] = { "a", "b", "z" };
    say(e, "    { const double ");
    for (uint32_t k = 0; k < count; k++) {
        say(e, k ? ", %s = " : "%s = ", names[k]);
        say_value(e, operand[k]);
    }
    say(e, "; ");
}

/* The register gets the value; an output goes to its place at once. */
static void say_result(emitter *e, uint32_t reg, const char *value)
{
    if (is_main(e)) e->written[reg] = e->piece;
    say_value(e, reg);
    say(e, " = %s; ", value);
    for (uint32_t k = is_main(e) ? e->first_output[reg] : 0; k; k = e->next_output[k - 1])
        say(e, "out[%u] = %s; ", k - 1, value);
}

static void say_arithmetic(emitter *e, ex_code code, const uint32_t *c)
{
    say_operands(e, c + ex_codes[code].results, ex_codes[code].operands);
    if (code == EX_C_SINCOS) {
        say(e, "const double s = sin(a), o = cos(a); ");
        say_result(e, c[0], "s");
        say_result(e, c[1], "o");
    } else {
        say(e, "const double y = %s; ", formula[code]);
        say_result(e, c[0], "y");
    }
    say(e, "}\n");
}

/* ---------------------------------------------------------------- control --------------- */

/* what: the order of ex_native_troubles (native.c) */
enum { TOO_DEEP = 1, TOO_MUCH, OUT_OF_RANGE, ASSERTION, TOO_LARGE };

static void say_call(emitter *e, const uint32_t *c)
{
    const ex_routine *callee = &e->p->routine[c[0]];
    say(e, "    { double *f = r + %u; ", e->f->registers);
    say(e,
        "if (depth >= %d || (unsigned long)(f - k->value) + %u > k->size) "
        "return stop(k, %d, %u); ",
        EX_DEEPEST_CALL, callee->registers, TOO_DEEP, c[1]);
    say(e, "if ((k->work -= %d) < 0) return stop(k, %d, %u);\n      ", EX_CALL_WORK, TOO_MUCH,
        c[1]);
    for (uint32_t k = 0; k < c[3]; k++) {
        say(e, "f[%u] = ", k);
        say_value(e, c[4 + k]);
        say(e, "; ");
    }
    say(e, "\n      if (p%u(k, f, depth + 1)) return 1;\n      ", c[0]);
    for (uint32_t k = 0; k < callee->outputs; k++) {
        char value[32];
        snprintf(value, sizeof value, "f[%u]", callee->output[k]);
        say_result(e, c[2] + k, value);
    }
    say(e, "}\n");
}

static void say_index(emitter *e, uint32_t index, uint32_t count, uint32_t note)
{
    say(e, "    { const double i = ");
    say_value(e, index);
    say(e, "; if (!(i >= 0 && i < %u)) return stop(k, %d, %u); ", count, OUT_OF_RANGE, note);
}

static void say_store(emitter *e, const uint32_t *c)
{
    say_index(e, c[2], c[1], c[4]);
    say(e, "r[%u + (unsigned)i] = ", c[0]);
    say_value(e, c[3]);
    say(e, "; }\n");
}

static void say_element(emitter *e, const uint32_t *c)
{
    say_index(e, c[3], c[2], c[4]);
    say(e, "r[%u] = r[%u + (unsigned)i]; }\n", c[0], c[1]);
}

static void say_condition(emitter *e, const char *begin, uint32_t reg, const char *compare)
{
    say(e, "    %s", begin);
    say_value(e, reg);
    say(e, " %s ", compare);
}

static void say_control(emitter *e, ex_code code, const uint32_t *c)
{
    switch (code) {
    case EX_C_JUMP: say(e, "    goto l%u;\n", c[0]); break;
    case EX_C_LOOP:
        say(e, "    if (--k->work < 0) return stop(k, %d, %u);\n    goto l%u;\n", TOO_MUCH, c[1],
            c[0]);
        break;
    case EX_C_UNLESS:
        say_condition(e, "if (", c[0], "== 0");
        say(e, ") goto l%u;\n", c[1]);
        break;
    case EX_C_WHEN:
        say_condition(e, "if (", c[0], "!= 0");
        say(e, ") goto l%u;\n", c[1]);
        break;
    case EX_C_CALL: say_call(e, c); break;
    case EX_C_STORE: say_store(e, c); break;
    case EX_C_ELEMENT: say_element(e, c); break;
    case EX_C_ASSERT:
        say_condition(e, "if (", c[0], "== 0");
        say(e, ") return stop(k, %d, %u);\n", ASSERTION, c[1]);
        break;
    case EX_C_WHOLE:
        say_condition(e, "if (fabs(", c[0], ")");
        say(e, "> %lld.0) return stop(k, %d, %u);\n", EX_LARGEST_INTEGER, TOO_LARGE, c[1]);
        break;
    default: say(e, "    return 0;\n");
    }
}

/* ---------------------------------------------------------------- looking through code -- */

static uint32_t words_of(ex_code code, const uint32_t *c)
{
    switch (code) {
    case EX_C_RETURN: return 0;
    case EX_C_JUMP: return 1;
    case EX_C_LOOP:
    case EX_C_UNLESS:
    case EX_C_WHEN:
    case EX_C_ASSERT:
    case EX_C_WHOLE: return 2;
    case EX_C_STORE:
    case EX_C_ELEMENT: return 5;
    case EX_C_CALL: return 4 + c[3];
    default: return (uint32_t)ex_codes[code].results + ex_codes[code].operands;
    }
}

static uint32_t target_of(ex_code code, const uint32_t *c)
{
    switch (code) {
    case EX_C_JUMP:
    case EX_C_LOOP: return c[0];
    case EX_C_UNLESS:
    case EX_C_WHEN: return c[1];
    default: return UINT32_MAX;
    }
}

/* One element after another: a run is one header with several. */
typedef struct cursor {
    const ex_routine *f;
    uint32_t at, left; /* word; elements left in this run */
    ex_code code;
    const uint32_t *c;
    uint32_t header; /* where the run began */
} cursor;

static bool step(cursor *i)
{
    if (!i->left) {
        if (i->at >= i->f->words) return false;
        i->header = i->at;
        i->code = (ex_code)(i->f->code[i->at] & 0xff);
        i->left = i->f->code[i->at] >> EX_COUNT_SHIFT;
        i->at++;
    }
    i->c = i->f->code + i->at;
    i->at += words_of(i->code, i->c);
    i->left--;
    return true;
}

static void read_register(emitter *e, uint32_t reg)
{
    uint32_t wrote = e->written[reg];
    if (reg < e->f->inputs || is_constant(e, reg) || wrote == e->piece || !wrote) return;
    e->exports = dae_arena_grow(e->arena, e->exports, e->export_count, &e->export_capacity,
                                2 * sizeof *e->exports);
    e->exports[2 * e->export_count] = wrote;
    e->exports[2 * e->export_count++ + 1] = reg;
}

/* What an element reads and writes, for the main routine only. */
static void look_at(emitter *e, ex_code code, const uint32_t *c)
{
    if (code == EX_C_CALL) {
        for (uint32_t k = 0; k < c[3]; k++) read_register(e, c[4 + k]);
        for (uint32_t k = 0; k < e->p->routine[c[0]].outputs; k++) e->written[c[2] + k] = e->piece;
    } else if (code == EX_C_UNLESS || code == EX_C_WHEN || code == EX_C_WHOLE) {
        read_register(e, c[0]);
    } else if (code >= EX_C_MOVE) {
        uint32_t results = ex_codes[code].results;
        for (uint32_t k = 0; k < ex_codes[code].operands; k++) read_register(e, c[results + k]);
        for (uint32_t k = 0; k < results; k++) e->written[c[k]] = e->piece;
    }
}

static void add_cut(emitter *e, uint32_t word)
{
    e->cut = dae_arena_grow(e->arena, e->cut, e->pieces, &e->cut_capacity, sizeof *e->cut);
    e->cut[e->pieces++] = word;
}

/* Where to cut: after PIECE elements, when no jump goes beyond. */
static void cut_up(emitter *e)
{
    cursor i = { .f = e->f };
    uint32_t furthest = 0, elements = 0;
    e->pieces = 0;
    add_cut(e, 0);
    while (step(&i)) {
        uint32_t target = target_of(i.code, i.c);
        if (target != UINT32_MAX) {
            e->target[target] = true;
            furthest = target > furthest ? target : furthest;
        }
        if (++elements >= PIECE && !i.left && furthest < i.at && i.at < e->f->words) {
            add_cut(e, i.at);
            elements = 0;
        }
    }
    add_cut(e, (uint32_t)e->f->words);
    e->pieces--;
}

static void find_exports(emitter *e)
{
    cursor i = { .f = e->f };
    e->piece = 1;
    while (step(&i)) {
        while (e->piece < e->pieces && i.header >= e->cut[e->piece]) e->piece++;
        look_at(e, i.code, i.c);
    }
    memset(e->written, 0, e->f->registers * sizeof *e->written);
}

/* ---------------------------------------------------------------- functions ------------- */

static void say_body(emitter *e, uint32_t from, uint32_t to)
{
    cursor i = { .f = e->f, .at = from };
    uint32_t last = UINT32_MAX;
    while ((i.at < to || i.left) && step(&i)) {
        if (i.header != last && e->target[i.header]) say(e, "l%u:;\n", i.header);
        last = i.header;
        if (i.code >= EX_C_MOVE)
            say_arithmetic(e, i.code, i.c);
        else
            say_control(e, i.code, i.c);
    }
}

/* A variable per register that the piece writes. */
static void say_variables(emitter *e, uint32_t from, uint32_t to)
{
    cursor i = { .f = e->f, .at = from };
    uint32_t *seen = e->written, mark = UINT32_MAX - e->piece;
    while ((i.at < to || i.left) && step(&i)) {
        uint32_t count = i.code == EX_C_CALL   ? e->p->routine[i.c[0]].outputs
                         : i.code >= EX_C_MOVE ? ex_codes[i.code].results
                                               : 0;
        for (uint32_t k = 0; k < count; k++) {
            uint32_t reg = i.code == EX_C_CALL ? i.c[2] + k : i.c[k];
            if (seen[reg] == mark) continue;
            seen[reg] = mark;
            say(e, "    double v%u;\n", reg);
        }
    }
}

static void say_exports(emitter *e)
{
    for (size_t k = 0; k < e->export_count; k++) {
        uint32_t reg = e->exports[2 * k + 1];
        if (e->exports[2 * k] != e->piece || e->written[reg] != e->piece) continue;
        say(e, "    r[%u] = v%u;\n", reg, reg);
        e->written[reg] = 0; /* once */
    }
}

static void say_piece(emitter *e, uint32_t number)
{
    uint32_t from = e->cut[number], to = e->cut[number + 1];
    e->piece = number + 1;
    say(e, "static int m%u(struct K *k, const double *x, double *r, double *out)\n{\n", number);
    say(e, "    const int depth = 0;\n    (void)k, (void)x, (void)r, (void)depth;\n");
    say_variables(e, from, to);
    uint32_t end = to == e->f->words ? to - 1 : to; /* without the return */
    say_body(e, from, end);
    if (e->target[end]) say(e, "l%u:;\n", end);
    say_exports(e);
    say(e, "    return 0;\n}\n");
}

/* Outputs that are inputs or constants; the rest was stored on the way. */
static void say_main(emitter *e)
{
    const ex_routine *f = e->f;
    say(e, "int daedalus_values(struct K *k, const double *x, double *out)\n"
           "{\n    double *r = k->value;\n");
    for (uint32_t i = 0; i < e->pieces; i++) say(e, "    if (m%u(k, x, r, out)) return 1;\n", i);
    e->piece = 0;
    for (uint32_t k = 0; k < f->outputs; k++) {
        uint32_t reg = f->output[k];
        if (reg >= f->inputs && !is_constant(e, reg)) continue;
        say(e, "    out[%u] = ", k);
        say_value(e, reg);
        say(e, ";\n");
    }
    say(e, "    return 0;\n}\n");
}

static void say_procedure(emitter *e)
{
    const ex_routine *f = e->f;
    say(e, "static int p%u(struct K *k, double *r, int depth)\n{\n", e->routine);
    say(e, "    (void)k, (void)depth;\n    for (unsigned i = %u; i < %u; i++)\n        r[i] = 0;\n",
        f->inputs, f->slots);
    say_body(e, 0, (uint32_t)f->words);
    say(e, "}\n");
}

static void begin_routine(emitter *e, uint32_t number)
{
    const ex_routine *f = &e->p->routine[number];
    e->f = f;
    e->routine = number;
    e->piece = 0;
    e->constants = f->registers - f->constants;
    e->target = dae_arena_take(e->arena, f->words + 1, sizeof *e->target);
    cut_up(e);
}

static void emit_main(emitter *e)
{
    begin_routine(e, 0);
    e->written = dae_arena_take(e->arena, e->f->registers, sizeof *e->written);
    e->export_count = 0;
    find_exports(e);
    for (uint32_t i = 0; i < e->pieces; i++) say_piece(e, i);
    say_main(e);
}

static void list_outputs(emitter *e)
{
    const ex_routine *f = &e->p->routine[0];
    e->first_output = dae_arena_take(e->arena, f->registers, sizeof *e->first_output);
    e->next_output = dae_arena_take(e->arena, f->outputs, sizeof *e->next_output);
    for (uint32_t k = 0; k < f->outputs; k++) {
        e->next_output[k] = e->first_output[f->output[k]];
        e->first_output[f->output[k]] = k + 1;
    }
}

const char *ex_emit_c(const ex_program *p, dae_arena *arena)
{
    emitter e = { .arena = arena, .p = p };
    list_outputs(&e);
    say(&e, "%s", prelude);
    for (uint32_t i = 1; i < p->routines; i++)
        say(&e, "static int p%u(struct K *k, double *r, int depth);\n", i);
    for (uint32_t i = 1; i < p->routines; i++) {
        begin_routine(&e, i);
        say_procedure(&e);
    }
    emit_main(&e);
    return e.text;
}
