/* test_rows.c: every variable of a row is as right as those that are integrated.
 *
 * Models are drawn whose solution is known: signals s (c + a sin(w t + p)) with scales s from 1e-8 to
 * 1e8, and sources that make them the solution.
 *
 *     loop       algebraic loops, well conditioned, that tearing opens with small divisors
 *     chain      variables computed from states one after the other, with digits that cancel
 *     follow     stiff states, and flows that are differences of what nearly agrees
 *     pendulum   a point on a circle that turns all the way, with its multiplier: index 3
 *     flow       states held on a plane by unknowns of index 2
 *
 * Errors are counted in tolerances, rtol * (largest value) + atol * nominal. With arguments
 * (seeds, first seed, words for every run that is off by more than that many tolerances) a table is
 * printed instead.
 */
#include "testing.h"

#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 24, ROOM = 60000 };

typedef struct signal {
    double s, c, a, w, p;
} signal;

typedef struct sample {
    unsigned seed;
    char text[ROOM];
    size_t length;
    int variables;
    char name[MOST][24];
    signal is[MOST];
    double (*other[MOST])(const struct sample *k, double t); /* NULL: the signal */
    double nominal[MOST];
    double span;
    signal angle; /* of a pendulum */
    double radius, mass;
    int high; /* routes make a difference */
} sample;

static double draw(sample *k, double low, double high)
{
    k->seed = k->seed * 1664525u + 1013904223u;
    return low + (high - low) * ((double)(k->seed >> 8) / 16777216);
}

static int pick(sample *k, int low, int high)
{
    return (int)draw(k, low, high + 0.999);
}

static double draw_power(sample *k, double low, double high)
{
    return pow(10, draw(k, low, high));
}

static double sign(sample *k)
{
    return draw(k, 0, 1) < 0.5 ? -1 : 1;
}

static void put(sample *k, const char *format, ...)
{
    va_list list;
    va_start(list, format);
    k->length += (size_t)vsnprintf(k->text + k->length, ROOM - k->length, format, list);
    va_end(list);
    if (k->length >= ROOM) fail_msg("no room for a model");
}

/* The value and derivatives. */
static double at(const signal *f, double t, int order)
{
    double turned = f->w * t + f->p + order * 1.5707963267948966;
    return f->s * ((order ? 0 : f->c) + f->a * pow(f->w, order) * sin(turned));
}

static void put_at(sample *k, const signal *f, int order)
{
    static const char *const word[] = { "sin", "cos", "-sin" };
    if (order == 0)
        put(k, "(%.17g*(%.17g + %.17g*sin(%.17g*time + %.17g)))", f->s, f->c, f->a, f->w, f->p);
    else
        put(k, "(%.17g*%.17g*(%s(%.17g*time + %.17g)))", f->s, f->a * pow(f->w, order), word[order],
            f->w, f->p);
}

static int add(sample *k, const char *letter, double scale)
{
    int i = k->variables++;
    snprintf(k->name[i], sizeof k->name[i], "%s%d", letter, i);
    k->is[i] = (signal){ scale, sign(k) * draw(k, 0.3, 2), draw(k, 0.3, 1), draw(k, 0.5, 3),
                         draw(k, 0, 6) };
    int given = draw(k, 0, 1) < 0.7;
    k->nominal[i] = given ? scale : 1;
    put(k, " Real %s(start = %.17g", k->name[i], at(&k->is[i], 0, 0));
    if (given) put(k, ", nominal = %.17g", scale);
    put(k, letter[0] == 'x' ? ", fixed = true);\n" : ");\n");
    return i;
}

static double draw_scale(sample *k)
{
    return draw(k, 0, 1) < 0.5 ? 1 : draw_power(k, -8, 8);
}

/* factor * (x / s), and that of the solution. */
static void put_part(sample *k, double factor, int i)
{
    put(k, " + (%.17g)*%s", factor / k->is[i].s, k->name[i]);
}

static void put_source(sample *k, double factor, int i)
{
    put(k, " + (%.17g)*", factor / k->is[i].s);
    put_at(k, &k->is[i], 0);
}

