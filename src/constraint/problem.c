/* problem.c: a mechanism as a dae_problem: callbacks, levels, names.
 *
 * Formulations whose leading matrix is constant come in the mass form, the others as
 * residual C(t, q) x' - rhs(t, x). Jacobians: C is known; for the rest see jacobian.c.
 */
#include "constraint/tangent.h"
#include "base/float_check.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

/* m->M as it stands before derivatives */
static int leading_mass(dae_mechanism *m, double t, const double *x)
{
    int answer = dae_mech_mass(m, t, x, m->M);
    if (answer != DAE_OK || !(m->help > 0) || !(m->form->parts & MECH_HELP)) return answer;
    answer = dae_mech_matrix(m, t, x, m->W);
    dae_mech_help(m);
    return answer;
}

static int rhs(double t, const double *x, double *f, void *user)
{
    dae_mechanism *m = user;
    return dae_mech_rhs(m, t, x, f);
}

/* out := C x' for the blocks that stand before q' and v' */
static int leading(dae_mechanism *m, double t, const double *x, const double *xdot, double *out)
{
    size_t n = (size_t)m->n;
    int answer = DAE_OK, dynamic = m->at.v >= 0 ? m->at.v : m->at.e;
    unsigned blocks = m->form->parts & (MECH_MASS_Q | MECH_MASS_V);
    int count = m->at.e >= 0 ? m->n - m->rank : m->n;
    memset(out, 0, (size_t)m->at.size * sizeof *out);
    memcpy(out, xdot, n * sizeof *out);
    memcpy(out + dynamic, xdot + dynamic, (size_t)count * sizeof *out);
    if (blocks) answer = leading_mass(m, t, x);
    for (int k = 0; k < 2 && answer == DAE_OK; k++) {
        int at = k ? m->at.v : 0;
        if (!(blocks & (k ? MECH_MASS_V : MECH_MASS_Q))) continue;
        memset(out + at, 0, n * sizeof *out);
        dae_mech_M_times(m, 1, xdot + at, out + at);
    }
    return answer;
}

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    dae_mechanism *m = user;
    int answer = m->form->rhs(m, t, x, m->values);
    if (answer == DAE_OK) answer = leading(m, t, x, xdot, r);
    for (int i = 0; i < m->at.size; i++) r[i] -= m->values[i];
    return answer;
}

/* Central differences err by e^2: 1e-5 of the scale of an unknown balances 1e-10 against
 * rounding. Multipliers enter linearly (or nearly): any increment. */
double dae_mech_increment(const dae_mechanism *m, int j, double x)
{
    double scale = 1;
    if (j < m->n)
        scale = m->reach[j];
    else if (m->at.v >= 0 && j >= m->at.v && j < m->at.v + m->n)
        scale = m->step[j - m->n] / m->step_t;
    return 1e-5 * fmax(fabs(x), scale);
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    dae_mechanism *m = user;
    const double *with = m->problem.residual ? xdot : NULL;
    return m->sparse ? dae_mech_sparse_differentiate(m, t, x, with, K)
                     : dae_mech_jacobian(m, t, x, with, K);
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    dae_mechanism *m = user;
    size_t size = (size_t)m->at.size, n = (size_t)m->n;
    int answer = leading_mass(m, t, x);
    (void)xdot;
    if (m->sparse) {
        dae_mech_sparse_leading(m, C);
        return answer;
    }
    for (int k = 0; k < 2; k++) {
        size_t at = k ? (size_t)m->at.v : 0;
        int with_mass = (m->form->parts & (k ? MECH_MASS_V : MECH_MASS_Q)) != 0;
        for (size_t j = 0; j < n; j++)
            for (size_t i = 0; i < n; i++)
                C[at + i + (at + j) * size] = with_mass ? m->M[i + j * n] : i == j;
    }
    return answer;
}

/* ---- levels, names ---- */

static void set_levels(dae_mechanism *m)
{
    const dae_mech_form *form = m->form;
    unsigned char *level = m->level;
    memset(level, DAE_DIFFERENTIAL, (size_t)m->at.size);
    for (int i = 0; i < m->n && m->at.v >= 0; i++)
        level[m->at.v + i] = m->h > 0 ? form->v_level : 0;
    for (int i = 0; i < m->n && m->at.a >= 0; i++)
        level[m->at.a + i] = m->h > 0   ? form->lambda_level
                             : m->m > 0 ? form->rolling_level
                                        : DAE_ALGEBRAIC;
    for (int i = 0; i < m->m && m->at.lambda >= 0; i++)
        level[m->at.lambda + i] = i < m->h ? form->lambda_level : form->rolling_level;
    for (int i = 0; i < m->h && m->at.mu >= 0; i++) level[m->at.mu + i] = DAE_INDEX2;
    for (int i = 0; i < m->m && m->at.nu >= 0; i++) level[m->at.nu + i] = DAE_INDEX2;
}

