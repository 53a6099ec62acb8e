// SPDX-License-Identifier: MIT
// replay.js - plays a record of `htw replay`.
//
// The record is a list of events. Those of one tick are a stop; the player is always between two stops. A
// timer is a dot in its bucket: a level is a ring, level 0 the outermost, and a bucket is a piece of it.
// There are two tracks, htw's and Kafka's, of the same timers. Of a flight record the dots have the colours of their
// sites, and time passes as it did then.
'use strict';
(() => {
    const [ARMED, DEMOTED, MOVED, CANCELLED, EXPIRED, ADVANCED] = [0, 1, 2, 3, 4, 5];
    const NOWHERE = -3; // the places -1 (due) and -2 (never due) are in no bucket, either
    const GAP = 16 * Math.PI / 180; // on top, for the numbers of the levels
    const NAMES_SHOWN = 5;
    const PULSES = 200; // that are drawn at once
    const GHOSTS = 3000; // that are known at once

    const record = JSON.parse(document.getElementById('run').textContent);
    const slots = 2 ** record.bits;
    const element = id => document.getElementById(id);
    const flight = record.flight && htwFlight(record.flight, ns => { pause(); seek(stopsUpTo(track, ns / record.tick_ns)); });
    const timers = flight ? record.flight.timer_sites.length : record.names.length;
    // Stops a second; of a flight record: seconds a second.
    const SPEEDS = flight ? [0.01, 0.05, 0.2, 0.5, 1, 2, 5, 10, 30, 100] : [1, 2, 5, 10, 20, 50, 100, 200, 500, 1000];
    const calm = matchMedia('(prefers-reduced-motion: reduce)');

    // ---- the record

    // Numbers with a place: the arrays are as long as there are events. `stops` has the first event of each.
    function decode(flat) {
        const track = { kind: [], timer: [], place: [], deadline: [], stops: [], ticks: [], advances: [] };
        let tick = 0, advances = 0;
        for (let i = 0; i < flat.length;) {
            const after = flat[i++], kind = flat[i++];
            tick += after;
            if (after > 0 || track.stops.length === 0) {
                track.stops.push(track.kind.length);
                track.ticks.push(tick);
                track.advances.push(advances);
            }
            advances += kind === ADVANCED;
            track.advances[track.advances.length - 1] = advances;
            track.kind.push(kind);
            track.timer.push(kind === ADVANCED ? -1 : flat[i++]);
            track.place.push(kind <= MOVED ? flat[i++] : NOWHERE);
            let deadline = 0;
            if (kind === ARMED || kind === MOVED) {
                deadline = flat[i++];
                deadline = deadline < 0 ? Infinity : tick + deadline;
            }
            track.deadline.push(deadline);
        }
        track.end = track.stops.length;
        track.stops.push(track.kind.length);
        return track;
    }

    const htw = decode(record.htw), kafka = decode(record.kafka);
    let levels = 2;
    for (const track of [htw, kafka])
        for (const place of track.place)
            levels = Math.max(levels, Math.floor(place / slots) + 1);

    // How many stops of a track are at or before a tick.
    function stopsUpTo(track, tick) {
        let low = 0, high = track.end;
        while (low < high) {
            const middle = (low + high) >> 1;
            if (track.ticks[middle] <= tick) low = middle + 1;
            else high = middle;
        }
        return low;
    }

    const advancesUpTo = (track, tick) => track.advances[stopsUpTo(track, tick) - 1] || 0;

    // ---- the state

    const where = new Int32Array(timers).fill(NOWHERE); // a place
    const deadlines = new Float64Array(timers);
    const x = new Float32Array(timers), y = new Float32Array(timers); // where the dot is to be
    const fromX = new Float32Array(timers), fromY = new Float32Array(timers);
    const since = new Float64Array(timers).fill(-Infinity); // when it set off
    const spreadAngle = new Float32Array(timers), spreadRadius = new Float32Array(timers);
    for (let i = 0; i < timers; i++) { // within a bucket, always the same
        spreadAngle[i] = (i * 0.61803398875) % 1;
        spreadRadius[i] = (i * 0.75487766625) % 1;
    }
    let ghosts = []; // timers that have just ended: { x, y, toX, toY, kind, since, position }
    let track = htw;
    let position = 0; // stops that are over
    let counts, pending;
    let hand = { from: 0, to: 0, since: -Infinity };

    const clock = () => position === 0 ? 0 : track.ticks[position - 1];

    // ---- the picture

    // In pixels of the screen. Very many dots are drawn fastest by writing pixels: the rings are drawn once, and
    // each frame is a copy of them with dots in it.
    const canvas = element('wheel'), pen = canvas.getContext('2d', { willReadFrequently: true });
    let scale = 1, size = 0, center = 0, outer = 0, ring = 0;
    let picture, pixels, rings; // the frame, its pixels, and those of the rings alone
    const colors = {};
    let sitePixels = [];

    const angleOf = slot => GAP / 2 + slot * (2 * Math.PI - GAP) / slots;
    const radiusOf = level => outer - ring * (level + 0.5);

    function locate(timer) {
        const place = where[timer];
        if (place < 0) return;
        const level = Math.floor(place / slots);
        const angle = angleOf(place % slots + 0.06 + 0.88 * spreadAngle[timer]);
        const radius = radiusOf(level) + ring * 0.8 * (spreadRadius[timer] - 0.5);
        x[timer] = center + radius * Math.sin(angle);
        y[timer] = center - radius * Math.cos(angle);
    }

    function layOut() {
        scale = Math.min(devicePixelRatio || 1, 2);
        size = Math.round(canvas.clientWidth * scale);
        if (size === 0) return;
        canvas.width = canvas.height = size;
        center = size / 2;
        outer = center - 4;
        ring = outer * 0.84 / levels;
        for (let i = 0; i < timers; i++) locate(i);
        showExpired();
        drawRings();
        want();
    }

    function drawRings() {
        const style = getComputedStyle(document.documentElement);
        const colorOf = name => style.getPropertyValue('--' + name).trim();
        for (const name of ['pending', 'demoted', 'expired', 'cancelled']) { // as a pixel
            colors[name] = pixelOf(colorOf(name));
        }
        if (flight) sitePixels = flight.pixels();
        colors.hand = colorOf('hand');
        pen.fillStyle = colorOf('ground');
        pen.fillRect(0, 0, size, size);
        pen.lineWidth = ring * 0.88;
        pen.strokeStyle = colorOf('track');
        pen.fillStyle = colorOf('dim');
        pen.textAlign = 'center';
        pen.textBaseline = 'middle';
        pen.font = `${13 * scale}px system-ui, sans-serif`;
        for (let level = 0; level < levels; level++) {
            pen.beginPath();
            pen.arc(center, center, radiusOf(level), GAP / 2 - Math.PI / 2, 1.5 * Math.PI - GAP / 2);
            pen.stroke();
            if (ring >= 14 * scale) pen.fillText(level, center, center - radiusOf(level));
        }
        picture = pen.getImageData(0, 0, size, size);
        pixels = new Uint32Array(picture.data.buffer);
        rings = pixels.slice();
    }

    // A square of pixels around a point. It is never at the edge.
    function dot(left, top, width, color) {
        const first = Math.round(top - width / 2) * size + Math.round(left - width / 2);
        for (let row = first; row < first + width * size; row += size)
            for (let i = row; i < row + width; i++) pixels[i] = color;
    }

    const ease = t => t >= 1 ? 1 : 1 - (1 - t) ** 3;
    const duration = () => calm.matches ? 0 : flight ? 450 : Math.max(130, Math.min(450, 2500 / SPEEDS[speed]));
    const pixelOfTimer = (timer, otherwise) => flight ? sitePixels[flight.laneOfTimer(timer)] : otherwise;
    const shareOf = (start, now, length) => length === 0 ? 1 : ease((now - start) / length);

    // Draws everything; returns whether something still moves.
    function draw(now) {
        if (size === 0) return false;
        const length = duration(), width = Math.round((pending > 3000 || !flight && timers > 3000 ? 2 : flight ? 5 : 3) * scale);
        const moving = [];
        pixels.set(rings);
        for (let i = 0; i < timers; i++) {
            if (where[i] < 0) continue;
            if (now - since[i] < length) moving.push(i);
            else dot(x[i], y[i], width, pixelOfTimer(i, colors.pending));
        }
        for (const i of moving) {
            const share = shareOf(since[i], now, length);
            dot(fromX[i] + share * (x[i] - fromX[i]), fromY[i] + share * (y[i] - fromY[i]), width + 1,
                pixelOfTimer(i, colors.demoted));
        }
        // Those that have expired go into the middle, and stay there until the next stop.
        const isMoving = ghost => now - ghost.since < length;
        ghosts = ghosts.filter(ghost => isMoving(ghost) || ghost.kind === EXPIRED && ghost.position === position);
        const large = Math.round((ghosts.length > 1000 ? 4 : 7) * scale);
        for (const ghost of ghosts) {
            const share = shareOf(ghost.since, now, length), expired = ghost.kind === EXPIRED;
            dot(ghost.x + share * (ghost.toX - ghost.x), ghost.y + share * (ghost.toY - ghost.y),
                expired ? large : Math.ceil((width + 3) * (1 - share)),
                pixelOfTimer(ghost.timer, expired ? colors.expired : colors.cancelled));
        }
        pen.putImageData(picture, 0, 0);
        if (flight) drawPulses(now, length);
        const share = shareOf(hand.since, now, length);
        const tick = hand.from + share * (hand.to - hand.from);
        pen.strokeStyle = colors.hand;
        pen.lineWidth = 2 * scale;
        pen.beginPath();
        for (let level = 0; level < levels; level++) {
            const ticks = tick / 2 ** (record.bits * level); // in buckets of this level
            const angle = angleOf((share < 1 ? ticks : Math.floor(ticks) + 0.5) % slots);
            for (const edge of [-0.5, 0.5]) {
                const radius = radiusOf(level) + edge * ring * 0.96;
                const to = edge < 0 ? 'moveTo' : 'lineTo';
                pen[to](center + radius * Math.sin(angle), center - radius * Math.cos(angle));
            }
        }
        pen.stroke();
        return moving.length > 0 || ghosts.some(isMoving) || share < 1;
    }

    // A ring that grows out of each bucket in which a timer has expired, in the colour of its site.
    function drawPulses(now, length) {
        const pulses = ghosts.filter(ghost => ghost.kind === EXPIRED && now - ghost.since < length).slice(-PULSES);
        pen.lineWidth = 3 * scale;
        for (const ghost of pulses) {
            const share = (now - ghost.since) / length;
            pen.globalAlpha = 1 - share;
            pen.strokeStyle = flight.color(ghost.timer);
            pen.beginPath();
            pen.arc(ghost.x, ghost.y, (4 + 18 * share) * scale, 0, 2 * Math.PI);
            pen.stroke();
        }
        pen.globalAlpha = 1;
    }

    // A timer that ends with the stop `after`, from where it is. In the middle each has a place of its own.
    function end(timer, kind, after, now) {
        const isPlaced = where[timer] >= 0, left = isPlaced ? x[timer] : center, top = isPlaced ? y[timer] : center;
        const angle = 2 * Math.PI * spreadAngle[timer], radius = outer * 0.11 * Math.sqrt(spreadRadius[timer]);
        if (ghosts.length >= GHOSTS && now !== -Infinity) ghosts.shift();
        ghosts.push({ x: left, y: top, timer, kind, since: now, position: after,
            toX: kind === EXPIRED ? center + radius * Math.sin(angle) : left,
            toY: kind === EXPIRED ? center - radius * Math.cos(angle) : top });
    }

    // What has expired in the last stop, without a show.
    function showExpired() {
        ghosts = [];
        for (let i = track.stops[position - 1]; i < track.stops[position]; i++) // for position 0: none
            if (track.kind[i] === EXPIRED) end(track.timer[i], EXPIRED, position, -Infinity);
    }

    // ---- going through the record

    function apply(event, now) {
        const kind = track.kind[event], timer = track.timer[event];
        counts[kind]++;
        if (kind === ADVANCED) return;
        const place = track.place[event], before = where[timer];
        if (kind === ARMED) pending++;
        if (kind === ARMED || kind === MOVED) deadlines[timer] = track.deadline[event];
        if (kind === CANCELLED || kind === EXPIRED) {
            pending--;
            if (now !== undefined && (before >= 0 || kind === EXPIRED)) end(timer, kind, position + 1, now);
        }
        where[timer] = place;
        if (now === undefined) { // nothing is shown on the way
            since[timer] = -Infinity;
            return;
        }
        fromX[timer] = before >= 0 ? x[timer] : center; // a new timer comes out of the middle
        fromY[timer] = before >= 0 ? y[timer] : center;
        locate(timer);
        since[timer] = place === before ? -Infinity : now;
    }

    function forward(now) {
        if (position === track.end) return;
        const from = clock();
        for (let i = track.stops[position]; i < track.stops[position + 1]; i++) apply(i, now);
        position++;
        hand = now === undefined ? { from: clock(), to: clock(), since: -Infinity }
            : { from, to: clock(), since: now };
    }

    // To where so many stops are over, without a show.
    function seek(stops) {
        stops = Math.max(0, Math.min(track.end, stops));
        if (stops < position || counts === undefined) {
            where.fill(NOWHERE);
            position = pending = 0;
            counts = [0, 0, 0, 0, 0, 0];
        }
        while (position < stops) forward();
        hand = { from: clock(), to: clock(), since: -Infinity };
        for (let i = 0; i < timers; i++) locate(i);
        showExpired();
        tell();
        want();
    }

    // ---- text

    const number = textOfNumber;
    const time = ticks => textOfNs(ticks * record.tick_ns);

    function row(body, name) {
        const line = body.insertRow(), head = document.createElement('th');
        head.scope = 'row';
        head.textContent = name;
        line.append(head);
        return { line, cell: line.insertCell() };
    }

    const rows = ['pending', 'armed', 'moved', 'demoted', 'cancelled', 'expired'].map(
        name => row(element('counts'), name).cell);
    const advanceRows = ['htw', 'Kafka’s way'].map(name => row(element('advances').tBodies[0], name));

    // What the last stop has done, in words.
    function describe() {
        if (position === 0) return 'The run begins.';
        const done = [0, 0, 0, 0, 0, 0];
        for (let i = track.stops[position - 1]; i < track.stops[position]; i++) done[track.kind[i]]++;
        const before = position > 1 ? track.ticks[position - 2] : 0, empty = clock() - before - 1;
        const parts = [[ARMED, 'armed'], [MOVED, 'moved'], [DEMOTED, 'demoted'], [CANCELLED, 'cancelled'],
            [EXPIRED, 'expired']].filter(([kind]) => done[kind] > 0).map(([kind, name]) => `${number(done[kind])} ${name}`);
        let text = done[ADVANCED] === 0 ? ''
            : empty > 0 ? `The clock jumps over ${number(empty)} empty tick${empty === 1 ? '' : 's'}. ` : 'The clock advances. ';
        text += parts.length > 0 ? `${parts.join(', ')}.` : 'The bucket is empty: its timers were cancelled.';
        return text[0].toUpperCase() + text.slice(1);
    }

    function tell() {
        const tick = clock();
        element('clock').textContent = flight ? flight.textAt(tick * record.tick_ns) : `tick ${number(tick)} (${time(tick)})`;
        if (flight) flight.move(tick * record.tick_ns, playing);
        const next = position === track.end ? 'The run is over.'
            : flight ? `Next after ${time(track.ticks[position] - tick)}.` : `Next at tick ${number(track.ticks[position])}.`;
        element('what').textContent = `${describe()} ${next}`;
        [pending, counts[ARMED], counts[MOVED], counts[DEMOTED], counts[CANCELLED], counts[EXPIRED]].forEach(
            (count, i) => { rows[i].textContent = number(count); });
        const advances = [htw, kafka].map(each => advancesUpTo(each, tick));
        advanceRows.forEach((each, i) => {
            each.cell.textContent = number(advances[i]);
            each.line.className = (track === htw) === (i === 0) ? 'shown' : '';
        });
        const saved = advances[1] - advances[0];
        element('saved').textContent = saved > 0
            ? `${number(saved)} of ${number(advances[1])} advances saved: the clock goes from deadline to deadline, ` +
              'not to where buckets begin, and not to empty ones.' : '';
        const slider = element('position');
        slider.max = flight ? flight.length / record.tick_ns : track.end;
        slider.value = flight ? tick : position; // below the time line: by time
        slider.setAttribute('aria-valuetext', flight ? flight.textAt(tick * record.tick_ns) : `tick ${number(tick)}`);
    }

    // ---- time

    let playing = false, speed = 4, last = 0, frame = 0;
    let owed = 0; // stops; of a flight record: ticks since the last stop
    const frames = []; // of the last frames: what drawing one took, and the time since the one before, in ms

    function want() {
        if (frame === 0) frame = requestAnimationFrame(show);
    }

    function passStops(now) {
        owed = Math.min(owed + (now - last) * SPEEDS[speed] / 1000, SPEEDS[speed]);
        const due = Math.floor(owed);
        owed -= due;
        for (let i = 0; i < due; i++) forward(now);
    }

    function passTime(now) {
        owed += Math.min(now - last, 1000) * SPEEDS[speed] * 1e6 / record.tick_ns;
        while (position < track.end && track.ticks[position] - clock() <= owed) {
            owed -= track.ticks[position] - clock();
            forward(now);
        }
    }

    function show(now) {
        frame = 0;
        const began = performance.now();
        if (playing) {
            const before = position;
            (flight ? passTime : passStops)(now);
            if (position > before) tell();
            if (position === track.end) pause();
        }
        const moves = draw(now);
        frames.push([performance.now() - began, now - last]);
        if (frames.length > 2000) frames.shift();
        last = now;
        if (playing || moves) want();
    }

    function pause() {
        playing = false;
        element('play').textContent = 'Play';
        element('what').setAttribute('aria-live', 'polite');
    }

    function play() {
        if (position === track.end) seek(0);
        playing = true;
        owed = flight ? 0 : 1;
        last = performance.now();
        element('play').textContent = 'Pause';
        element('what').setAttribute('aria-live', 'off'); // too fast to be read out
        want();
    }

    function step() {
        pause();
        forward(performance.now());
        tell();
        want();
    }

    function stepBack() {
        pause();
        seek(position - 1);
    }

    function setSpeed(index) {
        speed = Math.max(0, Math.min(SPEEDS.length - 1, index));
        element('speed').value = speed;
        element('rate').textContent = flight ? `${SPEEDS[speed]} × as it was` : `${SPEEDS[speed]} stop${speed === 0 ? '' : 's'}/s`;
        element('speed').setAttribute('aria-valuetext', element('rate').textContent);
    }

    // The other track, at the same tick.
    function setKafka(wanted) {
        const tick = clock(), isEnd = position === track.end;
        track = wanted ? kafka : htw;
        element('kafka').checked = wanted;
        counts = undefined;
        seek(isEnd ? track.end : stopsUpTo(track, tick));
    }

    // ---- the reader

    element('play').onclick = () => playing ? pause() : play();
    element('forward').onclick = step;
    element('back').onclick = stepBack;
    element('position').oninput = event => seek(flight ? stopsUpTo(track, Number(event.target.value)) : Number(event.target.value));
    element('speed').oninput = event => setSpeed(Number(event.target.value));
    element('kafka').onchange = event => setKafka(event.target.checked);

    const keys = {
        ' ': () => element('play').onclick(),
        ArrowRight: step,
        ArrowLeft: stepBack,
        ArrowUp: () => setSpeed(speed + 1),
        ArrowDown: () => setSpeed(speed - 1),
        Home: () => { pause(); seek(0); },
        End: () => { pause(); seek(track.end); },
        k: () => setKafka(track === htw),
    };
    document.addEventListener('keydown', event => {
        const key = event.key.length === 1 ? event.key.toLowerCase() : event.key;
        const steps = flight && event.target.id === 'position' && /^Arrow(Left|Right)$/.test(key); // a tick may have no stop
        const own = event.target.matches('input') && key !== 'k' && !steps || event.target.matches('button') && key === ' ';
        if (own || event.ctrlKey || event.altKey || event.metaKey || !Object.hasOwn(keys, key)) return;
        event.preventDefault();
        keys[key]();
    });

    // The level and bucket at a point of the canvas; undefined: none.
    function bucketAt(left, top) {
        const dx = left * scale - center, dy = center - top * scale;
        const level = Math.floor((outer - Math.hypot(dx, dy)) / ring);
        const angle = (Math.atan2(dx, dy) + 2 * Math.PI) % (2 * Math.PI);
        const slot = Math.floor((angle - GAP / 2) / (2 * Math.PI - GAP) * slots);
        if (level >= 0 && level < levels && slot >= 0 && slot < slots) return level * slots + slot;
    }

    // The range of ticks that a bucket serves now: the first one that ends after the clock.
    function rangeOf(place) {
        const width = 2 ** (record.bits * Math.floor(place / slots)), turn = width * slots;
        let first = Math.floor(clock() / turn) * turn + place % slots * width;
        if (first + width <= clock()) first += turn;
        return [first, first + width - 1];
    }

    canvas.onpointermove = event => {
        const tip = element('tip'), place = bucketAt(event.offsetX, event.offsetY);
        tip.hidden = place === undefined;
        if (tip.hidden) return;
        const [first, end] = rangeOf(place), names = [];
        let count = 0;
        for (let i = 0; i < timers; i++)
            if (where[i] === place && ++count <= NAMES_SHOWN)
                names.push(`${flight ? flight.nameOfTimer(i) : textOfBytes(record.names[i])} (tick ${number(deadlines[i])})`);
        tip.textContent = `Level ${Math.floor(place / slots)}, bucket ${place % slots}: ` +
            (first === end ? `tick ${number(first)}` : `ticks ${number(first)} to ${number(end)}`) +
            `. ${number(count)} timer${count === 1 ? '' : 's'}${count > 0 ? ': ' : '.'}` +
            names.join(', ') + (count > NAMES_SHOWN ? ', …' : '');
        const left = canvas.offsetLeft + event.offsetX + 14;
        tip.style.left = `${Math.max(0, Math.min(left, element('stage').clientWidth - 285))}px`;
        tip.style.top = `${event.offsetY + 18}px`;
    };
    canvas.onpointerleave = () => { element('tip').hidden = true; };

    // ---- the beginning

    matchMedia('(prefers-color-scheme: dark)').addEventListener('change', layOut);
    new ResizeObserver(layOut).observe(canvas);
    setSpeed(speed);
    layOut();
    seek(0);
    if (!calm.matches) play();

    // For the tests.
    window.htwReplay = {
        frames, where, seek, play, pause, setKafka, setSpeed, bucketAt, flight,
        state: () => ({ position, tick: clock(), end: track.end, playing, speed, pending, counts: [...counts],
            way: track === htw ? 'htw' : 'kafka', advances: [htw, kafka].map(each => advancesUpTo(each, clock())) }),
    };
})();