/* x' = -l (x - x*) + x*' + what others are off by. */
static void put_state(sample *k, int i, double rate, int other, double factor)
{
    put(k, " der(%s) = (%.17g)*(%s - ", k->name[i], -rate, k->name[i]);
    put_at(k, &k->is[i], 0);
    put(k, ") + ");
    put_at(k, &k->is[i], 1);
    if (other >= 0) {
        put(k, " + (%.17g)*(%s - ", factor * k->is[i].s / k->is[other].s, k->name[other]);
        put_at(k, &k->is[other], 0);
        put(k, ")");
    }
    put(k, ";\n");
}

static void make_loop(sample *k)
{
    int states = pick(k, 1, 3), members = pick(k, 3, 7), x[3], v[8];
    double weak = draw(k, -6, -0.5);
    for (int i = 0; i < states; i++) x[i] = add(k, "x", draw_scale(k));
    for (int i = 0; i < members; i++) v[i] = add(k, "v", draw_scale(k));
    put(k, "equation\n");
    for (int i = 0; i < states; i++)
        put_state(k, x[i], draw_power(k, -0.5, 3), v[pick(k, 0, members - 1)], draw(k, -0.3, 0.3));
    for (int i = 0; i < members; i++) {
        int next = v[(i + 1) % members], bent = v[pick(k, 0, members - 1)];
        double d = sign(k) * draw(k, 1, 2), e = draw_power(k, weak, -0.4), b = draw(k, -1, 1);
        double n = draw(k, 0, 1) < 0.5 ? 0 : draw(k, -0.3, 0.3);
        int from = x[pick(k, 0, states - 1)];
        put(k, " 0");
        put_part(k, d, v[i]);
        put_part(k, e, next);
        put_part(k, b, from);
        if (n != 0) put(k, " + (%.17g)*sin((%.17g)*%s)", n, 1 / k->is[bent].s, k->name[bent]);
        put(k, "\n  = 0");
        put_source(k, d, v[i]);
        put_source(k, e, next);
        put_source(k, b, from);
        if (n != 0) {
            put(k, " + (%.17g)*sin(", n);
            put_source(k, 1, bent);
            put(k, ")");
        }
        put(k, ";\n");
    }
}

static void make_chain(sample *k)
{
    int states = pick(k, 2, 4), links = pick(k, 1, 4), x[4], v[4];
    for (int i = 0; i < states; i++) x[i] = add(k, "x", draw_scale(k));
    for (int i = 0; i < links; i++) v[i] = add(k, "v", draw_scale(k));
    put(k, "equation\n");
    for (int i = 0; i < states; i++)
        put_state(k, x[i], draw_power(k, -0.5, 3), x[(i + 1) % states], draw(k, -0.3, 0.3));
    for (int i = 0; i < links; i++) {
        int a = x[pick(k, 0, states - 1)],
            b = i > 0 && pick(k, 0, 1) ? v[i - 1] : x[pick(k, 0, states - 1)];
        double gain = draw_power(k, 0, 2), other = b >= states ? 1 : gain;
        put(k, " (%.17g)*%s = 0", 1 / k->is[v[i]].s, k->name[v[i]]);
        put_part(k, gain, a);
        put_part(k, other, b);
        put_source(k, 1, v[i]);
        put_source(k, -gain, a);
        put_source(k, -other, b);
        put(k, ";\n");
    }
}

/* q = (x - y) / r, x' = -q + ..., y given by a slower state. */
static void make_follow(sample *k)
{
    int pairs = pick(k, 1, 3);
    double scale[3];
    int x[3], y[3], q[3];
    for (int i = 0; i < pairs; i++) {
        scale[i] = draw_scale(k);
        x[i] = add(k, "x", scale[i]);
        q[i] = add(k, "v", draw_scale(k));
        y[i] = add(k, "xy", scale[i]);
    }
    put(k, "equation\n");
    for (int i = 0; i < pairs; i++) {
        double r = draw_power(k, -6, 0); /* q* / s = (x* - y*) / (s r) by a source in q */
        put_state(k, y[i], draw_power(k, -0.5, 1), q[(i + 1) % pairs], draw(k, -0.2, 0.2));
        put(k, " (%.17g)*%s = 0", 1 / k->is[q[i]].s, k->name[q[i]]);
        put_part(k, 1 / r, x[i]);
        put_part(k, -1 / r, y[i]);
        put_source(k, -1 / r, x[i]);
        put_source(k, 1 / r, y[i]);
        put_source(k, 1, q[i]);
        put(k, ";\n");
        put_state(k, x[i], 1, q[i], -1);
    }
}

