/* collection.c: the list of built-in problems; finding, opening and judging them. */
#include "support.h"

#include <limits.h>

extern const problem_entry problem_robertson;
extern const problem_entry problem_vanderpol;
extern const problem_entry problem_hires;
extern const problem_entry problem_akzo;
extern const problem_entry problem_transistor_amplifier;
extern const problem_entry problem_medakzo;
extern const problem_entry problem_pendulum;
extern const problem_entry problem_sine;
extern const problem_entry problem_chain;
extern const problem_entry problem_heat2d;
extern const problem_entry problem_rc_line;
extern const problem_entry problem_hmt_11;
extern const problem_entry problem_hmt_41;
extern const problem_entry problem_hmt_47;
extern const problem_entry problem_implicit1;
extern const problem_entry problem_nonlinear_ode;
extern const problem_entry problem_hessenberg2;
extern const problem_entry problem_lagrange2;
extern const problem_entry problem_mass_state;
extern const problem_entry problem_car_axis;
extern const problem_entry problem_kepler;
extern const problem_entry problem_moon;
extern const problem_entry problem_rigid_body;
extern const problem_entry problem_brusselator;
extern const problem_entry problem_lorenz;
extern const problem_entry problem_arevalo_51;
extern const problem_entry problem_arevalo_52;
extern const problem_entry problem_andrews;
extern const problem_entry problem_slider_crank;
extern const problem_entry problem_slider_crank_rigid;
extern const problem_entry problem_n_pendulum;
extern const problem_entry problem_four_bar;
extern const problem_entry problem_rolling_disc;
extern const problem_entry problem_rolling_coin;
extern const problem_entry problem_knife_edge;
extern const problem_entry problem_marble;
extern const problem_entry problem_knife_edge_vakonomic;
extern const problem_entry problem_typical;
extern const problem_entry problem_wheel_suspension;
extern const problem_entry problem_truck;
extern const problem_entry problem_molecules;

const problem_entry *const problem_list[] = {
    &problem_robertson,
    &problem_vanderpol,
    &problem_hires,
    &problem_akzo,
    &problem_transistor_amplifier,
    &problem_medakzo,
    &problem_pendulum,
    &problem_car_axis,
    &problem_arevalo_51,
    &problem_arevalo_52,
    &problem_sine,
    &problem_chain,
    &problem_heat2d,
    &problem_rc_line,
    &problem_hmt_11,
    &problem_hmt_41,
    &problem_hmt_47,
    &problem_implicit1,
    &problem_nonlinear_ode,
    &problem_hessenberg2,
    &problem_lagrange2,
    &problem_mass_state,
    &problem_kepler,
    &problem_moon,
    &problem_rigid_body,
    &problem_brusselator,
    &problem_lorenz,
    &problem_andrews,
    &problem_slider_crank,
    &problem_slider_crank_rigid,
    &problem_n_pendulum,
    &problem_four_bar,
    &problem_rolling_disc,
    &problem_rolling_coin,
    &problem_knife_edge,
    &problem_marble,
    &problem_knife_edge_vakonomic,
    &problem_typical,
    &problem_wheel_suspension,
    &problem_truck,
    &problem_molecules,
    NULL,
};

const problem_entry *problem_find(const char *name)
{
    for (int i = 0; name && problem_list[i]; i++)
        if (strcmp(problem_list[i]->name, name) == 0) return problem_list[i];
    return NULL;
}

/* Edit distance from what was typed to a name. A letter left out costs 1, one too many
 * or a wrong one 3: so "transamp" and "vdpol" find their long names, and typing errors
 * still count little. Typed text beyond `longest` characters is ignored. */
enum { longest = 64, missing = 1, superfluous = 3, wrong = 3 };

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int edit_distance(const char *typed, const char *name)
{
    int row[longest + 1]; /* row[j]: distance from the first i typed to the first j of name */
    int columns = 0;
    while (columns < longest && name[columns]) columns++;
    for (int j = 0; j <= columns; j++) row[j] = j * missing;
    for (int i = 0; i < longest && typed[i]; i++) {
        int diagonal = row[0];
        row[0] += superfluous;
        for (int j = 1; j <= columns; j++) {
            int replaced = diagonal + (typed[i] == name[j - 1] ? 0 : wrong);
            diagonal = row[j];
            row[j] = least(replaced, least(row[j] + superfluous, row[j - 1] + missing));
        }
    }
    return row[columns];
}

/* A typing error in at most every third letter; or an abbreviation without any, of a name
 * not so long that the letters left out prove nothing. */
