model M
  import Modelica.Constants.pi
  Real x = pi;
end M;
