/* words.c: text from outside, nearest words, paragraphs. */
#include "cli/cli.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

const char *cli_show(const char *text, char out[CLI_SHOWN])
{
    size_t k = 0;
    for (const char *p = text; *p; p++) {
        unsigned char b = (unsigned char)*p;
        int plain = b >= 0x20 && b != 0x7f;
        if (k + 8 > CLI_SHOWN) {
            memcpy(out + k, "...", 4);
            return out;
        }
        if (plain)
            out[k++] = *p;
        else
            k += (size_t)snprintf(out + k, CLI_SHOWN - k, "\\x%02x", b);
    }
    out[k] = '\0';
    return out;
}

/* ---- nearest ---- */

static int least(int a, int b)
{
    return a < b ? a : b;
}

static int same(char a, char b) /* '_' and '-' are one letter here */
{
    return a == b || ((a == '_' || a == '-') && (b == '_' || b == '-'));
}

/* Edits from a to b, two neighbours swapped being one; of long text only the beginning
 * counts. */
static int edits(const char *a, const char *b)
{
    enum { LONGEST = 40 };
    int d[LONGEST + 1][LONGEST + 1];
    int m = (int)strlen(a), n = (int)strlen(b);
    m = least(m, LONGEST);
    n = least(n, LONGEST);
    for (int i = 0; i <= m; i++) d[i][0] = i;
    for (int j = 0; j <= n; j++) d[0][j] = j;
    for (int i = 1; i <= m; i++) {
        for (int j = 1; j <= n; j++) {
            int change = d[i - 1][j - 1] + !same(a[i - 1], b[j - 1]);
            d[i][j] = least(change, 1 + least(d[i - 1][j], d[i][j - 1]));
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
        }
    }
    return d[m][n];
}

/* What was typed may be the beginning of a word, too. */
void cli_nearest_try(cli_nearest *n, const char *candidate)
{
    size_t typed = strlen(n->typed);
    int distance = edits(n->typed, candidate);
    if (typed >= 3 && strncmp(n->typed, candidate, typed) == 0) distance = 1;
    int near = (int)least((int)typed, (int)strlen(candidate)) / 2;
    if (distance > (near < 2 ? near : near < 4 ? 2 : near / 2 + 1)) return;
    if (!n->best || distance < n->distance) {
        n->best = candidate;
        n->distance = distance;
    }
}

/* ---- paragraphs ---- */

void cli_wrap(dae_sink *out, const char *text, int indent)
{
    int column = 0;
    while (*text) {
        size_t length = strcspn(text, " ");
        if (column > 0 && indent + column + 1 + (int)length > 80) {
            dae_sink_text(out, "\n");
            column = 0;
        }
        if (column == 0)
            dae_sink_print(out, "%*s", indent, "");
        else
            dae_sink_text(out, " ");
        dae_sink_write(out, text, length);
        column += (int)length + (column > 0);
        text += length;
        text += strspn(text, " ");
    }
    dae_sink_text(out, "\n");
}

/* ---- options in messages of the library ---- */

static int is_option(const char *name)
{
    static const char *const others[] = { "first", "norm", "start" };
    for (int i = 0; dae_option_list(i); i++)
        if (strcmp(dae_option_list(i)->name, name) == 0) return 1;
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        if (strcmp(others[i], name) == 0) return 1;
    return 0;
}

static int takes_flag(const cli_verb *verb, const char *name)
{
    cli_flag flag;
    for (int i = 0; verb && cli_flag_get(verb, i, &flag); i++)
        if (strcmp(flag.name, name) == 0) return 1;
    return 0;
}

char *cli_render(const cli_verb *verb, const char *text)
{
    static const char head[] = "option '", elsewhere[] = " (of 'daedalus solve')";
    size_t length = strlen(text), count = 0;
    for (const char *at = text; (at = strstr(at, head)); at += sizeof head - 1) count++;
    char *to = malloc(length + count * sizeof elsewhere + 1), *end = to, name[32], spelt[64];
    while (to && *text) {
        size_t n =
            strncmp(text, head, sizeof head - 1) == 0 ? strcspn(text + sizeof head - 1, "'") : 0;
        if (n > 0 && n < sizeof name) {
            memcpy(name, text + sizeof head - 1, n);
            name[n] = '\0';
        }
        if (n == 0 || n >= sizeof name || !is_option(name)) {
            *end++ = *text++;
            continue;
        }
        cli_flag_spell(&(cli_flag){ .name = name }, spelt);
        end += sprintf(end, "%s%s", spelt, takes_flag(verb, name) ? "" : elsewhere);
        text += sizeof head - 1 + n + (text[sizeof head - 1 + n] == '\'');
    }
    if (to) *end = '\0';
    return to;
}
