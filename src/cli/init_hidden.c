/* init_hidden.c: the nearest values that satisfy all constraints, hidden ones included.
 *
 * The analysis (daedalus/analysis.h) leads from the values given to a point that satisfies the
 * equations and their derivatives, and knows the gradients G of all constraints there. That point
 * is somewhere near; the nearest, which minimizes |W (x - x0)|, is reached by turns:
 *
 *     min |W (x + d - x0)| with G d = 0,    then back to the constraints from x + d,
 *
 * until d vanishes: x - x0 is then W^2-orthogonal to the tangent space. W = 1 / max(|x0|, 1), and
 * 0 for unknowns whose derivative does not occur: of a regular problem they are functions of the
 * others, and a multiplier that was guessed must not push velocities about.
 *
 * Each constraint has an unknown of its own, so d follows from its free components: d = T y, and y
 * by conjugate gradients on T'W^2(T y - (x0 - x)) = 0.
 */
#include "cli/init_hidden.h"
#include "cli/analyze_problem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_UNKNOWNS = 300, MOST_TURNS = 40, HALVINGS = 6, MOST_SHOWN = 40 };

/* Multipliers of index 3 are second derivatives by differences: known to about this. */
static const double rounding = 1e-7;

static dae_analysis *ask(hidden_start *h, const double *x, const double *v)
{
    const problem_instance *p = h->p;
    dae_analysis_options o = { .time_scale = 0.1 * fabs(p->t1 - p->t0) };
    dae_analysis *a = dae_analyze(&p->problem, &o, p->t0, x, p->problem.d ? NULL : v);
    h->no_memory |= dae_analysis_status(a) == DAE_E_NOMEM;
    return a;
}

/* ---- the tangent space ---- */

/* The constraints solved for their own unknowns: rows i of R, own unknown -sum R[i][free] d_free.
 * A row of an early level may hold the own unknown of a later one: cleared from the end. */
static void reduce(const hidden_start *h, double *R, int *own)
{
    int n = h->n, count = dae_analysis_facts(h->a)->constraints;
    for (int i = 0; i < n; i++) own[i] = -1;
    for (int i = 0; i < count; i++) {
        int unknown;
        const double *row = dae_analysis_constraint(h->a, i, NULL, &unknown);
        memcpy(R + (size_t)i * (size_t)n, row, (size_t)n * sizeof *R);
        own[unknown] = i;
    }
    for (int k = n; k-- > 0;)
        for (int j = 0; j < n; j++) {
            double *row = R + (size_t)k * (size_t)n, factor = k < count ? row[j] : 0;
            if (factor == 0 || own[j] <= k) /* nobody's own: -1 */
                continue;
            const double *with = R + (size_t)own[j] * (size_t)n;
            for (int i = 0; i < n; i++) row[i] -= factor * with[i];
            row[j] = 0;
        }
}

/* d = T y: y has the free components, at their places */
static void along(int n, const double *R, const int *own, const double *y, double *d)
{
    for (int i = 0; i < n; i++) {
        double sum = own[i] < 0 ? y[i] : 0;
        for (int j = 0; own[i] >= 0 && j < n; j++)
            sum -= own[j] < 0 ? R[(size_t)own[i] * (size_t)n + (size_t)j] * y[j] : 0;
        d[i] = sum;
    }
}

/* g = T' W^2 e */
static void back(const hidden_start *h, const double *R, const int *own, const double *e, double *g)
{
    int n = h->n;
    for (int j = 0; j < n; j++) {
        double sum = 0;
        for (int i = 0; own[j] < 0 && i < n; i++) {
            double T = own[i] < 0 ? i == j : -R[(size_t)own[i] * (size_t)n + (size_t)j];
            sum += T * h->weight[i] * h->weight[i] * e[i];
        }
        g[j] = sum;
    }
}

static double dot(int n, const double *a, const double *b)
{
    double sum = 0;
    for (int i = 0; i < n; i++) sum += a[i] * b[i];
    return sum;
}

static double length(const hidden_start *h, const double *e)
{
    double sum = 0;
    for (int i = 0; i < h->n; i++) sum += h->weight[i] * h->weight[i] * e[i] * e[i];
    return sqrt(sum);
}

