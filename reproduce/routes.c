/* routes.c: a pendulum as it is written down, of index 3, for 1000 s, on every route.
 *
 * x^2 + y^2 = 1 with masses and forces in Cartesian coordinates, energy 1.2 times that of the
 * separatrix: the pendulum turns over about 950 times, so no pair of coordinates can serve as
 * states for longer than a quarter turn. The angle from the lowest point is
 *
 *     phi(t) = 2 am(v0 t / 2, m),   m = 4 g / v0^2 < 1,
 *
 * with Jacobi's amplitude, by the arithmetic-geometric mean. Shown of every route: how well the
 * constraint and its derivative hold at the output times, how far the energy drifts, the error, and
 * how far the routes are from each other. Errors grow with time on all of them, as phase errors do.
 *
 * Then what changing the states on the way costs: steps, against those of phi'' = -g sin(phi) and of
 * the ODE that the Cartesian coordinates satisfy once the force is known, by the same method.
 *
 * The constraints hold to rounding where states are chosen or projected; positions to the tolerance
 * and velocities, of index 2, to some 1e4 of it on the route direct. The energy, of which phase errors
 * are the integral, may drift by a tolerance per step: bounds are a part of that, four times what is
 * seen.
 */
#include "reproduce.h"

#include "daedalus/model.h"

#include <math.h>
#include <string.h>

enum { POINTS = 2000, ROUTES = 4 };

static const char pendulum[] =
    "model Pendulum\n"
    "  parameter Real g = 9.81, v0 = sqrt(1.2 * 4 * g);\n"
    "  Real x(start = 0, fixed = true), y(start = -1), vx(start = v0, fixed = true), vy, F;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy;\n"
    "  der(vx) = -F * x; der(vy) = -F * y - g;\n"
    "  x ^ 2 + y ^ 2 = 1;\n"
    "end Pendulum;\n";

static const char angle[] =
    "model Angle\n"
    "  parameter Real g = 9.81, v0 = sqrt(1.2 * 4 * g);\n"
    "  Real phi(start = 0, fixed = true), w(start = v0, fixed = true);\n"
    "  Real x = sin(phi), y = -cos(phi), vx = w * cos(phi), vy = w * sin(phi);\n"
    "equation\n"
    "  der(phi) = w; der(w) = -g * sin(phi);\n"
    "end Angle;\n";

static const char cartesian[] =
    "model Cartesian\n"
    "  parameter Real g = 9.81, v0 = sqrt(1.2 * 4 * g);\n"
    "  Real x(start = 0, fixed = true), y(start = -1, fixed = true);\n"
    "  Real vx(start = v0, fixed = true), vy(start = 0, fixed = true);\n"
    "  Real F = vx ^ 2 + vy ^ 2 - g * y;\n"
    "equation\n"
    "  der(x) = vx; der(y) = vy; der(vx) = -F * x; der(vy) = -F * y - g;\n"
    "end Cartesian;\n";

static const char *const route[ROUTES] = { "dummy", "projection", "least-squares", "direct" };

static const double g = 9.81, span = 1000;

typedef struct outcome {
    size_t at[4]; /* x, y, vx, vy among the results */
    double position[POINTS + 1][2];
    int rows;
    double length, velocity, energy; /* largest */
    dae_statistics stats;
    dae_status status;
} outcome;

static int take_row(double t, const double *value, void *user)
{
    outcome *o = user;
    double x = value[o->at[0]], y = value[o->at[1]], vx = value[o->at[2]], vy = value[o->at[3]];
    double start = 1.2 * 2 * g - g, energy = (vx * vx + vy * vy) / 2 + g * y;
    (void)t;
    o->length = fmax(o->length, fabs(x * x + y * y - 1));
    o->velocity = fmax(o->velocity, fabs(x * vx + y * vy));
    o->energy = fmax(o->energy, fabs(energy / start - 1));
    if (o->rows <= POINTS) {
        o->position[o->rows][0] = x;
        o->position[o->rows][1] = y;
    }
    o->rows++;
    return DAE_OK;
}