static double angle_x(const sample *k, double t)
{
    return k->radius * sin(at(&k->angle, t, 0));
}
static double angle_y(const sample *k, double t)
{
    return -k->radius * cos(at(&k->angle, t, 0));
}
static double speed_x(const sample *k, double t)
{
    return k->radius * cos(at(&k->angle, t, 0)) * at(&k->angle, t, 1);
}
static double speed_y(const sample *k, double t)
{
    return k->radius * sin(at(&k->angle, t, 0)) * at(&k->angle, t, 1);
}

static int add_known(sample *k, const char *name, double (*f)(const sample *, double),
                     double nominal)
{
    int i = k->variables++;
    snprintf(k->name[i], sizeof k->name[i], "%s", name);
    k->other[i] = f;
    k->nominal[i] = nominal;
    put(k, " Real %s(start = %.17g, nominal = %.17g);\n", name, f(k, 0), nominal);
    return i;
}

/* m x'' = -z x + Fx, m y'' = -z y + Fy, x^2 + y^2 = r^2; stable where z > m angle'^2. */
static void make_pendulum(sample *k)
{
    static const char *const side[] = { "x", "y" };
    k->high = 1;
    k->radius = draw(k, 0, 1) < 0.5 ? 1 : draw_power(k, -4, 4);
    k->mass = draw(k, 0, 1) < 0.5 ? 1 : draw_power(k, -4, 4);
    k->angle = (signal){ 1, draw(k, -3, 3), draw(k, 0.5, 3), draw(k, 0.5, 2), draw(k, 0, 6) };
    double fastest = k->angle.a * k->angle.w, r = k->radius;
    add_known(k, "x", angle_x, r);
    add_known(k, "y", angle_y, r);
    add_known(k, "u", speed_x, r * fastest);
    add_known(k, "v", speed_y, r * fastest);
    int z = add(k, "z", k->mass * (fastest * fastest + draw(k, 0, 2)));
    k->is[z].c = 1.5 + k->is[z].a;
    int flow = pick(k, 0, 1) ? add(k, "w", draw_scale(k)) : -1;
    put(k, "equation\n der(x) = u; der(y) = v; x^2 + y^2 = %.17g;\n", r * r);
    for (int i = 0; i < 2; i++) {
        put(k, " %.17g*der(%s) = -%s*%s + ", k->mass, i ? "v" : "u", k->name[z], side[i]);
        put_at(k, &k->is[z], 0);
        put(k, "*%.17g*(%s", r, i ? "-cos(" : "sin(");
        put_at(k, &k->angle, 0);
        put(k, ")) + %.17g*(%s(", k->mass * r, i ? "sin" : "cos");
        put_at(k, &k->angle, 0);
        put(k, ")*");
        put_at(k, &k->angle, 2);
        put(k, "%s(", i ? " + cos" : " - sin");
        put_at(k, &k->angle, 0);
        put(k, ")*");
        put_at(k, &k->angle, 1);
        put(k, "^2);\n");
    }
    if (flow < 0) return;
    double gain = draw_power(k, 0, 2) / k->is[z].s;
    put(k, " %s = %.17g*(%s - ", k->name[flow], gain * k->is[flow].s, k->name[z]);
    put_at(k, &k->is[z], 0);
    put(k, ") + ");
    put_at(k, &k->is[flow], 0);
    put(k, ";\n");
}

