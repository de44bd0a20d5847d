/* mat.h: the result file of Modelica tools, a MATLAB level-4 MAT-file laid out as "binTrans".
 *
 * Six matrices, one after another, each with a header of five 32-bit integers (type, rows,
 * columns, imaginary?, length of the name) and its name:
 *
 *     Aclass       4 x 11 text: "Atrajectory", "1.1", "", "binTrans"
 *     name         text, a column for each variable, the first is "time"
 *     description  text, likewise: the comment and, in brackets, the unit
 *     dataInfo     4 x variables, integers: which matrix (0: the abscissa, 1, 2), which row of
 *                  it (from 1; negative: with the opposite sign), 0 (linear between points),
 *                  -1 (nothing is known outside)
 *     data_1       what is constant: row 1 the time, two columns, begin and end
 *     data_2       what varies: row 1 the time, a column for each point
 *
 * "Trans": what a person would write as a row, a variable or a point in time, is a column, so
 * that points can be appended. Aliases share a row. A point, the number of columns in the header
 * of data_2 and the end of the time in data_1 are three places of the file, and readers that go on
 * to the end of the file (scipy) take neither a column too few nor bytes too many: no order in which
 * they are written is safe at every instant. They are one record of the sink, which shows whole
 * records only (publish.h). Without a point there is no file. Little-endian, doubles.
 *
 * Sources: MATLAB's description of level 4, OpenModelica User's Guide ("The MATv4 Result File
 * Format"), what DyMat expects (time in row 1 of data_1 as well).
 */
#ifndef DAE_OUTPUT_MAT_H
#define DAE_OUTPUT_MAT_H

#include "output/shares.h"
#include "output/trajectory.h"

typedef struct dae_mat {
    dae_trajectory writer;
    dae_sink *sink;
    const dae_variable *const *variable; /* of point's x, in its order */
    int count;
    dae_shares shares;
    int64_t stop_at, columns_at; /* offsets of the end time, of the number of points */
    uint32_t points;
    int headed;
} dae_mat;

/* The variables stay with the caller. The sink must be a file that can seek. */
void dae_mat_open(dae_mat *w, dae_sink *sink, const dae_variable *const *variable, int count);

/* Bytes of a file with that many points. */
double dae_mat_size(const dae_variable *const *variable, int count, double points);

#endif
