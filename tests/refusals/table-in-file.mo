class Table
  extends ExternalObject;
  function constructor
    input String fileName;
    input Real table[:, :] = [0, 0];
    input Integer columns[:] = {2};
    input Integer smoothness = 1;
    input Integer extrapolation = 1;
    output Table t;
    external "C" t = ModelicaStandardTables_CombiTable1D_init3(fileName, table);
  end constructor;
end Table;
function value
  input Table t;
  input Integer k;
  input Real u;
  output Real y;
  external "C" y = ModelicaStandardTables_CombiTable1D_getValue(t, k, u);
end value;
model M
  Table t = Table("data.txt");
  Real y = value(t, 1, time);
end M;
