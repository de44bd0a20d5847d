/* words.c: text from outside, nearest words, paragraphs. */
#include "cli/cli.h"

#include <stdio.h>
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
    for (int i = 0; i <= m; i++)
        d[i][0] = i;
    for (int j = 0; j <= n; j++)
        d[0][j] = j;
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
    if (typed >= 3 && strncmp(n->typed, candidate, typed) == 0)
        distance = 1;
    int near = (int)least((int)typed, (int)strlen(candidate)) / 2;
    if (distance > (near < 2 ? near : near < 4 ? 2 : near / 2 + 1))
        return;
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
