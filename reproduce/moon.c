/* moon.c: flights from the Earth to the Moon, and Jacobi's integral over them.
 *
 * Source: lecture notes on differential-algebraic equations, chapter 8, after Daniel and Moore:
 * launches from (-mu/2, 0.1) with y2' = 4 and y1' = 0.5, 1.1, 1.4, 2.0, solved by an explicit
 * Runge-Kutta method of order 5(4) at its default tolerances (1e-3, 1e-6). Its figures show an
 * integral that "is not at all constant". The equations there are those of problems/moon.c.
 *
 * What "constant to the tolerance" means: errors of one tolerance in every unknown change J by up
 * to sum |dJ/dx_i| (rtol |x_i| + atol). The number R below is the largest |J - J0| over the run
 * in units of that; R <= 1 is constant, a drift shows where the ship is far from both bodies.
 * dJ/dx is taken from the equations again, apart from the code of the problem.
 */
#include "reproduce.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const double mu = 0.01215;
static const double earth = 6378.0 / 384400, moon = 1737.4 / 384400; /* radii */
static const double speeds[] = { 0.5, 1.1, 1.4, 2.0 };
enum { SPEEDS = 4, DRAWN = 600 };
static const double end_time = 10;

typedef struct way { /* of computing a flight */
    const char *label, *form, *method;
    double rtol, atol;
} way;

static const way unprotected = { "explicit, defaults", "ode", "dopri5", 1e-3, 1e-6 };
static const way exact = { "reference", "projected", "radau", 1e-12, 1e-12 };
static const way second = { "reference 2", "ode", "gauss-6", 1e-12, 1e-12 };
enum { WAYS = 4 };
static const way ways[WAYS] = {
    { "projection", "projected", "dopri5", 1e-6, 1e-6 },
    { "DAE, index 2", "dae", "radau", 1e-6, 1e-6 },
    { "stabilization", "stabilized", "dopri5", 1e-6, 1e-6 },
    { "Gauss, 6 stages", "ode", "gauss-6", 1e-6, 1e-6 },
};

static double to_earth(const double *x)
{
    return hypot(x[0] + mu, x[1]);
}

static double to_moon(const double *x)
{
    return hypot(x[0] - 1 + mu, x[1]);
}

static double jacobi(const double *x)
{
    return (x[2] * x[2] + x[3] * x[3] - x[0] * x[0] - x[1] * x[1]) / 2 -
           (1 - mu) / to_earth(x) - mu / to_moon(x);
}

/* What errors of one tolerance can do to J at x. */
static double allowed(const double *x, double rtol, double atol)
{
    double a = (1 - mu) / pow(to_earth(x), 3), b = mu / pow(to_moon(x), 3), sum = 0;
    const double slope[4] = { -x[0] + a * (x[0] + mu) + b * (x[0] - 1 + mu),
                              -x[1] + (a + b) * x[1], x[2], x[3] };
    for (int i = 0; i < 4; i++)
        sum += fabs(slope[i]) * (rtol * fabs(x[i]) + atol);
    return sum;
}

/* ---- one flight ---- */

typedef struct flight {
    problem_instance p;
    dae_solver *s;
    const way *w;
    double J0;
    int opened;
} flight;

static dae_status take_off(flight *f, const way *w, double speed)
{
    const problem_setting set[] = { { "speed", speed, NULL }, { "rtol", w->rtol, NULL } };
    const dae_options o = { .rtol = w->rtol, .atol = w->atol, .method = w->method };
    memset(f, 0, sizeof *f);
    f->w = w;
    int status = problem_open(problem_find("moon"), w->form, set, 2, &f->p, NULL);
    if (status != DAE_OK)
        return (dae_status)status;
    f->opened = 1;
    f->J0 = jacobi(f->p.x0);
    f->s = dae_open(&f->p.problem, &o);
    return dae_start(f->s, 0, f->p.x0, NULL);
}

static void land(flight *f)
{
    dae_close(f->s);
    if (f->opened)
        problem_close(&f->p);
}

typedef struct record { /* what a flight was like */
    dae_status status;
    double t, x[5];          /* its end                                                */
    double drift, ratio;     /* largest |J - J0|, and R                                */
    double near_share;       /* of the changes of J: made closer than 0.2 to a body    */
    double nearest;          /* to the Moon's centre                                   */
    double t_nearest;
    double t_down;           /* below the Earth's surface for the first time; NaN: never */
    int64_t steps, calls;
} record;

