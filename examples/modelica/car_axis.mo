model CarAxis "A car axis on springs, one wheel on a bumpy road: two constraints, index 3"
  parameter Real L = 1 "length of the axis", L0 = 0.5 "length of the springs";
  parameter Real eps = 0.01 "masses are small beside the springs", M = 10 "mass";
  parameter Real g = 1 "gravity", r = 0.1 "height of a bump", omega = 10 "bumps";
  Real yb = r * sin(omega * time) "height of the right wheel";
  Real xb = sqrt(L ^ 2 - yb ^ 2) "where it is";
  Real xl(start = 0), yl(start = 0.5, fixed = true) "left end of the axis";
  Real xr(start = 1), yr(start = 0.5, fixed = true) "right end of the axis";
  Real ul(start = -0.5), vl(start = 0, fixed = true), ur(start = -0.5), vr(start = 0, fixed = true)
    "velocities";
  Real lambda1 "force across the left spring", lambda2 "force in the axis";
protected
  parameter Real k = eps ^ 2 * M / 2;
  Real left = L0 / sqrt(xl ^ 2 + yl ^ 2) - 1;
  Real right = L0 / sqrt((xr - xb) ^ 2 + (yr - yb) ^ 2) - 1;
equation
  der(xl) = ul;
  der(yl) = vl;
  der(xr) = ur;
  der(yr) = vr;
  k * der(ul) = left * xl + lambda1 * xb + 2 * lambda2 * (xl - xr);
  k * der(vl) = left * yl + lambda1 * yb + 2 * lambda2 * (yl - yr) - k * g;
  k * der(ur) = right * (xr - xb) - 2 * lambda2 * (xl - xr);
  k * der(vr) = right * (yr - yb) - 2 * lambda2 * (yl - yr) - k * g;
  xl * xb + yl * yb = 0;
  (xl - xr) ^ 2 + (yl - yr) ^ 2 = L ^ 2;
  annotation(experiment(StopTime = 3, Tolerance = 1e-8));
end CarAxis;