/* d in the tangent space with |W (d - wish)| least: conjugate gradients for least squares. */
static void tangent_step(const hidden_start *h, const double *wish, double *d)
{
    int n = h->n, *own = (int *)(void *)(h->work + (size_t)n * (size_t)n + 4 * (size_t)n);
    double *R = h->work, *rest = R + (size_t)n * (size_t)n;
    double *g = rest + n, *y = g + n, *move = y + n;
    reduce(h, R, own);
    memcpy(rest, wish, (size_t)n * sizeof *rest);
    memset(d, 0, (size_t)n * sizeof *d);
    back(h, R, own, rest, g);
    memcpy(y, g, (size_t)n * sizeof *y);
    double now = dot(n, g, g), first = now;
    for (int k = 0; k < 2 * n && now > 1e-28 * first; k++) {
        along(n, R, own, y, move);
        double size = length(h, move), step = now / (size * size);
        if (!(size > 0)) return;
        for (int i = 0; i < n; i++) {
            d[i] += step * move[i];
            rest[i] -= step * move[i];
        }
        back(h, R, own, rest, g);
        double next = dot(n, g, g);
        for (int i = 0; i < n; i++) y[i] = g[i] + next / now * y[i];
        now = next;
    }
}

/* ---- the search ---- */

static double distance(const hidden_start *h, const double *x, const double *x0, double *e)
{
    for (int i = 0; i < h->n; i++) e[i] = x0[i] - x[i];
    return length(h, e);
}

/* One turn towards x0. 1: it came nearer by something. */
static int nearer(hidden_start *h, const double *x0)
{
    int n = h->n;
    double *wish = h->before, *d = h->after; /* not in use yet */
    const double *x = dae_analysis_derivative(h->a, 0), *v = dae_analysis_derivative(h->a, 1);
    double from = distance(h, x, x0, wish);
    tangent_step(h, wish, d);
    if (!(length(h, d) > 1e-9)) return 0;
    for (int k = 0; k < HALVINGS; k++) {
        for (int i = 0; i < n; i++) h->x[i] = x[i] + ldexp(d[i], -k);
        dae_analysis *a = ask(h, h->x, v);
        const dae_index_facts *f = dae_analysis_facts(a);
        if (f && f->regular && f->constraints == dae_analysis_facts(h->a)->constraints &&
            distance(h, dae_analysis_derivative(a, 0), x0, wish) < from) {
            dae_analysis_close(h->a);
            h->a = a;
            return 1;
        }
        dae_analysis_close(a);
    }
    return 0;
}

/* Values that rounding alone moved stay as they were given. */
static void read_point(hidden_start *h, const double *x0)
{
    const double *x = dae_analysis_derivative(h->a, 0), *v = dae_analysis_derivative(h->a, 1);
    for (int i = 0; i < h->n; i++) {
        h->x[i] = fabs(x[i] - x0[i]) > 1e-10 * fmax(fabs(x0[i]), 1) ? x[i] : x0[i];
        h->v[i] = v[i];
    }
}

/* Constraints to first order at the consistent point: of the values given, and what an analysis
 * that starts from the consistent ones would still change. */
static dae_status read_residuals(hidden_start *h, const double *x0)
{
    dae_analysis *again = ask(h, h->x, h->v);
    const double *x = dae_analysis_derivative(again, 0), *row;
    for (int i = 0; x && (row = dae_analysis_constraint(h->a, i, NULL, NULL)); i++) {
        h->before[i] = h->after[i] = 0;
        for (int k = 0; k < h->n; k++) {
            h->before[i] += row[k] * (x0[k] - h->x[k]);
            h->after[i] += row[k] * (h->x[k] - x[k]);
        }
    }
    dae_status status = dae_analysis_status(again);
    dae_analysis_close(again);
    return status;
}

static dae_status no_values(cli *c, const hidden_start *h, const char *why)
{
    if (h->no_memory) return dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
    dae_fail(&c->report, DAE_E_INCONSISTENT,
             "no values were found that satisfy the equations and their hidden constraints");
    dae_at(&c->report, "t = %.10g, from the initial values given", h->p->t0);
    dae_why(&c->report, "%s", why);
    dae_hint(&c->report, "give --values nearer to a solution; 'daedalus analyze' shows the "
                         "constraints at the problem's own values");
    return DAE_E_INCONSISTENT;
}

