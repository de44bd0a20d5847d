/* moon.c: flights from the Earth to the Moon, and Jacobi's integral over them.
 *
 * Source: lecture notes on differential-algebraic equations, chapter 8, after Daniel and Moore:
 * launches from (-mu/2, 0.1) with y2' = 4 and y1' = 0.5, 1.1, 1.4, 2.0, solved by an explicit
 * Runge-Kutta method of order 5(4) at its default tolerances (1e-3, 1e-6). Its figures show an
 * integral that "is not at all constant". The equations there are those of problems/moon.c.
 *
 * What "constant to the tolerance" means: errors of one tolerance in every unknown change J by up
 * to sum |dJ/dx_i| (rtol |x_i| + atol). The number R below is the largest |J - J0| over the run
 * in units of that for tolerances of 1e-6; R <= 1 is constant, a drift shows where the ship is far
 * from both bodies. dJ/dx is taken from the equations again, apart from the code of the problem.
 *
 * Gauss methods keep quadratic invariants; J is not quadratic, and all they have here is their
 * order. At 1e-6 the flight through the Earth's centre (y1' = 0.5, R = 22) is not constant, at 1e-8 it is.
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
static const way tighter = { "explicit at 1e-6", "ode", "dopri5", 1e-6, 1e-6 };
/* Our own runs serve as references: by two methods, with and without the invariant. */
static const way exact = { "reference", "projected", "radau", 1e-12, 1e-12 };
static const way second = { "reference 2", "ode", "gauss-6", 1e-12, 1e-12 };
enum { WAYS = 4 };
static const way ways[WAYS] = {
    { "projection", "projected", "dopri5", 1e-6, 1e-6 },
    { "DAE, index 2", "dae", "radau", 1e-6, 1e-6 },
    { "stabilization", "stabilized", "dopri5", 1e-6, 1e-6 },
    { "Gauss-6 at 1e-8", "ode", "gauss-6", 1e-8, 1e-8 },
};

/* R of the four at most. What is projected, and 0 = J - J0 as an equation, hold as well as Newton's
 * iterations leave them. Stabilized, every step adds to J what the tolerance allows and takes away
 * about gamma h of it, gamma about 1/h: less than one tolerance. Gauss has its order only. */
static const double most[WAYS] = { 5e-10, 4e-2, 0.6, 1 };

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
    return (x[2] * x[2] + x[3] * x[3] - x[0] * x[0] - x[1] * x[1]) / 2 - (1 - mu) / to_earth(x) -
           mu / to_moon(x);
}

/* What errors of one tolerance, 1e-6, can do to J at x. */
static double allowed(const double *x)
{
    double a = (1 - mu) / pow(to_earth(x), 3), b = mu / pow(to_moon(x), 3), sum = 0;
    const double slope[4] = { -x[0] + a * (x[0] + mu) + b * (x[0] - 1 + mu), -x[1] + (a + b) * x[1],
                              x[2], x[3] };
    for (int i = 0; i < 4; i++) sum += fabs(slope[i]) * 1e-6 * (fabs(x[i]) + 1);
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
    const problem_setting set = { "speed", speed, NULL };
    const dae_options o = { .rtol = w->rtol, .atol = w->atol, .method = w->method };
    memset(f, 0, sizeof *f);
    f->w = w;
    int status = study_problem(problem_find("moon"), w->form, &set, 1, &f->p, NULL);
    if (status != DAE_OK) return (dae_status)status;
    f->opened = 1;
    f->J0 = jacobi(f->p.x0);
    f->s = study_open(&f->p.problem, &o);
    return dae_start(f->s, 0, f->p.x0, NULL);
}

static void land(flight *f)
{
    dae_close(f->s);
    if (f->opened) problem_close(&f->p);
}

typedef struct record { /* what a flight was like */
    dae_status status;
    double t, x[5];      /* its end */
    double drift, ratio; /* largest |J - J0|, and R */
    double near_share;   /* of the changes of J: made closer than 0.2 to a body */
    double nearest;      /* to the Moon's centre */
    double t_nearest;
    double t_down; /* below the Earth's surface for the first time; NaN: never */
    int64_t steps, calls;
} record;

