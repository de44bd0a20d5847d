operator record Complex
  Real re, im;
  encapsulated operator 'constructor'
    import Complex;
    function fromReal
      input Real re;
      input Real im = 0;
      output Complex result(re = re, im = im);
    algorithm
    end fromReal;
  end 'constructor';
  encapsulated operator function '+'
    import Complex;
    input Complex a, b;
    output Complex c;
  algorithm
    c := Complex(a.re + b.re, a.im + b.im);
  end '+';
  encapsulated operator function '*'
    import Complex;
    input Complex a, b;
    output Complex c;
  algorithm
    c := Complex(a.re*b.re - a.im*b.im, a.re*b.im + a.im*b.re);
  end '*';
end Complex;
model OperatorRecord
  Complex a = Complex(1, time);
  Complex b = a*a + Complex(2);
end OperatorRecord;