enum { NAME = 80 };

typedef struct part {
    int at, count, constraint; /* constraint: named after constraints, not coordinates */
    const char *unknown, *equation;
} part;

static void name_part(dae_mechanism *m, const part *p)
{
    char own[64];
    for (int i = 0; p->at >= 0 && i < p->count; i++) {
        const char *of = own;
        size_t k = (size_t)(p->at + i);
        char *unknown = m->text + 2 * k * NAME, *equation = unknown + NAME;
        if (p->constraint)
            of = dae_mech_constraint_name(m, i, own);
        else if (m->model.names && p->at != m->at.e)
            of = m->model.names[i];
        else
            snprintf(own, sizeof own, "%s%d", p->at == m->at.e ? "" : "q", i + 1);
        snprintf(unknown, NAME, p->unknown, of);
        snprintf(equation, NAME, p->equation, of);
        m->names[k] = unknown;
        m->equation_names[k] = equation;
    }
}

static void set_names(dae_mechanism *m)
{
    const dae_mech_layout *at = &m->at;
    int plain = (m->form->parts & MECH_PLAIN_A) != 0;
    int level = m->form->index == 3 ? 0 : m->form->index == 2 && (at->a < 0 || plain) ? 1 : 2;
    static const char *const rows[] = { "%s", "%s, velocity", "%s, acceleration" };
    const part parts[] = {
        { 0, m->n, 0, "%s", "velocity of %s" },
        { at->v, m->n, 0, "%s'", plain ? "acceleration of %s" : "force on %s" },
        { at->e, m->n - m->rank, 0, "e%s", "motion %s" },
        { at->a, m->n, 0, plain ? "%s''" : "w %s", plain ? "force on %s" : "total force on %s" },
        { at->lambda, m->m, 1, "lambda %s", rows[level] },
        { at->mu, m->h, 1, "mu %s", rows[0] },
        { at->nu, m->m, 1, "nu %s", rows[1] },
    };
    for (size_t k = 0; k < sizeof parts / sizeof parts[0]; k++) name_part(m, &parts[k]);
}

void dae_mech_problem_fill(dae_mechanism *m)
{
    dae_problem *p = &m->problem;
    unsigned mass = m->form->parts & (MECH_MASS_Q | MECH_MASS_V);
    int constant = !dae_mech_mass_varies(m) || !mass;
    *p = (dae_problem){ .size = m->at.size, .user = m };
    p->pattern.kind = DAE_PATTERN_DENSE;
    if (m->sparse)
        p->pattern = (dae_pattern){ .kind = DAE_PATTERN_SPARSE,
                                    .start = m->sparse->J.start,
                                    .row = m->sparse->J.row };
    p->jacobian_x = jacobian_x;
    p->jacobian_trusted = !m->sparse && !m->model.constraint_q && !m->model.constraint_bias;
    p->level = m->level;
    p->names = m->names;
    p->equation_names = m->equation_names;
    int moves = m->how.project && !(m->how.project & DAE_PROJECT_DERIVATIVE);
    p->project = moves ? dae_mech_project : NULL;
    dae_mech_motion_fill(m);
    p->motion = &m->motion;
    p->leap = m->leap && !m->leap_missing ? dae_mech_leap_step : NULL;
    p->leap_missing = m->leap_missing;
    set_levels(m);
    set_names(m);
    if (!constant) {
        p->residual = residual;
        p->jacobian_xdot = jacobian_xdot;
        return;
    }
    p->rhs = rhs;
    p->mass_kind = m->at.lambda >= 0 ? DAE_MASS_DIAGONAL : DAE_MASS_IDENTITY;
    if (m->at.lambda < 0) return;
    memset(m->leading, 0, (size_t)m->at.size * sizeof(double));
    for (int k = 0; k < 2; k++)
        for (int i = 0; i < m->n; i++) {
            int own = (mass & (k ? MECH_MASS_V : MECH_MASS_Q)) && m->model.mass_diagonal;
            m->leading[(k ? m->at.v : 0) + i] = own ? m->model.mass_diagonal[i] : 1;
        }
    p->mass_values = m->leading;
}

size_t dae_mech_text_size(int states)
{
    return 2 * (size_t)states * NAME;
}
