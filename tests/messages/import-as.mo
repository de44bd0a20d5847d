model M
  import Modelica.Units.SI as SI;
  Real x;
end M;
