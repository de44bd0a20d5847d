/* utf8.h: one character of a UTF-8 text at a time. */
#ifndef DAE_MODELICA_UTF8_H
#define DAE_MODELICA_UTF8_H

#include <stddef.h>
#include <stdint.h>

/* The bytes of the character at `text`, of which `left` bytes remain, and its code point;
 * 0: not UTF-8 (overlong, a surrogate, beyond U+10FFFF, cut short). */
static inline int mo_utf8(const char *text, size_t left, uint32_t *code)
{
    const unsigned char *s = (const unsigned char *)text;
    if (left == 0) return 0;
    if (s[0] < 0x80) {
        *code = s[0];
        return 1;
    }
    int length = s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
    static const uint32_t least[] = { 0, 0, 0x80, 0x800, 0x10000 };
    if (s[0] < 0xc2 || s[0] > 0xf4 || left < (size_t)length) return 0;
    uint32_t value = s[0] & (0x7fu >> length);
    for (int i = 1; i < length; i++) {
        if ((s[i] & 0xc0) != 0x80) return 0;
        value = value << 6 | (s[i] & 0x3fu);
    }
    *code = value;
    return value < least[length] || value > 0x10ffff || (value >= 0xd800 && value < 0xe000)
               ? 0
               : length;
}

#endif
