/* page.js: what a report page does: variables chosen from a list, curves by uPlot, one panel for
   each unit, all panels over the same time. page_data.c tells what the data look like. */
(function () {
"use strict";

const COLOURS = 6; /* of page.css; dashes when they come again */
const MOST_LISTED = 400;

const $ = (id) => document.getElementById(id);
const data = JSON.parse($("data").textContent);
const curves = data.curves, variables = data.variables;
const chosen = new Map(); /* number of a variable -> number of its style */
let panels = [];          /* the plots in view */
let window_ = null;       /* [from, to] of the time in view; null: all */

/* ---- data ---- */

function unpack(p) {
    const raw = atob(p.f), bytes = new Uint8Array(raw.length);
    for (let i = 0; i < raw.length; i++)
        bytes[i] = raw.charCodeAt(i);
    const f = new DataView(bytes.buffer), out = new Array(bytes.length / 4);
    for (let i = 0; i < out.length; i++) {
        const v = p.o + p.s * f.getFloat32(4 * i, true);
        out[i] = Number.isFinite(v) ? v : null;
    }
    return out;
}

/* Times of one curve become distinct, by a billionth, so that both sides of a jump stay. */
function distinct(t) {
    const by = 1e-9 * (t[t.length - 1] - t[0]);
    for (let i = 1; i < t.length; i++)
        if (t[i] <= t[i - 1])
            t[i] = t[i - 1] + by;
    return t;
}

const time = data.time ? unpack(data.time) : null;

function timesOf(curve) {
    const c = curves[curve];
    return time || (c.times = c.times || distinct(unpack(c.t)));
}

function valuesOf(variable) {
    const c = curves[variable.k];
    c.values = c.values || unpack(c.v);
    return variable.m ? c.values.map((v) => v === null ? null : -v) : c.values;
}

/* [times, values of the first, of the second ...], on common times */
function aligned(numbers) {
    if (time)
        return [time].concat(numbers.map((i) => valuesOf(variables[i])));
    return uPlot.join(numbers.map((i) => [timesOf(variables[i].k), valuesOf(variables[i])]));
}

function span() {
    const t = curves.length ? timesOf(0) : [0, 1];
    return t.length ? [t[0], t[t.length - 1]] : [0, 1];
}

function written(v) {
    return v === null || v === undefined ? "–" : String(Number(v.toPrecision(7)));
}

/* ---- panels ---- */

const css = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
const colourName = (style) => "--c" + style % COLOURS;

function series(i) {
    const v = variables[i], style = chosen.get(i);
    return {
        label: v.n + (v.u ? " [" + v.u + "]" : ""),
        stroke: css(colourName(style)),
        width: 1.8,
        dash: style >= COLOURS ? [8, 4] : undefined,
        spanGaps: !time,
        points: { show: false },
        value: (u, y) => written(y),
    };
}

function axis(label, side) {
    return {
        label: label,
        labelSize: 22,
        size: side === 3 ? 62 : 40,
        side: side,
        stroke: () => css("--fore"),
        grid: { stroke: () => css("--line"), width: 1 },
        ticks: { stroke: () => css("--line"), width: 1 },
        values: (u, list) => list.map((y) => written(y)),
    };
}

/* The time in view is the same everywhere. */
function show(range) {
    window_ = range;
    const [from, to] = range || span();
    for (const u of panels)
        u.setScale("x", { min: from, max: to });
}

function panel(unit, numbers, height) {
    const values = aligned(numbers), single = numbers.length === 1;
    const label = single ? variables[numbers[0]].n + (unit ? " [" + unit + "]" : "")
                         : unit ? "[" + unit + "]" : "";
    const options = {
        width: $("view").clientWidth,
        height: height,
        scales: { x: { time: false, auto: false, range: () => window_ || span() } },
        axes: [axis("time [s]", 2), axis(label, 3)],
        series: [{ label: "time", value: (u, t) => written(t) }].concat(numbers.map(series)),
        cursor: {
            sync: { key: "time", setSeries: false },
            drag: { x: true, y: false, setScale: false },
            bind: { dblclick: () => () => show(null) },
            focus: { prox: 24 },
        },
        focus: { alpha: 0.35 },
        hooks: {
            setSelect: [(u) => {
                if (u.select.width < 3)
                    return;
                show([u.posToVal(u.select.left, "x"),
                      u.posToVal(u.select.left + u.select.width, "x")]);
                u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false);
            }],
            ready: [touch],
        },
    };
    return new uPlot(options, values, $("panels"));
}

/* One panel for each unit, in the order in which the units were chosen. */
function draw() {
    const units = new Map();
    for (const i of chosen.keys()) {
        const unit = variables[i].u || "";
        units.set(unit, (units.get(unit) || []).concat(i));
    }
    const narrow = $("view").clientWidth < 600;
    const height = units.size < 2 ? (narrow ? 300 : 460) : units.size < 3 ? 300 : 240;
    for (const u of panels)
        u.destroy();
    panels = [];
    for (const [unit, numbers] of units)
        panels.push(panel(unit, numbers, height));
}

/* Fingers: one reads values, two zoom, a double tap shows all again. */
function touch(u) {
    const fingers = new Map();
    let start = null, tapped = 0;
    const left = (e) => e.clientX - u.over.getBoundingClientRect().left;
    const read = (e) => u.setCursor({ left: left(e), top: e.clientY -
                                      u.over.getBoundingClientRect().top });
    u.over.addEventListener("pointerdown", (e) => {
        if (e.pointerType !== "touch")
            return;
        fingers.set(e.pointerId, left(e));
        if (fingers.size === 2) {
            const [a, b] = [...fingers.values()];
            start = [u.posToVal(Math.min(a, b), "x"), u.posToVal(Math.max(a, b), "x")];
        } else if (e.timeStamp - tapped < 300) {
            show(null);
        }
        tapped = e.timeStamp;
        read(e);
    });
    u.over.addEventListener("pointermove", (e) => {
        if (!fingers.has(e.pointerId))
            return;
        fingers.set(e.pointerId, left(e));
        if (fingers.size === 1)
            read(e);
        if (fingers.size !== 2 || !start)
            return;
        /* the times under the fingers stay under them */
        const [a, b] = [...fingers.values()].sort((x, y) => x - y);
        if (b - a < 8)
            return;
        const slope = (start[1] - start[0]) / (b - a), all = span();
        const from = Math.max(all[0], start[0] - slope * a);
        const to = Math.min(all[1], from + slope * u.over.clientWidth);
        if (to > from)
            show([from, to]);
    });
    for (const end of ["pointerup", "pointercancel", "pointerleave"])
        u.over.addEventListener(end, (e) => { fingers.delete(e.pointerId); start = null; });
}

/* ---- the list ---- */

function freeStyle() {
    const used = new Set(chosen.values());
    let style = 0;
    while (used.has(style))
        style++;
    return style;
}

function toggle(i, on) {
    if (on && !chosen.has(i))
        chosen.set(i, freeStyle());
    if (!on)
        chosen.delete(i);
}

function entry(i) {
    const v = variables[i], label = document.createElement("label");
    const box = document.createElement("input"), dot = document.createElement("i");
    const name = document.createElement("span");
    box.type = "checkbox";
    box.checked = chosen.has(i);
    name.textContent = v.n;
    label.title = v.c || v.n;
    label.append(box, dot, name);
    if (v.u) {
        const unit = document.createElement("small");
        unit.textContent = v.u;
        label.append(unit);
    }
    const paint = () => {
        dot.style.background = chosen.has(i) ? "var(" + colourName(chosen.get(i)) + ")"
                                                : "transparent";
    };
    box.addEventListener("change", () => { toggle(i, box.checked); paint(); draw(); });
    paint();
    return label;
}

function list() {
    const words = $("search").value.toLowerCase().split(/\s+/).filter(Boolean);
    const found = [];
    variables.forEach((v, i) => {
        const text = (v.n + " " + (v.c || "")).toLowerCase();
        if (words.every((w) => text.includes(w)))
            found.push(i);
    });
    const note = document.createElement("p");
    note.textContent = found.length === 0 ? "no variable is like that"
        : found.length > MOST_LISTED ? "… and " + (found.length - MOST_LISTED) +
          " more: search to see them" : "";
    $("list").replaceChildren(...found.slice(0, MOST_LISTED).map(entry));
    if (note.textContent)
        $("list").append(note);
}

/* ---- the page ---- */

$("search").addEventListener("input", list);
$("reset").addEventListener("click", () => show(null));
$("none").addEventListener("click", () => { chosen.clear(); list(); draw(); });
$("theme").addEventListener("click", () => {
    const root = document.documentElement;
    const dark = root.dataset.theme ? root.dataset.theme === "dark"
        : matchMedia("(prefers-color-scheme: dark)").matches;
    root.dataset.theme = dark ? "light" : "dark";
    draw();
});
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", draw);
let width = innerWidth;
addEventListener("resize", () => {
    if (innerWidth !== width) { /* a phone's bars come and go: the height is no reason */
        width = innerWidth;
        draw();
    }
});
data.shown.forEach((i) => toggle(i, true));
list();
draw();
})();
