function horner
  input Real c[:];
  input Real x;
  output Real y = 0;
algorithm
  for i in size(c, 1):-1:1 loop
    y := y*x + c[i];
  end for;
end horner;
function gauss
  input Integer n;
  output Integer s = 0;
protected
  Integer i = 0;
algorithm
  while true loop
    i := i + 1;
    if i > n then
      break;
    end if;
    s := s + i;
  end while;
end gauss;
model FunctionLoops
  Real x = horner({1, 2, 3}, time);
  Integer n = gauss(100);
end FunctionLoops;
