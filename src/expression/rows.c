/* rows.c: running a program with a row of numbers beside every value: tangents, coefficients of a
 * series, or bounds of rounding. Control looks at values only; what an operation does to rows is in a table.
 */
#include "expression/code.h"

#include <math.h>
#include <string.h>

static inline double *row(double *t, uint32_t i, const ex_rows *rows)
{
    return t + (size_t)i * rows->width;
}

static inline void copy_row(double *to, const double *from, const ex_rows *rows)
{
    if (to != from) memcpy(to, from, rows->width * sizeof *to);
}

static int call(ex_machine *m, const ex_routine *caller, double *r, double *t, const uint32_t *c,
                const ex_rows *rows, int depth)
{
    const ex_routine *f = &m->program->routine[c[0]];
    double *frame = r + caller->registers, *rates = row(t, caller->registers, rows);
    if (depth >= EX_DEEPEST_CALL || (size_t)(frame - m->value) + f->registers > m->size)
        return ex_stop(m, "recursion too deep", c[1]);
    if ((m->work -= EX_CALL_WORK) < 0) return ex_stop(m, "too much work", c[1]);
    for (uint32_t k = 0; k < c[3]; k++) {
        frame[k] = r[c[4 + k]];
        copy_row(row(rates, k, rows), row(t, c[4 + k], rows), rows);
    }
    memset(frame + f->inputs, 0, (f->slots - f->inputs) * sizeof *frame);
    memset(row(rates, f->inputs, rows), 0, (f->slots - f->inputs) * rows->width * sizeof *rates);
    uint32_t first = f->registers - f->constants;
    if (f->constants) memcpy(frame + first, f->constant, f->constants * sizeof *frame);
    memset(row(rates, first, rows), 0, f->constants * rows->width * sizeof *rates);
    int status = ex_execute_rows(m, f, frame, rates, rows, depth + 1);
    for (uint32_t k = 0; k < f->outputs; k++) {
        r[c[2] + k] = frame[f->output[k]];
        copy_row(row(t, c[2] + k, rows), row(rates, f->output[k], rows), rows);
        if (rows->result > 0) *row(t, c[2] + k, rows) = rows->result * fabs(r[c[2] + k]);
    }
    return status;
}

/* As ex_execute, with rows. */
int ex_execute_rows(ex_machine *m, const ex_routine *f, double *r, double *t, const ex_rows *rows,
                    int depth)
{
    const uint32_t *c = f->code;
    for (;;) {
        uint32_t code = *c & 0xff, n = *c >> EX_COUNT_SHIFT;
        int64_t k;
        c++;
        if (code >= EX_C_MOVE) {
            c = rows->run[code](r, t, rows->width, c, n);
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
            if (call(m, f, r, t, c, rows, depth) != DAE_OK) return DAE_RETRY;
            c += 4 + c[3];
            break;
        case EX_C_STORE:
            k = ex_checked_index(r[c[2]], c[1]);
            if (k < 0) return ex_stop(m, "index out of range", c[4]);
            copy_row(row(t, c[0] + (uint32_t)k, rows), row(t, c[3], rows), rows);
            r[c[0] + k] = r[c[3]];
            c += 5;
            break;
        case EX_C_ELEMENT:
            k = ex_checked_index(r[c[3]], c[2]);
            if (k < 0) return ex_stop(m, "index out of range", c[4]);
            copy_row(row(t, c[0], rows), row(t, c[1] + (uint32_t)k, rows), rows);
            r[c[0]] = r[c[1] + k];
            c += 5;
            break;
        case EX_C_ASSERT:
            if (r[c[0]] == 0) return ex_stop(m, "assertion", c[1]);
            c += 2;
            break;
        case EX_C_WHOLE:
            if (!ex_is_exact(r[c[0]])) return ex_stop(m, "an Integer becomes too large", c[1]);
            c += 2;
            break;
        default: /* EX_C_RETURN */ return DAE_OK;
        }
    }
}
