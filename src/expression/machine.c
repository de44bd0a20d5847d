/* machine.c: running a program: values.
 *
 * One function per operation, which does a whole run of it; the loop below only goes from run to
 * run and through control. A procedure is a call of the loop on the next frame, at most
 * EX_DEEPEST_CALL deep; jumps backwards and calls are counted, so that a model cannot hang us.
 */
#include "expression/code.h"

#include <math.h>
#include <string.h>

/* ---------------------------------------------------------------- operations ------------ */

typedef const uint32_t *run_function(double *r, const uint32_t *c, uint32_t n);

#define RUN(name, words, read, value)                                                              \
    static const uint32_t *run_##name(double *r, const uint32_t *c, uint32_t n)                    \
    {                                                                                              \
        for (const uint32_t *end = c + words * (size_t)n; c < end; c += words) {                   \
            read;                                                                                  \
            r[c[0]] = value;                                                                       \
        }                                                                                          \
        return c;                                                                                  \
    }
#define A                                double a = r[c[1]]
#define AB                               double a = r[c[1]], b = r[c[2]]
#define ABZ                              double a = r[c[1]], b = r[c[2]], z = r[c[3]]
#define ONE(name, code, value, p)        RUN(name, 2, A, value)
#define STEP1(name, code, value)         RUN(name, 2, A, value)
#define TWO(name, code, value, p, q)     RUN(name, 3, AB, value)
#define FIXED(name, code, value, p)      RUN(name, 3, AB, value)
#define STEP2(name, code, value)         RUN(name, 3, AB, value)
#define SUM(name, code, op)              RUN(name, 3, AB, a op b)
#define PICK2(name, code, first)         RUN(name, 3, AB, first ? a : b)
#define PICK3(name, code, first)         RUN(name, 4, ABZ, first ? b : z)
#define FUSED(name, code, value, su, sz) RUN(name, 4, ABZ, value)
#include "expression/operations.h"

static const uint32_t *run_sincos(double *r, const uint32_t *c, uint32_t n)
{
    for (const uint32_t *end = c + 3 * (size_t)n; c < end; c += 3) {
        double a = r[c[2]], s = sin(a);
        r[c[1]] = cos(a);
        r[c[0]] = s;
    }
    return c;
}

#define ONE(name, code, value, p)        [EX_C_##code] = run_##name,
#define STEP1(name, code, value)         [EX_C_##code] = run_##name,
#define TWO(name, code, value, p, q)     [EX_C_##code] = run_##name,
#define FIXED(name, code, value, p)      [EX_C_##code] = run_##name,
#define STEP2(name, code, value)         [EX_C_##code] = run_##name,
#define SUM(name, code, op)              [EX_C_##code] = run_##name,
#define PICK2(name, code, first)         [EX_C_##code] = run_##name,
#define PICK3(name, code, first)         [EX_C_##code] = run_##name,
#define FUSED(name, code, value, su, sz) [EX_C_##code] = run_##name,
static run_function *const runs[EX_CODES] = {
    [EX_C_SINCOS] = run_sincos,
#include "expression/operations.h"
};

/* ---------------------------------------------------------------- control --------------- */

int ex_stop(ex_machine *m, const char *what, uint32_t note)
{
    const ex_note *n = &m->program->note[note];
    m->endless |= m->work < 0;
    m->trouble = (ex_trouble){ .node = n->node,
                               .what = what,
                               .message = n->message,
                               .words = n->words,
                               .place = n->place,
                               .procedure = n->procedure };
    return DAE_RETRY;
}

/* ... and its slots stay as they are. */
static int stop_in(ex_machine *m, const ex_routine *f, const double *r, const char *what,
                   uint32_t note)
{
    ex_stop(m, what, note);
    m->trouble.slot = r;
    m->trouble.slots = f->slots;
    return DAE_RETRY;
}

static int call(ex_machine *m, const ex_routine *caller, double *r, const uint32_t *c, int depth)
{
    const ex_routine *f = &m->program->routine[c[0]];
    double *frame = r + caller->registers;
    if (depth >= EX_DEEPEST_CALL || (size_t)(frame - m->value) + f->registers > m->size)
        return ex_stop(m, "recursion too deep", c[1]);
    if ((m->work -= EX_CALL_WORK) < 0) return ex_stop(m, "too much work", c[1]);
    for (uint32_t k = 0; k < c[3]; k++) frame[k] = r[c[4 + k]];
    memset(frame + f->inputs, 0, (f->slots - f->inputs) * sizeof *frame);
    if (f->constants)
        memcpy(frame + f->registers - f->constants, f->constant, f->constants * sizeof *frame);
    int status = ex_execute(m, f, frame, depth + 1);
    for (uint32_t k = 0; k < f->outputs; k++) r[c[2] + k] = frame[f->output[k]];
    return status;
}

