model A
  outer Integer T;
end A;
model M
  inner Real T = time;
  A a;
end M;
