// SPDX-License-Identifier: MIT
// replay.js - a flight record: the time line says which sites have woken the program, and when.
//
// A site is a place where timers are armed. They are numbered in the order of their wake-ups, and the first ones
// have a colour and a lane each; the others have one together. A mark is a run of a callback, or a wake-up.
'use strict';
(() => {
const flight = JSON.parse(document.getElementById('run').textContent);
const element = id => document.getElementById(id);

const textOfNs = ns => {
    for (const [unit, length] of [['d', 864e11], ['h', 36e11], ['m', 6e10], ['s', 1e9], ['ms', 1e6], ['µs', 1e3]])
        if (ns >= length) return `${+(ns / length).toPrecision(4)} ${unit}`;
    return `${ns} ns`;
};
const textOfNumber = n => n.toLocaleString('en-US');
const textOfBytes = bytes => new TextDecoder().decode(Uint8Array.from(bytes, c => c.charCodeAt(0)));
const textOfCount = (count, name) => `${textOfNumber(count)} ${name}${count === 1 ? '' : 's'}`;

const COLORS = 8, ROWS = 200;
const CHART = 96, LANE = 48, AXIS = 24, BIN = 4; // in pixels of the page
const LABEL = 17, WAKES = 12, BARS = 17; // the parts of a lane, from above
const NEAR = 6; // how far from the pointer a mark may be
const LEAST_NS = 1000; // what is shown at least

const sites = flight.sites.map(([name, place, wakeups, expired, late, busy, armed, moved, cancelled]) =>
    ({ name: textOfBytes(name), place: textOfBytes(place), wakeups, expired, late, busy, armed, moved, cancelled }));
const seen = sites.filter(site => site.wakeups + site.expired > 0).length; // the first of them
const hasOthers = seen > COLORS;
const laneCount = Math.min(seen, COLORS) + (hasOthers ? 1 : 0);
const length = Math.max(flight.length_ns, LEAST_NS);

// ---- the marks

const count = flight.marks.length / 4;
const time = new Float64Array(count), late = new Float64Array(count), took = new Float64Array(count);
const siteOf = new Uint32Array(count), isWake = new Uint8Array(count);
const lanes = Array.from({ length: laneCount }, () => ({ marks: [], longest: 0 }));
for (let i = 0, at = 0; i < count; i++) {
    at += flight.marks[4 * i];
    time[i] = at;
    siteOf[i] = flight.marks[4 * i + 1] >>> 1;
    isWake[i] = flight.marks[4 * i + 1] & 1;
    late[i] = flight.marks[4 * i + 2];
    took[i] = flight.marks[4 * i + 3];
    const lane = lanes[Math.min(siteOf[i], COLORS)];
    lane.marks.push(i);
    lane.longest = Math.max(lane.longest, took[i]);
}

// How many of the marks of a list are before a time.
function before(list, ns) {
    let low = 0, high = list.length;
    while (low < high) {
        const middle = (low + high) >> 1;
        if (time[list[middle]] < ns) low = middle + 1;
        else high = middle;
    }
    return low;
}

// ---- the picture

const canvas = element('timeline'), pen = canvas.getContext('2d');
let binned = null; // the wake-ups that are drawn; null: nothing is
let view = { from: 0, to: length };
let width = 0, scale = 1; // in pixels of the page; of the screen in one of these
let cursor = null; // { lane, mark }: what the keyboard is at
let colors = [], style = {};
let frame = 0;

const xOf = ns => (ns - view.from) / (view.to - view.from) * width;
const nsOf = x => view.from + x / width * (view.to - view.from);
const topOf = lane => CHART + lane * LANE;

function readColors() {
    const computed = getComputedStyle(document.documentElement);
    const colorOf = name => computed.getPropertyValue('--' + name).trim();
    colors = Array.from({ length: COLORS }, (_, i) => colorOf('site' + i));
    colors.push(colorOf('others'));
    style = Object.fromEntries(['text', 'dim', 'edge', 'track', 'ground'].map(name => [name, colorOf(name)]));
}

function layOut() {
    readColors();
    scale = Math.min(devicePixelRatio || 1, 2);
    width = canvas.clientWidth;
    canvas.width = Math.round(width * scale);
    canvas.height = Math.round((CHART + laneCount * LANE + AXIS) * scale);
    want();
}

function want() {
    if (frame === 0) frame = requestAnimationFrame(() => { frame = 0; draw(); });
}

// How many wake-ups each lane had in each bin of what is shown.
function binWakeups() {
    const bins = Math.max(1, Math.ceil(width / BIN));
    const counts = lanes.map(() => new Uint32Array(bins)), total = new Uint32Array(bins);
    lanes.forEach((lane, number) => {
        for (let i = before(lane.marks, view.from); i < lane.marks.length; i++) {
            const mark = lane.marks[i];
            if (time[mark] > view.to) break;
            if (!isWake[mark]) continue;
            const bin = Math.min(bins - 1, Math.floor(xOf(time[mark]) / BIN));
            counts[number][bin]++;
            total[bin]++;
        }
    });
    return { bins, counts, total };
}

function drawChart() {
    const { bins, counts, total } = binned = binWakeups(), most = total.reduce((a, b) => Math.max(a, b), 0);
    const floor = CHART - 10, room = floor - LABEL - 4;
    pen.fillStyle = style.dim;
    const span = textOfNs(Math.round((view.to - view.from) * BIN / width));
    pen.fillText(most === 0 ? 'no wake-up' : `wake-ups by what caused them; the highest bar: ${textOfNumber(most)} in ${span}`,
        0, 12, width);
    for (let bin = 0; bin < bins; bin++) {
        let y = floor;
        for (let lane = 0; lane < laneCount; lane++) {
            const part = counts[lane][bin] / most * room;
            if (!(part > 0)) continue;
            pen.fillStyle = colors[lane];
            pen.fillRect(bin * BIN, y - part, BIN - 1, part);
            y -= part;
        }
    }
    pen.fillStyle = style.edge;
    pen.fillRect(0, floor, width, 1);
}

// A run is at least 3 pixels wide; more at one place make it higher. Where wake-ups are far apart, they are discs.
function drawLane(number) {
    const lane = lanes[number], top = topOf(number), columns = Math.ceil(width) + 1;
    const change = new Int32Array(columns + 1), wakes = new Uint16Array(columns);
    for (let i = before(lane.marks, view.from - lane.longest); i < lane.marks.length; i++) {
        const mark = lane.marks[i], x = Math.floor(xOf(time[mark]));
        if (time[mark] > view.to) break;
        if (isWake[mark]) {
            if (x >= 0) wakes[x]++;
        } else {
            const right = Math.max(x + 3, Math.ceil(xOf(time[mark] + Math.max(0, took[mark]))));
            if (right > 0) {
                change[Math.max(0, x)]++;
                change[Math.min(columns, right)]--;
            }
        }
    }
    pen.fillStyle = style.track;
    pen.fillRect(0, top + LABEL + WAKES, width, BARS);
    pen.fillStyle = colors[number];
    const bottom = top + LABEL + WAKES + BARS;
    for (let x = 0, running = 0; x < columns; x++) {
        running += change[x];
        if (running === 0) continue;
        const high = BARS * Math.min(1, 0.5 + 0.12 * Math.log2(running));
        pen.fillRect(x, bottom - high, 1, high);
    }
    const found = [];
    wakes.forEach((n, x) => { if (n > 0) found.push(x); });
    found.forEach((x, i) => {
        pen.fillRect(x, top + LABEL + 1, 1, WAKES + (wakes[x] === 1 ? BARS : 0));
        if (x - (found[i - 1] ?? -NEAR * 2) < 9 || (found[i + 1] ?? columns + NEAR * 2) - x < 9) return;
        pen.beginPath();
        pen.arc(x + 0.5, top + LABEL + WAKES / 2, 4, 0, 2 * Math.PI);
        pen.fill();
    });
    drawLabel(number, top);
}

function drawLabel(number, top) {
    const isOthers = number === COLORS, site = sites[number];
    const name = isOthers ? `${textOfNumber(seen - COLORS)} other sites` : site.name;
    const wakeups = isOthers ? sites.slice(COLORS).reduce((sum, each) => sum + each.wakeups, 0) : site.wakeups;
    const right = textOfCount(wakeups, 'wake-up');
    pen.font = '600 13px system-ui, sans-serif';
    pen.fillStyle = colors[number];
    pen.fillRect(0, top + 4, 9, 9);
    pen.fillStyle = style.text;
    const end = width - pen.measureText(right).width - 12;
    pen.fillText(name, 14, top + 12, Math.max(1, end - 14));
    const at = 14 + pen.measureText(name).width + 8;
    pen.textAlign = 'right';
    pen.fillText(right, width, top + 12);
    pen.textAlign = 'left';
    pen.font = '12px system-ui, sans-serif';
    pen.fillStyle = style.dim;
    if (!isOthers && at + pen.measureText(site.place).width < end) pen.fillText(site.place, at, top + 12);
}

function drawAxis() {
    const top = topOf(laneCount), span = view.to - view.from;
    let step = 10 ** Math.floor(Math.log10(span / width * 90));
    for (const factor of [1, 2, 5, 10])
        if (step * factor / span * width >= 90) { step *= factor; break; }
    const decimals = Math.max(0, Math.ceil(9 - Math.log10(step) - 1e-9));
    pen.fillStyle = style.dim;
    for (let ns = Math.ceil(view.from / step) * step; ns <= view.to; ns += step) {
        const x = xOf(ns), text = `${(ns / 1e9).toFixed(decimals)} s`;
        pen.fillRect(x, top, 1, 5);
        if (x + pen.measureText(text).width + 3 < width) pen.fillText(text, x + 3, top + 14);
    }
}

function drawCursor() {
    if (cursor === null || document.activeElement !== canvas) return;
    const top = topOf(cursor.lane);
    pen.strokeStyle = style.text;
    pen.lineWidth = 1.5;
    pen.strokeRect(0.75, top + LABEL - 0.5, width - 1.5, WAKES + BARS + 1);
    if (cursor.mark === undefined) return;
    pen.beginPath();
    pen.arc(xOf(time[cursor.mark]), top + LABEL + WAKES / 2, 7, 0, 2 * Math.PI);
    pen.stroke();
}

function draw() {
    if (width === 0) return;
    pen.setTransform(scale, 0, 0, scale, 0, 0);
    pen.fillStyle = style.ground;
    pen.fillRect(0, 0, width, canvas.height);
    pen.font = '12px system-ui, sans-serif';
    pen.textAlign = 'left';
    drawChart();
    for (let lane = 0; lane < laneCount; lane++) drawLane(lane);
    drawAxis();
    drawCursor();
}

// ---- what is told

const at = ns => `${(ns / 1e9).toFixed(6)} s`;

function nameOf(site) {
    const { name, place } = sites[site];
    return place === '' ? name : `${name} (${place})`;
}

function tellMark(mark) {
    const lateness = late[mark] < 0 ? '' : `, ${textOfNs(late[mark])} late`;
    const duration = took[mark] < 0 ? '' : `, its callback took ${textOfNs(took[mark])}`;
    return `${nameOf(siteOf[mark])}: ` + (isWake[mark] ? `woke the program at ${at(time[mark])}${lateness}`
        : `expired at ${at(time[mark])}${lateness}${duration}`) + '.';
}

// The marks of a lane near a place; one of them by itself, more in figures.
function tellNear(number, x) {
    const lane = lanes[number], first = before(lane.marks, nsOf(x - NEAR)), end = before(lane.marks, nsOf(x + NEAR));
    const found = lane.marks.slice(first, end), wakeups = found.filter(mark => isWake[mark]);
    if (found.length === 0) // perhaps in the middle of a long run
        return lane.marks.slice(before(lane.marks, nsOf(x) - lane.longest), first)
            .filter(mark => time[mark] + took[mark] >= nsOf(x)).slice(-1).map(tellMark).join('');
    if (found.length <= 2) return found.map(tellMark).join(' ');
    const most = values => found.reduce((a, mark) => Math.max(a, values[mark]), 0);
    const name = new Set(found.map(mark => siteOf[mark])).size === 1 ? nameOf(siteOf[found[0]]) : 'several sites';
    return `${name}: ${textOfCount(wakeups.length, 'wake-up')} and ${textOfCount(found.length - wakeups.length, 'expiration')} ` +
        `from ${at(time[found[0]])} to ${at(time[found.at(-1)])}; at most ${textOfNs(most(late))} late, ` +
        `longest callback ${textOfNs(most(took))}.`;
}

function tellBin(x) {
    if (binned === null) return '';
    const { bins, counts, total } = binned, bin = Math.min(bins - 1, Math.floor(x / BIN));
    if (bin < 0 || total[bin] === 0) return '';
    const parts = counts.map((each, lane) => [each[bin], lane === COLORS ? 'other sites' : sites[lane].name])
        .filter(([n]) => n > 0).sort((a, b) => b[0] - a[0]).map(([n, name]) => `${textOfNumber(n)} for ${name}`);
    return `${at(nsOf(bin * BIN))} to ${at(nsOf((bin + 1) * BIN))}: ${textOfCount(total[bin], 'wake-up')}: ${parts.join(', ')}.`;
}

function tellAt(x, y) {
    const lane = Math.floor((y - CHART) / LANE);
    return lane < 0 ? tellBin(x) : lane < laneCount ? tellNear(lane, x) : '';
}

function showTip(text, x, y) {
    const tip = element('told');
    tip.hidden = text === '';
    tip.textContent = text;
    const room = Math.max(0, width - tip.offsetWidth);
    tip.style.left = `${Math.max(0, Math.min(x + 14, room))}px`;
    tip.style.top = `${y + 18}px`;
}

// ---- the reader

function show(from, to) {
    const span = Math.min(length, Math.max(LEAST_NS, to - from));
    from = Math.max(0, Math.min(from, length - span));
    view = { from, to: from + span };
    want();
}

function zoom(factor, ns) {
    const span = (view.to - view.from) * factor, share = (ns - view.from) / (view.to - view.from);
    show(ns - share * span, ns + (1 - share) * span);
}

// What is meant where the reader has not pointed at a mark.
const focus = () => cursor !== null && cursor.mark !== undefined ? time[cursor.mark] : (view.from + view.to) / 2;

function point(lane, mark) {
    cursor = { lane, mark };
    if (mark === undefined) return want();
    if (time[mark] < view.from || time[mark] > view.to) {
        const span = view.to - view.from;
        show(time[mark] - span / 2, time[mark] + span / 2);
    }
    showTip(tellMark(mark), xOf(time[mark]), topOf(lane) + LABEL + WAKES);
    want();
}

function pointBy(steps) {
    const lane = cursor === null ? 0 : cursor.lane, marks = lanes[lane].marks;
    let index = before(marks, cursor === null || cursor.mark === undefined ? view.from : time[cursor.mark]);
    if (cursor !== null && cursor.mark !== undefined) index = marks.indexOf(cursor.mark, index) + steps;
    else if (steps < 0) index--;
    index = Math.max(0, Math.min(marks.length - 1, index));
    point(lane, marks[index]);
}

function pointAtLane(steps) {
    const lane = cursor === null ? 0 : Math.max(0, Math.min(laneCount - 1, cursor.lane + steps));
    const marks = lanes[lane].marks, ns = focus();
    point(lane, marks[Math.min(marks.length - 1, before(marks, ns))]);
}

const keys = {
    ArrowRight: () => pointBy(1),
    ArrowLeft: () => pointBy(-1),
    ArrowUp: () => pointAtLane(-1),
    ArrowDown: () => pointAtLane(1),
    '+': () => zoom(0.5, focus()),
    '-': () => zoom(2, focus()),
    0: () => show(0, length),
};
canvas.addEventListener('keydown', event => {
    const key = event.key === '=' ? '+' : event.key;
    if (event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(keys, key) || laneCount === 0) return;
    event.preventDefault();
    keys[key]();
});
canvas.onfocus = canvas.onblur = want;

let drag = null; // { x, from, moved }
canvas.onpointerdown = event => {
    drag = { x: event.offsetX, from: view.from, moved: false };
    canvas.setPointerCapture(event.pointerId);
};
canvas.onpointermove = event => {
    if (drag !== null && (drag.moved || Math.abs(event.offsetX - drag.x) > 4)) {
        drag.moved = true;
        const span = view.to - view.from, from = drag.from - (event.offsetX - drag.x) / width * span;
        show(from, from + span);
        return showTip('', 0, 0);
    }
    showTip(tellAt(event.offsetX, event.offsetY), event.offsetX, event.offsetY);
};
canvas.onpointerup = canvas.onpointercancel = () => { drag = null; };
canvas.onpointerleave = () => showTip('', 0, 0);
canvas.addEventListener('wheel', event => { // with Ctrl, as a page is zoomed; two fingers come as that, too
    if (!event.ctrlKey) return;
    event.preventDefault();
    zoom(1.002 ** event.deltaY, nsOf(event.offsetX));
}, { passive: false });
element('closer').onclick = () => zoom(0.5, focus());
element('farther').onclick = () => zoom(2, focus());
element('whole').onclick = () => show(0, length);

// ---- the words

const total = sites.reduce((sum, site) => sum + site.wakeups, 0);

function answer() {
    if (total === 0) return 'The record has no wake-up.';
    const { wakeups, name, place } = sites[0], share = wakeups / total * 100;
    const often = wakeups / (length / 1e9);
    return `${textOfNumber(wakeups)} of ${textOfCount(total, 'wake-up')} (${share < 10 ? share.toFixed(1) : Math.floor(share)} %) ` +
        `${wakeups === 1 ? 'was' : 'were'} for “${name}”${place === '' ? '' : ` (${place})`}: ` +
        `${+often.toPrecision(3)} a second.`;
}

function notes() {
    const { lost, earlier, is_whole: isWhole } = flight, begin = new Date(flight.wall_ms);
    const date = Number.isNaN(begin.getTime()) ? '' : ` from ${begin.toISOString().replace('T', ' ').replace('Z', ' UTC')} on`;
    return [
        `${textOfNumber(flight.events)} events in ${textOfNs(flight.length_ns)}${date}.`,
        earlier > 0 && `${textOfCount(earlier, 'timer')} had been armed before the record begins.`,
        lost > 0 && `${textOfCount(lost, 'earlier event')} ${lost === 1 ? 'is' : 'are'} there no more: newer ones took the place.`,
        !isWhole && 'The record lacks its last line: it was cut off.',
    ].filter(Boolean);
}

function fillTable() {
    const body = element('sites').tBodies[0];
    sites.slice(0, ROWS).forEach((site, i) => {
        const line = body.insertRow(), name = document.createElement('th');
        name.scope = 'row';
        name.style.setProperty('--site', `var(--${i < COLORS ? `site${i}` : 'others'})`);
        name.textContent = site.name;
        const place = document.createElement('span');
        place.textContent = ` ${site.place}`;
        name.append(place);
        line.append(name);
        for (const text of [textOfNumber(site.wakeups), textOfNumber(site.expired), textOfNumber(site.late),
            textOfNs(site.busy), textOfNumber(site.armed), textOfNumber(site.moved), textOfNumber(site.cancelled)])
            line.insertCell().textContent = text;
    });
    if (sites.length > ROWS) {
        const cell = body.insertRow().insertCell();
        cell.colSpan = 8;
        cell.textContent = `${textOfNumber(sites.length - ROWS)} more: htw replay without --html has them all.`;
    }
}

document.title = element('title').textContent = `What wakes ${textOfBytes(flight.program)} (process ${flight.pid})`;
element('answer').textContent = answer();
for (const note of notes()) {
    const item = document.createElement('li');
    item.textContent = note;
    element('notes').append(item);
}
fillTable();
canvas.style.height = `${CHART + laneCount * LANE + AXIS}px`;
matchMedia('(prefers-color-scheme: dark)').addEventListener('change', layOut);
new ResizeObserver(layOut).observe(canvas);
layOut();

window.htwReplay = { lanes, topOf, xOf, view: () => ({ ...view }), colors: () => colors }; // for the tests
})();
