function factorial
  input Integer n;
  output Integer y;
algorithm
  y := if n <= 1 then 1 else n*factorial(n - 1);
end factorial;
model FunctionRecursion
  Real x = factorial(6)*time;
end FunctionRecursion;