/* x' = A x + B z + f, C x = r(t), one multiplier for each constraint. */
static void make_flow(sample *k)
{
    int states = pick(k, 2, 4), held = pick(k, 1, states - 1), x[4], z[4];
    double c[4][4];
    k->high = 1;
    for (int i = 0; i < states; i++) x[i] = add(k, "y", draw_scale(k));
    for (int i = 0; i < held; i++) z[i] = add(k, "z", draw_scale(k));
    put(k, "equation\n");
    for (int j = 0; j < held; j++)
        for (int i = 0; i < states; i++)
            c[j][i] = i == j ? sign(k) * draw(k, 1, 2) : draw(k, -0.4, 0.4);
    for (int i = 0; i < states; i++) {
        put(k, " %.17g*der(%s) - (%.17g)*", 1 / k->is[x[i]].s, k->name[x[i]], 1 / k->is[x[i]].s);
        put_at(k, &k->is[x[i]], 1);
        put(k, " = 0");
        put_part(k, -1, x[i]);
        put_source(k, 1, x[i]);
        put_part(k, 0.3, x[(i + 1) % states]);
        put_source(k, -0.3, x[(i + 1) % states]);
        for (int j = 0; j < held; j++) {
            put_part(k, c[j][i], z[j]);
            put_source(k, -c[j][i], z[j]);
        }
        put(k, ";\n");
    }
    for (int j = 0; j < held; j++) {
        put(k, " 0");
        for (int i = 0; i < states; i++) put_part(k, c[j][i], x[i]);
        put(k, " = 0");
        for (int i = 0; i < states; i++) put_source(k, c[j][i], x[i]);
        put(k, ";\n");
    }
}

static const struct {
    const char *name;
    void (*make)(sample *k);
} kind[] = { { "loop", make_loop },
             { "chain", make_chain },
             { "follow", make_follow },
             { "pendulum", make_pendulum },
             { "flow", make_flow } };

static void make(sample *k, int which, unsigned seed)
{
    memset(k, 0, sizeof *k);
    k->seed = (seed * 8u + (unsigned)which) * 2654435761u;
    for (int i = 0; i < 3; i++) draw(k, 0, 1);
    put(k, "model M\n");
    kind[which].make(k);
    put(k, "end M;\n");
    k->span = draw(k, 2, 8);
}

/* ---------------------------------------------------------------- runs ------------------ */

typedef struct outcome {
    const sample *k;
    size_t column[MOST];
    double error[MOST], size[MOST], worst;
    int which;
    dae_status status;
    dae_statistics stats;
} outcome;

static int compare(double t, const double *value, void *user)
{
    outcome *o = user;
    const sample *k = o->k;
    for (int i = 0; i < k->variables; i++) {
        double right = k->other[i] ? k->other[i](k, t) : at(&k->is[i], t, 0);
        o->size[i] = fmax(o->size[i], fabs(right));
        o->error[i] = fmax(o->error[i], fabs(value[o->column[i]] - right));
    }
    return DAE_OK;
}

static void run_sample(const sample *k, dae_simulation s, outcome *o)
{
    *o = (outcome){ .k = k };
    dae_model *m = dae_model_load_text("m.mo", k->text, k->length, NULL);
    if (dae_model_status(m) != DAE_OK) fail_msg("%s\n%s", k->text, dae_model_messages(m));
    for (int i = 0; i < k->variables; i++) o->column[i] = dae_model_find(m, k->name[i]);
    s.stop = k->span;
    s.intervals = 200;
    o->status = dae_model_simulate(m, &s, compare, o);
    dae_model_get_statistics(m, &o->stats);
    for (int i = 0; i < k->variables; i++) {
        double tolerances =
            o->error[i] / (s.tolerance * o->size[i] + 1e-3 * s.tolerance * k->nominal[i]);
        if (tolerances > o->worst || tolerances != tolerances) {
            o->worst = tolerances;
            o->which = i;
        }
    }
    dae_model_close(m);
}

typedef struct tally {
    int runs, beyond_10, beyond_100, far, failed;
    double worst;
    long long steps;
} tally;

