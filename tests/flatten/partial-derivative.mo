// function f_x = der(f, x)
model PartialDerivative
  function f
    input Real x;
    input Real y = 2;
    output Real z;
  algorithm
    z := x^3*sin(y);
  end f;
  function f_x = der(f, x);
  function f_xy = der(f, x, y);
  function f_xx = der(f, x, x);
  Real a = f_x(time);
  Real b = f_xy(2*time, y = 3*time);
  Real c = f_xx(time, 0.5*time) + f_x(2, 0);
end PartialDerivative;
