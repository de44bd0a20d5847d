/* hostile_texts.h: the table of test_hostile.c. What takes more than a second is not for every day: its
 * run begins with "-". */
#define X   "Real x(start = 1, fixed = true); "
#define DX  "der(x) = -x; "
#define ANY "0,2,3,4,5,6,7,9"

static const hostile texts[] = {
    /* deep */
    { "deep-parentheses", "check", "9", "levels deep",
      "model M Real x = <<200000:(>>1<<200000:)>>; end M;" },
    { "deep-braces", "check", "9", "levels deep",
      "model M Real x = <<200000:{>>1<<200000:}>>; end M;" },
    { "deep-brackets", "check", "9", "levels deep",
      "model M Real x = <<200000:[>>1<<200000:]>>; end M;" },
    { "deep-braces-900", "check", ANY, NULL,
      "model M parameter Real x = max(<<30:{>>1<<30:}>>); Real y = max(<<900:{>>1<<900:}>>); end "
      "M;" },
    { "deep-calls", "check", "0,9", NULL, "model M Real x = <<900:sin(>>time<<900:)>>; end M;" },
    { "deep-if", "check", "0,9", NULL,
      "model M Real x = <<900:if time > @ then >>1<<900: else @>>; end M;" },
    { "deep-if-equation", "check", "9", NULL,
      "model M Real x; equation <<100000:if time > 1 then >>x = 1;<<100000:else x = 2; end if;>> "
      "end M;" },
    { "deep-else-if", "-check", "0", NULL,
      "model M Real x = if time < 0 then 0 <<100000: elseif time < @ then @>> else 1; end M;" },
    { "deep-for", "check", "9", NULL,
      "model M Real x; equation <<100000:for i@ in 1:1 loop >>x = 1;<<100000: end for;>> end M;" },
    { "deep-classes", "check", "9", NULL,
      "<<100000:package P@ >>model M end M;<<100000: end P@;>>" },
    { "deep-components", "check", "0,9", NULL,
      "model C0 Real x = 1; end C0; <<3000:model C@ C~ c; end C@; >>model M C3000 c; end M;" },
    { "deep-extends", "check", "9", NULL,
      "model C0 Real x = 1; end C0; <<100000:model C@ extends C~; end C@; >>model M extends "
      "C100000; end M;" },
    { "deep-short-classes", "check", "0,9", NULL,
      "type C0 = Real; <<50000:type C@ = C~; >>model M C50000 x = 1; end M;" },
    { "deep-modifiers", "check", ANY, NULL,
      "model C0 parameter Real c = 1; end C0; <<500:model C@ C~ c; end C@; >>model M C500 "
      "c(<<500:c(>>c=2<<500:)>>); end M;" },
    { "deep-modifiers-wrong", "check", "9", "levels deep",
      "model M Real x(<<100000:a(>>b=1<<100000:)>>); end M;" },
    { "deep-power", "check", "3,9", NULL, "model M Real x = 1<<100000:^x>>; end M;" },
    { "deep-power-brackets", "check", "0,9,4", NULL,
      "model M Real x(start=1); equation 1.1 = <<900:(x^>>x<<900:)>>; end M;" },
    { "deep-minus", "check", ANY, NULL, "model M Real x = <<200000:-(>>1<<200000:)>>; end M;" },
    { "deep-not", "check", ANY, NULL, "model M Boolean x = <<200000:not >>true; end M;" },
    { "deep-comment", "check", "3,0", NULL, "model M <<1000000:/*>> end M;" },
    { "deep-dots", "check", "3,9", NULL, "model M Real x = a<<300000:.a>>; end M;" },
    { "deep-subscripts", "check", "3,9", "levels deep",
      "model M Real x[1] = x<<100000:[x>>[1]<<100000:]>>; end M;" },
    { "deep-annotation", "check", ANY, NULL,
      "model M Real x = 1; annotation(<<100000:a(>>b=1<<100000:)>>); end M;" },
    { "deep-functions", "check", "9", NULL,
      "function f input Real x; output Real y; algorithm y := f(x + 1); end f; model M parameter "
      "Real p = f(1); end M;" },
    { "deep-function-chain", "check", ANY, NULL,
      "function f0 input Real x; output Real y = x; algorithm end f0; <<20000:function f@ input "
      "Real x; output Real y; algorithm y := f~(x); end f@; >>model M parameter Real p = "
      "f20000(1); Real z = f20000(time); end M;" },
    /* long */
    { "long-name", "check", "0", NULL, "model M Real <<5000000:x>> = 1; end M;" },
    { "long-names-many", "-check", "0,9", NULL,
      "model C<<100000:y>> Real x<<100000:z>> = 1; end C<<100000:y>>; model M C<<100000:y>> "
      "a<<100000:z>>[1000]; end M;" },
    { "long-path", "-check", "0,9", NULL,
      "model C0 Real x = 1; end C0; <<300:model C@ C~ a<<1000:b>>[2]; end C@;>> model M C12 c; end "
      "M;" },
    { "long-string", "check", "0,9", NULL,
      "model M parameter String s = \"<<20000000:x>>\"; end M;" },
    { "long-comment", "check", "0", NULL, "model M /* <<20000000:*>>/ Real x = 1; end M;" },
    { "long-line-comment", "check", "0", NULL, "model M // <<20000000:y>>\n Real x = 1; end M;" },
    { "long-number", "check", ANY, NULL, "model M Real x = 1<<5000000:0>>; end M;" },
    { "long-fraction", "check", "0", NULL, "model M Real x = 0.<<5000000:1>>; end M;" },
    { "long-exponent", "check", ANY, NULL, "model M Real x = 1e<<5000000:1>>; end M;" },
    { "long-integer", "check", ANY, NULL, "model M Integer x = 9<<1000000:9>>; end M;" },
    { "long-sum", "-check", "0", NULL, "model M Real x = 1<<1000000: + time>>; end M;" },
    { "long-product", "-check", "0", NULL, "model M Real x = 1<<300000: * time>>; end M;" },
    { "long-sum-different", "-check", "0", NULL,
      "model M " X "equation der(x) = 0<<200000: + sin(@*x)>>; end M;" },
    { "long-and", "-check", "0", NULL, "model M Boolean x = true<<300000: and time > @>>; end M;" },
    { "long-array", "-check", "0", NULL,
      "model M parameter Real x[:] = {0<<300000:, @>>}; end M;" },
    { "long-matrix", "check", "0", NULL,
      "model M parameter Real x[:,:] = [0<<200000:; @>>]; end M;" },
    { "long-enumeration", "check", "0", NULL,
      "model M type E = enumeration(<<300000:e@, >>f); E x = E.f; end M;" },
    { "long-enumeration-loop", "-check", "0,9", NULL,
      "model M type E = enumeration(<<100000:e@, >>f); Real x[E]; equation for i in E loop x[i] = "
      "Integer(i); end for; end M;" },
    { "long-enumeration-twice", "check", "3", NULL,
      "model M type E = enumeration(<<100000:e@, >>e1); E x = E.e1; end M;" },
    { "long-declarations", "-check", "0", NULL, "model M <<200000:Real x@ = @; >>end M;" },
    { "long-declarations-twice", "check", "3", NULL, "model M <<200000:Real x = @; >>end M;" },
    { "long-equations", "-check", "0", NULL,
      "model M Real x[100000]; equation <<100000:x[@] = @*time; >>end M;" },
    { "long-classes", "check", "0", NULL,
      "<<100000:model C@ Real x = 1; end C@; >>model M C1 c; end M;" },
    { "long-classes-twice", "check", "3", NULL,
      "<<100000:model C Real x = 1; end C; >>model M C c; end M;" },
    { "long-imports", "check", ANY, NULL,
      "package P <<50000:constant Real c@ = @; >>end P; model M <<50000:import P.c@; >>Real x = "
      "c1; end M;" },
    { "long-imports-twice", "check", "0", NULL,
      "package P constant Real c = 1; end P; model M <<50000:import P.c; >>Real x = c; end M;" },
    { "long-imports-all", "-check", "0,3,9", NULL,
      "<<3000:package P@ constant Real c@ = @; end P@; >>model M <<3000:import P@.*; >>Real x = "
      "0<<3000: + c@>>; end M;" },
    { "long-extends", "-check", ANY, NULL,
      "<<20000:model C@ Real x@ = @; end C@; >>model M <<20000:extends C@; >>end M;" },
    { "long-modifiers", "-check", "0", NULL,
      "model C <<20000:parameter Real c@ = 1; >>end C; model M C c(<<20000:c@ = @, >>c1(min = 0)); "
      "end M;" },
    { "long-modifiers-twice", "check", "3", NULL,
      "model C parameter Real c = 1; end C; model M C c(<<20000:c = @, >>c = 1); end M;" },
    { "long-modifiers-wrong", "-check", "3", NULL,
      "model C <<20000:parameter Real c@ = 1; >>end C; model M C c(<<20000:d@ = @, >>c1 = 2); end "
      "M;" },
    { "long-wrong-names", "-check", "3", NULL,
      "model M <<20000:Real x@; >>equation <<20000:x@ = y@; >>end M;" },
    { "long-arguments", "check", "0", NULL,
      "function f <<3000:input Real x@; >>output Real y; algorithm y := 0<<3000: + x@>>; end f; "
      "model M Real z = f(<<2999:@*time, >>time); end M;" },
    { "long-algorithm", "check", "0", NULL,
      "model M Real x; algorithm x := 0; <<30000:x := x + time; >>end M;" },
    { "long-alias-chain", "-check", "0,4", NULL,
      "model M Real x0 = time; <<200000:Real x@ = x~; >>end M;" },
    { "long-alias-chain-array", "-check", "0,9", NULL,
      "model M Real x[1000000]; equation x[1] = time; for i in 2:1000000 loop x[i] = x[i-1]; end "
      "for; end M;" },
    { "long-constants-chain", "check", ANY, NULL,
      "model M constant Real c0 = 1; <<100000:constant Real c@ = c~ + 1; >>Real x = c100000; end "
      "M;" },
    { "long-constants-back", "check", ANY, NULL,
      "model M Real x = c0; <<100000:constant Real c~ = c@ + 1; >>constant Real c100000 = 1; end "
      "M;" },
    { "long-parameters-chain", "check", ANY, NULL,
      "model M parameter Real c0 = 1; <<100000:parameter Real c@ = c~ + 1; >>Real x = c100000; end "
      "M;" },
    { "long-parameters-back", "check", ANY, NULL,
      "model M Real x = c0; <<100000:parameter Real c~ = c@ + 1; >>parameter Real c100000 = 1; end "
      "M;" },
    { "long-chain-nonlinear", "-check", "0,9", NULL,
      "model M Real x0 = time; <<100000:Real x@ = sin(x~); >>end M;" },
    { "long-one-loop", "-simulate --stop 0.01", ANY, NULL,
      "model M Real x0(start=1); <<2000:Real x@ = x~ + 0.1*sin(x~); >>equation x0 = 1 + "
      "0.1*cos(x2000); end M;" },
    /* wide */
    { "wide-real", "check", "9", NULL, "model M Real x[1000000000] = fill(1, 1000000000); end M;" },
    { "wide-real-1e7", "-check", "0,9", NULL,
      "model M Real x[10000000] = fill(1, 10000000); end M;" },
    { "wide-parameter", "check", "9", NULL,
      "model M parameter Real x[100000,100000] = zeros(100000,100000); end M;" },
    { "wide-four", "check", "9", NULL, "model M Real x[1000,1000,1000,1000]; end M;" },
    { "wide-overflow", "check", "9", NULL,
      "model M Real x[4294967296,4294967296,4294967296]; end M;" },
    { "wide-negative", "check", "3", NULL, "model M Real x[-1]; end M;" },
    { "wide-components", "check", "9", NULL,
      "model C Real x = 1; end C; model M C c[1000000000]; end M;" },
    { "wide-components-1e6", "-check", "0,9", NULL,
      "model C Real x = 1; end C; model M C c[1000000]; end M;" },
    { "wide-fill", "check", "9", NULL,
      "model M parameter Real x = sum(fill(0, 1000000000)); end M;" },
    { "wide-fill-1e7", "-check", "0,9", NULL,
      "model M parameter Real x = sum(fill(1, 10000000)); end M;" },
    { "wide-identity", "check", "9",
      "at: ", "model M parameter Real x = sum(identity(1000000)); end M;" },
    { "wide-outer", "check", "9",
      "at: ", "model M parameter Real x = sum(outerProduct(ones(100000), ones(100000))); end M;" },
    { "wide-range", "check", "9", NULL, "model M parameter Real x = sum(1:2147483648); end M;" },
    { "wide-range-real", "check", "9", NULL, "model M parameter Real x = sum(0:1e-12:1); end M;" },
    { "wide-range-tiny", "check", ANY, NULL, "model M parameter Real x = sum(0:1e-320:1); end M;" },
    { "wide-linspace", "check", "9",
      "at: ", "model M parameter Real x = sum(linspace(0, 1, 1000000000)); end M;" },
    { "wide-transpose", "-check", "0,9", NULL,
      "model M parameter Real x = sum(transpose(ones(3000,3000))); end M;" },
    { "wide-matrix-product", "check --max-load-time 0.3", "9", "--max-load-time",
      "model M parameter Real x = sum(ones(1000,1000)*ones(1000,1000)); end M;" },
    { "wide-matrix-product-10", "-check", "0,9", NULL,
      "model M parameter Real A[300,300] = ones(300,300); parameter Real x = "
      "sum(A*A*A*A*A*A*A*A*A*A*A); end M;" },
    { "wide-matrix-power", "check", "0,9", NULL,
      "model M parameter Real A[200,200] = identity(200); parameter Real x = sum(A^1000000000); "
      "end M;" },
    { "wide-matrix-equation", "-check", "0,9", NULL,
      "model M Real A[100,100], B[100,100]; equation A = B*B; B = fill(time, 100, 100); end M;" },
    { "wide-matrix-symbolic", "-check", "0,9", NULL,
      "model M Real A[60,60](each start=1), B[60,60]; equation A = B*B*B*B*B; B = fill(sin(time), "
      "60, 60); end M;" },
    { "wide-cat", "-check", "9,0", NULL,
      "model M constant Real a0[:] = {1,2}; <<28:constant Real a@[:] = cat(1, a~, a~); >>parameter "
      "Real x = sum(a28); end M;" },
    { "wide-nested-comprehension", "-check", "9", NULL,
      "model M parameter Real x = sum({i*j*k*l for i in 1:300, j in 1:300, k in 1:300, l in "
      "1:300}); end M;" },
    { "wide-sum-of", "-check", "0,9", NULL,
      "model M parameter Real x = sum(i for i in 1:3000000); end M;" },
    { "wide-sum-of-loops", "-check", "9", NULL,
      "model M parameter Real x = sum(sum(sum(i*j*k for i in 1:1000) for j in 1:1000) for k in "
      "1:1000); end M;" },
    { "wide-for", "check", "9", NULL,
      "model M Real x[10]; equation for i in 1:1000000000 loop x[mod(i,10)+1] = i; end for; end "
      "M;" },
    { "wide-for-empty", "check", "9,0,4", NULL,
      "model M Real x; equation x = 1; for i in 1:1000000000 loop end for; end M;" },
    { "wide-for-nested", "-check", "9", NULL,
      "model M Real x; equation x = 1; for i in 1:10000, j in 1:10000, k in 1:10000 loop if i > "
      "20000 then x = 2; end if; end for; end M;" },
    { "wide-for-assert", "check", "9", NULL,
      "model M Real x; equation x = 1; for i in 1:30000000 loop assert(x > 0, \"no\"); end for; "
      "end M;" },
    { "wide-conditional", "check", "0,9", NULL,
      "model C Real x = 1; end C; model M C c[1000000] if false; Real y = 1; end M;" },
    { "wide-enumeration-product", "check", "9", NULL,
      "model M type E = enumeration(<<2000:e@, >>f); Real x[E,E,E]; end M;" },
    { "wide-records", "check", "9", NULL,
      "record R Real a[1000]; end R; model M R r[1000,1000]; end M;" },
    { "wide-min-max", "check", "0,9", NULL,
      "model M Real x[20000]; Real y; equation for i in 1:20000 loop x[i] = i*time; end for; y = "
      "max(x) + min(x) + sum(x) + product(x); end M;" },
    { "wide-when", "check", ANY, NULL,
      "model M Real x; equation x = 1; <<50000:when time > @ then end when; >>end M;" },
    { "wide-start", "-check", "0,9", NULL,
      "model M Real x[100000](start = 1:100000, each fixed = true); equation for i in 1:100000 "
      "loop der(x[i]) = -x[i]; end for; end M;" },
    /* exponential */
    { "double-extends", "-check", "0,9", NULL,
      "model C0 Real x = 1; end C0; <<40:model C@ extends C~; extends C~; end C@; >>model M "
      "extends C40; end M;" },
    { "double-components", "check", "9", NULL,
      "model C0 Real x = 1; end C0; <<40:model C@ C~ a, b; end C@; >>model M C40 c; end M;" },
    { "double-components-empty", "check", "9", NULL,
      "model C0 end C0; <<40:model C@ C~ a, b; end C@; >>model M C40 c; end M;" },
    { "double-components-18", "check", "0,9", NULL,
      "model C0 Real x = 1; end C0; <<18:model C@ C~ a, b; end C@; >>model M C18 c; end M;" },
    { "double-arrays", "check", "9", NULL,
      "model C0 Real x = 1; end C0; <<12:model C@ C~ a[10]; end C@; >>model M C12 c; end M;" },
    { "double-constants", "check", "0,9", NULL,
      "model M constant Real c0 = 1.1; <<60:constant Real c@ = c~*c~/1.1; >>Real x = c60; end M;" },
    { "double-parameters", "check", "0,9", NULL,
      "model M parameter Real c0 = 1; <<60:parameter Real c@ = c~ + c~; >>Real x = c60*time; end "
      "M;" },
    { "double-package-constants", "check", "0,9", NULL,
      "package P0 constant Real c = 1; end P0; <<40:package P@ constant Real c = P~.c + P~.c; end "
      "P@; >>model M Real x = P40.c; end M;" },
    { "double-variables", "check", "0,9", NULL,
      "model M Real c0 = time; <<60:Real c@ = c~ + sin(c~); >>end M;" },
    { "double-function", "check --max-work 1e5", "9", "--max-work",
      "function f input Integer n; output Real y; algorithm y := if n < 1 then 1 else f(n-1) + "
      "f(n-1); end f; model M parameter Real p = f(60); end M;" },
    { "double-function-run", "simulate --stop 1", "9", "without end",
      "function f input Real n; output Real y; algorithm if n < 1 then y := 1; else y := f(n-1) + "
      "f(n-1.0001); end if; end f; model M " X "equation der(x) = f(60 + x); end M;" },
    { "double-inline", "-check", "0,9", NULL,
      "function f0 input Real x; output Real y = x + 1; algorithm end f0; <<40:function f@ input "
      "Real x; output Real y = f~(x) + f~(x*x); algorithm end f@; >>model M Real z = f40(time); "
      "end M;" },
    { "double-string", "check", "9", NULL,
      "model M constant String s0 = \"ab\"; <<40:constant String s@ = s~ + s~; >>parameter String "
      "t = s40; end M;" },
    { "double-string-19", "check", "0,9", NULL,
      "model M constant String s0 = \"ab\"; <<18:constant String s@ = s~ + s~; >>parameter String "
      "t[1000] = fill(s18, 1000); end M;" },
    { "double-string-loop", "check", "9", NULL,
      "function f output String s; algorithm s := \"a\"; for i in 1:100 loop s := s + s; end for; "
      "end f; model M parameter String t = f(); end M;" },
    { "double-array-loop", "check", "3,9", NULL,
      "function f output Integer n; protected Real a[:]; algorithm a := {1}; for i in 1:60 loop a "
      ":= cat(1, a, a); end for; n := size(a, 1); end f; model M parameter Integer t = f(); end "
      "M;" },
    { "double-records", "check", "9", NULL,
      "record R0 Real x = 1; end R0; <<40:record R@ R~ a, b; end R@; >>model M R40 r; end M;" },
    { "double-redeclare", "check", ANY, NULL,
      "model B Real x = 1; end B; model C0 replaceable model T = B; T t; end C0; <<40:model C@ "
      "replaceable model T = C~; T a(redeclare model T = B); T b; end C@; >>model M C40 c; end "
      "M;" },
    { "double-modifiers", "-check", "9", NULL,
      "model C0 parameter Real p = 1; end C0; <<40:model C@ parameter Real p = 1; C~ a(p = p + 1), "
      "b(p = p*2); end C@; >>model M C40 c; end M;" },
    { "double-package", "check", "0,9", NULL,
      "package P0 model T Real x = 1; end T; end P0; <<60:package P@ package A = P~; package B = "
      "P~; end P@; >>model M P60<<60:.A>>.T t; end M;" },
    { "double-nested-classes", "check", "0,9", NULL,
      "model C0 Real x = 1; end C0; <<40:model C@ model A extends C~; end A; model B extends C~; "
      "end B; A a; B b; end C@; >>model M C40 c; end M;" },
    { "double-comprehension", "-check", "9", NULL,
      "model M parameter Real x = <<12:sum(>>1<<12: for i@ in 1:10)>>; end M;" },
    { "double-array-of-array", "check", "9", NULL,
      "model M constant Real a0[2] = {1,2}; constant Real b = sum(<<24:{>>1<<24:,1}>>); parameter "
      "Real x = sum(<<30:fill(>>1<<30:, 2)>>); end M;" },
    { "double-if", "check", "0,9", NULL,
      "model M Real c0 = time; <<60:Real c@ = if c~ > 0 then c~ - 1 else c~ + 1; >>end M;" },
    { "double-power-literal", "check", ANY, NULL,
      "model M parameter Real x = 9^(9^(9^9)); end M;" },
    { "double-integer", "check", ANY, NULL,
      "model M constant Integer c0 = 2; <<60:constant Integer c@ = c~*c~; >>parameter Integer x = "
      "c60; end M;" },
    { "double-outer", "check", "0,3,9", NULL,
      "model A outer Real w; A a if w > 1; end A; model M inner Real w = 1; A a; end M;" },
    /* cycles */
    { "cycle-extends", "check", "3,9", NULL,
      "model A extends B; end A; model B extends A; end B; model M extends A; end M;" },
    { "cycle-component", "check", "3,9", NULL, "model M M m; end M;" },
    { "cycle-component-two", "check", "3,9", NULL,
      "model A B b[2]; end A; model B A a[2]; end B; model M A a; end M;" },
    { "cycle-constants", "check", "3", NULL,
      "model M constant Real a = b; constant Real b = a; Real x = a; end M;" },
    { "cycle-constants-long", "check", "3,9", "too long",
      "model M constant Real c0 = c50000; <<50000:constant Real c@ = c~; >>Real x = c0; end M;" },
    { "cycle-sizes", "check", "3", NULL, "model M Real a[size(b, 1)]; Real b[size(a, 1)]; end M;" },
    { "cycle-imports", "check", ANY, NULL,
      "package A import B.*; constant Real x = y; end A; package B import A.*; constant Real y = "
      "x; end B; model M Real z = A.x; end M;" },
    { "cycle-package-alias", "check", "3,9", NULL,
      "package A = B; package B = A; model M Real z = A.x; end M;" },
    { "cycle-inner-outer", "check", "3,0,4", NULL,
      "model A inner outer A a; end A; model M inner A a; end M;" },
    { "cycle-redeclare", "check", "3,9", NULL,
      "package P replaceable model A extends P.A; end A; end P; model M P.A a; end M;" },
    { "cycle-redeclare-two", "check", "3,9", NULL,
      "model A replaceable model T = A; T t; end A; model M A a; end M;" },
    { "cycle-types", "check", "3", NULL, "type A = B; type B = A; model M A x = 1; end M;" },
    { "cycle-record", "check", "3,9", NULL, "record R R r; Real x; end R; model M R r; end M;" },
    { "cycle-function-constants", "check", "3,9", NULL,
      "function f input Real x; output Real y = x + M.c; algorithm end f; model M constant Real c "
      "= f(1); Real z = c; end M;" },
    { "cycle-alias", "check", "4", NULL,
      "model M Real x0 = x50000; <<50000:Real x@ = x~; >>end M;" },
    { "cycle-grow", "check", "3,9", NULL,
      "model A parameter Integer n = 1; A a(n = n + 1) if n > 0; end A; model M A a; end M;" },
    { "cycle-grow-stops", "check", "3", NULL,
      "model A parameter Integer n = 1; Real x = n; A a(n = n - 1) if n > 0; end A; model M A a(n "
      "= 150); end M;" },
    { "cycle-grow-doubles", "check", "3", NULL,
      "model A parameter Integer n = 1; Real x = n; A a(n = n - 1) if n > 0; A b(n = n - 1) if n > "
      "0; end A; model M A a(n = 60); end M;" },
    /* connections */
    { "connect-5000-all", "-check", "0,4,9", NULL,
      "connector C Real v; flow Real i; end C; model M C c[5000]; equation for i in 1:5000, j in "
      "1:5000 loop connect(c[i], c[j]); end for; end M;" },
    { "connect-array-repeated", "-check", ANY, NULL,
      "connector C Real v; flow Real i; end C; model M C a[5000], b[5000]; equation for i in "
      "1:5000 loop connect(a, b); end for; end M;" },
    { "connect-wide", "check", "0,4,9", NULL,
      "connector C Real v; flow Real i; end C; model R C p; equation p.v = p.i; end R; model M R "
      "r[50000]; equation for i in 2:50000 loop connect(r[1].p, r[i].p); end for; end M;" },
    { "connect-chain", "check", "0,4,9", NULL,
      "connector C Real v; flow Real i; end C; model R C p; equation p.v = p.i; end R; model M R "
      "r[50000]; equation for i in 2:50000 loop connect(r[i-1].p, r[i].p); end for; end M;" },
    { "connect-big-connector", "-check", ANY, NULL,
      "connector C Real v[100000]; flow Real i[100000]; end C; model M C a, b; equation for k in "
      "1:1000 loop connect(a, b); end for; end M;" },
    { "connect-expandable", "-check", ANY, NULL,
      "expandable connector B end B; connector O = output Real; model M B b; O o[20000]; equation "
      "<<20000:connect(b.s@, o[@]); >>for i in 1:20000 loop o[i] = i*time; end for; end M;" },
    { "connect-expandable-buses", "-check", ANY, NULL,
      "expandable connector B end B; connector O = output Real; model M B b[500]; O o[500]; "
      "equation <<500:connect(b[@].s@, o[@]); >>for i in 2:500 loop connect(b[i-1], b[i]); end "
      "for; for i in 1:500 loop o[i] = i*time; end for; end M;" },
    { "connect-stream", "check", ANY, NULL,
      "connector C Real p; flow Real m; stream Real h; end C; model S C c; equation c.p = 1 + c.m; "
      "c.h = 1; end S; model M S s[2000]; Real y; equation for i in 2:2000 loop connect(s[1].c, "
      "s[i].c); end for; y = inStream(s[1].c.h); end M;" },
    { "connect-stream-all", "-check", ANY, NULL,
      "connector C Real p; flow Real m; stream Real h; end C; model S C c; equation c.p = 1 + c.m; "
      "c.h = inStream(c.h); end S; model M S s[2000]; equation for i in 2:2000 loop "
      "connect(s[1].c, s[i].c); end for; end M;" },
    { "connect-overconstrained", "-check", ANY, NULL,
      "type T extends Real; function equalityConstraint input T a; input T b; output Real r[0]; "
      "algorithm end equalityConstraint; end T; connector C T t; flow Real i; end C; model R C a, "
      "b; equation Connections.branch(a.t, b.t); a.t = b.t; a.i + b.i = 0; end R; model M R "
      "r[10000]; equation Connections.potentialRoot(r[1].a.t); if Connections.isRoot(r[1].a.t) "
      "then r[1].a.t = 0; end if; for i in 2:10000 loop connect(r[i-1].b, r[i].a); end for; for i "
      "in 3:10000 loop connect(r[1].b, r[i].a); end for; end M;" },
    { "connect-cardinality", "-check", ANY, NULL,
      "connector C Real v; flow Real i; end C; model M C c[3000]; equation for i in 2:3000 loop "
      "connect(c[i-1], c[i]); assert(cardinality(c[i]) > 0, \"none\"); end for; end M;" },
    /* what is behind the text */
    { "index-chain-50", "check", "0,9,4", NULL,
      "model M Real x[50]; equation for i in 2:50 loop der(x[i-1]) = x[i]; end for; x[1] = "
      "sin(time); end M;" },
    { "index-chain-200", "check", "0,9,4", NULL,
      "model M Real x[200]; equation for i in 2:200 loop der(x[i-1]) = x[i]; end for; x[1] = "
      "sin(time)*exp(time); end M;" },
    { "index-product", "check", "0,9,4", NULL,
      "model M Real x[10], y[10](each start = 1); equation for i in 2:10 loop der(x[i-1]) = x[i]; "
      "end for; x[1] = product(y); for i in 1:10 loop y[i] = exp(sin(time*i)) + 1; end for; end "
      "M;" },
    { "index-composition", "check", "0,9,4", NULL,
      "model M Real x[12], z; equation for i in 2:12 loop der(x[i-1]) = x[i]; end for; x[1] = z; z "
      "= <<30:sin(time + >>time<<30:)>>; end M;" },
    { "index-power", "-check", "0,9,4", NULL,
      "model M Real x[20]; equation for i in 2:20 loop der(x[i-1]) = x[i]; end for; x[1] = <<12:(2 "
      "+ time)^(>>time<<12:)>>; end M;" },
    { "index-quotients", "check", "0,9,4", NULL,
      "model M Real x[20]; equation for i in 2:20 loop der(x[i-1]) = x[i]; end for; x[1] = "
      "<<20:time/(1 + >>time<<20:)>>; end M;" },
    { "index-nonlinear-chain", "check", "0,9,4", NULL,
      "model M Real x[14](each start = 1); equation for i in 2:14 loop der(x[i-1]) = "
      "x[i]*product(x[1:i-1]); end for; x[1] = 2 + sin(time); end M;" },
    { "index-array-chain", "-check", "0,9,4", NULL,
      "model M Real x[300,100]; equation for i in 2:300, j in 1:100 loop der(x[i-1,j]) = x[i,j]; "
      "end for; x[1,:] = fill(sin(time), 100); end M;" },
    { "dense-loop", "-check", ANY, NULL,
      "model M Real x[400](each start=1); equation for i in 1:400 loop x[i] = 1 + "
      "0.001*sum(sin(x[j]*i) for j in 1:400); end for; end M;" },
    { "dense-linear", "-check", ANY, NULL,
      "model M Real x[500]; equation for i in 1:500 loop x[i] + sum(x[j]/(i+j) for j in 1:500) = "
      "time; end for; end M;" },
    { "dense-states", "-simulate --stop 0.1", ANY, NULL,
      "model M Real x[600](each start=1, each fixed = true); equation for i in 1:600 loop "
      "der(x[i]) = -sum(x[j]/(i+j) for j in 1:600); end for; end M;" },
    { "singular-many", "check", "4", NULL,
      "model M Real x[20000]; equation for i in 1:20000 loop x[1] = i*time; end for; end M;" },
    { "missing-many", "check", "4", NULL, "model M Real x[50000]; end M;" },
    { "initial-many", "check", ANY, NULL,
      "model M Real x[1000]; initial equation for i in 1:1000 loop x[i] = i; x[i]*2 = 2*i; end "
      "for; equation for i in 1:1000 loop der(x[i]) = -x[i]; end for; end M;" },
    { "initial-contradictions", "check", ANY, NULL,
      "model M Real x[300]; initial equation for i in 1:300 loop x[i] = i; x[i]*2 = i; end for; "
      "equation for i in 1:300 loop der(x[i]) = -x[i]; end for; end M;" },
    { "events-many", "-simulate --stop 1", ANY, NULL,
      "model M " X "Real y[3000]; equation der(x) = -x; for i in 1:3000 loop y[i] = if time > "
      "i/3000 then x else 0; end for; end M;" },
    { "delay-1e-9", "simulate --stop 1", "0", NULL,
      "model M " X "equation der(x) = -delay(x, 1e-9); end M;" },
    { "delay-1e-300", "simulate --stop 1", "0", NULL,
      "model M " X "equation der(x) = -delay(x, 1e-300); end M;" },
    { "delay-0", "simulate --stop 1", "0", NULL,
      "model M " X "equation der(x) = -delay(x, 0); end M;" },
    { "delay-1e-5", "simulate --stop 1", "0,6,9", NULL,
      "model M " X "equation der(x) = -delay(x, 1e-5); end M;" },
    { "delay-varies", "simulate --stop 1", "0", NULL,
      "model M " X "equation der(x) = -delay(x, 1e-9*(1+time), 1); end M;" },
    { "delay-varies-to-zero", "simulate --stop 1", "0,6,9", NULL,
      "model M " X "equation der(x) = -delay(x, abs(time - 0.5), 1); end M;" },
    { "delay-many", "-simulate --stop 1", ANY, NULL,
      "model M Real x[2000](each start=1, each fixed=true); equation for i in 1:2000 loop "
      "der(x[i]) = -delay(x[i], 0.001*i); end for; end M;" },
    { "delay-long", "-simulate --stop 1e9 --max-steps 1e6", "9", NULL,
      "model M " X "Real y; equation der(x) = cos(time); y = delay(x, 1e9); end M;" },
    { "run-fast", "-simulate --stop 1", "0,6,9", NULL,
      "model M " X "equation der(x) = 1e9*cos(1e9*time); end M;" },
    { "run-stiff-huge", "simulate --stop 1e300", "0,6,9", NULL,
      "model M " X "equation der(x) = sin(x); end M;" },
    { "run-blow-up", "simulate --stop 10", "6", NULL,
      "model M " X "equation der(x) = x^3; end M;" },
    { "run-chatter", "simulate --stop 1", "0,6,9", NULL,
      "model M " X "equation der(x) = if x > 0.5 then -1e6 else 1e6; end M;" },
    { "run-zeno", "simulate --stop 10", "0,3,6,9", NULL,
      "model M Real h(start = 1, fixed = true), v(start = 0, fixed = true); equation der(h) = v; "
      "der(v) = if h > 0 then -9.81 else 1e9; end M;" },
    { "run-loop-in-function", "simulate --stop 1", "9", "without end",
      "function f input Real x; output Real y; algorithm y := x; while y > -1 loop y := y + 1e-30; "
      "end while; end f; model M " X "equation der(x) = f(x); end M;" },
    { "run-long-function", "-simulate --stop 1", "0,6,7,9", NULL,
      "function f input Real x; output Real y; algorithm y := x; for i in 1:1000000 loop y := y + "
      "sin(y)*1e-6; end for; end f; model M " X "equation der(x) = -f(x); end M;" },
    { "run-function-array", "simulate --stop 1", "0,3,6,7,9", NULL,
      "function f input Real x; output Real y; protected Real a[:]; algorithm a := fill(x, "
      "integer(1e9*x)); y := sum(a); end f; model M " X "equation der(x) = -f(x); end M;" },
    { "run-rows", "simulate --stop 1e9 --interval 1e-9", "9", NULL,
      "model M " X "equation " DX "end M;" },
    { "run-sample", "simulate --stop 1", ANY, NULL,
      "model M " X "discrete Real y; equation " DX
      "when sample(0, 1e-9) then y = x; end when; end M;" },
    { "run-experiment", "simulate", "9,6,0,3", NULL,
      "model M " X "equation " DX
      "annotation(experiment(StopTime = 1e300, Interval = 1e-300)); end M;" },
    { "run-denormal", "simulate --stop 1", "0", NULL,
      "model M Real x(start = 1e-310, fixed = true); equation " DX "end M;" },
    /* bytes */
    { "bytes-utf8", "check", "3", NULL, "model M Real \xff\xfe = 1; end M;" },
    { "bytes-utf8-many", "check", "3", NULL, "model M <<100000:\xff\xfe>> end M;" },
    { "bytes-bom", "check", "0", NULL, "\xef\xbb\xbfmodel M Real x = 1; end M;" },
    { "bytes-boms", "check", "3", NULL, "<<100000:\xef\xbb\xbf>>model M Real x = 1; end M;" },
    { "bytes-cr", "-check", "0", NULL, "model M\r<<200000:Real x@ = 1;\r>>end M;\r" },
    { "bytes-empty-lines", "check", "0", NULL, "model M\n<<5000000:\n>>end M;\n" },
    { "bytes-quotes", "check", "3", NULL, "model M <<200000:\">>x end M;" },
    { "bytes-apostrophes", "check", "3", NULL, "model M <<200001:'>>x end M;" },
    { "bytes-semicolons", "check", ANY, NULL, "model M <<1000000:;>> end M;" },
    { "bytes-ends", "check", ANY, NULL, "model M <<200000:end >> M;" },
    { "bytes-equals", "check", "3", NULL, "model M Real x <<200000:= >>1; end M;" },
    { "bytes-keywords", "check", "3", NULL, "<<100000:model >>M end M;" },
    { "bytes-errors", "check", "3", NULL, "model M equation <<100000:x = = 1; >>end M;" },
    { "bytes-commas", "check", "3", NULL, "model M Real x[3] = {<<300000:,>>}; end M;" },
    { "bytes-operators", "check", "3", NULL, "model M Real x = 1 <<300000:+*/^>> 2; end M;" },
    { "bytes-strings", "-check", ANY, NULL,
      "model M parameter String s = \"\"<<100000: + \"@\">>; end M;" },
    { "bytes-description", "check", "0", NULL,
      "model M Real x = 1 \"a\"<<300000: + \"b\">>; end M;" },
    { "bytes-escapes", "check", ANY, NULL,
      "model M parameter String s = \"<<300000:\\q>>\"; end M;" },
    { "units-long", "check", ANY, NULL, "model M Real x(unit = \"<<100000:m.>>m\") = 1; end M;" },
    { "units-deep", "check", ANY, NULL,
      "model M Real x(unit = \"<<100000:(>>m<<100000:)>>\") = 1; end M;" },
    { "units-power", "check", ANY, NULL,
      "model M Real x(unit = \"m999999999999999\") = 1; Real y(unit = \"m\") = x; end M;" },
    /* 2 kB that ask for memory */
    { "memory-parameters", "check --max-memory 1e8", "0,9", NULL,
      "model M parameter Real x[3000,3000] = ones(3000,3000); end M;" },
    { "memory-variables", "check --max-memory 1e8", "9", "--max-memory",
      "model M Real x[300000]; equation for i in 1:300000 loop x[i] = sin(i*time); end for; end "
      "M;" },
    { "memory-dense", "check --max-memory 1e8", "9", "--max-memory",
      "model M Real x[2000]; equation for i in 1:2000 loop x[i] + sum(x[j]/(i+j) for j in 1:2000) "
      "= time; end for; end M;" },
    { "memory-dense-run", "simulate --stop 1 --max-memory 1e8", "9", "--max-memory",
      "model M Real x[2000](each start=1,each fixed=true); equation for i in 1:2000 loop der(x[i]) "
      "= -sum(x[j]/(i+j) for j in 1:2000); end for; end M;" },
    { "memory-names", "check --max-memory 1e8", "9", "--max-memory",
      "model C0 Real x = 1; end C0; <<17:model C@ C~ a<<50:b>>, c<<50:d>>; end C@; >>model M C17 "
      "c; end M;" },
    { "memory-strings", "check --max-memory 1e8", "9", "--max-memory",
      "model M constant String s0 = \"ab\"; <<18:constant String s@ = s~ + s~; >>parameter String "
      "t[:] = {s18 + String(i) for i in 1:1000}; end M;" },
    { "memory-index", "-check --max-memory 1e8", "9", "--max-memory",
      "model M Real x[60], y[60]; equation for i in 2:60 loop der(x[i-1]) = x[i]*sin(x[i]); end "
      "for; x[1] = product(y); for i in 1:60 loop y[i] = exp(sin(time*i)) + 1; end for; end M;" },
    { "memory-default", "-check", "0,9", NULL,
      "model M Real x[4000]; equation for i in 1:4000 loop x[i] + sum(x[j]/(i+j) for j in 1:4000) "
      "= time; end for; end M;" },
};
