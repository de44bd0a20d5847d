/* older.c: names of the Modelica Standard Library before version 4, where newer ones exist: models
 * written for version 3.2 find what they mean. Facts of the library's conversion, no more.
 */
#include "modelica/instance.h"

#include <string.h>

/* A class that was called `name` in `package`, as the text of a class that stands for it. */
static const struct {
    const char *package, *name, *text;
} classes[] = {
    { "Modelica", "SIunits",
      "package SIunits extends Modelica.Units.SI;\n"
      "  package Conversions extends Modelica.Units.Conversions;\n"
      "    package NonSIunits extends Modelica.Units.NonSI; end NonSIunits;\n"
      "  end Conversions;\n"
      "  package Icons extends Modelica.Units.Icons; end Icons;\n"
      "end SIunits;\n" },
    { "Modelica.Blocks.Tables", "CombiTable1D",
      "block CombiTable1D extends Modelica.Blocks.Tables.CombiTable1Dv; end CombiTable1D;\n" },
    { "Modelica.Blocks.Tables", "CombiTable2D",
      "block CombiTable2D extends Modelica.Blocks.Tables.CombiTable2Ds; end CombiTable2D;\n" },
    { "Modelica.Electrical", "MultiPhase",
      "package MultiPhase extends Modelica.Electrical.Polyphase; end MultiPhase;\n" },
    { "Modelica.Electrical.Machines.BasicMachines", "AsynchronousInductionMachines",
      "package AsynchronousInductionMachines\n"
      "  extends Modelica.Electrical.Machines.BasicMachines.InductionMachines;\n"
      "end AsynchronousInductionMachines;\n" },
};

const char *mo_older_class(const char *package, const char *name)
{
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strcmp(classes[i].name, name) == 0 && strcmp(classes[i].package, package) == 0)
            return classes[i].text;
    return NULL;
}

/* What an element of a class of the library was called before; NULL: the same. */
const char *mo_older_element(const char *path, const char *name)
{
    if (strncmp(path, "Modelica.", 9) != 0) return NULL;
    return strcmp(name, "f") == 0 ? "freqHz" : NULL;
}
