/* shares.c: aliases find the one that is stored for them. */
#include "output/shares.h"

#include <errno.h>
#include <string.h>

int dae_is_constant(const dae_variable *v)
{
    return v->variability == DAE_CONSTANT || v->variability == DAE_PARAMETER;
}

/* The opposite of a Boolean is 1 - x, which a sign cannot say. */
static int is_shared(const dae_variable *v)
{
    return v->alias_of && (v->alias_sign > 0 || v->type == 'r' || v->type == 'i');
}

static const char *owner(const dae_variable *v)
{
    return is_shared(v) ? v->alias_of : v->name;
}

static int sign(const dae_variable *v)
{
    return is_shared(v) && v->alias_sign < 0 ? -1 : 1;
}

typedef struct table { /* by the name of the owner; open addressing */
    const char **name;
    int *entry; /* number of the variable that is stored */
    size_t size;
} table;

static size_t find(const table *t, const char *name)
{
    uint64_t h = 1469598103934665603u;
    for (const char *p = name; *p; p++) h = (h ^ (unsigned char)*p) * 1099511628211u;
    size_t k = (size_t)(h ^ h >> 32) & (t->size - 1);
    while (t->name[k] && strcmp(t->name[k], name) != 0) k = (k + 1) & (t->size - 1);
    return k;
}

static void place_all(dae_shares *s, const dae_variable *const *variable, int count, table *t)
{
    for (int i = 0; i < count; i++) {
        const dae_variable *v = variable[i];
        int b = dae_is_constant(v) ? 0 : 1;
        size_t k = find(t, owner(v));
        int first = t->name[k] ? t->entry[k] : -1;
        if (first >= 0 && s->block[first] == b + 1) {
            s->place[i] = sign(v) * sign(variable[first]) * s->place[first];
        } else {
            s->row[b][s->rows[b]++] = i;
            s->place[i] = s->rows[b];
        }
        s->block[i] = (unsigned char)(b + 1);
        if (first < 0) {
            t->name[k] = owner(v);
            t->entry[k] = i;
        }
    }
}

int dae_shares_find(dae_shares *s, const dae_variable *const *variable, int count)
{
    size_t n = (size_t)count;
    table t = { .size = 16 };
    memset(s, 0, sizeof *s);
    dae_memory_init(&s->memory, NULL);
    while (t.size < 2 * n) t.size *= 2;
    t.name = dae_alloc(&s->memory, t.size, sizeof *t.name);
    t.entry = dae_alloc(&s->memory, t.size, sizeof *t.entry);
    s->place = dae_alloc(&s->memory, n, sizeof *s->place);
    s->block = dae_alloc(&s->memory, n, sizeof *s->block);
    s->row[0] = dae_alloc(&s->memory, n, sizeof **s->row);
    s->row[1] = dae_alloc(&s->memory, n, sizeof **s->row);
    int there = t.name && t.entry && s->place && s->block && s->row[0] && s->row[1];
    if (there) place_all(s, variable, count, &t);
    dae_free(&s->memory, t.name);
    dae_free(&s->memory, t.entry);
    return there ? 0 : ENOMEM;
}

void dae_shares_close(dae_shares *s)
{
    void *const block[] = { s->place, s->block, s->row[0], s->row[1] };
    for (int k = 0; k < 4; k++)
        if (block[k]) dae_free(&s->memory, block[k]);
    memset(s, 0, sizeof *s);
}
