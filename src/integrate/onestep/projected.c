/* projected.c: fully implicit Runge-Kutta methods whose end point is put on the constraints.
 *
 * "projected-NAME", index 2 [Ascher & Petzold 1991; HW96, VII.4]: after the stages
 *
 *     y_{n+1} = y~ + f_z(y~, z~) mu,   g(t_{n+1}, y_{n+1}) = 0,                       (3.11a)
 *     z_{n+1} from g_t + g_y y' = 0,   y' = f(y_{n+1}, z_{n+1}).                      (3.11b)
 *
 * The error of y~ along f_z is of low order, s + 1 for Gauss; across f_z it is of order 2s + 1. So
 * the direction must be that of (y~, z~), not of an earlier Jacobian: mu times the error of f_z
 * remains. Each step evaluates the Jacobian at its end, and the next one begins with it.
 * Orders: 2s (Gauss), 2s - 2 (Radau IA), in y and in z. "projected-radau" is the method of variable
 * order; there y is on the constraint already, but z would be of order s only.
 *
 * "NAME+g", index 1: z_{n+1} from the algebraic equations at y_{n+1}, (2.7e), instead of (2.7d).
 * With stages that satisfy them anyway this is the state-space form method: the table applied
 * to y' = f(y, G(y)), with its classical order in y and z.
 *
 * Everything else is the method of radau.c, and its error estimate that of (y~, z~).
 */
#include "integrate/onestep/irk.h"
#include "integrate/onestep/semi_explicit.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef enum variant { NONE, PROJECTED, WITH_G } variant;
enum { NAME = sizeof((dae_solver *)0)->method_name };

typedef struct projected {
    void *inner; /* the state of radau.c */
    dae_semi semi;
    variant kind;
    int idle; /* the end of a step needs no correction */
} projected;

static const char PREFIX[] = "projected-", SUFFIX[] = "+g";

/* The name of the table, and what is done with it. */
static variant parse(const char *name, char plain[NAME])
{
    size_t length = strlen(name), ahead = sizeof PREFIX - 1, behind = sizeof SUFFIX - 1;
    variant kind = NONE;
    if (length >= NAME) return NONE;
    if (!strncmp(name, PREFIX, ahead)) {
        kind = PROJECTED;
        snprintf(plain, NAME, "%s", name + ahead);
    } else if (length > behind && !strcmp(name + length - behind, SUFFIX)) {
        kind = WITH_G;
        snprintf(plain, NAME, "%.*s", (int)(length - behind), name);
    }
    if (kind == PROJECTED && dae_method_radau.takes(plain)) return kind;
    return kind == WITH_G && dae_tableau_kind_of(plain) == DAE_TABLEAU_FULL ? kind : NONE;
}

static int projected_takes(const char *name)
{
    char plain[NAME];
    return parse(name, plain) != NONE;
}

/* ---- the method inside ---- */

static projected *enter(dae_solver *s)
{
    projected *m = s->method_state;
    s->method_state = m->inner;
    return m;
}

static void leave(dae_solver *s, projected *m)
{
    m->inner = s->method_state;
    s->method_state = m;
}

/* Opening goes by the name of the table. */
static dae_status by_table(dae_solver *s, dae_status (*what)(dae_solver *))
{
    char own[NAME], plain[NAME];
    memcpy(own, s->method_name, NAME);
    parse(own, plain);
    memcpy(s->method_name, plain, NAME);
    dae_status status = what(s);
    memcpy(s->method_name, own, NAME);
    return status;
}

/* ---- opening ---- */

static dae_status refuse(dae_solver *s, int level, int unknown, const char *why, const char *hint)
{
    char name[32];
    dae_fail(&s->report, DAE_E_OPTION, "method '%s' does not take this problem", s->method_name);
    if (unknown >= 0)
        dae_at(&s->report, "unknown '%s', level %d", dae_unknown_name(&s->system, unknown, name),
               level);
    dae_why(&s->report, "%s", why);
    dae_hint(&s->report, "%s", hint);
    return DAE_E_OPTION;
}

static dae_status projected_choose(dae_solver *s)
{
    char plain[NAME];
    variant kind = parse(s->method_name, plain);
    int level = -1, most = -1;
    for (int i = 0; i < s->system.n; i++)
        if (s->system.level[i] > level) level = s->system.level[most = i];
    if (kind == WITH_G && level >= DAE_INDEX2)
        return refuse(s, level, most, "(2.7e) needs algebraic equations that determine z: index 1",
                      "use the table without +g, or projected- before its name for index 2");
    if (kind == PROJECTED && level > DAE_INDEX2)
        return refuse(s, level, most, "the projection is that of index 2",
                      "use radau or bdf, or an index-2 formulation");
    if (kind == PROJECTED && level < DAE_INDEX2)
        return refuse(s, level, -1, "no unknown is declared to be of level 2",
                      "declare it (problem.level) if the index is 2; otherwise use the table "
                      "itself");
    if (kind == PROJECTED && s->system.computed)
        return refuse(s, level, most, "with a computed d there is no projection",
                      "use radau or bdf, or give the problem without d");
    return by_table(s, dae_method_radau.choose);
}

static void projected_close(dae_solver *s)
{
    projected *m = s->method_state;
    if (!m) return;
    dae_semi_close(&m->semi);
    enter(s);
    dae_method_radau.close(s);
    dae_free(&s->memory, m);
    s->method_state = NULL;
}

