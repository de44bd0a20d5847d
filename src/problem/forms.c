/* forms.c: the forms a user can fill in, and their turning into f(t, x, p) = 0.
 *
 *   implicit       F(t, x, x') = 0            f = F                 d = x
 *   leading term   f(t, x, (d(t, x))') = 0    f as given            d computed
 *   mass           M(t, x) x' = g(t, x)       f = M p - g           d = x
 *                  (state-dependent M: LSODI's form; K then holds d(M(x) p)/dx as well)
 *
 * Equations that mention other derivatives on the right, y' = F(t, y, z, y'*), 0 = G(t, y, z),
 * are implicit ones: r = y' - F, r = G.
 */
#include "problem/system.h"
#include "base/float_check.h"
#include "base/norm.h"

#include <stdio.h>
#include <string.h>

const char *dae_unknown_name(const dae_system *s, int i, char buffer[32])
{
    if (s->problem.names && s->problem.names[i]) return s->problem.names[i];
    snprintf(buffer, 32, "x[%d]", i + 1);
    return buffer;
}

const char *dae_equation_name(const dae_system *s, int i, char buffer[32])
{
    if (s->problem.equation_names && s->problem.equation_names[i])
        return s->problem.equation_names[i];
    snprintf(buffer, 32, "equation %d", i + 1);
    return buffer;
}

const char *dae_place(const dae_system *s, int row, int column, char text[DAE_PLACE])
{
    char name[32];
    enum { HALF = DAE_PLACE / 2 }; /* long names are cut, neither pushes the other out */
    text[0] = '\0';
    if (row >= 0) {
        const char *equation = dae_equation_name(s, row, name);
        snprintf(text, HALF, equation == name ? ", %s" : ", equation '%s'", equation);
    }
    size_t used = strlen(text);
    if (column >= 0)
        snprintf(text + used, HALF, ", unknown '%s'", dae_unknown_name(s, column, name));
    return text;
}

/* ---- calling the user ---- */

dae_status dae_user_answer(dae_system *s, int answer, const char *callback, double t)
{
    if (answer == DAE_OK) return DAE_OK;
    if (answer == DAE_RETRY) {
        s->stats->retries++;
        s->bad_retry = 1;
        s->bad_t = t;
        s->bad_column = -1;
        s->bad_where = callback;
        return DAE_RETRY;
    }
    if (s->report->status < 0) return s->report->status; /* careful mode spoke already */
    s->stats->user_code = answer;
    dae_fail(s->report, DAE_E_USER, "the callback '%s' stopped the run", callback);
    dae_at(s->report, "t = %.10g", t);
    dae_why(s->report, "it answered %d", answer);
    dae_hint(s->report, "answer DAE_RETRY (1) instead if a smaller step could help");
    return DAE_E_USER;
}

/* Which user function, for the careful wrapper: one place that calls all three. */
enum { CALL_RESIDUAL, CALL_RHS, CALL_D };
static const char *const call_name[] = { "residual", "rhs", "d" };

static int call(dae_system *s, int which, double t, const double *x, const double *p, double *out)
{
    const dae_problem *q = &s->problem;
    int answer;
    s->callback_depth++;
    switch (which) {
    case CALL_RESIDUAL: answer = q->residual(t, x, p, out, q->user); break;
    case CALL_RHS: answer = q->rhs(t, x, out, q->user); break;
    default: answer = q->d(t, x, out, q->user); break;
    }
    s->callback_depth--;
    return answer;
}

/* Careful mode: output with guard words, preset to a NaN no arithmetic makes; inputs compared
 * after the call; the call repeated and compared. */
enum { GUARDS = 8 };
static const uint64_t unset_pattern = 0x7ff4dead0000beefULL, guard_pattern = 0x5ca1ab1e5ca1ab1eULL;

static void preset(double *out, int count)
{
    for (int i = 0; i < count; i++) memcpy(&out[i], &unset_pattern, sizeof(double));
    for (int i = count; i < count + GUARDS; i++) memcpy(&out[i], &guard_pattern, sizeof(double));
}

