// inner outer of a component, inherited: names in its own class, in modifications there and from
// outside mean the outer one (section 5.4), those in components below the inner one.
package P
  model World
    parameter Real g = 3;
  end World;
  model Low
    parameter Real k;
    outer World w;
    Real y = w.g;
  end Low;
  model Base
    inner outer World w(g = 4);
    Low low(k = w.g);
  end Base;
  model Middle
    extends Base;
    Real y = w.g + low.w.g;
  end Middle;
  model M
    inner World w(g = 6);
    Middle s;
    Real seen = s.w.g;
  end M;
end P;
