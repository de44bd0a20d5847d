/* svg_draw.h: the drawing of a plot whose points are all there. */
#ifndef DAE_OUTPUT_SVG_DRAW_H
#define DAE_OUTPUT_SVG_DRAW_H

#include "output/svg.h"

void dae_svg_draw(const dae_svg *w);

#endif