static int accuse(dae_system *s, dae_status status, int which, double t, const char *place)
{
    dae_fail(s->report, status, "the callback '%s' %s", call_name[which],
             status == DAE_E_UNSET         ? "left part of its output unset"
             : status == DAE_E_OVERRUN     ? "wrote past the end of its output"
             : status == DAE_E_WROTE_INPUT ? "changed its input"
                                           : "answered the same question differently");
    dae_at(s->report, "t = %.10g, %s", t, place);
    dae_hint(s->report,
             "a callback must be a function of its inputs and set all of its output, "
             "nothing else%s",
             s->careful ? "" : "; careful mode looks at every call");
    return status;
}

static int inspect(dae_system *s, int which, double t, const double *x, const double *p,
                   const double *out, int count)
{
    char name[32];
    size_t nb = (size_t)s->n * sizeof(double), mb = (size_t)s->m * sizeof(double);
    if (memcmp(x, s->guard, nb) != 0) return accuse(s, DAE_E_WROTE_INPUT, which, t, "argument 'x'");
    if (p && memcmp(p, s->guard + s->n, mb) != 0)
        return accuse(s, DAE_E_WROTE_INPUT, which, t, "argument 'xdot'");
    for (int i = 0; i < GUARDS; i++)
        if (memcmp(&out[count + i], &guard_pattern, sizeof(double)) != 0)
            return accuse(s, DAE_E_OVERRUN, which, t, "just behind the last entry");
    for (int i = 0; i < count; i++)
        if (memcmp(&out[i], &unset_pattern, sizeof(double)) == 0)
            return accuse(s, DAE_E_UNSET, which, t,
                          which == CALL_D ? "an entry of d" : dae_equation_name(s, i, name));
    return DAE_OK;
}

static int call_carefully(dae_system *s, int which, double t, const double *x, const double *p,
                          double *result)
{
    char name[32];
    int count = which == CALL_D ? s->m : s->n, verdict;
    int longest = s->n > s->m ? s->n : s->m;
    double *x_copy = s->guard, *p_copy = x_copy + s->n, *out = p_copy + s->m;
    double *x_in = out + longest + GUARDS, *p_in = x_in + s->n; /* what the callback may spoil */
    memcpy(x_copy, x, (size_t)s->n * sizeof(double));
    memcpy(x_in, x, (size_t)s->n * sizeof(double));
    if (p) memcpy(p_copy, p, (size_t)s->m * sizeof(double));
    if (p) memcpy(p_in, p, (size_t)s->m * sizeof(double));
    preset(out, count);
    int answer = call(s, which, t, x_in, p ? p_in : NULL, out);
    if (answer != DAE_OK) {
        if (call(s, which, t, x_in, p ? p_in : NULL, out) != answer)
            return accuse(s, DAE_E_NONDET, which, t, "its answer");
        return answer;
    }
    verdict = inspect(s, which, t, x_in, p ? p_in : NULL, out, count);
    if (verdict != DAE_OK) return verdict;
    memcpy(result, out, (size_t)count * sizeof(double));
    preset(out, count);
    if (call(s, which, t, x_in, p ? p_in : NULL, out) != answer)
        return accuse(s, DAE_E_NONDET, which, t, "its answer");
    for (int i = 0; i < count; i++)
        if (memcmp(&out[i], &result[i], sizeof(double)) != 0)
            return accuse(s, DAE_E_NONDET, which, t,
                          which == CALL_D ? "an entry of d" : dae_equation_name(s, i, name));
    return DAE_OK;
}

static int ask(dae_system *s, int which, double t, const double *x, const double *p, double *out)
{
    int answer = s->careful ? call_carefully(s, which, t, x, p, out) : call(s, which, t, x, p, out);
    return answer == DAE_OK ? DAE_OK : (int)dae_user_answer(s, answer, call_name[which], t);
}

/* ---- the forms ---- */

/* Without careful mode the inputs are compared in the first calls and then in one of 64, which costs
 * less than a hundredth: who writes into them mostly does it often. They get their values back. Who did
 * it once has spoilt the run: every call answers that from then on, until the next start. */
