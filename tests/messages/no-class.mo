Real x;
x = 3;
