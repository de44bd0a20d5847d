/* forms.c: the dressed equations as a dae_problem.
 *
 * Derivatives are exact tangents, taken for all columns of one colour (columns without a common row)
 * at once.
 */
#include "prove.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------------------ equations --------- */

/* y, w, z of x, and what the rows are compared with at t. */
static void uncover(problem *p, double t, const double *x)
{
    const dress *c = &p->dress;
    int n = p->kernel.n;
    double time = (t - c->t0) / c->unit;
    for (int i = 0; i < n; i++) p->y[i] = x[c->place[i]] / c->scale[i];
    mix_apply(&c->columns, n, p->y, p->w);
    for (int i = 0; i < n; i++) {
        int j = c->bent[i];
        p->z[i] = p->w[i] + (j < 0 ? 0 : c->beta[i] * sin(p->w[j]));
        p->bow[i] = j < 0 ? 0 : c->beta[i] * cos(p->w[j]);
    }
    if (!p->drive_known || time != p->drive_time) kernel_drive(&p->kernel, time, p->drive);
    p->drive_known = 1;
    p->drive_time = time;
}

/* The derivative of z along v, which is laid out as x. vw keeps that of w. */
static void along(problem *p, const double *v, double factor, double *vw, double *vz)
{
    const dress *c = &p->dress;
    int n = p->kernel.n;
    for (int i = 0; i < n; i++) p->vy[i] = factor * v[c->place[i]] / c->scale[i];
    mix_apply(&c->columns, n, p->vy, vw);
    for (int i = 0; i < n; i++) {
        int j = c->bent[i];
        vz[i] = vw[i] + (j < 0 ? 0 : p->bow[i] * vw[j]);
    }
}

/* zp of x', or of d' for a leading term, or 0 for a right side. */
static void uncover_slope(problem *p, const double *xdot)
{
    const dress *c = &p->dress;
    int n = p->kernel.n, count = 0;
    if (!xdot)
        memset(p->zp, 0, sizeof(double) * (size_t)n);
    else if (c->form != FORM_LEADING)
        along(p, xdot, c->unit, p->wp, p->zp);
    else
        for (int i = 0; i < n; i++)
            p->zp[i] = p->kernel.z[i].differential ? c->unit * xdot[count++] / c->scale[i] : 0;
}

static double psi(const dress *c, double g)
{
    return g + c->kink * g / (1 + g * g);
}

static double psi_slope(const dress *c, double g)
{
    double q = 1 + g * g;
    return 1 + c->kink * (1 - g * g) / (q * q);
}

static double swelling(const problem *p, int i)
{
    int j = p->dress.swell[i];
    return j < 0 ? 1 : 1 + 0.3 * sin(p->z[j]);
}

/* From rows of one size to what the user sees. */
static void cover(problem *p, double sign, const double *h, double *r)
{
    const dress *c = &p->dress;
    mix_apply(&c->rows, p->kernel.n, h, p->vr);
    for (int i = 0; i < p->kernel.n; i++) r[c->line[i]] = sign * c->row[i] * p->vr[i];
}

static void evaluate(problem *p, double t, const double *x, const double *xdot, double sign,
                     double *r)
{
    uncover(p, t, x);
    uncover_slope(p, xdot);
    kernel_rows(&p->kernel, p->drive, p->z, p->zp, p->g);
    for (int i = 0; i < p->kernel.n; i++) {
        p->swollen[i] = swelling(p, i);
        p->h[i] = p->swollen[i] * psi(&p->dress, p->g[i]);
    }
    cover(p, sign, p->h, r);
}

/* The derivative along vx in x and vp in x' (laid out as x, with a leading term too); linearize()
 * has been called at the point. */
static void tangent(problem *p, const double *vx, const double *vp, double sign, double *r)
{
    const dress *c = &p->dress;
    const kernel *k = &p->kernel;
    int curved = c->form == FORM_IMPLICIT;
    along(p, vp, c->unit, p->vw, p->vzp);
    along(p, vx, 1, p->vw, p->vz);
    for (int i = 0; i < k->n; i++) {
        int j = c->bent[i];
        if (curved && j >= 0) p->vzp[i] -= c->beta[i] * sin(p->w[j]) * p->vw[j] * p->wp[j];
    }
    kernel_tangent(k, p->slopes, p->vz, p->vzp, p->vg);
    for (int i = 0; i < k->n; i++) {
        int j = c->swell[i];
        p->h[i] = p->swollen[i] * psi_slope(c, p->g[i]) * p->vg[i];
        if (j >= 0) p->h[i] += 0.3 * cos(p->z[j]) * p->vz[j] * psi(c, p->g[i]);
    }
    cover(p, sign, p->h, r);
}

