print("hello");
model M
end M;