static int call_watched(dae_system *s, int which, double t, const double *x, const double *p,
                        double *out)
{
    size_t nb = (size_t)s->n * sizeof(double), mb = (size_t)s->m * sizeof(double);
    if (s->wrote_input) return accuse(s, DAE_E_WROTE_INPUT, which, t, "before this call");
    memcpy(s->guard, x, nb);
    if (p) memcpy(s->guard + s->n, p, mb);
    int answer = call(s, which, t, x, p, out);
    int x_changed = memcmp(x, s->guard, nb) != 0;
    int p_changed = p && memcmp(p, s->guard + s->n, mb) != 0;
    if (x_changed) memcpy((double *)(uintptr_t)x, s->guard, nb);
    if (p_changed) memcpy((double *)(uintptr_t)p, s->guard + s->n, mb);
    s->wrote_input = x_changed || p_changed;
    if (s->wrote_input)
        answer =
            accuse(s, DAE_E_WROTE_INPUT, which, t, x_changed ? "argument 'x'" : "argument 'xdot'");
    return answer == DAE_OK ? DAE_OK : (int)dae_user_answer(s, answer, call_name[which], t);
}

static inline int is_watched(dae_system *s)
{
    enum { FIRST = 32, EVERY = 64 };
    uint64_t k = ++s->calls;
    return k < FIRST || k % EVERY == 0 || s->wrote_input;
}

/* The two calls that every step makes, without the detour when nobody is careful. */
static inline int ask_residual(dae_system *s, double t, const double *x, const double *p, double *r)
{
    if (s->careful) return ask(s, CALL_RESIDUAL, t, x, p, r);
    if (is_watched(s)) return call_watched(s, CALL_RESIDUAL, t, x, p, r);
    s->callback_depth++;
    int answer = s->problem.residual(t, x, p, r, s->problem.user);
    s->callback_depth--;
    return answer == DAE_OK ? DAE_OK : (int)dae_user_answer(s, answer, "residual", t);
}

static inline int ask_rhs(dae_system *s, double t, const double *x, double *r)
{
    if (s->careful) return ask(s, CALL_RHS, t, x, NULL, r);
    if (is_watched(s)) return call_watched(s, CALL_RHS, t, x, NULL, r);
    s->callback_depth++;
    int answer = s->problem.rhs(t, x, r, s->problem.user);
    s->callback_depth--;
    return answer == DAE_OK ? DAE_OK : (int)dae_user_answer(s, answer, "rhs", t);
}

/* The first value that is not finite is remembered. */
static int bad_residual(dae_system *s, double t, const double *r)
{
    int row = dae_find_nonfinite(s->n, r);
    if (row < 0) return DAE_OK;
    s->stats->nonfinite++;
    s->bad_row = row;
    s->bad_retry = 0;
    s->bad_t = t;
    s->bad_column = -1;
    s->bad_where = "the residual";
    return DAE_RETRY;
}

static int f_implicit(dae_system *s, double t, const double *x, const double *p, double *r)
{
    s->stats->residuals++;
    int answer = ask_residual(s, t, x, p, r);
    return answer == DAE_OK ? bad_residual(s, t, r) : answer;
}

/* p may be NULL here and in the other mass forms: zero. */
static int f_identity(dae_system *s, double t, const double *x, const double *p, double *r)
{
    s->stats->residuals++;
    int answer = ask_rhs(s, t, x, r);
    if (answer != DAE_OK) return answer;
    return dae_minus(s->n, NULL, p, r) ? DAE_OK : bad_residual(s, t, r);
}

static int f_diagonal(dae_system *s, double t, const double *x, const double *p, double *r)
{
    s->stats->residuals++;
    int answer = ask_rhs(s, t, x, r);
    if (answer != DAE_OK) return answer;
    return dae_minus(s->n, s->mass, p, r) ? DAE_OK : bad_residual(s, t, r);
}

static int f_mass(dae_system *s, double t, const double *x, const double *p, double *r)
{
    s->stats->residuals++;
    int answer = ask_rhs(s, t, x, r);
    if (answer == DAE_OK && s->problem.mass_kind == DAE_MASS_FUNCTION)
        answer = dae_system_mass(s, t, x, s->mass);
    if (answer != DAE_OK) return answer;
    int finite = dae_minus(s->n, NULL, NULL, r);
    if (!p) return finite ? DAE_OK : bad_residual(s, t, r);
    const double *value = s->mass_value;
    const int *row = s->mass_row, *column = s->mass_column;
    for (int k = 0, count = s->mass_count; k < count; k++) r[row[k]] += value[k] * p[column[k]];
    if (s->mass_count == 0) dae_mass_times(s, s->mass, p, r);
    return bad_residual(s, t, r);
}

