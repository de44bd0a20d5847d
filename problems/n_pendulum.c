/* n_pendulum.c: a chain of point masses on rigid massless bars, in Cartesian coordinates.
 *
 * n links hang from the origin: 2 n coordinates, n constraints (|p_i - p_(i-1)|^2 - l^2) / 2.
 * Two links are the double pendulum. Neither M nor derivatives of the constraints are needed
 * beyond what is given here.
 *
 * Long chains come with patterns: constraint i knows the points i - 1 and i, so column j of
 * phi_q (coordinate j of point j / 2) has the rows j / 2 and j / 2 + 1. Forces are constant.
 */
#include "mechanical.h"

#include <stdio.h>

typedef struct state {
    mechanical_base base;
    int links, sparse;
    double g, l;
    const int64_t *start;
} state;

static int force(double t, const double *q, const double *v, double *f, void *user)
{
    const state *s = user;
    (void)t, (void)q, (void)v;
    for (int i = 0; i < s->links; i++) {
        f[2 * i] = 0;
        f[2 * i + 1] = -s->g;
    }
    return DAE_OK;
}

/* From the point before to point i */
static void bar(const double *q, int i, double *dx, double *dy)
{
    *dx = q[2 * i] - (i > 0 ? q[2 * i - 2] : 0);
    *dy = q[2 * i + 1] - (i > 0 ? q[2 * i - 1] : 0);
}

static int constraint(double t, const double *q, double *phi, void *user)
{
    const state *s = user;
    (void)t;
    for (int i = 0; i < s->links; i++) {
        double dx, dy;
        bar(q, i, &dx, &dy);
        phi[i] = (dx * dx + dy * dy - s->l * s->l) / 2;
    }
    return DAE_OK;
}

static int constraint_q(double t, const double *q, double *G, void *user)
{
    const state *s = user;
    int n = s->links;
    (void)t;
    for (int i = 0; s->sparse && i < n; i++) { /* the first entry of column 2 i is row i */
        double d[2];
        bar(q, i, &d[0], &d[1]);
        for (int k = 0; k < 2; k++) {
            G[s->start[2 * i + k]] = d[k];
            if (i > 0) G[s->start[2 * i - 2 + k] + 1] = -d[k];
        }
    }
    for (int i = 0; !s->sparse && i < n; i++) {
        double dx, dy;
        bar(q, i, &dx, &dy);
        G[i + 2 * i * n] = dx;
        G[i + (2 * i + 1) * n] = dy;
        if (i > 0) {
            G[i + (2 * i - 2) * n] = -dx;
            G[i + (2 * i - 1) * n] = -dy;
        }
    }
    return DAE_OK;
}

static int constraint_bias(double t, const double *q, const double *v, double *bias, void *user)
{
    const state *s = user;
    (void)t, (void)q;
    for (int i = 0; i < s->links; i++) {
        double dx, dy;
        bar(v, i, &dx, &dy);
        bias[i] = dx * dx + dy * dy;
    }
    return DAE_OK;
}

static int energy(double t, const double *q, const double *v, double *E, void *user)
{
    const state *s = user;
    (void)t;
    *E = -s->base.energy0;
    for (int i = 0; i < s->links; i++)
        *E += (v[2 * i] * v[2 * i] + v[2 * i + 1] * v[2 * i + 1]) / 2 + s->g * q[2 * i + 1];
    return DAE_OK;
}

static int takes_patterns(const char *form)
{
    static const char *const those[] = { "ggl",
                                         "ggl-mass",
                                         "index3",
                                         "index2",
                                         "index3-acceleration",
                                         "index2-acceleration",
                                         "index1-acceleration",
                                         "index1-acceleration-projected" };
    for (int k = 0; k < COUNT(those); k++)
        if (strcmp(form, those[k]) == 0) return 1;
    return 0;
}

/* phi_q, and behind it the empty pattern of the forces' derivatives */
static void fill_patterns(int links, int64_t *start, int *row)
{
    int64_t count = 0;
    for (int j = 0; j < 2 * links; j++) {
        start[j] = count;
        row[count++] = j / 2;
        if (j / 2 + 1 < links) row[count++] = j / 2 + 1;
    }
    start[2 * links] = count;
}

static int build(const char *form, const double *value, problem_instance *out)
{
    int fits = takes_patterns(form), sparse = value[4] == 1 || value[0] >= 20;
    sparse = fits && value[4] != 2 && sparse;
    if (!is_whole(value[0], 1, sparse ? 1000000 : 1000)) return bad_setting(0);
    if (!is_whole(value[4], 0, 2) || (value[4] == 1 && !fits)) return bad_setting(4);
    if (!(value[1] > 0)) return bad_setting(1);
    if (!(value[2] > 0)) return bad_setting(2);
    size_t links = (size_t)value[0];
    block b;
    if (problem_block(out,
                      &(block_plan){ .state = sizeof(state),
                                     .doubles = 4 * links,
                                     .starts = 4 * links + 2,
                                     .rows = 4 * links },
                      &b) != DAE_OK)
        return DAE_E_NOMEM;
    state *s = b.state;
    fill_patterns((int)links, b.starts, b.rows);
    s->start = b.starts;
    s->sparse = sparse;
    s->links = (int)links;
    s->g = value[1];
    s->l = value[2];
    double *q = b.doubles, angle = value[3] * 3.14159265358979323846 / 180;
    for (size_t i = 0; i < links; i++) {
        q[2 * i] = (double)(i + 1) * s->l * sin(angle);
        q[2 * i + 1] = -(double)(i + 1) * s->l * cos(angle);
    }
    mechanical_case c = {
        .model = { .coordinates = 2 * s->links,
                   .constraints = s->links,
                   .force = force,
                   .constraint = constraint,
                   .constraint_q = constraint_q,
                   .constraint_bias = constraint_bias,
                   .steady = 1,
                   .energy = energy,
                   .user = s },
        .t1 = 1,
        .q0 = q,
        .v0 = q + 2 * links,
        .atol_over_rtol = 1,
    };
    if (sparse) {
        c.model.constraint_pattern =
            (dae_pattern){ .kind = DAE_PATTERN_SPARSE, .start = b.starts, .row = b.rows };
        c.model.force_pattern = (dae_pattern){ .kind = DAE_PATTERN_SPARSE,
                                               .start = b.starts + 2 * links + 1,
                                               .row = b.rows };
    }
    return mechanical_build(&c, form, out);
}

static const problem_setting settings[] = {
    { "links", 2, "number of links, 1 to 1000; 1000000 if sparse" },
    { "g", 9.81, "acceleration of gravity" },
    { "length", 1, "length of a link" },
    { "angle", 90, "initial angle of the straight chain from the downward vertical, degrees" },
    { "sparse", 0,
      "1: sparse matrices (ggl, ggl-mass, index3, index2, ...-acceleration), 2: dense; 0: sparse "
      "from 20 links on" },
    { NULL, 0, NULL },
};

const problem_entry problem_n_pendulum = {
    .name = "n-pendulum",
    .title = "double and n-fold pendulum: point masses on rigid bars, Cartesian",
    .description = "A straight chain of n point masses on massless rigid bars is let go "
                   "at rest: 2 n "
                   "coordinates, n quadratic constraints, n degrees of freedom. Two "
                   "links (the default) "
                   "make the double pendulum, whose motion is chaotic in the long run. "
                   "Every formulation "
                   "is a form.",
    .source = "classical; Hairer & Wanner 1996, VII.1 for the stabilizations",
    .forms = mechanical_forms,
    .settings = settings,
    .build = build,
};