static void count(tally *c, const outcome *o)
{
    c->runs++;
    c->steps += o->stats.steps;
    if (o->status != DAE_OK) {
        c->failed++;
        return;
    }
    c->beyond_10 += !(o->worst <= 10);
    c->beyond_100 += !(o->worst <= 100);
    c->far += !(o->worst <= 1e5);
    c->worst = fmax(c->worst, o->worst);
}

static const char *const method[] = { "bdf", "radau", "mebdf" };
static const char *const route[] = { NULL, "projection", "least-squares" };
static const double tolerance[] = { 1e-4, 1e-6, 1e-8, 1e-10 };

static void tabulate(int seeds, unsigned first, double wordy)
{
    sample *k = malloc(sizeof *k);
    tally all = { 0 };
    for (int which = 0; which < COUNT_OF(kind); which++)
        for (int j = 0; j < COUNT_OF(method); j++)
            for (int i = 0; i < COUNT_OF(route); i++) {
                tally c = { 0 };
                for (unsigned seed = first; seed < first + (unsigned)seeds; seed++) {
                    make(k, which, seed);
                    if (i > 0 && !k->high) continue;
                    for (int l = 0; l < COUNT_OF(tolerance); l++) {
                        outcome o;
                        run_sample(k,
                                   (dae_simulation){ .tolerance = tolerance[l],
                                                     .method = method[j],
                                                     .route = route[i] },
                                   &o);
                        count(&c, &o);
                        count(&all, &o);
                        if (o.worst > wordy || o.status != DAE_OK)
                            printf("   %s %u %s %s %g: %s off by %.3g, %lld steps, %s\n",
                                   kind[which].name, seed, method[j], route[i] ? route[i] : "-",
                                   tolerance[l], k->name[o.which], o.worst,
                                   (long long)o.stats.steps, dae_status_name(o.status));
                    }
                }
                if (c.runs)
                    printf("%-9s %-6s %-14s runs %4d  >10 %4d  >100 %4d  >1e5 %4d  failed %3d  "
                           "worst %8.2g  steps %lld\n",
                           kind[which].name, method[j], route[i] ? route[i] : "default", c.runs,
                           c.beyond_10, c.beyond_100, c.far, c.failed, c.worst, c.steps);
                fflush(stdout);
            }
    printf("all: runs %d  >10 %d  >100 %d  >1e5 %d  failed %d  worst %.2g  steps %lld\n", all.runs,
           all.beyond_10, all.beyond_100, all.far, all.failed, all.worst, all.steps);
    free(k);
}

/* ---------------------------------------------------------------- tests ----------------- */

/* What is left out is not about rows: bdf lets errors of oscillations add up (pendulum), and what radau
 * has between its steps is the integrator's. */
static const struct {
    int kind;
    const char *method;
} judged[] = { { 0, "bdf" },   { 0, "mebdf" }, { 0, "radau" }, { 1, "bdf" },
               { 1, "mebdf" }, { 2, "bdf" },   { 2, "mebdf" }, { 3, "mebdf" },
               { 3, "radau" }, { 4, "bdf" },   { 4, "mebdf" }, { 4, "radau" } };

/* Every run is right to a hundred tolerances, and 19 of 20 to ten. */
static void test_all_variables(void **state)
{
    enum { SEEDS = 4 };
    sample *k = malloc(sizeof *k);
    tally all = { 0 };
    (void)state;
    for (int j = 0; j < COUNT_OF(judged); j++)
        for (unsigned seed = 1; seed <= (sanitized ? 1 : SEEDS); seed++)
            for (int l = 0; l < COUNT_OF(tolerance); l++) {
                outcome o;
                make(k, judged[j].kind, seed);
                run_sample(
                    k, (dae_simulation){ .tolerance = tolerance[l], .method = judged[j].method },
                    &o);
                count(&all, &o);
                if (o.status != DAE_OK || !(o.worst <= 100))
                    fail_msg("%s, seed %u, %s at %g: %s, %s off by %g tolerances\n%s",
                             kind[judged[j].kind].name, seed, judged[j].method, tolerance[l],
                             dae_status_name(o.status), k->name[o.which], o.worst, k->text);
            }
    print_message("%d runs, %d beyond 10 tolerances, the worst %.3g; %lld steps\n", all.runs,
                  all.beyond_10, all.worst, all.steps);
    assert_true(20 * all.beyond_10 <= all.runs + 19);
    free(k);
}

