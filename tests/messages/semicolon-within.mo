within A.B
model M
end M;