static int similar(int distance, const char *typed, const char *name)
{
    int m = (int)strlen(typed), n = (int)strlen(name);
    int shortened = distance == (n - m) * missing && n <= 3 * m && typed[0] == name[0];
    return m >= 3 && (shortened || distance <= m / 3 * wrong);
}

const char *problem_nearest(const char *name)
{
    const char *best = NULL;
    int best_distance = INT_MAX;
    if (name && strlen(name) > longest) return NULL; /* no name is that long */
    for (int i = 0; name && problem_list[i]; i++) {
        const char *known = problem_list[i]->name;
        int distance = edit_distance(name, known);
        if (distance < best_distance && similar(distance, name, known)) {
            best_distance = distance;
            best = known;
        }
    }
    return best;
}

static int count_settings(const problem_entry *entry)
{
    int count = 0;
    while (entry->settings && entry->settings[count].name) count++;
    return count;
}

static const char *find_form(const problem_entry *entry, const char *form)
{
    if (!form) return entry->forms[0];
    for (int i = 0; entry->forms[i]; i++)
        if (strcmp(entry->forms[i], form) == 0) return entry->forms[i];
    return NULL;
}

enum { most_settings = 16 };

/* Defaults of the entry overwritten by what the user set; the name of a setting that does
 * not exist or is not a finite number, or NULL when all is well. */
static const char *merge_settings(const problem_entry *entry, const problem_setting *set,
                                  int set_count, double *value)
{
    int count = count_settings(entry);
    for (int k = 0; k < count; k++) value[k] = entry->settings[k].value;
    for (int i = 0; i < set_count; i++) {
        int k = 0;
        while (k < count && set[i].name && strcmp(entry->settings[k].name, set[i].name) != 0) k++;
        if (!set[i].name) return "(no name)";
        if (k == count || !isfinite(set[i].value)) return set[i].name;
        value[k] = set[i].value;
    }
    return NULL;
}

int problem_open(const problem_entry *entry, const char *form, const problem_setting *set,
                 int set_count, problem_instance *out, const char **culprit)
{
    double value[most_settings] = { 0 };
    const char *nobody = NULL;
    if (!culprit) culprit = &nobody;
    *culprit = NULL;
    if (!out) return DAE_E_ARG;
    *out = (problem_instance){ 0 };
    if (!entry || set_count < 0 || (set_count > 0 && !set)) return DAE_E_ARG;
    if (count_settings(entry) > most_settings) return DAE_E_INTERNAL;
    const char *chosen = find_form(entry, form);
    *culprit = chosen ? merge_settings(entry, set, set_count, value) : form;
    if (*culprit) return DAE_E_OPTION;
    int answer = entry->build(chosen, value, out);
    if (answer == DAE_OK) return DAE_OK;
    char why[sizeof out->why];
    memcpy(why, out->why, sizeof why);
    problem_close(out);
    memcpy(out->why, why, sizeof why);
    if (answer < 0) return answer;
    if (answer > count_settings(entry)) return DAE_E_INTERNAL;
    *culprit = entry->settings[answer - 1].name;
    return DAE_E_OPTION;
}

void problem_close(problem_instance *p)
{
    if (!p) return;
    if (p->dispose) p->dispose(p);
    free(p->memory);
    *p = (problem_instance){ 0 };
}

/* -log10 of the largest error: +inf when there is none, -inf when x is not finite, NaN
 * when not a single component was compared. */
static double digits(double largest, int compared)
{
    if (compared == 0) return NAN;
    return -log10(largest);
}

void problem_digits(const problem_instance *p, const double *x, const double *ref,
                    double atol_over_rtol, double *scd, double *mescd)
{
    double relative = 0, mixed = 0;
    int relative_count = 0, mixed_count = 0;
    for (int i = 0; ref && i < p->problem.size; i++) {
        if (isnan(ref[i])) continue;
        double error = isfinite(x[i]) ? fabs(x[i] - ref[i]) : INFINITY;
        double scale = atol_over_rtol + fabs(ref[i]);
        if (error > 0) /* 0 / 0 would be NaN: no error is no error on any scale */
            mixed = fmax(mixed, error / scale);
        mixed_count++;
        if ((p->counted && !p->counted[i]) || !(fabs(ref[i]) > 1e-200)) continue;
        relative = fmax(relative, error / fabs(ref[i]));
        relative_count++;
    }
    if (scd) *scd = digits(relative, relative_count);
    if (mescd) *mescd = digits(mixed, mixed_count);
}
