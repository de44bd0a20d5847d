package P "subscripts behind a dot belong to what stands before them"
  record R Real b[2]; end R;
  model A Real v[2]; parameter Real k; equation v = {k, 10*k}; end A;
  model M
    A a[3](k = {1, 2, 3});
    Real u[3] = a.v[2], w[3] = a[:].v[1], s[3, 1] = a.v[2:2];
    R r[2] = {R({1, 2}), R({3, 4})};
    Real q = sum(r.b[1]);
  end M;
end P;