static void note(record *r, const flight *f, double t, const double *x)
{
    if (to_moon(x) < r->nearest) {
        r->nearest = to_moon(x);
        r->t_nearest = t;
    }
    if (isnan(r->t_down) && to_earth(x) < earth)
        r->t_down = t;
    (void)f;
}

static record fly(const way *w, double speed, double until)
{
    flight f;
    double x[5], y[5], before, near = 0, all = 0;
    record r = { .nearest = INFINITY, .t_down = NAN };
    r.status = take_off(&f, w, speed);
    before = f.J0;
    if (r.status == DAE_OK)
        dae_set_stop(f.s, until);
    while (r.status == DAE_OK && r.t < until) {
        double t = r.t;
        r.status = dae_step(f.s, until);
        r.t = dae_time(f.s);
        if (r.status != DAE_OK || dae_read(f.s, r.t, x, NULL) != DAE_OK)
            break;
        double change = fabs(jacobi(x) - f.J0), part = fabs(jacobi(x) - before);
        r.drift = fmax(r.drift, change);
        r.ratio = fmax(r.ratio, change / allowed(x, w->rtol, w->atol));
        all += part;
        near += fmin(to_earth(x), to_moon(x)) < 0.2 ? part : 0;
        before = jacobi(x);
        for (int k = 1; k <= 20; k++)
            if (dae_read(f.s, t + k * (r.t - t) / 20, y, NULL) == DAE_OK)
                note(&r, &f, t + k * (r.t - t) / 20, y);
        memcpy(r.x, x, sizeof x);
    }
    dae_statistics stats = { 0 };
    if (f.s)
        dae_get_statistics(f.s, &stats);
    r.steps = stats.steps;
    r.calls = stats.residuals;
    r.near_share = all > 0 ? near / all : 0;
    land(&f);
    return r;
}

static double apart(const record *a, const record *b)
{
    return hypot(a->x[0] - b->x[0], a->x[1] - b->x[1]);
}

/* ---- the four flights ---- */

static const char *const stories[SPEEDS] = {
    "8.3.1, Figures 8.2 and 8.3: going nowhere: back to the Earth, and there it ends",
    "8.3.2, Figures 8.4 and 8.5: round about the Earth, and back; J changes near it",
    "8.3.3, Figures 8.6 and 8.7: lunar landing",
    "8.3.4, Figures 8.8 and 8.9: into outer space",
};

static void line(FILE *out, const char *label, const record *r, const record *reference)
{
    fprintf(out, "    %-20s %5ld %6ld %10.1e %10.1e", label, (long)r->steps, (long)r->calls,
            r->drift, r->ratio);
    if (r->t < end_time)
        fprintf(out, "   gave up at t = %.4f", r->t);
    else
        fprintf(out, " %12.1e", apart(r, reference));
}

static void compare_flight(verdicts *v, int i)
{
    record best = fly(&exact, speeds[i], end_time), other = fly(&second, speeds[i], end_time);
    record bad = fly(&unprotected, speeds[i], end_time);
    fprintf(v->out, "\n%s\ny1' = %.1f, 0 <= t <= %g\n", stories[i], speeds[i], end_time);
    fprintf(v->out, "    %-20s %5s %6s %10s %10s %12s\n", "", "steps", "calls", "|J - J0|",
            "R", "off at end");
    line(v->out, unprotected.label, &bad, &best);
    fprintf(v->out, "   not constant: %s\n", verdict(v, bad.ratio > 1));
    for (int k = 0; k < WAYS; k++) {
        record r = fly(&ways[k], speeds[i], end_time);
        line(v->out, ways[k].label, &r, &best);
        int good = r.status == DAE_OK && r.ratio <= 1;
        fprintf(v->out, "   constant: %s\n", verdict(v, good));
    }
    fprintf(v->out, "    two references (Radau projected, Gauss) differ by %.1e: %s\n",
            apart(&best, &other), verdict(v, apart(&best, &other) < 1e-5));
    if (i == 0)
        fprintf(v->out, "    it meets the Earth's surface at t = %.4f: %s\n", best.t_down,
                verdict(v, best.t_down < 2));
    if (i == 1)
        fprintf(v->out,
                "    of the changes of J %.1f %% are made closer than 0.2 to a body: %s\n",
                100 * bad.near_share, verdict(v, bad.near_share > 0.9));
    if (i == 3)
        fprintf(v->out, "    it leaves: at t = %g it is %.2f away: %s\n", best.t,
                hypot(best.x[0], best.x[1]), verdict(v, hypot(best.x[0], best.x[1]) > 2));
}

