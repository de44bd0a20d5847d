// x[b] and x[e]: false and the first literal are the first element.
model SubscriptBoolean
  type E = enumeration(one, two, three);
  Real x[Boolean] = {3, 4};
  Real y[E] = {5, 6, 7};
  Boolean b = time > 1;
  E e = if time > 1 then E.three else E.two;
  Real z = x[b] + y[e];
end SubscriptBoolean;
