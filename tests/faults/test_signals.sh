#!/bin/bash
# SIGINT, SIGTERM and SIGQUIT end the program within a second, whatever it is doing: long texts, loops
# of functions, connection sets, systems of equations, a compiler, a function that takes its time in
# the middle of a run. Nothing is left behind but whole files.
set -u
program=${DAEDALUS_PROGRAM:?}
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder" || exit 1
mkdir tmp
export TMPDIR=$folder/tmp
passed=0
failed=0

check() { # NAME COMMAND...
    local name=$1
    shift
    echo "[ RUN      ] $name"
    if "$@"; then
        passed=$((passed + 1))
        echo "[       OK ] $name"
    else
        failed=$((failed + 1))
        echo "[  FAILED  ] $name"
        head -5 err
    fi
}

now() { date +%s%3N; }

# within SIGNAL CODE UNTIL ARGUMENTS...: UNTIL is a command that succeeds when the phase has begun
within() {
    local signal=$1 code=$2 until=$3 pid begin got tries=0
    shift 3
    rm -f r.csv r.mat r.html f.mo p.svg
    "$program" "$@" >out 2>err &
    pid=$!
    sleep 0.2
    while ! $until && [ $tries -lt 300 ]; do
        sleep 0.05
        tries=$((tries + 1))
    done
    begin=$(now)
    kill -"$signal" $pid 2>/dev/null || { echo "it had ended"; wait $pid; return 1; }
    wait $pid
    got=$?
    [ $(($(now) - begin)) -le 1000 ] || { echo "it took $(($(now) - begin)) ms"; return 1; }
    [ $got = "$code" ] || { echo "exit $got, not $code"; return 1; }
    grep -q "error\[E_INTERRUPTED\]: stopped by SIG$signal" err || { echo "stderr does not say so"; return 1; }
    [ -z "$(ls -A tmp; ls -d .daedalus-* 2>/dev/null)" ] || { echo "left behind:"; ls -A . tmp; return 1; }
}

awk 'BEGIN { print "model M"; print "Real x = 1"; for (i = 0; i < 1000000; i++) print "+ sin(" i ")"; print "; end M;" }' >text.mo
cat >loop.mo <<'END'
model M
  function f
    input Real a;
    output Real s = 0;
  algorithm
    for k in 1:3000 loop for i in 1:3000 loop s := s + sin(i*a)*exp(-i*k); end for; end for;
  end f;
  parameter Real p = f(1);
  Real x = p;
end M;
END
cat >late.mo <<'END'
model M
  function f
    input Real a;
    output Real s = 0;
  protected
    Real k = 0;
  algorithm
    while k < 1e7*a loop s := s + sin(k*a)*exp(-k); k := k + 1; end while;
  end f;
  Real x(start = 1, fixed = true);
equation
  der(x) = if time > 0.5 then -x - f(x) else -x;
end M;
END
cat >connections.mo <<'END'
model M
  connector C Real v; flow Real i; end C;
  model R C p, n; equation p.v - n.v = p.i; p.i + n.i = 0; end R;
  parameter Integer N = 100000;
  R r[N];
  C g;
equation
  for i in 1:N-1 loop connect(r[i].n, r[i+1].p); connect(r[i].p, g); end for;
  g.v = 0;
end M;
END
cat >large.mo <<'END'
model M
  parameter Integer n = 1000000;
  Real x[n](each start = 1, each fixed = true);
equation
  for i in 1:n loop der(x[i]) = -x[i]; end for;
end M;
END
cat >dense.mo <<'END'
model M
  parameter Integer n = 700;
  Real x[n](each start = 0.5), y;
equation
  der(y) = -y;
  for i in 1:n loop x[i] + 0.3*sin(sum(x)*i/1000) + x[i]^3 = i/n + y; end for;
end M;
END
cat >native.mo <<'END'
model M
  parameter Integer n = 60;
  Real x[n](each start = 0.5, each fixed = true);
equation
  for i in 1:n loop der(x[i]) = sin(sum(x)*i/1000) + sum({ x[j]*x[i] for j in 1:n }); end for;
end M;
END
there() { [ -e "$1" ]; }
compiling() { ls -d tmp/daedalus-* >/dev/null 2>&1; }
valid() { tail -1 err | grep -qE '^results valid to t=0\.[0-9]+$' && [ "$(tail -c 1 r.csv | od -An -tu1 | tr -d ' ')" = 10 ]; }

set -m # a background process of a shell without job control ignores SIGINT: give it back
while read -r signal code; do
    check "a long text, SIG$signal" within "$signal" "$code" true check text.mo
    check "a loop of a function, SIG$signal" within "$signal" "$code" true simulate loop.mo -o r.csv
    check "connection sets, SIG$signal" within "$signal" "$code" true check connections.mo
    check "many equations, SIG$signal" within "$signal" "$code" true simulate large.mo -o r.mat
    check "flattening, SIG$signal" within "$signal" "$code" true flatten large.mo -o f.mo
    check "a dense system, SIG$signal" within "$signal" "$code" true simulate dense.mo -o r.mat --report r.html
    check "analysis, SIG$signal" within "$signal" "$code" true analyze dense.mo --reduce
    check "a compiler, SIG$signal" within "$signal" "$code" compiling simulate native.mo --native -o r.csv
    check "a reproduction, SIG$signal" within "$signal" "$code" true reproduce moon
    check "a slow function in a run, SIG$signal" eval \
        'within "$signal" "$code" "there r.csv" simulate late.mo -o r.csv && valid'
done <<'END'
INT 130
TERM 143
QUIT 131
END
set +m

echo "$passed passed, $failed failed"
[ "$failed" = 0 ]
