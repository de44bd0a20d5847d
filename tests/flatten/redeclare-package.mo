partial package Medium
  constant Real density;
  replaceable function enthalpy
    input Real T;
    output Real h;
  algorithm
    h := 0;
  end enthalpy;
end Medium;
package Water
  extends Medium(density = 1000);
  redeclare function enthalpy
    input Real T;
    output Real h;
  algorithm
    h := 4200*T;
  end enthalpy;
end Water;
model Tank
  replaceable package M = Medium;
  Real m = M.density*2;
  Real h = M.enthalpy(time);
end Tank;
model RedeclarePackage
  Tank tank(redeclare package M = Water);
end RedeclarePackage;
