package P
  model Tank
    parameter Real area = 1;
  end Tank;
  model Pool = Tank(aera = 3);
  type Length = Real(uniit = "m");
  type Switch
    extends Boolean(unit = "1");
  end Switch;
  record Size
    Real width, height;
  end Size;
  model M
    extends Tank(areas = 2);
    Pool pool;
    Length x = 1;
    Switch s = true;
    Size size = Size(widht = 1, height = 2);
  end M;
end P;
