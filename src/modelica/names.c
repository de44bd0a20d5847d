/* names.c: every name once, so that equal names are equal pointers; and the nearest name.
 *
 * An open-addressing table with SipHash-1-3 under a key that differs from run to run: a model
 * whose names were made to collide cannot slow it down. Nothing ever walks through the table,
 * so the key has no influence on what is printed.
 */
#include "modelica/source.h"

#include <ctype.h>
#include <string.h>
#include <time.h>

typedef struct entry {
    const char *text; /* NULL: free */
    size_t length;
    uint64_t hash;
} entry;

struct mo_name_table {
    entry *entry;
    size_t capacity, count; /* capacity is a power of two */
    uint64_t key[2];
};

/* ---------------------------------------------------------------- the hash -------------- */

static uint64_t rotated(uint64_t x, int bits)
{
    return (x << bits) | (x >> (64 - bits));
}

static void sip_round(uint64_t v[4])
{
    v[0] += v[1], v[1] = rotated(v[1], 13), v[1] ^= v[0], v[0] = rotated(v[0], 32);
    v[2] += v[3], v[3] = rotated(v[3], 16), v[3] ^= v[2];
    v[0] += v[3], v[3] = rotated(v[3], 21), v[3] ^= v[0];
    v[2] += v[1], v[1] = rotated(v[1], 17), v[1] ^= v[2], v[2] = rotated(v[2], 32);
}

/* J.-P. Aumasson, D. J. Bernstein: SipHash, INDOCRYPT 2012; 1 round per word, 3 at the end. */
static uint64_t hash_of(const uint64_t key[2], const char *text, size_t length)
{
    uint64_t v[4] = { key[0] ^ 0x736f6d6570736575u, key[1] ^ 0x646f72616e646f6du,
                      key[0] ^ 0x6c7967656e657261u, key[1] ^ 0x7465646279746573u };
    uint64_t word;
    size_t at = 0;
    for (; at + 8 <= length; at += 8) {
        memcpy(&word, text + at, 8);
        v[3] ^= word, sip_round(v), v[0] ^= word;
    }
    word = (uint64_t)length << 56;
    for (size_t i = 0; at + i < length; i++)
        word |= (uint64_t)(unsigned char)text[at + i] << (8 * i);
    v[3] ^= word, sip_round(v), v[0] ^= word;
    v[2] ^= 0xff;
    for (int i = 0; i < 3; i++) sip_round(v);
    return v[0] ^ v[1] ^ v[2] ^ v[3];
}

/* ---------------------------------------------------------------- the table ------------- */

static void open_table(mo_context *c)
{
    c->names = dae_arena_take(&c->arena, 1, sizeof *c->names);
    c->names->capacity = 1024;
    c->names->entry = dae_arena_take(&c->arena, 1024, sizeof *c->names->entry);
    struct timespec now = { 0 };
    clock_gettime(CLOCK_MONOTONIC, &now);
    c->names->key[0] = (uint64_t)now.tv_nsec * 0x9e3779b97f4a7c15u + (uintptr_t)c;
    c->names->key[1] = (uint64_t)now.tv_sec * 0xbf58476d1ce4e5b9u + (uintptr_t)c->names;
}

static entry *place_of(entry *table, size_t capacity, uint64_t hash, const char *text,
                       size_t length)
{
    size_t i = (size_t)hash & (capacity - 1);
    while (table[i].text && (table[i].hash != hash || table[i].length != length ||
                             memcmp(table[i].text, text, length) != 0))
        i = (i + 1) & (capacity - 1);
    return &table[i];
}

static void grow(mo_context *c, struct mo_name_table *t)
{
    size_t capacity = 2 * t->capacity;
    entry *larger = dae_arena_take(&c->arena, capacity, sizeof *larger);
    for (size_t i = 0; i < t->capacity; i++) {
        const entry *e = &t->entry[i];
        if (e->text) *place_of(larger, capacity, e->hash, e->text, e->length) = *e;
    }
    t->entry = larger;
    t->capacity = capacity;
}

const char *mo_intern(mo_context *c, const char *text, size_t length)
{
    if (!c->names) open_table(c);
    struct mo_name_table *t = c->names;
    uint64_t hash = hash_of(t->key, text, length);
    entry *e = place_of(t->entry, t->capacity, hash, text, length);
    if (e->text) return e->text;
    if (2 * t->count >= t->capacity) {
        grow(c, t);
        e = place_of(t->entry, t->capacity, hash, text, length);
    }
    const char *copy = dae_arena_copy(&c->arena, text, length);
    *e = (entry){ .text = copy, .length = length, .hash = hash };
    t->count++;
    return copy;
}

const char *mo_name(mo_context *c, const char *text)
{
    return mo_intern(c, text, strlen(text));
}

/* ---------------------------------------------------------------- the nearest name ------ */

enum { LONGEST = 60 };

static int same_letter(char a, char b)
{
    return tolower((unsigned char)a) == tolower((unsigned char)b);
}

static int least(int a, int b)
{
    return a < b ? a : b;
}

/* Insertions, deletions, changes and swaps of neighbours that lead from a to b; letters that
 * differ in case only cost nothing here. */
static int distance(const char *a, int m, const char *b, int n)
{
    int row[3][LONGEST + 1];
    int *before = row[0], *above = row[1], *now = row[2];
    for (int j = 0; j <= n; j++) above[j] = j;
    for (int i = 1; i <= m; i++) {
        now[0] = i;
        for (int j = 1; j <= n; j++) {
            now[j] = least(least(above[j], now[j - 1]) + 1,
                           above[j - 1] + !same_letter(a[i - 1], b[j - 1]));
            if (i > 1 && j > 1 && same_letter(a[i - 1], b[j - 2]) &&
                same_letter(a[i - 2], b[j - 1]))
                now[j] = least(now[j], before[j - 2] + 1);
        }
        int *free_row = before;
        before = above, above = now, now = free_row;
    }
    return above[n];
}

const char *mo_nearest(const char *name, const char *const *candidate, int count)
{
    size_t length = strlen(name);
    if (length > LONGEST) return NULL;
    int most = length < 3 ? 1 : length < 6 ? 2 : (int)length / 3 + 1;
    const char *nearest = NULL;
    for (int i = 0; i < count; i++) {
        size_t n = candidate[i] ? strlen(candidate[i]) : 0;
        if (n == 0 || n > LONGEST || (int)n > (int)length + most || (int)length > (int)n + most)
            continue;
        int far = distance(name, (int)length, candidate[i], (int)n);
        if (far < most && (size_t)far < length) {
            most = far;
            nearest = candidate[i];
        }
    }
    return nearest;
}