/* The message of the analysis without its "error[..]: " and what follows the first line. */
static dae_status not_found(cli *c, const hidden_start *h, const dae_analysis *a)
{
    char line[200];
    const char *text = dae_analysis_message(a), *colon = strstr(text, "]: ");
    text = colon ? colon + 3 : text;
    snprintf(line, sizeof line, "%.*s", (int)strcspn(text, "\n"), text);
    return no_values(c, h, line);
}

static dae_status take_room(cli *c, hidden_start *h)
{
    size_t n = (size_t)h->n;
    h->block = calloc(n * n + 10 * n, sizeof(double));
    if (!h->block) {
        dae_fail(&c->report, DAE_E_NOMEM, "out of memory");
        return DAE_E_NOMEM;
    }
    h->x = h->block;
    h->v = h->x + n;
    h->weight = h->v + n;
    h->before = h->weight + n;
    h->after = h->before + n;
    h->work = h->after + n; /* n n + 4 n, and n integers */
    return DAE_OK;
}

dae_status hidden_find(cli *c, hidden_start *h, const problem_instance *p, const double *x0,
                       const double *v0)
{
    *h = (hidden_start){ .p = p, .n = p->problem.size };
    if (p->index < 2 || h->n == 0) return DAE_OK;
    if (h->n > MOST_UNKNOWNS) {
        h->unknown = "more than 300 unknowns";
        return DAE_OK;
    }
    dae_status status = take_room(c, h);
    if (status != DAE_OK) return status;
    h->a = ask(h, x0, v0);
    const dae_index_facts *f = dae_analysis_facts(h->a);
    if (!f) return not_found(c, h, h->a);
    if (!f->regular) return no_values(c, h, f->why);
    h->moved = f->moved_most >= 0 && f->moved > rounding * fmax(fabs(x0[f->moved_most]), 1);
    for (int i = 0; i < h->n; i++)
        h->weight[i] = dae_analysis_differentiated(h->a, i) ? 1 / fmax(fabs(x0[i]), 1) : 0;
    for (int k = 0; h->moved && k < MOST_TURNS && nearer(h, x0); k++)
        ;
    read_point(h, x0);
    status = read_residuals(h, x0);
    return status == DAE_OK && !h->no_memory
               ? DAE_OK
               : no_values(c, h, "those found do not lead back to themselves");
}

void hidden_close(hidden_start *h)
{
    dae_analysis_close(h->a);
    free(h->block);
}

/* ---- telling ---- */

void hidden_text(dae_sink *out, const hidden_start *h)
{
    const double *row;
    int level, shown = 0, left = 0;
    if (h->unknown) dae_sink_print(out, "\n  hidden constraints: not looked for, %s\n", h->unknown);
    if (!h->a) return;
    dae_sink_print(out, "\n  %-24s %14s %14s   %s\n", "hidden constraint", "given", "consistent",
                   "linearized there (d: a small change)");
    for (int i = 0; (row = dae_analysis_constraint(h->a, i, &level, NULL)); i++) {
        if (level == 0) continue;
        if (shown++ >= MOST_SHOWN) {
            left++;
            continue;
        }
        dae_sink_print(out, "  behind %d differentiation%s %14.2e %14.2e   ", level,
                       level == 1 ? " " : "s", h->before[i], h->after[i]);
        cli_constraint_text(out, h->p, row);
        dae_sink_text(out, "\n");
    }
    if (left) dae_sink_print(out, "  ... and %d more (all of them: --json)\n", left);
}

void hidden_json(dae_json *j, const hidden_start *h)
{
    int level;
    if (!h->a) return;
    dae_json_array(j, "hidden_constraints");
    for (int i = 0; dae_analysis_constraint(h->a, i, &level, NULL); i++) {
        if (level == 0) continue;
        dae_json_object(j, NULL);
        dae_json_integer(j, "level", level);
        dae_json_number(j, "before", h->before[i]);
        dae_json_number(j, "after", h->after[i]);
        dae_json_end(j);
    }
    dae_json_end(j);
}