int ex_execute(ex_machine *m, const ex_routine *f, double *r, int depth)
{
    const uint32_t *c = f->code;
    for (;;) {
        uint32_t code = *c & 0xff, n = *c >> EX_COUNT_SHIFT;
        int64_t k;
        c++;
        if (code >= EX_C_MOVE) {
            c = runs[code](r, c, n);
            continue;
        }
        switch (code) {
        case EX_C_JUMP: c = f->code + c[0]; break;
        case EX_C_LOOP:
            if (--m->work < 0) return ex_stop(m, "too much work", c[1]);
            c = f->code + c[0];
            break;
        case EX_C_UNLESS: c = r[c[0]] == 0 ? f->code + c[1] : c + 2; break;
        case EX_C_WHEN: c = r[c[0]] != 0 ? f->code + c[1] : c + 2; break;
        case EX_C_CALL:
            if (call(m, f, r, c, depth) != DAE_OK) return DAE_RETRY;
            c += 4 + c[3];
            break;
        case EX_C_STORE:
            k = ex_checked_index(r[c[2]], c[1]);
            if (k < 0) return stop_in(m, f, r, "index out of range", c[4]);
            r[c[0] + k] = r[c[3]];
            c += 5;
            break;
        case EX_C_ELEMENT:
            k = ex_checked_index(r[c[3]], c[2]);
            if (k < 0) return stop_in(m, f, r, "index out of range", c[4]);
            r[c[0]] = r[c[1] + k];
            c += 5;
            break;
        case EX_C_ASSERT:
            if (r[c[0]] == 0) return stop_in(m, f, r, "assertion", c[1]);
            c += 2;
            break;
        case EX_C_WHOLE:
            if (!ex_is_exact(r[c[0]]))
                return stop_in(m, f, r, "an Integer becomes too large", c[1]);
            c += 2;
            break;
        default: /* EX_C_RETURN */ return DAE_OK;
        }
    }
}

/* ---------------------------------------------------------------- open, run ------------- */

/* Constants of the program itself are put in place once. */
ex_machine *ex_machine_open(const ex_program *p, const dae_memory *memory)
{
    const ex_routine *f = &p->routine[0];
    ex_machine *m = dae_alloc(memory, 1, sizeof *m);
    if (!m) return NULL;
    m->program = p;
    m->memory = *memory;
    m->size = p->stack;
    m->value = dae_alloc(memory, p->stack, (1 + EX_LANES) * sizeof *m->value);
    if (!m->value) {
        dae_free(memory, m);
        return NULL;
    }
    m->tangent = m->value + p->stack;
    if (f->constants)
        memcpy(m->value + f->registers - f->constants, f->constant, f->constants * sizeof(double));
    return m;
}

void ex_machine_close(ex_machine *m)
{
    if (!m) return;
    dae_memory memory = m->memory;
    dae_free(&memory, m->value);
    dae_free(&memory, m->series);
    dae_free(&memory, m);
}

const ex_trouble *ex_machine_trouble(const ex_machine *m)
{
    return &m->trouble;
}

/* What did not end is tried again with smaller steps, up to a hundred times: not every time with all
 * the work that a run may do. */
void ex_begin(ex_machine *m)
{
    m->given = EX_MOST_WORK;
    if (m->endless) { /* whoever goes on after one would otherwise wait for a second each time */
        long more = EX_PATIENCE * m->longest;
        m->given = more < EX_LEAST_WORK ? EX_LEAST_WORK : more < m->given ? more : m->given;
    }
    m->work = m->given;
    m->trouble = (ex_trouble){ 0 };
}

void ex_end(ex_machine *m)
{
    long used = m->given - m->work;
    m->longest = used > m->longest ? used : m->longest;
}

static void begin(ex_machine *m, const double *input)
{
    const ex_routine *f = &m->program->routine[0];
    ex_begin(m);
    if (f->inputs) memcpy(m->value, input, f->inputs * sizeof *input);
}

int ex_run(ex_machine *m, const double *input, double *output)
{
    const ex_routine *f = &m->program->routine[0];
    begin(m, input);
    int status = ex_execute(m, f, m->value, 0);
    if (status == DAE_OK) ex_end(m);
    for (uint32_t k = 0; status == DAE_OK && k < f->outputs; k++)
        output[k] = m->value[f->output[k]];
    return status;
}

int ex_run_tangents(ex_machine *m, const double *input, const double *input_tangent, double *output,
                    double *output_tangent)
{
    enum { ROW = EX_LANES * sizeof(double) };
    const ex_routine *f = &m->program->routine[0];
    begin(m, input);
    if (f->inputs) memcpy(m->tangent, input_tangent, (size_t)f->inputs * ROW);
    int status = ex_execute_rows(m, f, m->value, m->tangent, &ex_tangent_rows, 0);
    if (status == DAE_OK) ex_end(m);
    for (uint32_t k = 0; status == DAE_OK && k < f->outputs; k++) {
        output[k] = m->value[f->output[k]];
        memcpy(output_tangent + (size_t)k * EX_LANES, m->tangent + (size_t)f->output[k] * EX_LANES,
               ROW);
    }
    return status;
}

int ex_run_roundings(ex_machine *m, const double *input, double *output, double *output_error)
{
    enum { ROW = EX_LANES * sizeof(double) };
    const ex_routine *f = &m->program->routine[0];
    begin(m, input);
    memset(m->tangent, 0, (size_t)f->inputs * ROW);
    int status = ex_execute_rows(m, f, m->value, m->tangent, &ex_rounding_rows, 0);
    if (status == DAE_OK) ex_end(m);
    for (uint32_t k = 0; status == DAE_OK && k < f->outputs; k++) {
        output[k] = m->value[f->output[k]];
        output_error[k] = m->tangent[(size_t)f->output[k] * EX_LANES];
    }
    return status;
}