static void note(record *r, double t, const double *x)
{
    if (to_moon(x) < r->nearest) {
        r->nearest = to_moon(x);
        r->t_nearest = t;
    }
    if (isnan(r->t_down) && to_earth(x) < earth) r->t_down = t;
}

static record fly(const way *w, double speed, double until)
{
    flight f;
    double x[5], y[5], before, near = 0, all = 0;
    record r = { .nearest = INFINITY, .t_down = NAN };
    r.status = take_off(&f, w, speed);
    before = f.J0;
    if (r.status == DAE_OK) dae_set_stop(f.s, until);
    while (r.status == DAE_OK && r.t < until) {
        double t = r.t;
        r.status = dae_step(f.s, until);
        r.t = dae_time(f.s);
        if (r.status != DAE_OK || dae_read(f.s, r.t, x, NULL) != DAE_OK) break;
        double change = fabs(jacobi(x) - f.J0), part = fabs(jacobi(x) - before);
        r.drift = fmax(r.drift, change);
        r.ratio = fmax(r.ratio, change / allowed(x));
        all += part;
        near += fmin(to_earth(x), to_moon(x)) < 0.2 ? part : 0;
        before = jacobi(x);
        for (int k = 1; k <= 20 && w->rtol < 1e-10; k++) /* reading costs, too */
            if (dae_read(f.s, t + k * (r.t - t) / 20, y, NULL) == DAE_OK)
                note(&r, t + k * (r.t - t) / 20, y);
        memcpy(r.x, x, sizeof x);
    }
    dae_statistics stats = { 0 };
    if (f.s) dae_get_statistics(f.s, &stats);
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
    fprintf(v->out, "    %-20s %5s %6s %10s %10s %12s\n", "", "steps", "calls", "|J - J0|", "R",
            "off at end");
    line(v->out, unprotected.label, &bad, &best);
    double change = bad.drift / fabs(jacobi((double[]){ -mu / 2, 0.1, speeds[i], 4 }));
    fprintf(v->out, "   by %.1g of J0: %s\n", change, verdict(v, change > 1e-3 && bad.ratio > 1));
    record same = fly(&tighter, speeds[i], end_time);
    line(v->out, tighter.label, &same, &best);
    fprintf(v->out, "\n");
    for (int k = 0; k < WAYS; k++) {
        record r = fly(&ways[k], speeds[i], end_time);
        line(v->out, ways[k].label, &r, &best);
        int good = r.status == DAE_OK && r.ratio <= most[k];
        fprintf(v->out, "   constant (%g): %s\n", most[k], verdict(v, good));
    }
    fprintf(
        v->out,
        "    two references of our own (Radau projected, Gauss plain) differ by %.1e (3e-9): %s\n",
        apart(&best, &other), verdict(v, apart(&best, &other) < 3e-9));
    if (i == 0)
        fprintf(v->out, "    it meets the Earth's surface at t = %.4f: %s\n", best.t_down,
                verdict(v, best.t_down < 2));
    if (i == 1)
        fprintf(v->out, "    of the changes of J %.1f %% are made closer than 0.2 to a body: %s\n",
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
    fprintf(v->out, "    nearest at t = %.4f: %.0f km from the centre, the radius is %.0f km\n",
            r.t_nearest, r.nearest * km, moon * km);
    fprintf(v->out, "    (the second reference: %.0f km)\n", q.nearest * km);
    fprintf(v->out, "    It does not: it passes %.0f km above the ground and flies away: %s\n",
            (r.nearest - moon) * km,
            verdict(v, r.nearest > 1.2 * moon && fabs(r.nearest - q.nearest) * km < 20));
}

/* The speeds with which it would: between a miss and a hit, to 1e-7. */
static double edge(double miss, double hit)
{
    while (fabs(hit - miss) > 1e-7) {
        double middle = (miss + hit) / 2;
        if (fly(&exact, middle, 1.2).nearest < moon)
            hit = middle;
        else
            miss = middle;
    }
    return hit;
}

static void compare_edges(verdicts *v)
{
    double low = edge(1.4, 1.415), high = edge(1.43, 1.415);
    double middle = fly(&second, (low + high) / 2, 1.2).nearest;
    fprintf(v->out, "    It would for %.5f < y1' < %.5f: %s\n", low, high,
            verdict(v, low > 1.4001 && high > low + 1e-3 && middle < moon));
}

/* ---- stabilization ---- */

/* x' of the flight without stabilization. */
static void free_flight(const double *x, double *f)
{
    double a = (1 - mu) / pow(to_earth(x), 3), b = mu / pow(to_moon(x), 3);
    f[0] = x[2];
    f[1] = x[3];
    f[2] = x[0] + 2 * x[3] - a * (x[0] + mu) - b * (x[0] - 1 + mu);
    f[3] = x[1] - 2 * x[2] - (a + b) * x[1];
}

/* gamma = rtol^(-1/6) |f| / |x|, |x|^2 the sum of 1 + x_i^2, rtol = 1e-6; written out again. */
static double pull(const double *x)
{
    double f[4], ff = 0, xx = 0;
    free_flight(x, f);
    for (int i = 0; i < 4; i++) {
        ff += f[i] * f[i];
        xx += 1 + x[i] * x[i];
    }
    return 10 * sqrt(ff / xx);
}

/* A ship that is off J0: (J - J0)' = -gamma (J - J0), so it must come back like
 * exp(- integral of gamma). Simpson's rule between the reading times. */
static void compare_pull(verdicts *v)
{
    enum { PIECES = 400 };
    const way tight = { "", "stabilized", "dopri5", 1e-11, 1e-11 };
    const double until = 0.1;
    flight f;
    double x[5], first = 0, sum = 0, last = 0, worst = 0;
    dae_status status = take_off(&f, &tight, 1.4);
    memcpy(x, f.p.x0, 4 * sizeof *x);
    x[3] += 1e-3;
    first = jacobi(x) - f.J0;
    if (status == DAE_OK) status = dae_start(f.s, 0, x, NULL);
    for (int k = 1; k <= PIECES && status == DAE_OK; k++) {
        double h = until / PIECES, gamma = pull(x);
        for (int half = 1; half <= 2 && status == DAE_OK; half++) {
            double t = (k - 1 + 0.5 * half) * h;
            status = dae_advance(f.s, t);
            if (status == DAE_OK) status = dae_read(f.s, t, x, NULL);
            gamma += (half == 1 ? 4 : 1) * pull(x);
        }
        sum += h * gamma / 6;
        last = (jacobi(x) - f.J0) / first;
        worst = fmax(worst, fabs(last / exp(-sum) - 1));
    }
    land(&f);
    fprintf(
        v->out,
        "\nStabilization: a ship off by J - J0 = %.1e has %.3e of that at t = %g, theory %.3e;\n"
        "    on the way within %.1e of it (1e-6): %s\n",
        first, last, until, exp(-sum), worst,
        verdict(v, status == DAE_OK && worst <= 1e-6 && last < 0.1));
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

/* The growing solution exp(s t) there: s^4 + (2 - k) s^2 + (1 + 2 k)(1 - k) = 0. */
static double growth(double L)
{
    double k = (1 - mu) / pow(L + mu, 3) + mu / pow(1 - mu - L, 3);
    double half = (k - 2) / 2;
    return sqrt(half + sqrt(half * half - (1 + 2 * k) * (1 - k)));
}

/* How long the ship is within 0.25 of the point on its first visit before t = 2, and how near it
 * gets before that time or before it hits the Earth. */
static double stay(double speed, double L, double *nearest)
{
    flight f;
    double x[5], t = 0, sum = 0, before = 1;
    int down = 0, out = 0;
    *nearest = INFINITY;
    dae_status status = take_off(&f, &exact, speed);
    while (status == DAE_OK && t < 2 && !down && !out) {
        status = dae_step(f.s, 2);
        double from = t, h = (dae_time(f.s) - t) / 50;
        t = dae_time(f.s);
        for (int k = 1; k <= 50 && status == DAE_OK && !down && !out; k++) {
            status = dae_read(f.s, k < 50 ? from + k * h : t, x, NULL);
            double d = hypot(x[0] - L, x[1]) - 0.25;
            if (d < 0 || before < 0) /* a crossing counts in part */
                sum += d * before > 0 ? h : h * fmin(d, before) / -fabs(d - before);
            out = before < 0 && d >= 0;
            down = t > 0.2 && to_earth(x) < earth;
            *nearest = fmin(*nearest, d + 0.25);
            before = d;
        }
    }
    land(&f);
    return sum;
}

/* The longest stay: golden section, the stay having one maximum there. */
static double lingering_speed(double L)
{
    const double part = 0.6180339887498949;
    double low = 1.15, high = 1.39, unused;
    while (high - low > 1e-5) {
        double a = high - part * (high - low), b = low + part * (high - low);
        if (stay(a, L, &unused) > stay(b, L, &unused))
            high = b;
        else
            low = a;
    }
    return (low + high) / 2;
}

static void compare_lingering(verdicts *v)
{
    double L = libration(), near, days = 4.342;
    double rest = jacobi((double[]){ L, 0, 0, 0 });
    double launch = jacobi((double[]){ -mu / 2, 0.1, 0, 4 }), slow = sqrt(2 * (rest - launch));
    double speed = lingering_speed(L), longest = stay(speed, L, &near), other;
    double less = fmax(stay(speed - 0.05, L, &other), stay(speed + 0.05, L, &other));
    fprintf(v->out,
            "\nThe point between the bodies: y1 = %.6f, called stable in the notes;\n"
            "    deviations grow like exp(%.3f t), so it is not: %s\n",
            L, growth(L), verdict(v, growth(L) > 1));
    fprintf(v->out,
            "    the ship that lingers longest: y1' = %.4f, within 0.25 of the point for %.4f\n"
            "    (%.1f days; 0.05 faster or slower: less than %.4f): %s\n",
            speed, longest, longest * days, less + 5e-5, verdict(v, longest > less));
    stay(slow, L, &other);
    fprintf(v->out,
            "    none comes to rest there: that takes J = %.6f, y1' = %.6f, and this ship\n"
            "    falls back to the Earth, never nearer to the point than %.3f: %s\n",
            rest, slow, other, verdict(v, other > 0.25));
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    for (int i = 0; i < SPEEDS; i++) compare_flight(&v, i);
    compare_landing(&v);
    compare_edges(&v);
    compare_pull(&v);
    compare_lingering(&v);
    fprintf(out,
            "\n--plot FILE.svg --figure N draws: 1 to 4 the flights (8.2, 8.4, 8.6, 8.8), 5 to 8\n"
            "log10 |J - J0| (8.3, 8.5, 8.7, 8.9), 9 the flight that lingers\n");
    return verdict_total(&v);
}

/* ---- figures ---- */

enum { PATHS = 3 };

/* Earth and Moon, to scale */
static int draw_bodies(dae_trajectory *w, int curve)
{
    const double centre[2] = { -mu, 1 - mu }, radius[2] = { earth, moon };
    int error = 0;
    for (int body = 0; body < 2; body++)
        for (int k = 0; k <= 41 && error == 0; k++) { /* the last lifts the pen */
            double a = 2 * acos(-1) * k / 40, y[PATHS] = { NAN, NAN, NAN };
            if (k <= 40) y[curve] = radius[body] * sin(a);
            error = w->point(w, k > 40 ? NAN : centre[body] + radius[body] * cos(a), y);
        }
    return error;
}

static int draw_path(dae_trajectory *w, const way *how, double speed, double until, int curve)
{
    flight f;
    double x[5], last[2] = { INFINITY, INFINITY };
    int error = 0;
    dae_status status = take_off(&f, how, speed);
    /* often, for the turn around the Earth takes no time; drawn where it has moved by a line's width */
    for (int k = 0; k <= 20 * DRAWN && status == DAE_OK && error == 0; k++) {
        double t = until * k / (20 * DRAWN), y[PATHS] = { NAN, NAN, NAN };
        if (k > 0) status = dae_advance(f.s, t);
        if (status != DAE_OK || dae_read(f.s, t, x, NULL) != DAE_OK ||
            hypot(x[0] - last[0], x[1] - last[1]) < 0.001)
            continue;
        y[curve] = x[1];
        memcpy(last, x, sizeof last);
        error = w->point(w, x[0], y);
    }
    land(&f);
    return error;
}

static int draw_flight(dae_trajectory *w, int i)
{
    static const double until[SPEEDS] = { 1.38, 4, 4, 4 };
    const double gap[PATHS] = { NAN, NAN, NAN };
    int error = draw_bodies(w, 2);
    if (error == 0) error = draw_path(w, &exact, speeds[i], until[i], 0);
    if (error == 0) error = w->point(w, NAN, gap);
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
            if (status[k] == DAE_OK) status[k] = dae_advance(f[k].s, t);
            int known = status[k] == DAE_OK && dae_read(f[k].s, t, x, NULL) == DAE_OK;
            y[k] = known ? log10(fmax(fabs(jacobi(x) - f[k].J0), 1e-16)) : NAN;
        }
        error = w->point(w, t, y);
    }
    for (int k = 0; k <= WAYS; k++) land(&f[k]);
    return error;
}

