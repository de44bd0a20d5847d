operator record N
  Real x;
  operator 'constructor'
    function a
      input Real x;
      output N n(x = x);
    algorithm
    end a;
  end 'constructor';
  operator '+'
    function plus
      input N a, b;
      output N c;
    algorithm
      c := N(a.x + b.x);
    end plus;
    function again
      input N a, b;
      output N c;
    algorithm
      c := N(a.x + b.x);
    end again;
  end '+';
end N;
model OperatorUnclear
  N n = N(1) + N(2);
end OperatorUnclear;
