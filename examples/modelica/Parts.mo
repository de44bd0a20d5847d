package Parts "A small library: pins and flanges, and what connects them"

  package Electrical
    connector Pin "where wires meet"
      Real v(unit = "V") "potential";
      flow Real i(unit = "A") "current into the part";
    end Pin;

    partial model TwoPins "a part between two pins"
      Pin p "positive pin";
      Pin n "negative pin";
      Real v(unit = "V") "voltage from p to n";
      Real i(unit = "A") "current from p to n";
    equation
      v = p.v - n.v;
      i = p.i;
      p.i + n.i = 0;
    end TwoPins;

    model Ground
      Pin p;
    equation
      p.v = 0;
    end Ground;

    model Resistor
      extends TwoPins;
      parameter Real R(unit = "Ohm") = 1 "resistance";
    equation
      v = R * i;
    end Resistor;

    model Capacitor
      extends TwoPins;
      parameter Real C(unit = "F") = 1 "capacitance";
    equation
      C * der(v) = i;
    end Capacitor;

    model Inductor
      extends TwoPins;
      parameter Real L(unit = "H") = 1 "inductance";
    equation
      L * der(i) = v;
    end Inductor;

    model ConstantVoltage
      extends TwoPins;
      parameter Real V(unit = "V") = 1 "voltage";
    equation
      v = V;
    end ConstantVoltage;

    model SineVoltage
      extends TwoPins;
      parameter Real V(unit = "V") = 1 "amplitude";
      parameter Real f(unit = "Hz") = 1 "frequency";
    protected
      constant Real pi = 3.141592653589793;
    equation
      v = V * sin(2 * pi * f * time);
    end SineVoltage;
  end Electrical;

  package Translational
    connector Flange "a point that moves along a line"
      Real s(unit = "m") "position";
      flow Real f(unit = "N") "force into the part";
    end Flange;

    model Mass
      Flange a;
      parameter Real m(unit = "kg") = 1 "mass";
      Real s(unit = "m") "position";
      Real v(unit = "m/s") "velocity";
    equation
      s = a.s;
      v = der(s);
      m * der(v) = a.f;
    end Mass;

    partial model TwoFlanges "a part without mass between two points"
      Flange a, b;
      Real d(unit = "m") "distance from a to b";
      Real f(unit = "N") "force that pulls the ends together";
    equation
      d = b.s - a.s;
      b.f = f;
      a.f + b.f = 0;
    end TwoFlanges;

    model Spring
      extends TwoFlanges;
      parameter Real c(unit = "N/m") = 1 "stiffness";
      parameter Real d0(unit = "m") = 0 "length without force";
    equation
      f = c * (d - d0);
    end Spring;

    model Damper
      extends TwoFlanges;
      parameter Real k(unit = "N.s/m") = 1 "damping";
    equation
      f = k * der(d);
    end Damper;

    model Wall "a point that does not move"
      Flange a;
      parameter Real s0(unit = "m") = 0 "where it is";
    equation
      a.s = s0;
    end Wall;
  end Translational;

end Parts;