/* The row of the k-th stored value. */
static int row_of_mass(const dae_system *s, int64_t k)
{
    const dae_matrix *a = &s->mass_matrix;
    for (int j = 0; j < s->n; j++)
        if (k >= dae_column_begin(a, j) && k < dae_column_end(a, j)) return dae_column_row(a, j, k);
    return -1;
}

int dae_system_mass(dae_system *s, double t, const double *x, double *M)
{
    if (s->problem.mass_kind != DAE_MASS_FUNCTION) return DAE_OK;
    memset(M, 0, (size_t)s->mass_matrix.count * sizeof(double));
    s->callback_depth++;
    int answer = s->problem.mass(t, x, M, s->problem.user);
    s->callback_depth--;
    int status = (int)dae_user_answer(s, answer, "mass", t);
    int bad = status == DAE_OK ? dae_find_nonfinite(s->mass_matrix.count, M) : -1;
    if (bad < 0) return status;
    s->stats->nonfinite++;
    s->bad_row = row_of_mass(s, bad);
    s->bad_retry = 0;
    s->bad_t = t;
    s->bad_column = -1;
    s->bad_where = "the mass matrix";
    return DAE_RETRY;
}

/* y += M v */
void dae_mass_times(const dae_system *s, const double *M, const double *v, double *y)
{
    const dae_matrix *a = &s->mass_matrix;
    for (int j = 0; j < s->n; j++)
        for (int64_t k = dae_column_begin(a, j), end = dae_column_end(a, j); k < end; k++)
            y[dae_column_row(a, j, k)] += M[k] * v[j];
}

int dae_system_d(dae_system *s, double t, const double *x, double *d)
{
    s->stats->d_evaluations++;
    int answer = ask(s, CALL_D, t, x, NULL, d);
    if (answer != DAE_OK) return answer;
    int bad = dae_find_nonfinite(s->m, d);
    if (bad < 0) return DAE_OK;
    s->stats->nonfinite++;
    s->bad_row = bad;
    s->bad_retry = 0;
    s->bad_t = t;
    s->bad_column = -1;
    s->bad_where = "d";
    return DAE_RETRY;
}

/* ---- opening ---- */

static dae_status refuse(dae_system *s, dae_status status, const char *field, const char *is)
{
    dae_fail(s->report, status, "dae_open: problem.%s %s", field, is);
    dae_hint(s->report, "see dae_problem in daedalus.h");
    return status;
}

static dae_status check_pattern(dae_system *s, const dae_pattern *p, const char *field)
{
    int row = -1, column = -1;
    const char *what = NULL;
    int status = dae_pattern_check(p, s->n, &row, &column, &what);
    if (status == DAE_OK) return DAE_OK;
    dae_fail(s->report, DAE_E_PATTERN, "dae_open: problem.%s: %s", field, what);
    if (p->kind == DAE_PATTERN_BAND) {
        dae_why(s->report, "lower = %d, upper = %d, %d unknowns", p->lower, p->upper, s->n);
        dae_hint(s->report, "each bandwidth counts the diagonals on its side: 0 to %d (n - 1)",
                 s->n > 0 ? s->n - 1 : 0);
        return DAE_E_PATTERN;
    }
    if (column >= 0) dae_at(s->report, "row %d, column %d (counted from 0)", row, column);
    dae_hint(s->report, "rows ascending and unique within each column, start[0] = 0");
    return DAE_E_PATTERN;
}

static dae_status check_mass(dae_system *s)
{
    const dae_problem *q = &s->problem;
    switch (q->mass_kind) {
    case DAE_MASS_IDENTITY: return DAE_OK;
    case DAE_MASS_DIAGONAL:
        return q->mass_values ? DAE_OK : refuse(s, DAE_E_ARG, "mass_values", "is NULL");
    case DAE_MASS_CONSTANT:
        if (!q->mass_values) return refuse(s, DAE_E_ARG, "mass_values", "is NULL");
        break;
    case DAE_MASS_FUNCTION:
        if (!q->mass) return refuse(s, DAE_E_ARG, "mass", "is NULL");
        break;
    default: return refuse(s, DAE_E_OPTION, "mass_kind", "is none of dae_mass_kind");
    }
    if (q->mass_pattern.kind == DAE_PATTERN_AUTO)
        return refuse(s, DAE_E_PATTERN, "mass_pattern", "is not set (dense, band or sparse)");
    return check_pattern(s, &q->mass_pattern, "mass_pattern");
}