static void linearize(problem *p, double t, const double *x, const double *xdot)
{
    evaluate(p, t, x, xdot, 1, p->vg);
    kernel_linearize(&p->kernel, p->z, p->slopes);
}

/* ------------------------------------------------------------------ callbacks --------- */

static int residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    evaluate(user, t, x, xdot, 1, r);
    return DAE_OK;
}

static int right_side(double t, const double *x, double *f, void *user)
{
    evaluate(user, t, x, NULL, -1, f);
    return DAE_OK;
}

static int leading(double t, const double *x, double *d, void *user)
{
    problem *p = user;
    int count = 0;
    uncover(p, t, x);
    for (int i = 0; i < p->kernel.n; i++)
        if (p->kernel.z[i].differential) d[count++] = p->dress.scale[i] * p->z[i];
    return DAE_OK;
}

typedef struct sheet {
    const dae_pattern *pattern;
    const unsigned char *mask;
} sheet;

static void put(const problem *p, sheet s, int i, int j, double value, double *J)
{
    int n = p->kernel.n, lower = s.pattern->lower, upper = s.pattern->upper;
    int kind = (int)s.pattern->kind;
    if (kind == DAE_PATTERN_AUTO || kind == DAE_PATTERN_DENSE)
        J[i + j * n] = value;
    else if (kind == DAE_PATTERN_BAND)
        J[upper + i - j + j * (lower + upper + 1)] = value;
    else
        for (int64_t q = s.pattern->start[j]; q < s.pattern->start[j + 1]; q++)
            if (s.pattern->row[q] == i) J[q] = value;
}

/* in_x and in_xdot are the factors of f_x and f_x'. */
static void fill(problem *p, sheet s, double in_x, double in_xdot, double sign, double *J)
{
    int n = p->kernel.n;
    for (int colour = 0; colour < p->column_colours; colour++) {
        for (int j = 0; j < n; j++) {
            p->vx[j] = p->colour[j] == colour ? in_x : 0;
            p->vp[j] = p->colour[j] == colour ? in_xdot : 0;
        }
        double out[KERNEL_MOST];
        tangent(p, p->vx, p->vp, sign, out);
        for (int j = 0; j < n; j++)
            for (int i = 0; p->colour[j] == colour && i < n; i++)
                if (s.mask[i + j * n]) put(p, s, i, j, out[i], J);
    }
}

static int jacobian(double t, const double *x, const double *xdot, double c, double *J, void *user)
{
    problem *p = user;
    linearize(p, t, x, xdot);
    fill(p, (sheet){ &p->api.pattern, p->mask }, 1, c, 1, J);
    return DAE_OK;
}

static int jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    problem *p = user;
    int mass = p->api.rhs != NULL;
    linearize(p, t, x, mass ? NULL : xdot);
    fill(p, (sheet){ &p->api.pattern, p->mask }, 1, 0, mass ? -1 : 1, K);
    return DAE_OK;
}

static int jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    problem *p = user;
    linearize(p, t, x, xdot);
    fill(p, (sheet){ &p->api.pattern, p->mask }, 0, 1, 1, C);
    return DAE_OK;
}

static int mass(double t, const double *x, double *M, void *user)
{
    problem *p = user;
    linearize(p, t, x, NULL);
    fill(p, (sheet){ &p->api.mass_pattern, p->mass_mask }, 0, 1, 1, M);
    return DAE_OK;
}

/* ------------------------------------------------------------------ structure --------- */

static void join(unsigned char *into, const unsigned char *from, int n)
{
    for (int i = 0; i < n; i++) into[i] |= from[i];
}

/* columns[i]: which y the unknown z_i depends on. */
static void mask_columns(const problem *p, unsigned char *columns)
{
    const dress *c = &p->dress;
    int n = p->kernel.n;
    for (int i = 0; i < n; i++) {
        columns[i * n + i] = 1;
        for (int q = c->columns.on ? c->columns.start[i] : 0;
             c->columns.on && q < c->columns.start[i + 1]; q++)
            columns[i * n + c->columns.column[q]] = 1;
    }
    for (int i = n - 1; i >= 0; i--) /* bent[i] < i is not yet joined with its own */
        if (c->bent[i] >= 0) join(columns + i * n, columns + c->bent[i] * n, n);
}

