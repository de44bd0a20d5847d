/* testing.c: see testing.h. */
#include "testing.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the allocator ---- */

typedef struct held {
    size_t bytes;
    uint64_t mark; /* LIVE or DEAD */
    struct held *next;
    double pad; /* what follows is aligned for everything */
} held;

static const uint64_t LIVE = 0x11fe11fe11fe11feULL, DEAD = 0xdeadb10cdeadb10cULL;
static const unsigned char FENCE = 0xa5;
enum { FENCE_BYTES = 16 };

static void *take(size_t bytes, void *context)
{
    ledger *l = context;
    l->asked++;
    if (l->limit > 0 && bytes > l->limit) {
        l->refused++;
        return NULL;
    }
    if (l->fail_at > 0 && --l->fail_at == 0) {
        l->refused++;
        if (l->forever) l->fail_at = 1;
        return NULL;
    }
    held *h = malloc(sizeof *h + bytes + FENCE_BYTES);
    if (!h) return NULL;
    *h = (held){ .bytes = bytes, .mark = LIVE };
    memset((char *)(h + 1), 0xcd, bytes);
    memset((char *)(h + 1) + bytes, FENCE, FENCE_BYTES);
    l->live++;
    l->taken++;
    return h + 1;
}

static void give(void *block, void *context)
{
    ledger *l = context;
    held *h = (held *)block - 1;
    if (h->mark != LIVE) {
        l->damaged++;
        return;
    }
    for (int i = 0; i < FENCE_BYTES; i++)
        if (((unsigned char *)block)[h->bytes + (size_t)i] != FENCE) {
            l->damaged++;
            break;
        }
    h->mark = DEAD;
    l->live--;
    if (l->hold) {
        h->next = l->first_held;
        l->first_held = h;
    } else {
        free(h);
    }
}

void ledger_open(ledger *l)
{
    memset(l, 0, sizeof *l);
    l->hook = (dae_allocator){ .allocate = take, .release = give, .context = l };
}

void ledger_fail(ledger *l, long k, int forever)
{
    l->fail_at = k;
    l->forever = forever;
    l->refused = 0;
}

void ledger_empty(ledger *l)
{
    while (l->first_held) {
        held *h = l->first_held;
        l->first_held = h->next;
        free(h);
    }
}

/* ---- checks ---- */

void check_status(dae_solver *s, dae_status got, dae_status want, const char *file, int line)
{
    if (got == want) return;
    print_error("status %s instead of %s; the message is:\n%s\n", dae_status_name(got),
                dae_status_name(want), dae_message(s));
    _fail(file, line);
}

void check_message(const dae_solver *s, const char *file, int line, ...)
{
    const char *message = dae_message(s), *word;
    va_list list;
    va_start(list, line);
    while ((word = va_arg(list, const char *)) != NULL)
        if (!strstr(message, word)) {
            print_error("'%s' is missing in the message:\n%s\n", word, message);
            va_end(list);
            _fail(file, line);
        }
    va_end(list);
}

double number_after(const dae_solver *s, const char *label)
{
    const char *message = dae_message(s), *at = strstr(message, label);
    char *end = NULL;
    double value = at ? strtod(at + strlen(label), &end) : 0;
    if (!at || end == at + strlen(label)) {
        print_error("no number after '%s' in the message:\n%s\n", label, message);
        _fail(__FILE__, __LINE__);
    }
    return value;
}

void check_near(double got, double want, double tolerance, const char *what, const char *file,
                int line)
{
    if (fabs(got - want) <= tolerance) return;
    print_error("%s is %.17g, expected %.17g within %g (off by %g)\n", what, got, want, tolerance,
                got - want);
    _fail(file, line);
}

void check_below(double got, double bound, const char *what, const char *file, int line)
{
    if (got <= bound) return;
    print_error("%s is %.10g, expected at most %.10g\n", what, got, bound);
    _fail(file, line);
}

void check_aftermath(dae_solver *s, int n, int m, dae_status status)
{
    char head[64];
    double *x = numbers(n), *p = numbers(m);
    assert_int_equal(dae_last_status(s), status);
    snprintf(head, sizeof head, "error[%s]: ", dae_status_name(status));
    const char *message = dae_message(s);
    if (strncmp(message, head, strlen(head)) != 0) {
        print_error("the message should begin with '%s':\n%s\n", head, message);
        fail();
    }
    assert_non_null(strstr(message, "\n  at: "));
    double t = dae_time(s);
    assert_true(isfinite(t));
    for (int i = 0; i < n; i++) x[i] = 4711;
    for (int i = 0; i < m; i++) p[i] = 4711;
    assert_int_equal(dae_read(s, t + 1e9 * (1 + fabs(t)), x, p), DAE_E_TIME);
    for (int i = 0; i < n; i++) assert_true(x[i] == 4711);
    for (int i = 0; i < m; i++) assert_true(p[i] == 4711);
    expect(s, dae_read(s, t, x, p), DAE_OK);
    for (int i = 0; i < n; i++) assert_true(isfinite(x[i]) && x[i] != 4711);
    for (int i = 0; i < m; i++) assert_true(isfinite(p[i]) && p[i] != 4711);
    free(x);
    free(p);
}

double *numbers(int count)
{
    double *a = calloc((size_t)count + 1, sizeof *a);
    assert_non_null(a);
    return a;
}

/* ---- the tank ---- */

const double tank_x0[3] = { 1, 1, 0.5 }, tank_xdot0[3] = { -0.5, -1, -0.25 };
const char *const tank_names[3] = { "level", "flow", "valve" };
const char *const tank_equations[3] = { "balance", "momentum", "closure" };