static dae_status check_levels(dae_system *s)
{
    const unsigned char *level = s->problem.level;
    char name[32];
    for (int i = 0; level && i < s->n; i++) {
        if (level[i] > DAE_INDEX3) {
            dae_fail(s->report, DAE_E_OPTION, "dae_open: problem.level is out of range");
            dae_at(s->report, "unknown '%s'", dae_unknown_name(s, i, name));
            dae_why(s->report, "level %d; it must be 0, 1, 2 or 3", level[i]);
            return DAE_E_OPTION;
        }
        if (level[i] >= DAE_INDEX2) s->facts |= DAE_FACT_HIGH_INDEX;
    }
    return DAE_OK;
}

static dae_status check_problem(dae_system *s)
{
    const dae_problem *q = &s->problem;
    if (q->size < 0) return refuse(s, DAE_E_ARG, "size", "is negative");
    if (!q->residual && !q->rhs)
        return refuse(s, DAE_E_ARG, "residual", "is NULL and so is rhs: there are no equations");
    if (q->residual && q->rhs) return refuse(s, DAE_E_ARG, "rhs", "is set beside residual");
    if (q->d && !q->residual) return refuse(s, DAE_E_ARG, "d", "goes with residual only");
    if (q->d && q->d_size < 0) return refuse(s, DAE_E_DIM, "d_size", "is negative");
    if (!q->d && q->d_size != 0) return refuse(s, DAE_E_ARG, "d", "is NULL, d_size is not 0");
    if (q->rhs && (q->jacobian || q->jacobian_xdot))
        return refuse(s, DAE_E_ARG, "jacobian", "does not go with rhs: give jacobian_x");
    if (q->jacobian && (q->jacobian_x || q->jacobian_xdot))
        return refuse(s, DAE_E_ARG, "jacobian", "is set beside jacobian_x or jacobian_xdot");
    if (q->event_count < 0) return refuse(s, DAE_E_DIM, "event_count", "is negative");
    if (q->event_count > 0 && !q->event) return refuse(s, DAE_E_ARG, "event", "is NULL");
    if (q->pattern.kind != DAE_PATTERN_AUTO) {
        dae_status status = check_pattern(s, &q->pattern, "pattern");
        if (status != DAE_OK) return status;
    }
    if (q->rhs) {
        dae_status status = check_mass(s);
        if (status != DAE_OK) return status;
    }
    return check_levels(s);
}

dae_status dae_forms_bind(dae_system *s)
{
    const dae_problem *q = &s->problem;
    if (q->residual)
        s->f = f_implicit;
    else
        s->f = q->mass_kind == DAE_MASS_IDENTITY   ? f_identity
               : q->mass_kind == DAE_MASS_DIAGONAL ? f_diagonal
                                                   : f_mass;
    return DAE_OK;
}

static dae_status no_memory(dae_system *s)
{
    dae_fail(s->report, DAE_E_NOMEM, "dae_open: out of memory");
    dae_why(s->report, "the problem has %d unknowns", s->n);
    return DAE_E_NOMEM;
}

/* A small constant mass matrix as a list: a walk through a narrow band costs five times as much. */
static int list_mass(dae_system *s)
{
    enum { SMALL = 32 };
    const dae_matrix *a = &s->mass_matrix;
    if (s->n > SMALL || a->count == 0) return DAE_OK;
    s->mass_value = dae_alloc(s->memory, (size_t)a->count, sizeof(double));
    s->mass_row = dae_alloc(s->memory, 2 * (size_t)a->count, sizeof(int));
    if (!s->mass_value || !s->mass_row) return DAE_E_NOMEM;
    s->mass_column = s->mass_row + a->count;
    for (int j = 0; j < s->n; j++)
        for (int64_t k = dae_column_begin(a, j); k < dae_column_end(a, j); k++) {
            if (s->mass[k] == 0) continue;
            s->mass_value[s->mass_count] = s->mass[k];
            s->mass_row[s->mass_count] = dae_column_row(a, j, k);
            s->mass_column[s->mass_count++] = j;
        }
    return DAE_OK;
}

