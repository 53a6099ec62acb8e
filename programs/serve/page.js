// SPDX-License-Identifier: MIT
// page.js - the page of `htw serve`, after ../http/page.js. It reads itself again, more seldom where an answer took long, and
// puts new text into the rows that are there: so neither what is typed nor the focus is lost.

const LIMIT = 50, LIMIT_MAX = 1000;
const QUIET_MS = 5000;
const get = id => document.getElementById(id);
const form = get('search');
let limits = { queues: LIMIT, jobs: LIMIT };
let opened = null;  // the queue that is shown
let state = 'ready';

/* ---- names and numbers */

/* A name may be any bytes; so it goes into an address byte by byte. */
function keyOf(row, name) {
    if (row[name] == null && !(name + '_base64' in row))
        return '';
    const bytes = name + '_base64' in row ? Array.from(atob(row[name + '_base64']), c => c.charCodeAt(0))
                                          : [...new TextEncoder().encode(row[name])];
    return bytes.map(byte => '%' + byte.toString(16).padStart(2, '0')).join('');
}
const nameOf = row => textOf(row, 'name') || '(default)';
const number = value => value.toLocaleString('en');
const plural = (count, word) => number(count) + ' ' + word + (count === 1 ? '' : 's');

function timeOf(instant) {
    return instant == null ? 'never' : new Date(instant).toLocaleString();
}

/* A server's own leases last as long as their connections. */
function dueOf(job) {
    if (job.deadline_ns === null) // buried, or ready and given none
        return '';
    return job.state === 'leased' && job.deadline === null ? 'when its connection ends' : timeOf(job.deadline);
}

async function askOne(path, options) {
    return (await ask(path, options))[0];
}
const post = path => askOne(path, { method: 'POST' });

/* Rows that stay keep their cells, and their buttons the focus. */
function fillRows(body, items, keyFor, make, update) {
    const old = new Map([...body.rows].map(row => [row.dataset.key, row]));
    items.forEach((item, place) => {
        const key = keyFor(item);
        let row = old.get(key);
        old.delete(key);
        if (row === undefined) {
            row = document.createElement('tr');
            row.dataset.key = key;
            make(row, item);
        }
        if (body.rows[place] !== row)
            body.insertBefore(row, body.rows[place] ?? null);
        update(row, item);
    });
    old.forEach(row => row.remove());
}

function put(cell, text) {
    if (cell.textContent !== String(text))
        cell.textContent = text;
}

/* ---- the queues */

const COLUMNS = ['Ready', 'Delayed', 'Leased', 'Buried', 'Waiting', 'Paused'];

function makeQueue(row, queue) {
    const button = document.createElement('button');
    button.type = 'button';
    button.className = 'name';
    button.textContent = nameOf(queue);
    button.addEventListener('click', () => openQueue(queue));
    addCell(row, 'Queue', button);
    COLUMNS.forEach(name => addCell(row, name));
}

function updateQueue(row, queue) {
    COLUMNS.forEach((name, i) => {
        put(row.cells[i + 1], name === 'Paused' ? (queue.paused_until ? 'until ' + timeOf(queue.paused_until) : '')
                                                : number(queue[name.toLowerCase()]));
    });
    row.classList.toggle('open', opened !== null && row.dataset.key === keyOf(opened, 'name'));
}

async function readQueues() {
    const words = new URLSearchParams({ sort: form.sort.value, limit: limits.queues });
    if (form.text.value !== '')
        words.set('text', form.text.value);
    const all = await askOne('queues?' + words);
    fillRows(get('rows'), all.queues, queue => keyOf(queue, 'name'), makeQueue, updateQueue);
    const server = `; ${plural(all.server.connections, 'connection')}, ` +
        `${number(all.server.waiting)} of them waiting for a job${all.server.draining ? '; draining' : ''}`;
    put(get('totals'), `${plural(all.all, 'queue')}: ${number(all.ready)} ready, ${number(all.delayed)} delayed, ` +
        `${number(all.leased)} leased, ${number(all.buried)} buried${server}`);
    get('more').hidden = all.found <= all.queues.length || limits.queues === LIMIT_MAX;
    return all.found === 0 ? 'No queue has such a name.' : all.found === all.all ? '' : `${number(all.found)} fit.`;
}

/* ---- one queue */

function openQueue(queue) {
    opened = queue;
    limits.jobs = LIMIT;
    state = ['buried', 'ready', 'delayed', 'leased'].find(name => queue[name] > 0) ?? 'ready';
    get('jobs').replaceChildren();
    put(get('queue-name'), nameOf(queue));
    get('queue').hidden = false;
    get('queue').scrollIntoView();
    refresh();
}

function makeJob(row, job) {
    const id = addCell(row, 'Id');
    addButton(id, 'Job', job.id, () => openJob(job.id));
    id.firstChild.className = 'name';
    id.firstChild.textContent = job.id;
    ['Due', 'Priority', 'Attempts', 'Payload', 'Change'].forEach(name => addCell(row, name));
}

function updateJob(row, job) {
    put(row.cells[1], dueOf(job));
    put(row.cells[2], job.priority);
    put(row.cells[3], job.attempts);
    put(row.cells[4], textOf(job, 'payload').slice(0, 120) + (job.cut ? ' …' : ''));
    if (row.dataset.state !== job.state) {
        row.dataset.state = job.state;
        row.cells[5].replaceChildren();
        toolsOf(job).forEach(([text, verb]) => addButton(row.cells[5], text, job.id, () => changeJob(job.id, verb)));
    }
}