void tank_exact(double t, double x[3])
{
    x[LEVEL] = exp(-t / 2);
    x[VALVE] = x[LEVEL] / 2;
    x[FLOW] = (2 * exp(-t / 2) + exp(-2 * t)) / 3;
}

static int tank_right(double t, const double *x, const double *xdot, double *f, tank *k)
{
    int hit = t > k->after;
    double right[3] = { -x[LEVEL] + x[VALVE], x[LEVEL] - 2 * x[FLOW], x[VALVE] - x[LEVEL] / 2 };
    k->calls++;
    k->calls_after += hit;
    if (t > k->t_last) k->t_last = t;
    if (k->inside) k->inside(k);
    for (int i = 0; i < 3; i++)
        if (!(k->fault == TANK_UNSET && hit && i == k->row))
            f[i] = !xdot ? right[i] : i == VALVE ? -right[i] : xdot[i] - right[i];
    if (k->fault == TANK_VALUE_ALWAYS || (k->fault == TANK_VALUE && hit)) f[k->row] = k->value;
    if (k->fault == TANK_OVERRUN && hit) f[3] = 1;
    if (k->fault == TANK_WRITES_X && hit) ((double *)(uintptr_t)x)[k->row] += 1e-3;
    if (k->fault == TANK_WRITES_XDOT && hit) ((double *)(uintptr_t)xdot)[k->row] += 1e-3;
    if (k->fault == TANK_RANDOM && hit) f[k->row] += 1e-9 * (double)(k->calls % 7);
    if (k->fault == TANK_RANDOM_ANSWER && hit && k->calls % 2) return DAE_RETRY;
    return k->fault == TANK_ANSWER && hit ? k->answer : DAE_OK;
}

static int tank_residual(double t, const double *x, const double *xdot, double *r, void *user)
{
    return tank_right(t, x, xdot, r, user);
}

static int tank_rhs(double t, const double *x, double *f, void *user)
{
    return tank_right(t, x, NULL, f, user);
}

static int tank_d(double t, const double *x, double *d, void *user)
{
    (void)t, (void)user;
    d[0] = x[LEVEL];
    d[1] = x[FLOW];
    return DAE_OK;
}

static int tank_jacobian_x(double t, const double *x, const double *xdot, double *K, void *user)
{
    (void)x, (void)xdot;
    tank *k = user;
    k->jacobians++;
    K[0 + 0 * 3] = 1;
    K[0 + 2 * 3] = -1;
    K[1 + 0 * 3] = -1;
    K[1 + 1 * 3] = 2;
    K[2 + 0 * 3] = 0.5;
    K[2 + 2 * 3] = -1;
    if (k->fault == TANK_JACOBIAN && t > k->after) K[k->row + k->column * 3] = k->value;
    return DAE_OK;
}

static int tank_jacobian_xdot(double t, const double *x, const double *xdot, double *C, void *user)
{
    (void)t, (void)x, (void)xdot, (void)user;
    C[0 + 0 * 3] = 1;
    C[1 + 1 * 3] = 1;
    return DAE_OK;
}

dae_problem tank_implicit(tank *user)
{
    return (dae_problem){ .size = 3,
                          .residual = tank_residual,
                          .names = tank_names,
                          .equation_names = tank_equations,
                          .user = user };
}

dae_problem tank_with_jacobian(tank *user)
{
    dae_problem p = tank_implicit(user);
    p.jacobian_x = tank_jacobian_x;
    p.jacobian_xdot = tank_jacobian_xdot;
    return p;
}

dae_problem tank_mass(tank *user)
{
    static const double diagonal[3] = { 1, 1, 0 };
    return (dae_problem){ .size = 3,
                          .rhs = tank_rhs,
                          .mass_kind = DAE_MASS_DIAGONAL,
                          .mass_values = diagonal,
                          .names = tank_names,
                          .equation_names = tank_equations,
                          .user = user };
}

dae_problem tank_leading(tank *user)
{
    dae_problem p = tank_implicit(user);
    p.d = tank_d;
    p.d_size = 2;
    return p;
}

/* ---- problems of the collection ---- */

void subject_open(subject *q, const char *name, const char *form, const char *setting, double value)
{
    problem_setting set = { .name = setting, .value = value };
    const char *culprit = NULL;
    memset(q, 0, sizeof *q);
    const problem_entry *entry = problem_find(name);
    assert_non_null(entry);
    assert_int_equal(problem_open(entry, form, &set, setting != NULL, &q->p, &culprit), DAE_OK);
    q->n = q->p.problem.size;
    q->m = q->p.problem.d ? q->p.problem.d_size : q->n;
    q->rtol = 1e-6;
    q->atol = q->rtol * (q->p.atol_over_rtol > 0 ? q->p.atol_over_rtol : 1);
}

void subject_close(subject *q)
{
    problem_close(&q->p);
}

dae_status subject_run(const subject *q, const dae_options *o, double t, double *x,
                       dae_statistics *statistics, char message[400])
{
    if (isnan(t)) t = q->p.t1;
    dae_solver *s = dae_open(&q->p.problem, o);
    dae_status status = dae_last_status(s);
    if (status == DAE_OK) status = dae_start(s, q->p.t0, q->p.x0, q->p.xdot0);
    if (status == DAE_OK) status = dae_advance(s, t);
    if (status == DAE_OK) status = dae_read(s, t, x, NULL);
    if (statistics) dae_get_statistics(s, statistics);
    if (message) snprintf(message, 400, "%s", dae_message(s));
    dae_close(s);
    return status;
}

double largest_difference(const double *a, const double *b, int n)
{
    double most = 0;
    for (int i = 0; i < n; i++) {
        double off = fabs(a[i] - b[i]);
        if (!(off <= most)) most = off;
    }
    return most;
}