/* The loop becomes hard on the way: v = (x - cos(t)) / e, e from 1 to 1e-9, and v drives x. A run notices,
 * and a second one is the same to the last bit. */
static void test_on_the_way(void **state)
{
    static const char text[] =
        "model M Real x(start = 1, fixed = true), v, w, e; equation e = 10^(-time);\n"
        "der(x) = -sin(time) - (v - sin(time)); v = (x - cos(time))/e + w;\n"
        "w = sin(time); end M;\n";
    double last[2];
    (void)state;
    dae_model *m = dae_model_load_text("m.mo", text, strlen(text), NULL);
    assert_int_equal(dae_model_status(m), DAE_OK);
    for (int run = 0; run < 2; run++) {
        sample k = { .variables = 1 };
        outcome o = { .k = &k, .column = { dae_model_find(m, "v") } };
        k.is[0] = (signal){ 1, 0, 1, 1, 0 };
        dae_simulation s = { .stop = 9, .tolerance = 1e-6, .intervals = 200, .method = "bdf" };
        assert_int_equal(dae_model_simulate(m, &s, compare, &o), DAE_OK);
        expect_below(o.error[0], 1e-5);
        last[run] = o.error[0];
    }
    assert_true(last[0] == last[1]);
    dae_model_close(m);
}

/* x = a cos(t), y = b sin(t) on an ellipse whose half-axes are units of length far apart: which coordinate is a state is
 * decided in these units, so that neither is computed from the other where that is ill-conditioned. */
static void test_states_in_their_units(void **state)
{
    static const double axes[][2] = { { 1, 1 }, { 1e5, 1e-3 }, { 1e-6, 1e2 }, { 1e-5, 1e-5 } };
    (void)state;
    for (int l = 0; l < COUNT_OF(axes); l++) {
        double a = axes[l][0], b = axes[l][1];
        sample k = { .variables = 2, .name = { "x", "y" }, .nominal = { a, b }, .span = 10 };
        k.is[0] = (signal){ a, 0, 1, 1, 1.5707963267948966 };
        k.is[1] = (signal){ b, 0, 1, 1, 0 };
        put(&k,
            "model M Real x(start = %g, nominal = %g), y(start = 0, fixed = true, nominal = %g);\n"
            "Real u(nominal = %g), v(start = %g, fixed = true, nominal = %g), F;\n"
            "equation der(x) = u; der(y) = v; der(u) = -F*x; der(v) = -F*y;\n"
            "(x/%g)^2 + (y/%g)^2 = 1; end M;\n",
            a, a, b, a, b, b, a, b);
        for (int j = 0; j < COUNT_OF(method); j++) {
            outcome o;
            run_sample(&k, (dae_simulation){ .tolerance = 1e-6, .method = method[j] }, &o);
            if (o.status != DAE_OK || !(o.worst <= 100))
                fail_msg("%s, half-axes %g and %g: %s, %s off by %g tolerances after %lld steps",
                         method[j], a, b, dae_status_name(o.status), k.name[o.which], o.worst,
                         (long long)o.stats.steps);
        }
    }
}

/* Slowly round: x = sin(w t), y = -cos(w t), with a velocity that is not x' itself. Whatever has a nominal value,
 * and whatever has none: equations that are independent in one unit of time are so in any, and states that
 * are good in one are, too. (Without the unit of time that goes with 6e-4 m/s x was computed from y up to x = 0,
 * and rows of radau were off by 130 tolerances.) */