async function readQueue() {
    if (opened === null)
        return;
    const key = keyOf(opened, 'name'), mine = opened;
    const queue = await askOne('queue?queue=' + key);
    const list = await askOne(`jobs?queue=${key}&state=${state}&limit=${limits.jobs}`);
    if (opened !== mine)
        return;
    put(get('queue-numbers'), `${number(queue.ready)} ready, ${number(queue.delayed)} delayed, ${number(queue.leased)} leased, ` +
        `${number(queue.buried)} buried; ${plural(queue.waiting, 'request')} waiting` +
        (queue.paused_until ? '; paused until ' + timeOf(queue.paused_until) : ''));
    get('resume').hidden = queue.paused_until === null;
    get('kick').hidden = queue.buried === 0;
    put(get('kick'), `Kick ${number(queue.buried)} buried`);
    document.querySelectorAll('[data-state]:is(button)').forEach(button => {
        button.setAttribute('aria-pressed', button.dataset.state === state);
        put(button, `${button.dataset.state[0].toUpperCase()}${button.dataset.state.slice(1)} (${number(queue[button.dataset.state])})`);
    });
    fillRows(get('jobs'), list.jobs, job => job.id, makeJob, updateJob);
    get('jobs-more').hidden = list.jobs.length < limits.jobs || limits.jobs === LIMIT_MAX;
}

/* ---- one job */

function toolsOf(job) {
    return [[['buried', 'delayed'], 'Kick'], [['ready', 'delayed'], 'Bury'], [['ready', 'delayed', 'buried'], 'Move'],
            [['ready', 'delayed', 'buried'], 'Delete']]
        .filter(([states]) => states.includes(job.state)).map(([, text]) => [text, text.toLowerCase()]);
}

/* As it comes, with its whole payload. */
async function openJob(id) {
    try {
        put(get('job-text'), JSON.stringify(await askOne('jobs/' + id), null, 4));
        get('job').hidden = false;
        get('job').scrollIntoView();
    } catch (error) {
        say(error.message, true);
    }
}

/* ---- changes */

/* Does what changes something, and shows what has become of it. */
async function change(act) {
    try {
        const text = await act();
        await refresh();
        say(text);
    } catch (error) {
        say(error.message, true);
    }
}

function changeJob(id, verb) {
    const when = verb === 'move' ? prompt(`Job ${id} is due at an instant, or after +DURATION:`, '+1h') : null;
    if (verb === 'move' ? when === null : verb === 'delete' && !confirm(`Delete job ${id}?`))
        return;
    const words = verb === 'move' ? '?' + new URLSearchParams({ at: when }) : '';
    change(async () => `Job ${id}: ${(await post(`jobs/${id}/${verb}${words}`)).done}`);
}

/* In parts, so that others can write in between; and no more than were buried, as a kick without buried ones takes delayed ones. */
async function kickAll(key) {
    let kicked = 0, buried = (await askOne('queue?queue=' + key)).buried;
    while (buried > 0) {
        const done = await post(`queue/kick?queue=${key}&count=${Math.min(buried, 1000)}`);
        kicked += done.kicked;
        buried = done.kicked === 0 ? 0 : Math.min(buried - done.kicked, done.buried);
        say(`${number(kicked)} kicked …`);
    }
    return plural(kicked, 'job') + ' kicked';
}

/* ---- all */

let timer = 0, reading = null, again = false;

/* One at a time: who asks while one runs gets another one behind it. */
async function refresh() {
    if (reading !== null) {
        again = true;
        return reading;
    }
    clearTimeout(timer);
    const begin = performance.now();
    reading = (async () => {
        do {
            again = false;
            say(await readQueues());
            try {
                await readQueue();
            } catch (error) { // the queue has gone
                get('jobs').replaceChildren();
                put(get('queue-numbers'), error.message);
            }
        } while (again);
    })();
    try {
        await reading;
    } catch (error) {
        say(error.message, true);
    } finally {
        reading = null;
        timer = setTimeout(tick, Math.max(QUIET_MS, 20 * (performance.now() - begin)));
    }
}

function tick() {
    if (document.hidden)
        timer = setTimeout(tick, QUIET_MS);
    else
        refresh();
}

function show(what, limit) {
    limits[what] = Math.min(limit, LIMIT_MAX);
    refresh();
}

form.addEventListener('submit', event => {
    event.preventDefault();
    limits.queues = LIMIT;
    if (form.id.value.trim() !== '')
        openJob(encodeURIComponent(form.id.value.trim()));
    refresh();
});
form.sort.addEventListener('change', () => show('queues', LIMIT));
get('more').addEventListener('click', () => show('queues', 4 * limits.queues));
get('jobs-more').addEventListener('click', () => show('jobs', 4 * limits.jobs));
get('close').addEventListener('click', () => {
    opened = null;
    get('queue').hidden = true;
    refresh();
});
document.querySelectorAll('button[data-state]').forEach(button => button.addEventListener('click', () => {
    state = button.dataset.state;
    show('jobs', LIMIT);
}));
get('kick').addEventListener('click', () => change(() => kickAll(keyOf(opened, 'name'))));
get('pause').addEventListener('click', () => change(async () => {
    const words = new URLSearchParams({ until: get('pause-for').value });
    return nameOf(opened) + ': ' + (await post(`queue/pause?queue=${keyOf(opened, 'name')}&${words}`)).done;
}));
get('resume').addEventListener('click', () => change(async () =>
    nameOf(opened) + ': ' + (await post('queue/resume?queue=' + keyOf(opened, 'name'))).done));
get('job-close').addEventListener('click', () => { get('job').hidden = true; });
refresh();