/* What the rows depend on: mask is for K and C together, mass_mask for C alone; both in x and r. */
static void mask_rows(problem *p, const unsigned char *columns, int only_slopes,
                      unsigned char *mask)
{
    const dress *c = &p->dress;
    const kernel *k = &p->kernel;
    int n = k->n;
    unsigned char *own = calloc((size_t)(n * n), 1), *line = malloc((size_t)n);
    for (int i = 0; i < n; i++) {
        if (k->z[i].differential) join(own + i * n, columns + i * n, n);
        if (c->swell[i] >= 0 && !only_slopes) join(own + i * n, columns + c->swell[i] * n, n);
    }
    for (int q = 0; !only_slopes && q < k->terms; q++) {
        join(own + k->term[q].row * n, columns + k->term[q].j * n, n);
        if (k->term[q].k >= 0) join(own + k->term[q].row * n, columns + k->term[q].k * n, n);
    }
    for (int i = 0; i < n; i++) {
        memcpy(line, own + i * n, (size_t)n);
        for (int q = c->rows.on ? c->rows.start[i] : 0; c->rows.on && q < c->rows.start[i + 1]; q++)
            join(line, own + c->rows.column[q] * n, n);
        for (int j = 0; j < n; j++) mask[c->line[i] + c->place[j] * n] = line[j];
    }
    free(own);
    free(line);
}

static void colour_columns(problem *p)
{
    int n = p->kernel.n;
    unsigned char *taken = calloc((size_t)(n * n), 1); /* rows of each colour */
    for (int j = 0; j < n; j++) {
        int colour = -1, clash = 1;
        while (clash) {
            colour++;
            clash = 0;
            for (int i = 0; i < n && !clash; i++)
                clash = p->mask[i + j * n] && taken[i + colour * n];
        }
        p->colour[j] = colour;
        join(taken + colour * n, p->mask + j * n, n);
        if (colour >= p->column_colours) p->column_colours = colour + 1;
    }
    free(taken);
}

/* mask as a pattern of the shape that the problem has. */
static dae_pattern pattern_of(const problem *p, const unsigned char *mask, int64_t **start,
                              int **entry)
{
    int n = p->kernel.n;
    dae_pattern out = { 0 };
    int64_t count = 0;
    *start = malloc(sizeof(int64_t) * (size_t)(n + 1));
    *entry = malloc(sizeof(int) * (size_t)(n * n + 1));
    for (int j = 0; j < n; j++) {
        (*start)[j] = count;
        for (int i = 0; i < n; i++)
            if (mask[i + j * n]) {
                (*entry)[count++] = i;
                if (i - j > out.lower) out.lower = i - j;
                if (j - i > out.upper) out.upper = j - i;
            }
    }
    (*start)[n] = count;
    out.kind = p->kernel.shape == SHAPE_DENSE  ? DAE_PATTERN_DENSE
               : p->kernel.shape == SHAPE_BAND ? DAE_PATTERN_BAND
                                               : DAE_PATTERN_SPARSE;
    out.start = *start;
    out.row = *entry;
    return out;
}

static void lay_out(problem *p)
{
    int n = p->kernel.n;
    unsigned char *columns = calloc((size_t)(n * n), 1);
    p->mask = calloc((size_t)(n * n), 1);
    p->mass_mask = calloc((size_t)(n * n), 1);
    p->colour = calloc((size_t)n, sizeof(int));
    mask_columns(p, columns);
    mask_rows(p, columns, 0, p->mask);
    mask_rows(p, columns, 1, p->mass_mask);
    colour_columns(p);
    dae_pattern pattern = pattern_of(p, p->mask, &p->start, &p->entry);
    if (p->pattern == PATTERN_GIVEN) p->api.pattern = pattern;
    dae_pattern of_mass = pattern_of(p, p->mass_mask, &p->mass_start, &p->mass_entry);
    if (p->dress.form == FORM_CONSTANT || p->dress.form == FORM_FUNCTION)
        p->api.mass_pattern = of_mass;
    free(columns);
}

/* ------------------------------------------------------------------ a problem --------- */