/* A run of one of the two models; of the pendulum with a look at its rows. */
static void simulate(const char *text, const dae_simulation *how, outcome *o)
{
    static const char *const name[] = { "x", "y", "vx", "vy" };
    dae_model *m = study_model("pendulum", text);
    memset(o, 0, sizeof *o);
    size_t count = dae_model_variable_count(m);
    for (size_t i = 0; i < count; i++)
        for (int k = 0; k < 4; k++)
            if (!strcmp(dae_model_variable(m, i)->name, name[k])) o->at[k] = i;
    o->status = dae_model_simulate(m, how, take_row, o);
    dae_model_get_statistics(m, &o->stats);
    dae_model_close(m);
}

/* ---------------------------------------------------------------- the routes ------------ */

static double largest_error(const outcome *o)
{
    double v0 = sqrt(1.2 * 4 * g), most = 0;
    for (int k = 0; k <= POINTS; k++) {
        double phi = 2 * jacobi_amplitude(v0 * span * k / POINTS / 2, 4 * g / (v0 * v0));
        most = fmax(most, hypot(o->position[k][0] - sin(phi), o->position[k][1] + cos(phi)));
    }
    return most;
}

static double distance(const outcome *a, const outcome *b)
{
    double most = 0;
    for (int k = 0; k <= POINTS; k++)
        most = fmax(most, hypot(a->position[k][0] - b->position[k][0],
                                a->position[k][1] - b->position[k][1]));
    return most;
}

static void compare_routes(verdicts *v)
{
    static outcome o[ROUTES];
    static const double limit[2][4] = { { 1e-11, 1e-10, 3e-10, 6e-7 },
                                        { 2e-10, 1e-6, 6e-8, 8e-6 } };
    fprintf(v->out, "%.0f s, radau, tolerance 1e-10; largest values at %d output times\n\n", span,
            POINTS + 1);
    fprintf(v->out, "%-14s %8s %12s %12s %12s %12s\n", "route", "steps", "x^2+y^2-1", "x vx+y vy",
            "energy", "error");
    for (int r = 0; r < ROUTES; r++) {
        simulate(pendulum,
                 &(dae_simulation){ .stop = span,
                                    .tolerance = 1e-10,
                                    .absolute = 1e-10,
                                    .intervals = POINTS,
                                    .method = "radau",
                                    .route = route[r] },
                 &o[r]);
        double error = largest_error(&o[r]);
        const double *most = limit[r == ROUTES - 1];
        int good = o[r].status == DAE_OK && o[r].rows == POINTS + 1 && o[r].length <= most[0] &&
                   o[r].velocity <= most[1] && o[r].energy <= most[2] && error <= most[3];
        fprintf(v->out, "%-14s %8lld %12.1e %12.1e %12.1e %12.1e  %s\n", route[r],
                (long long)o[r].stats.steps, o[r].length, o[r].velocity, o[r].energy, error,
                verdict(v, good));
    }
    for (int k = 0; k < 2; k++)
        fprintf(v->out, "%s%-14s %8s %12.0e %12.0e %12.0e %12.0e\n", k ? "" : "\n",
                k ? "direct:" : "at most:", "", limit[k][0], limit[k][1], limit[k][2], limit[k][3]);
    fprintf(v->out, "How far apart, at most:\n");
    for (int r = 0; r < ROUTES; r++)
        for (int s = 0; s < r; s++) {
            double apart = distance(&o[r], &o[s]), most = limit[r == ROUTES - 1][3];
            fprintf(v->out, "  %-14s %-14s %10.1e  (%.0e)  %s\n", route[s], route[r], apart, most,
                    verdict(v, apart <= most));
        }
}

/* ---------------------------------------------------------------- other states ---------- */

/* Steps of phi at the largest tolerance, a tenth each time, with which it is as accurate as this, within a factor of
 * two: a tenth of the tolerance may bring other orders, too. */