static dae_status projected_open(dae_solver *s)
{
    char plain[NAME];
    dae_tableau table;
    projected *m = dae_alloc(&s->memory, 1, sizeof *m);
    s->method_state = m;
    if (!m) return DAE_E_NOMEM;
    m->kind = parse(s->method_name, plain);
    enter(s);
    dae_status status = by_table(s, dae_method_radau.open);
    leave(s, m);
    if (status != DAE_OK) return status;
    if (m->kind == WITH_G && !dae_tableau_find(plain, &table)) return DAE_E_INTERNAL;
    m->idle = m->kind == WITH_G && (table.claims & DAE_CLAIM_STIFFLY_ACCURATE);
    status = dae_semi_open(&m->semi, &s->corrector);
    m->semi.who = m->kind == PROJECTED ? "projected methods" : "methods with +g";
    return status;
}

static void projected_start(dae_solver *s)
{
    projected *m = enter(s);
    dae_method_radau.start(s);
    leave(s, m);
    dae_semi_start(&m->semi);
}

/* ---- one attempt ---- */

/* The formula for g_t + g_y y' has order 4, which is enough for z of any order only if delta is
 * small: with 3e-3 of the scale of time it leaves about 1e-11. */
static double look_back(const dae_solver *s, const projected *m, const dae_trial *trial)
{
    double delta = dae_semi_delta(&m->semi, trial->x, trial->p, s->w0, trial->h, 3e-3);
    return 4 * fabs(delta) > fabs(trial->t - s->t_begin) ? -delta : delta;
}

static int correct_end(dae_solver *s, projected *m, dae_trial *trial)
{
    dae_semi_query q = { .kind = DAE_SEMI_POINT,
                         .t = trial->t,
                         .h = trial->h,
                         .x = trial->x,
                         .p = trial->p,
                         .d = trial->d,
                         .w = s->w,
                         .w_d = s->w_d };
    m->semi.fresh = 0;
    if (m->kind == WITH_G) return dae_semi_solve(&m->semi, &q);
    q.kind = DAE_SEMI_PROJECT;
    int status = dae_semi_solve(&m->semi, &q);
    if (status != DAE_OK) return status;
    q.kind = DAE_SEMI_HIDDEN;
    q.delta = look_back(s, m, trial);
    q.w = s->w0; /* a z that is read */
    return dae_semi_solve(&m->semi, &q);
}

static int projected_attempt(dae_solver *s, dae_trial *trial)
{
    projected *m = enter(s);
    int status = dae_method_radau.attempt(s, trial);
    double *end = status == DAE_OK ? irk_attempt_end(s) : NULL;
    leave(s, m);
    if (status != DAE_OK || m->idle) return status;
    dae_corrector *q = &s->corrector;
    int current = q->jacobian_current; /* of the stages: the driver judges Newton by it */
    double rate = q->observed_rate;
    status = correct_end(s, m, trial);
    q->jacobian_current = current;
    q->observed_rate = rate;
    for (int i = 0; i < s->system.n; i++) {
        end[i] = trial->x[i] - s->x[i];
        if (s->system.computed || s->system.level[i] == DAE_DIFFERENTIAL) continue;
        trial->p[i] = end[i] / trial->h; /* no part of the equations: the secant */
    }
    return status;
}

static void projected_commit(dae_solver *s, dae_trial *trial)
{
    projected *m = enter(s);
    dae_method_radau.commit(s, trial);
    leave(s, m);
}

static void projected_reject(dae_solver *s, dae_trial *trial, int verdict)
{
    projected *m = enter(s);
    dae_method_radau.reject(s, trial, verdict);
    leave(s, m);
}

static void projected_interpolate(dae_solver *s, double t, double *x, double *p, double *d)
{
    projected *m = enter(s);
    dae_method_radau.interpolate(s, t, x, p, d);
    leave(s, m);
}

/* The end of a step is moved to the constraints, and z follows from the hidden ones: so is what is read
 * between two ends, with the factors at hand. */
static void projected_polish(dae_solver *s, double t, double *x, double *p)
{
    projected *m = s->method_state;
    dae_trial look = s->trial;
    size_t nb = (size_t)s->system.n * sizeof(double), mb = (size_t)s->system.m * sizeof(double);
    if (m->idle) return;
    look.t = t;
    look.h = t - s->t_previous;
    memcpy(look.x, x, nb);
    memcpy(look.p, p, mb);
    if (s->system.computed && dae_system_d(&s->system, t, x, look.d) != DAE_OK) return;
    dae_semi_query q = { .kind = m->kind == PROJECTED ? DAE_SEMI_PROJECT : DAE_SEMI_POINT,
                         .t = t,
                         .h = look.h,
                         .x = look.x,
                         .p = look.p,
                         .d = look.d,
                         .w = s->w0,
                         .w_d = s->w_d };
    int good = dae_semi_look(&m->semi, &q);
    if (good && m->kind == PROJECTED) {
        q.kind = DAE_SEMI_HIDDEN;
        q.delta = look_back(s, m, &look);
        good = dae_semi_look(&m->semi, &q);
    }
    if (!good) return;
    memcpy(x, look.x, nb);
    memcpy(p, look.p, mb);
}

static int projected_reach(dae_solver *s)
{
    projected *m = enter(s);
    int reach = dae_method_radau.reach(s);
    leave(s, m);
    return reach;
}

const dae_method dae_method_projected = {
    .name = "projected",
    .description = "a fully implicit Runge-Kutta table, its end point put on the constraints",
    .max_order = 13,
    .one_step = 1,
    .takes = projected_takes,
    .choose = projected_choose,
    .open = projected_open,
    .close = projected_close,
    .start = projected_start,
    .attempt = projected_attempt,
    .commit = projected_commit,
    .reject = projected_reject,
    .interpolate = projected_interpolate,
    .between = DAE_BETWEEN_COLLOCATION,
    .polish = projected_polish,
    .reach = projected_reach,
};
