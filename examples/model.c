/* model.c: a model in Modelica from C: loaded from a text, simulated with three values of a
 * parameter, asked for what it knows.
 *
 * A tank empties through a hole: h' = -k sqrt(h). Torricelli: it is empty at t = 2 sqrt(h0) / k,
 * and before that h = (sqrt(h0) - k t / 2)^2.
 */
#include <daedalus/model.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

static const char text[] = "model Tank\n"
                           "  parameter Real k = 0.5 \"hole\";\n"
                           "  Real h(start = 4, fixed = true, unit = \"m\") \"level\";\n"
                           "  Real outflow = k * sqrt(h);\n"
                           "equation\n"
                           "  der(h) = -outflow;\n"
                           "end Tank;\n";

typedef struct table {
    size_t h; /* which variable the level is */
    double k;
    double worst; /* error against Torricelli */
} table;

static int row(double t, const double *value, void *user)
{
    table *w = user;
    double exact = pow(2 - w->k * t / 2, 2);
    w->worst = fmax(w->worst, fabs(value[w->h] - exact));
    if (fmod(t, 1) == 0) printf("  %4.1f %12.8f %12.8f\n", t, value[w->h], exact);
    return DAE_OK;
}

int main(void)
{
    dae_model *m = dae_model_load_text("tank.mo", text, strlen(text), NULL);
    dae_status status = dae_model_status(m);
    for (double k = 0.25; k < 1 && status == DAE_OK; k += 0.25) {
        table w = { .h = dae_model_find(m, "h"), .k = k };
        dae_simulation s = { .stop = 4, .tolerance = 1e-8, .intervals = 8 };
        status = dae_model_set(m, "k", k);
        if (status != DAE_OK) break;
        printf("k = %.2f\n  %4s %12s %12s\n", k, "t", "level", "Torricelli");
        status = dae_model_simulate(m, &s, row, &w);
        printf("  largest error %.1e\n", w.worst);
    }
    if (status != DAE_OK) fputs(dae_model_messages(m), stderr);
    dae_model_close(m);
    return status != DAE_OK;
}