static void set_form(problem *p)
{
    dress *c = &p->dress;
    dae_problem *a = &p->api;
    int n = p->kernel.n, given = p->jacobian != JACOBIAN_NONE;
    p->m = n;
    a->size = n;
    a->user = p;
    if (c->form == FORM_LEADING) {
        p->m = 0;
        for (int i = 0; i < n; i++) p->m += p->kernel.z[i].differential;
        a->d = leading;
        a->d_size = p->m;
    }
    if (c->form == FORM_IMPLICIT || c->form == FORM_LEADING) {
        a->residual = residual;
        a->jacobian = p->jacobian == JACOBIAN_COMBINED ? jacobian : NULL;
        a->jacobian_x = p->jacobian == JACOBIAN_PARTS ? jacobian_x : NULL;
        a->jacobian_xdot = p->jacobian == JACOBIAN_PARTS ? jacobian_xdot : NULL;
        return;
    }
    a->rhs = right_side;
    a->jacobian_x = given ? jacobian_x : NULL;
    a->mass_kind = c->form == FORM_IDENTITY   ? DAE_MASS_IDENTITY
                   : c->form == FORM_DIAGONAL ? DAE_MASS_DIAGONAL
                   : c->form == FORM_CONSTANT ? DAE_MASS_CONSTANT
                                              : DAE_MASS_FUNCTION;
    a->mass = c->form == FORM_FUNCTION ? mass : NULL;
    p->mass_values = calloc((size_t)(2 * n * n + 1), sizeof(double));
    for (int i = 0; c->form == FORM_DIAGONAL && i < n; i++)
        if (p->kernel.z[i].differential)
            p->mass_values[c->place[i]] =
                c->row[i] * c->unit / c->scale[i] / fmax(1, p->kernel.z[i].rate);
    if (c->form == FORM_CONSTANT) {
        double x[KERNEL_MOST];
        dress_exact(p, c->t0, x, NULL);
        mass(c->t0, x, p->mass_values, p);
    }
    if (c->form == FORM_DIAGONAL || c->form == FORM_CONSTANT) a->mass_values = p->mass_values;
}

/* Without an array of tolerances the unknowns must all be of size 1; with the default, 1e-3 rtol,
 * they must be so from the start. */
static void draw_tolerances(problem *p, draw *d)
{
    double x[KERNEL_MOST], least = 1;
    int n = p->kernel.n;
    dress_exact(p, p->dress.t0, x, NULL);
    for (int i = 0; i < n; i++) {
        least = fmin(least, fabs(x[i]));
        p->atol_part[p->dress.place[i]] = p->dress.scale[i] * draw_log(d, 0.2, 1);
    }
    int kind = draw_below(d, 3);
    if (p->scaled || kind == 0)
        p->atol_over_rtol = 0;
    else
        p->atol_over_rtol = kind == 1 && least > 0.3 ? 1e-3 : draw_log(d, 0.2, 1);
}

static form draw_form(draw *d, int index)
{
    int at = draw_below(d, 100);
    if (at < 35) return FORM_IMPLICIT;
    if (at < 50) return FORM_LEADING;
    if (at < 65) return index == 0 ? FORM_IDENTITY : FORM_DIAGONAL;
    if (at < 72) return FORM_DIAGONAL;
    return at < 88 ? FORM_CONSTANT : FORM_FUNCTION;
}

problem *problem_draw(uint64_t seed)
{
    draw d = draw_of(seed, 1);
    problem *p = calloc(1, sizeof *p);
    p->seed = seed;
    int index = (int)(seed % 4);
    int n = (int)draw_log(&d, 1, 201), least[] = { 1, 1, 2, 3 };
    if (n < least[index]) n = least[index];
    int at = draw_below(&d, 10);
    outline shape = at < 3 ? SHAPE_BAND : at < 7 || n > 80 ? SHAPE_SPARSE : SHAPE_DENSE;
    if (n > 80 && draw_chance(&d, 0.05)) shape = SHAPE_DENSE;
    p->dress.form = draw_form(&d, index);
    if (p->dress.form == FORM_FUNCTION && n > 40 && shape == SHAPE_DENSE)
        shape = SHAPE_SPARSE; /* M is dear */
    p->levels = index >= 2 || draw_chance(&d, 0.5);
    p->jacobian = draw_chance(&d, 0.5) ? JACOBIAN_NONE : 1 + draw_below(&d, 2);
    p->pattern = draw_chance(&d, 0.5);
    p->with_slope = draw_chance(&d, 0.5);
    kernel_draw(&p->kernel, &d, n, index, shape);
    dress_draw(p, &d);
    lay_out(p);
    set_form(p);
    draw_tolerances(p, &d);
    p->end = p->dress.t0 + p->kernel.span * p->dress.unit;
    for (int i = 0; i < n; i++) p->level[p->dress.place[i]] = (unsigned char)p->kernel.z[i].level;
    if (p->levels) p->api.level = p->level;
    return p;
}

