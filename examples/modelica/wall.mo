package Building "Heat through a wall of layers"
  type Kind = enumeration(brick, wool, plaster);

  record Material
    Real lambda(unit = "W/(m.K)") "conductivity";
    Real c(unit = "J/(m3.K)") "heat capacity of a volume";
  end Material;

  function material "what a kind of layer is made of"
    input Kind kind;
    output Material m;
  algorithm
    if kind == Kind.brick then
      m := Material(0.8, 1.5e6);
    elseif kind == Kind.wool then
      m := Material(0.04, 5e4);
    else
      m := Material(0.5, 1e6);
    end if;
  end material;

  connector Face
    Real T(unit = "K") "temperature";
    flow Real q(unit = "W/m2") "heat into the layer";
  end Face;

  model Layer "its heat sits in the middle"
    parameter Kind kind = Kind.brick;
    parameter Real d(unit = "m") = 0.1 "thickness";
    final parameter Material m = material(kind);
    Face inside, outside;
    Real T(unit = "K", start = 273, fixed = true, nominal = 300);
  equation
    m.c * d * der(T) = inside.q + outside.q;
    inside.q = 2 * m.lambda / d * (inside.T - T);
    outside.q = 2 * m.lambda / d * (outside.T - T);
  end Layer;

  model Room
    Face wall;
    parameter Real T(unit = "K") = 293;
  equation
    wall.T = T;
  end Room;

  model Wall "Plaster, brick, wool, brick between a warm room and a cold street"
    parameter Kind kinds[:] = {Kind.plaster, Kind.brick, Kind.wool, Kind.brick};
    parameter Real d[size(kinds, 1)](each unit = "m") = {0.02, 0.24, 0.12, 0.115};
    Layer layer[size(kinds, 1)](kind = kinds, d = d);
    Room room(T = 293), street(T = 273);
    Real loss(unit = "W/m2") = room.wall.q * (-1) "heat through the inner face";
  equation
    connect(room.wall, layer[1].inside);
    for i in 2:size(kinds, 1) loop
      connect(layer[i - 1].outside, layer[i].inside);
    end for;
    connect(layer[end].outside, street.wall);
    annotation(experiment(StopTime = 4e6, Tolerance = 1e-7));
  end Wall;
end Building;