/* The mass matrix in the user's layout, its values copied so that the array may change. */
static dae_status take_mass(dae_system *s)
{
    const dae_problem *q = &s->problem;
    char name[32];
    if (!q->rhs || q->mass_kind == DAE_MASS_IDENTITY) return DAE_OK;
    dae_pattern diagonal = { .kind = DAE_PATTERN_BAND, .lower = 0, .upper = 0 };
    const dae_pattern *p = q->mass_kind == DAE_MASS_DIAGONAL ? &diagonal : &q->mass_pattern;
    int status = dae_matrix_from_pattern(p, s->n, s->memory, &s->mass_matrix);
    if (status != DAE_OK) return no_memory(s);
    s->mass = dae_alloc(s->memory, (size_t)s->mass_matrix.count, sizeof(double));
    if (!s->mass) return no_memory(s);
    if (q->mass_kind == DAE_MASS_FUNCTION) return DAE_OK;
    memcpy(s->mass, q->mass_values, (size_t)s->mass_matrix.count * sizeof(double));
    int bad = dae_find_nonfinite(s->mass_matrix.count, s->mass);
    if (bad >= 0) {
        dae_fail(s->report, DAE_E_NONFINITE, "dae_open: problem.mass_values has a NaN or Inf");
        dae_at(s->report, "%s, entry %d (counted from 0)",
               dae_equation_name(s, row_of_mass(s, bad), name), bad);
        return DAE_E_NONFINITE;
    }
    return list_mass(s) == DAE_OK ? DAE_OK : no_memory(s);
}

dae_status dae_system_open(dae_system *s, const dae_problem *problem,
                           const dae_system_options *options, const dae_memory *memory,
                           dae_statistics *stats, dae_report *report)
{
    memset(s, 0, sizeof *s);
    s->problem = *problem;
    s->n = problem->size;
    s->memory = memory;
    s->stats = stats;
    s->report = report;
    s->careful = options->careful;
    s->bad_row = s->bad_column = -1;
    dae_status status = check_problem(s);
    if (status != DAE_OK) return status;
    /* where nothing is differentiated, d of no entries is as good as d = x with C = 0 */
    if (s->problem.d_size == 0) s->problem.d = NULL;
    s->m = s->problem.d ? s->problem.d_size : s->n;
    s->computed = s->problem.d ? s->problem.d_size : 0;
    if (problem->rhs && problem->mass_kind != DAE_MASS_FUNCTION) s->facts |= DAE_FACT_C_CONSTANT;
    size_t n = (size_t)s->n, m = (size_t)s->m;
    s->level = dae_alloc(memory, n, 1);
    s->guard = dae_alloc(memory, s->careful ? 3 * n + 3 * m + GUARDS : n + m, sizeof(double));
    if (!s->level || !s->guard) return no_memory(s);
    if (problem->level) memcpy(s->level, problem->level, n);
    status = take_mass(s);
    return status == DAE_OK ? dae_forms_bind(s) : status;
}

void dae_system_forget(dae_system *s)
{
    const dae_memory *mem = s->memory;
    dae_matrix_free(mem, &s->matrix);
    dae_matrix_free(mem, &s->given_matrix);
    void *blocks[] = { s->vectors, s->given,       s->previous_C, s->mass_map, s->given_map,
                       s->place,   s->color_start, s->color_list, s->owner };
    for (size_t i = 0; i < sizeof blocks / sizeof *blocks; i++) dae_free(mem, blocks[i]);
    s->vectors = s->given = s->previous_C = NULL;
    s->mass_map = s->given_map = s->place = NULL;
    s->color_start = s->color_list = s->owner = s->subset = s->slot = NULL;
    s->facts &= ~(unsigned)(DAE_FACT_PATTERN_FOUND | DAE_FACT_C_PRESUMED | DAE_FACT_D_SELECTS);
    s->have_C = s->C_moves = s->C_agreed = 0;
}

void dae_system_close(dae_system *s)
{
    const dae_memory *mem = s->memory;
    if (!mem) return;
    dae_system_forget(s);
    dae_matrix_free(mem, &s->mass_matrix);
    dae_matrix_free(mem, &s->seen);
    dae_free(mem, s->level);
    dae_free(mem, s->mass);
    dae_free(mem, s->mass_value);
    dae_free(mem, s->mass_row);
    dae_free(mem, s->guard);
    memset(s, 0, sizeof *s);
}
