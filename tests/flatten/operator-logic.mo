operator record Trit
  Integer t;
  encapsulated operator function 'and'
    import Trit;
    input Trit a, b;
    output Trit c;
  algorithm
    c := Trit(min(a.t, b.t));
  end 'and';
  encapsulated operator function 'or'
    import Trit;
    input Trit a, b;
    output Trit c;
  algorithm
    c := Trit(max(a.t, b.t));
  end 'or';
  encapsulated operator function 'not'
    import Trit;
    input Trit a;
    output Trit c;
  algorithm
    c := Trit(-a.t);
  end 'not';
end Trit;
model OperatorLogic
  Trit a = Trit(1), b = Trit(-1), c = Trit(0);
  Trit x = a and b or not c;
end OperatorLogic;