static double as_accurate(const dae_simulation *how, double error, const outcome *first)
{
    static outcome o;
    dae_simulation with = *how;
    o = *first;
    for (int k = 0; k < 4 && largest_error(&o) > 2 * error; k++) {
        with.tolerance *= 0.1;
        simulate(angle, &with, &o);
    }
    return o.status == DAE_OK ? (double)o.stats.steps : NAN;
}

/* Steps of the pendulum with other states on the way, and of the same motion without a choice:
 * phi, or all of x, y, vx, vy with the force known beforehand. Where errors are as large as the
 * circle nothing is said about accuracy, and steps at the same tolerance count; else those for
 * the same accuracy. */
static void compare_steps(verdicts *v, const char *method, double to_phi, double to_same)
{
    static outcome o[3];
    static const char *const text[3] = { pendulum, angle, cartesian };
    fprintf(v->out, "\nmethod %s on all sides: at most %.1f times phi, %.1f times x, y, vx, vy\n",
            method, to_phi, to_same);
    fprintf(v->out, "%9s %18s %18s %18s %7s %11s %7s\n", "tolerance", "other states", "phi",
            "x, y, vx, vy", "/ phi", "/ as exact", "/ x, y");
    for (int k = 0; k < 3; k++) {
        double tolerance = pow(100, -2 - k);
        dae_simulation how = {
            .stop = span, .tolerance = tolerance, .intervals = POINTS, .method = method
        };
        int good = 1;
        fprintf(v->out, "%9.0e", tolerance);
        for (int i = 0; i < 3; i++) {
            simulate(text[i], &how, &o[i]);
            good = good && (i > 1 || o[i].status == DAE_OK);
            fprintf(v->out, " %9lld %8.1e", (long long)o[i].stats.steps, largest_error(&o[i]));
        }
        double steps = (double)o[0].stats.steps, error = largest_error(&o[0]);
        double to_angle = steps / (double)o[1].stats.steps;
        double to_accurate = error < 1 ? steps / as_accurate(&how, error, &o[1]) : NAN;
        fprintf(v->out, " %7.2f", to_angle);
        if (isnan(to_accurate))
            fprintf(v->out, " %11s", "-");
        else
            fprintf(v->out, " %11.2f", to_accurate);
        double to_cartesian = steps / (double)o[2].stats.steps;
        int on_circle = o[2].status == DAE_OK && largest_error(&o[2]) <= 3;
        good = good && (isnan(to_accurate) ? to_angle : to_accurate) <= to_phi &&
               (!on_circle || to_cartesian <= to_same);
        fprintf(v->out, " %7.2f  %s\n", to_cartesian, verdict(v, good));
    }
}

static void compare_all_steps(verdicts *v)
{
    fprintf(
        v->out,
        "\nWhat choosing states on the way costs: steps, and the largest error, with one method\n"
        "on all sides. '/ phi': steps in units of those of phi at the same tolerance; '/ as\n"
        "exact': of phi with a tolerance that makes it as accurate, which counts where errors\n"
        "are below 1; '/ x, y': of the same coordinates without a choice, where these stay\n"
        "near the circle\n");
    /* Errors of x, y, vx, vy count on the first side and the last, on that of phi two of another kind: */
    compare_steps(v, "bdf", 2, 1.3);
    compare_steps(v, "mebdf", 2, 1.3);
    compare_steps(v, "radau", 2.8, 1.8);
    fprintf(
        v->out,
        "(With tolerances relative to the whole circle x, y, vx, vy take 1.4 and 1.6 times the\n"
        "steps of phi: cosines are harder to follow than an angle. A step of radau spans 40 to\n"
        "60 degrees, over which Newton's iteration with one Jacobian for all stages limits it)\n");
}

static int run(FILE *out)
{
    verdicts v = { .out = out };
    fprintf(out, "A pendulum of index 3 that keeps turning over, on four routes\n");
    compare_routes(&v);
    compare_all_steps(&v);
    return verdict_total(&v);
}

const reproduction reproduction_routes = {
    .id = "routes",
    .title = "a pendulum of index 3 turning over for 1000 s, on four routes",
    .source = "Mattsson and Söderlind 1993; Eich 1993; Führer and Leimkuhler 1991",
    .run = run,
};