static void test_slow_rotation(void **state)
{
    static const char *const given[][3] = {
        { "", "", "" },
        { "(nominal = 6e-4)", "(nominal = 6e-4)", "(nominal = 4e-7)" },
        { "(nominal = 6e-4)", "", "" },
        { "", "(nominal = 6e-4)", "" },
    };
    const double w = 6.2832e-4;
    (void)state;
    for (int l = 0; l < COUNT_OF(given); l++) {
        sample k = { .variables = 2, .name = { "x", "y" }, .nominal = { 1, 1 }, .span = 1e4 };
        k.is[0] = (signal){ 1, 0, 1, w, 0 };
        k.is[1] = (signal){ 1, 0, 1, w, -1.5707963267948966 };
        put(&k,
            "model M parameter Real w = %.17g; Real x(start = 0), y(start = -1), vx%s, vy%s, F%s;\n"
            "initial equation vx = w; equation der(x) = vx + 1e-4*sin(w*time); der(y) = vy;\n"
            "der(vx) + F*x = 3*w^2*sin(w*time) - 1e-4*w*cos(w*time);\n"
            "der(vy) + F*y = -3*w^2*cos(w*time); x^2 + y^2 = 1; end M;\n",
            w, given[l][0], given[l][1], given[l][2]);
        for (int j = 0; j < 3 * COUNT_OF(method); j++) {
            outcome o;
            const char *by = method[j / 3];
            run_sample(&k, (dae_simulation){ .tolerance = tolerance[j % 3], .method = by }, &o);
            if (o.status != DAE_OK || !(o.worst <= 100))
                fail_msg("%s, %g: %s, %s off by %g tolerances\n%s", by, tolerance[j % 3],
                         dae_status_name(o.status), k.name[o.which], o.worst, k.text);
        }
    }
}

/* ... and where they are not they are so in none: a bead on a figure eight comes to the double point, where the
 * gradient is 0, in units of length l and of time T. */
static void test_double_point(void **state)
{
    static const double unit[][2] = {
        { 1, 1 }, { 1, 1e-4 }, { 1, 1e4 }, { 1e5, 1 }, { 1e-5, 1e3 }
    };
    (void)state;
    for (int j = 0; j < COUNT_OF(unit) * COUNT_OF(method); j++) {
        outcome o;
        double l = unit[j / COUNT_OF(method)][0], T = unit[j / COUNT_OF(method)][1];
        const char *by = method[j % COUNT_OF(method)];
        sample k = { .variables = 1, .name = { "x" }, .nominal = { l }, .span = 4 * T };
        put(&k,
            "model M Real x(start = %g, fixed = true, nominal = %g), y(start = %g, nominal = %g);\n"
            "Real u(start = %g, fixed = true, nominal = %g), v(nominal = %g), F(nominal = %g);\n"
            "Real X = x/%g, Y = y/%g; equation der(x) = u; der(y) = v;\n"
            "der(u) = F*%g*(4*X*(X^2 + Y^2) - 2*X); der(v) = F*%g*(4*Y*(X^2 + Y^2) + 2*Y);\n"
            "(X^2 + Y^2)^2 = X^2 - Y^2; end M;\n",
            0.9 * l, l, 0.3 * l, l, -l / T, l / T, l / T, 1 / (T * T), l, l, l, l);
        run_sample(&k, (dae_simulation){ .tolerance = 1e-6, .method = by }, &o);
        if (o.status != DAE_E_IMPASSE)
            fail_msg("%s, %g, %g: %s\n%s", by, l, T, dae_status_name(o.status), k.text);
    }
}

/* A pendulum whose length is written as sqrt(X^2 + Y^2), X and Y of time: the right side of the hidden constraint is
 * rounding of w^2, goes up and down at every look, and drove steps to 0. */