/* Does it land? The nearest point, from both references. */
static void compare_landing(verdicts *v)
{
    record r = fly(&exact, 1.4, 2), q = fly(&second, 1.4, 2);
    double km = 384400;
    fprintf(v->out, "\nDoes the ship with y1' = 1.4 land on the Moon?\n");
    fprintf(v->out,
            "    nearest at t = %.4f: %.0f km from the centre, the radius is %.0f km\n",
            r.t_nearest, r.nearest * km, moon * km);
    fprintf(v->out, "    (the second reference: %.0f km)\n", q.nearest * km);
    fprintf(v->out, "    It does not: it passes %.0f km above the ground and flies away: %s\n",
            (r.nearest - moon) * km,
            verdict(v, r.nearest > 1.2 * moon && fabs(r.nearest - q.nearest) * km < 20));
}

/* ---- between the bodies ---- */

/* The collinear point between them: y1 with zero force along the axis. */
static double libration(void)
{
    double low = 0.5, high = 0.95;
    for (int i = 0; i < 100; i++) {
        double y = (low + high) / 2;
        double a = y + mu, b = 1 - mu - y;
        if (y - (1 - mu) / (a * a) + mu / (b * b) > 0)
            high = y;
        else
            low = y;
    }
    return low;
}

/* +1: past the Moon's side of the point first; -1: back to the Earth; how long it was within 0.15 of
 * the point. */
static int decide(double speed, double L, double *stay)
{
    static const way fine = { "", "projected", "radau", 1e-11, 1e-11 };
    flight f;
    double x[5], t = 0;
    int side = 0, out = 0;
    *stay = 0;
    dae_status status = take_off(&f, &fine, speed);
    while (status == DAE_OK && side == 0 && t < 40) {
        status = dae_step(f.s, 40);
        double now = dae_time(f.s), h = now - t;
        t = now;
        if (status != DAE_OK || dae_read(f.s, t, x, NULL) != DAE_OK)
            break;
        *stay += hypot(x[0] - L, x[1]) < 0.15 ? h : 0;
        out = out || to_earth(x) > 0.6;
        side = x[0] > 1 - mu - 0.03 ? 1 : out && to_earth(x) < 0.5 ? -1 : 0;
    }
    land(&f);
    return side;
}

static double lingering_speed(double L, double *stay)
{
    double low = 1.1, high = 1.4, unused;
    for (int i = 0; i < 60 && high - low > 4e-16; i++) {
        double middle = (low + high) / 2;
        if (decide(middle, L, &unused) > 0)
            high = middle;
        else
            low = middle;
    }
    decide(low, L, stay);
    return low;
}

static void compare_lingering(verdicts *v)
{
    double L = libration(), stay, short_stay, speed = lingering_speed(L, &stay);
    int below = decide(speed - 1e-6, L, &short_stay), above = decide(speed + 1e-6, L, &short_stay);
    fprintf(v->out, "\nBetween the bodies: the point of equilibrium is y1 = %.6f\n", L);
    fprintf(v->out,
            "    slower by 1e-6 than y1' = %.12f the ship turns back, faster it goes on: %s\n",
            speed, verdict(v, below < 0 && above > 0));
    fprintf(v->out, "    at that speed it stays near the point for %.2f units of time (%.0f days),\n"
                    "    1e-6 faster for %.2f: %s\n",
            stay, stay * 4.342, short_stay, verdict(v, stay > 2 * short_stay));
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    for (int i = 0; i < SPEEDS; i++)
        compare_flight(&v, i);
    compare_landing(&v);
    compare_lingering(&v);
    fprintf(out, "\n--plot FILE.svg --figure N draws: 1 to 4 the flights (8.2, 8.4, 8.6, 8.8), 5 to 8\n"
                 "log10 |J - J0| (8.3, 8.5, 8.7, 8.9), 9 the flight that lingers\n");
    return verdict_total(&v);
}

/* ---- figures ---- */

