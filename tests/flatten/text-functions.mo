function length
  input String s;
  output Integer n;
  external "C" n = ModelicaStrings_length(s);
end length;
function part
  input String s;
  input Integer from, to;
  output String r;
  external "C" r = ModelicaStrings_substring(s, from, to);
end part;
model TextFunctions
  parameter Integer n = length("four");
  parameter String s = part("Modelica", 2, 4);
  parameter Integer m = length(part("Modelica", 7, 20));
end TextFunctions;