static void test_rounding_is_no_forcing(void **state)
{
    static const double rtol[] = { 1e-9, 1e-6, 1e-8, 1e-10, 1e-11 }, rate[] = { 31.4, 3.7, 1234 };
    (void)state;
    for (int l = 0; l < COUNT_OF(rate); l++)
        for (int i = 0; i < COUNT_OF(rtol); i++)
            for (int j = 0; j < 2; j++) {
                double w = rate[l];
                sample k = { .variables = 2, .name = { "x", "y" }, .nominal = { 1, 1 } };
                outcome o;
                k.is[0] = (signal){ 1, 0, 2, w, 0 };
                k.is[1] = (signal){ 1, 0, 2, w, -acos(0) };
                k.span = 31.4 / w;
                put(&k,
                    "model M parameter Real w = %g; Real x(start = 0), y(start = -2);\n"
                    "Real vx(start = 2*w, nominal = w), vy(start = 0, nominal = w), F(nominal = "
                    "w^2);\n"
                    "equation der(x) = vx; der(y) = vy;\n"
                    "der(vx) + F*x + w^2*x = 6*w^2*sin(w*time);\n"
                    "der(vy) + F*y + w^2*y = -6*w^2*cos(w*time);\n"
                    "sqrt(x^2 + y^2) = sqrt((2*sin(w*time))^2 + (2*cos(w*time))^2); end M;\n",
                    w);
                run_sample(&k, (dae_simulation){ .tolerance = rtol[i], .method = method[1 - j] },
                           &o);
                if (o.status != DAE_OK || !(o.worst <= 1e4) || o.stats.steps > 20000)
                    fail_msg("%s at %g, w = %g: %s, off by %g tolerances after %lld steps",
                             method[1 - j], rtol[i], w, dae_status_name(o.status), o.worst,
                             (long long)o.stats.steps);
            }
}

/* p is 0 where the terms of its equation are, for p in units of u, as large as u, and nothing has said so: it is right
 * as far as rounding allows, some eps u, whatever tolerance is asked for; what stands beside it is as right as ever. */
static void test_zeros_of_large_terms(void **state)
{
    static const double rtol[] = { 1e-4, 1e-6, 1e-8, 1e-10 }, unit[] = { 1, 1e4, 1e8, 1e12 };
    (void)state;
    for (int l = 0; l < COUNT_OF(unit); l++)
        for (int i = 0; i < COUNT_OF(rtol); i++)
            for (int j = 0; j < COUNT_OF(method); j++) {
                sample k = { .variables = 3, .name = { "x", "q", "p" }, .span = 1 };
                outcome o;
                k.nominal[0] = k.nominal[1] = 1;
                k.nominal[2] = INFINITY; /* not counted in tolerances */
                k.is[0] = (signal){ 1, 0, 1, 5, 0 };
                k.is[1] = (signal){ 1, 1, 0.5, 1, 0 };
                put(&k,
                    "model M Real p, q, x(start = 0, fixed = true); equation\n"
                    "p/%g + 0.2*q = 0.2*(1 + 0.5*sin(time));\n"
                    "q + 0.1*sin(p/%g) = 1 + 0.5*sin(time);\n"
                    "der(x) + 0.3*sin(der(x)) + x = 5*cos(5*time) + 0.3*sin(5*cos(5*time)) + "
                    "sin(5*time); end M;\n",
                    unit[l], unit[l]);
                run_sample(&k, (dae_simulation){ .tolerance = rtol[i], .method = method[j] }, &o);
                double allowed = fmax(16 * 2.2e-16 * unit[l], 100 * 1e-3 * rtol[i]);
                if (o.status != DAE_OK || !(o.worst <= 1000) || !(o.error[2] <= allowed))
                    fail_msg("%s at %g, p in %g: %s, %s off by %g tolerances, p by %g", method[j],
                             rtol[i], unit[l], dae_status_name(o.status), k.name[o.which], o.worst,
                             o.error[2]);
            }
}

int main(int argc, char **argv)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_all_variables),         cmocka_unit_test(test_on_the_way),
        cmocka_unit_test(test_states_in_their_units), cmocka_unit_test(test_slow_rotation),
        cmocka_unit_test(test_double_point),          cmocka_unit_test(test_rounding_is_no_forcing),
        cmocka_unit_test(test_zeros_of_large_terms)
    };
    if (argc > 1) {
        tabulate(atoi(argv[1]), argc > 2 ? (unsigned)atoi(argv[2]) : 1,
                 argc > 3 ? atof(argv[3]) : INFINITY);
        return 0;
    }
    return cmocka_run_group_tests(tests, NULL, NULL);
}
