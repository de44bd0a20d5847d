/* page_parts.h: what a report page is made of beside its words and numbers: files that the build
 * turns into a source of C (cmake/embed.cmake). The plotting library dygraphs comes from outside;
 * if it was not there when building, its parts are empty and the page draws by itself. */
#ifndef DAE_OUTPUT_PAGE_PARTS_H
#define DAE_OUTPUT_PAGE_PARTS_H

#include <stddef.h>

typedef struct dae_part {
    const unsigned char *bytes;
    size_t length;
    unsigned char sha256[32]; /* the page allows what has this hash, and no other */
} dae_part;

extern const dae_part dae_part_style, dae_part_script;      /* page.css, page.js */
extern const dae_part dae_part_plot, dae_part_plot_licence; /* dygraphs */

#endif
