/* pole.c: steps across a point where a solution becomes infinite.
 *
 * An equation c z + d = 0 by itself, linear in its unknown z (a variable, or a derivative), has
 * z = -d / c. If c passes 0 on the way while d does not, z goes to infinity and comes back with the
 * other sign, or is not unique beyond that point where it is a derivative: (1 - t) x' = -x. A step that
 * leads across notices nothing, since both of its ends are as they should be. So after every step the
 * signs of c and z are compared with those before: where both have changed, d has not. (Where d
 * vanishes together with c, z keeps its sign, and all is well.)
 */
#include "model/object.h"

#include <math.h>

static bool is_watched(model *m, const model_step *s, ex_id *coefficient)
{
    model_coefficient *c;
    if (s->torn != 1 || s->assigned != 0) return false;
    size_t count = model_coefficients(m, &m->run.list->item[s->residual_equation[0]], &c);
    for (size_t i = 0; i < count; i++)
        if (c[i].slot == s->torn_slot[0] && c[i].value && model_level(m, c[i].value) > LEVEL_FREE) {
            *coefficient = c[i].value;
            return true;
        }
    return false;
}

dae_status model_compile_poles(model *m)
{
    model_poles *p = &m->poles;
    size_t count = 0, steps = m->run.steps + 1;
    ex_id *output = dae_arena_take(&m->arena, steps, sizeof *output);
    p->slot = dae_arena_take(&m->arena, steps, sizeof *p->slot);
    p->equation = dae_arena_take(&m->arena, steps, sizeof *p->equation);
    p->factor = dae_arena_take(&m->arena, steps, sizeof *p->factor);
    p->value = dae_arena_take(&m->arena, steps, sizeof *p->value);
    for (size_t k = 0; k < m->run.steps; k++) {
        const model_step *s = &m->run.step[k];
        if (!is_watched(m, s, &output[count])) continue;
        p->slot[count] = s->torn_slot[0];
        p->equation[count++] = s->residual_equation[0];
    }
    p->count = count;
    return count > 0 ? unit_open(m, &p->factors, output, count) : DAE_OK;
}

bool model_passes_pole(model *m, bool first, size_t *which)
{
    model_poles *p = &m->poles;
    bool found = false;
    if (p->count == 0 || unit_run(m, &p->factors) != DAE_OK) return false;
    for (size_t k = 0; k < p->count; k++) {
        double c = p->factors.out[k], z = m->value[p->slot[k]];
        if (!first && !found && c * p->factor[k] < 0 && z * p->value[k] < 0) {
            *which = k;
            found = true;
        }
        p->factor[k] = c;
        p->value[k] = z;
    }
    return found;
}

dae_status model_tell_pole(model *m, size_t which, double from, double to)
{
    const model_poles *p = &m->poles;
    const model_equation *e = &m->run.list->item[p->equation[which]];
    char text[160], where[LOCATED];
    model_equation_name(m, e, text, sizeof text);
    model_locate(m, e->place, where, sizeof where);
    dae_fail(&m->report, DAE_E_IMPASSE, "the solution becomes infinite, or is not unique beyond a point");
    dae_at(&m->report, "between t = %.10g and t = %.10g, equation %s%s", from, to, text, where);
    dae_why(&m->report, "the factor of '%s' in it passes 0 there, and the other terms do not",
            model_slot_name(m, p->slot[which]));
    dae_hint(&m->report, "results up to there are right; stop before, or start behind it");
    return DAE_E_IMPASSE;
}