void problem_close(problem *p)
{
    if (!p) return;
    dress_close(&p->dress);
    free(p->colour);
    free(p->mask);
    free(p->mass_mask);
    free(p->start);
    free(p->mass_start);
    free(p->entry);
    free(p->mass_entry);
    free(p->mass_values);
    free(p);
}

void problem_describe(const problem *p, char *words, size_t room)
{
    static const char *const forms[] = { "F(t,x,x')",  "leading term", "x'=f",
                                         "diagonal M", "constant M",   "M(t,x)" };
    static const char *const shapes[] = { "dense", "band", "sparse" };
    static const char *const jacobians[] = { "differences", "jacobian", "jacobian parts" };
    const dress *c = &p->dress;
    snprintf(words, room, "index %d, n %d, %s, %s%s, %s, %s%s%s%s%s%s%s%s", p->kernel.index,
             p->kernel.n, forms[c->form], shapes[p->kernel.shape],
             p->pattern == PATTERN_AUTO ? " probed" : "", jacobians[p->jacobian],
             p->with_slope ? "x' given" : "x' NULL", p->kernel.stiff ? ", stiff" : "",
             p->scaled ? ", scaled" : "", c->unit != 1 ? ", unit of time" : "",
             c->columns.on ? ", columns mixed" : "", c->rows.on ? ", rows mixed" : "",
             p->levels ? ", levels" : "", p->atol_over_rtol == 1e-3 ? ", default atol" : "");
}

/* ------------------------------------------------------------------ checks ------------ */

static double entry_of(const dae_pattern *s, const double *J, int n, int i, int j)
{
    if (s->kind == DAE_PATTERN_DENSE) return J[i + j * n];
    if (s->kind == DAE_PATTERN_BAND)
        return i - j > s->lower || j - i > s->upper
                   ? 0
                   : J[s->upper + i - j + j * (s->lower + s->upper + 1)];
    for (int64_t q = s->start[j]; q < s->start[j + 1]; q++)
        if (s->row[q] == i) return J[q];
    return 0;
}

/* What is left of the equations at t, through the callbacks. */
static void defect(problem *p, double t, const double *x, const double *xdot, double *r)
{
    int n = p->kernel.n;
    const dae_problem *a = &p->api;
    double *M = calloc((size_t)(2 * n * n + 1), sizeof(double));
    if (a->residual)
        a->residual(t, x, xdot, r, p);
    else
        a->rhs(t, x, r, p);
    if (a->mass_kind == DAE_MASS_FUNCTION) a->mass(t, x, M, p);
    const double *values = a->mass_kind == DAE_MASS_FUNCTION ? M : a->mass_values;
    for (int i = 0; a->rhs && i < n; i++) {
        if (a->mass_kind == DAE_MASS_IDENTITY) r[i] -= xdot[i];
        if (a->mass_kind == DAE_MASS_DIAGONAL) r[i] -= values[i] * xdot[i];
        for (int j = 0; a->mass_kind >= DAE_MASS_CONSTANT && j < n; j++)
            r[i] -= entry_of(&a->mass_pattern, values, n, i, j) * xdot[j];
    }
    free(M);
}

int problem_check(problem *p, char *words, size_t room)
{
    double x[KERNEL_MOST], xdot[KERNEL_MOST], r[KERNEL_MOST];
    int n = p->kernel.n;
    for (int k = 0; k <= 10; k++) {
        double t = p->dress.t0 + (p->end - p->dress.t0) * k / 10;
        dress_exact(p, t, x, xdot);
        defect(p, t, x, xdot, r);
        for (int i = 0; i < n; i++) {
            double size =
                r[p->dress.line[i]] / p->dress.row[i] / (1 + curve_slope_bound(&p->kernel.z[i].s));
            if (fabs(size) < 1e-9) continue;
            snprintf(words, room, "t = %g: row %d is off by %g", t, p->dress.line[i] + 1, size);
            return 0;
        }
    }
    double atol[KERNEL_MOST];
    for (int i = 0; i < n; i++) atol[i] = 1e-6 * p->atol_part[i];
    dae_solver *s =
        dae_open(&p->api, &(dae_options){ .method = "bdf", .atol_each = atol, .atol_count = n });
    int sure =
        p->dress.form != FORM_FUNCTION; /* else it counts differences of M(x) x' as the user's */
    dae_status status =
        sure && (p->jacobian || p->pattern) ? dae_check_jacobian(s, p->end, x, xdot) : DAE_OK;
    if (status != DAE_OK) snprintf(words, room, "%s", dae_message(s));
    dae_close(s);
    return status == DAE_OK;
}