static int flight_1(dae_trajectory *w)
{
    return draw_flight(w, 0);
}
static int flight_2(dae_trajectory *w)
{
    return draw_flight(w, 1);
}
static int flight_3(dae_trajectory *w)
{
    return draw_flight(w, 2);
}
static int flight_4(dae_trajectory *w)
{
    return draw_flight(w, 3);
}
static int integral_1(dae_trajectory *w)
{
    return draw_integral(w, 0);
}
static int integral_2(dae_trajectory *w)
{
    return draw_integral(w, 1);
}
static int integral_3(dae_trajectory *w)
{
    return draw_integral(w, 2);
}
static int integral_4(dae_trajectory *w)
{
    return draw_integral(w, 3);
}

static int lingering(dae_trajectory *w)
{
    int error = draw_bodies(w, 1);
    return error ? error : draw_path(w, &exact, lingering_speed(libration()), 2, 0);
}

static const char *const paths[] = { "y2, projected, 1e-12", "y2, explicit, 1e-3", "Earth, Moon" };
static const char *const path_alone[] = { "y2, projected, 1e-12", "Earth, Moon" };
static const char *const curves[] = { "projection", "DAE", "stabilization", "Gauss",
                                      "explicit, 1e-3" };
static const reproduction_figure figures[] = {
    { "Figure 8.2: y1' = 0.5", { PATHS, paths }, 0, flight_1, "y1" },
    { "Figure 8.4: y1' = 1.1", { PATHS, paths }, 0, flight_2, "y1" },
    { "Figure 8.6: y1' = 1.4", { PATHS, paths }, 0, flight_3, "y1" },
    { "Figure 8.8: y1' = 2.0", { PATHS, paths }, 0, flight_4, "y1" },
    { "Figure 8.3: log10 |J - J0|, y1' = 0.5", { WAYS + 1, curves }, 0, integral_1, NULL },
    { "Figure 8.5: log10 |J - J0|, y1' = 1.1", { WAYS + 1, curves }, 0, integral_2, NULL },
    { "Figure 8.7: log10 |J - J0|, y1' = 1.4", { WAYS + 1, curves }, 0, integral_3, NULL },
    { "Figure 8.9: log10 |J - J0|, y1' = 2.0", { WAYS + 1, curves }, 0, integral_4, NULL },
    { "lingering between Earth and Moon", { 2, path_alone }, 0, lingering, "y1" },
    { NULL, { 0, NULL }, 0, NULL, NULL },
};

const reproduction reproduction_moon = {
    .id = "moon",
    .title = "flying to the Moon: Jacobi's integral unprotected and kept in four ways",
    .source = "lecture notes on DAEs, chapter 8; Daniel & Moore 1970",
    .run = run,
    .figures = figures,
};