static int draw_path(dae_trajectory *w, const way *how, double speed, double until, int curve)
{
    flight f;
    double x[5];
    int error = 0;
    dae_status status = take_off(&f, how, speed);
    for (int k = 0; k <= 2 * DRAWN && status == DAE_OK && error == 0; k++) {
        double t = until * k / (2 * DRAWN), y[2] = { NAN, NAN };
        if (k > 0)
            status = dae_advance(f.s, t);
        if (status == DAE_OK && dae_read(f.s, t, x, NULL) == DAE_OK) {
            y[curve] = x[1];
            error = w->point(w, x[0], y);
        }
    }
    land(&f);
    return error;
}

static int draw_flight(dae_trajectory *w, int i)
{
    static const double until[SPEEDS] = { 1.38, 4, 4, 4 };
    int error = draw_path(w, &exact, speeds[i], until[i], 0);
    const double gap[2] = { NAN, NAN };
    if (error == 0)
        error = w->point(w, NAN, gap);
    return error ? error : draw_path(w, &unprotected, speeds[i], until[i], 1);
}

static int draw_integral(dae_trajectory *w, int i)
{
    flight f[WAYS + 1];
    dae_status status[WAYS + 1];
    int error = 0;
    for (int k = 0; k <= WAYS; k++)
        status[k] = take_off(&f[k], k < WAYS ? &ways[k] : &unprotected, speeds[i]);
    for (int j = 1; j <= DRAWN && error == 0; j++) {
        double y[WAYS + 1], t = end_time * j / DRAWN, x[5];
        for (int k = 0; k <= WAYS; k++) {
            if (status[k] == DAE_OK)
                status[k] = dae_advance(f[k].s, t);
            int known = status[k] == DAE_OK && dae_read(f[k].s, t, x, NULL) == DAE_OK;
            y[k] = known ? log10(fmax(fabs(jacobi(x) - f[k].J0), 1e-16)) : NAN;
        }
        error = w->point(w, t, y);
    }
    for (int k = 0; k <= WAYS; k++)
        land(&f[k]);
    return error;
}

static int flight_1(dae_trajectory *w) { return draw_flight(w, 0); }
static int flight_2(dae_trajectory *w) { return draw_flight(w, 1); }
static int flight_3(dae_trajectory *w) { return draw_flight(w, 2); }
static int flight_4(dae_trajectory *w) { return draw_flight(w, 3); }
static int integral_1(dae_trajectory *w) { return draw_integral(w, 0); }
static int integral_2(dae_trajectory *w) { return draw_integral(w, 1); }
static int integral_3(dae_trajectory *w) { return draw_integral(w, 2); }
static int integral_4(dae_trajectory *w) { return draw_integral(w, 3); }

static int lingering(dae_trajectory *w)
{
    double stay, L = libration(), speed = lingering_speed(L, &stay);
    return draw_path(w, &(way){ "", "projected", "radau", 1e-11, 1e-11 }, speed, 9, 0);
}

static const char *const paths[] = { "y2, projected, 1e-12", "y2, explicit, 1e-3" };
static const char *const curves[] = { "projection", "DAE", "stabilization", "Gauss",
                                      "explicit, 1e-3" };
static const reproduction_figure figures[] = {
    { "Figure 8.2: y1' = 0.5", { 2, paths }, 0, flight_1, "y1" },
    { "Figure 8.4: y1' = 1.1", { 2, paths }, 0, flight_2, "y1" },
    { "Figure 8.6: y1' = 1.4", { 2, paths }, 0, flight_3, "y1" },
    { "Figure 8.8: y1' = 2.0", { 2, paths }, 0, flight_4, "y1" },
    { "Figure 8.3: log10 |J - J0|, y1' = 0.5", { WAYS + 1, curves }, 0, integral_1, NULL },
    { "Figure 8.5: log10 |J - J0|, y1' = 1.1", { WAYS + 1, curves }, 0, integral_2, NULL },
    { "Figure 8.7: log10 |J - J0|, y1' = 1.4", { WAYS + 1, curves }, 0, integral_3, NULL },
    { "Figure 8.9: log10 |J - J0|, y1' = 2.0", { WAYS + 1, curves }, 0, integral_4, NULL },
    { "lingering between Earth and Moon", { 1, paths }, 0, lingering, "y1" },
    { NULL, { 0, NULL }, 0, NULL, NULL },
};

const reproduction reproduction_moon = {
    .id = "moon",
    .title = "flying to the Moon: Jacobi's integral unprotected and kept in four ways",
    .source = "lecture notes on DAEs, chapter 8; Daniel & Moore 1970",
    .run = run,
    .figures = figures,
};
