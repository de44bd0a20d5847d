class Table "as in the standard library: an external object and functions in C"
  extends ExternalObject;
  function constructor
    input String tableName = "NoName";
    input String fileName = "NoName";
    input Real table[:, :];
    input Integer columns[:] = {2};
    input Integer smoothness = 1;
    input Integer extrapolation = 2;
    output Table t;
    external "C" t = ModelicaStandardTables_CombiTable1D_init3(fileName, tableName, table);
  end constructor;
  function destructor
    input Table t;
    external "C" ModelicaStandardTables_CombiTable1D_close(t);
  end destructor;
end Table;
function value
  input Table t;
  input Integer k;
  input Real u;
  output Real y;
  external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, k, u);
end value;
model ExternalTable
  Table lines = Table(table = [0, 1; 1, 3; 2, 2]);
  Table steps = Table(table = [0, 1; 1, 3; 2, 2], smoothness = 3, extrapolation = 1);
  Real x = value(lines, 1, time);
  Real y = value(steps, 1, time);
end ExternalTable;
