// SPDX-License-Identifier: MIT
// waiting.js - the page of `htw relay http`. What others wrote becomes text, never markup.
'use strict';

const PAGE = 50;
const form = document.getElementById('search');
const token = document.getElementById('token');
const rows = document.getElementById('rows');
const more = document.getElementById('more');
let asked = null; // the search that runs, to end it when another begins
let after = null;

function say(text, isWrong = false) {
    const state = document.getElementById('state');
    state.textContent = text;
    state.classList.toggle('wrong', isWrong);
}

/* Objects, one a line. An error is thrown as its sentence. */
async function ask(path, options = {}) {
    const headers = { ...options.headers };
    if (token.value !== '')
        headers.Authorization = 'Bearer ' + token.value.trim();
    const answer = await fetch(path, { ...options, headers });
    const lines = (await answer.text()).split('\n').filter(line => line !== '').map(line => JSON.parse(line));
    if (!answer.ok)
        throw new Error(lines[0]?.error ?? 'HTTP ' + answer.status);
    return lines;
}

/* Bytes that are no text come in Base64. */
function textOf(object, name) {
    return object[name] ?? (name + '_base64' in object ? 'Base64: ' + object[name + '_base64'] : '');
}

function fateOf(row) {
    return [row.copies > 1 ? row.copies + ' times' : '', row.cancelled ? 'cancelled' : '',
            row.recurs ? 'comes again' : '',
            row.letter ? 'a dead letter that was refused' : ''].filter(text => text !== '').join(', ');
}

function addCell(line, name, ...parts) {
    const cell = line.insertCell();
    cell.dataset.name = name;
    cell.append(...parts);
    return cell;
}

async function change(row, line, options) {
    say(row.id + ': waiting until a relay has read this …');
    line.querySelectorAll('button').forEach(button => { button.disabled = true; });
    try {
        const [done] = await ask('waiting/' + encodeURIComponent(row.id), options);
        const what = options.method === 'DELETE' ? 'cancelled' : 'moved';
        const sentences = { sure: what, late: 'this may have come too late: the record is due too soon',
                            unread: 'sent, and no relay has read it yet: it counts if one does in time' };
        say(row.id + ': ' + sentences[done.state], done.state !== 'sure');
        line.lastElementChild.replaceChildren(done.state === 'sure' ? what : done.state);
    } catch (error) {
        say(error.message, true);
        line.querySelectorAll('button').forEach(button => { button.disabled = false; });
    }
}

function addButton(cell, text, id, act) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text;
    button.setAttribute('aria-label', text + ' ' + id);
    button.addEventListener('click', act);
    cell.append(button);
}

function cancel(row, line) {
    if (confirm('Cancel ' + row.id + '?'))
        change(row, line, { method: 'DELETE' });
}

function move(row, line) {
    const at = prompt('Deliver ' + row.id + ' when? An instant, or +DURATION from now.', '+1h');
    if (at !== null)
        change(row, line, { method: 'PATCH', headers: { 'Content-Type': 'application/json' },
                            body: '{"at": "' + at.replace(/["\\]/g, '') + '"}' });
}

function addRow(row) {
    const line = rows.insertRow();
    addCell(line, 'Time', row.time);
    addCell(line, 'Id', textOf(row, 'id') || row.print);
    addCell(line, 'Destination', textOf(row, 'to'));
    addCell(line, 'Key', textOf(row, 'key'));
    const value = document.createElement('div');
    value.className = 'value';
    value.textContent = textOf(row, 'value').slice(0, 2000);
    addCell(line, 'Value', value);
    const cell = addCell(line, 'Change', fateOf(row));
    if (typeof row.id === 'string' && cell.textContent === '') {
        addButton(cell, 'Cancel', row.id, () => cancel(row, line));
        addButton(cell, 'Move', row.id, () => move(row, line));
    }
}

async function search(from) {
    asked?.abort();
    const mine = asked = new AbortController();
    const words = new URLSearchParams([...new FormData(form)].filter(([, value]) => value !== ''));
    words.set('limit', PAGE);
    if (from !== null)
        words.set('after', from);
    say('Reading …');
    try {
        const lines = await ask('waiting?' + words, { signal: mine.signal });
        after = lines.at(-1)?.after ?? null;
        const found = lines.filter(line => !('after' in line));
        rows.replaceChildren();
        found.forEach(addRow);
        say(found.length === 0 ? 'Nothing waits that fits.' : found.length + ' records' + (after ? ', and there are more.' : '.'));
        more.hidden = after === null;
    } catch (error) {
        if (asked === mine)
            say(error.message, true);
    }
}

form.addEventListener('submit', event => {
    event.preventDefault();
    search(null);
});
more.addEventListener('click', () => search(after));
search(null);
