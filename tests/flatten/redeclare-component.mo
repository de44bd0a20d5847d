partial model Law
  input Real u;
  output Real y;
end Law;
model Linear
  extends Law;
  parameter Real k = 2;
equation
  y = k*u;
end Linear;
model Square
  extends Law;
equation
  y = u^2;
end Square;
model User
  replaceable Linear law constrainedby Law;
equation
  law.u = time;
end User;
model RedeclareComponent
  User a(redeclare Square law);
  User b(law.k = 3);
end RedeclareComponent;
