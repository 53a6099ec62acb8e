// SPDX-License-Identifier: MIT
// waiting.js - the page of `htw relay http`, after ../http/page.js.

const PAGE = 50;
const form = document.getElementById('search');
const rows = document.getElementById('rows');
const more = document.getElementById('more');
let asked = null; // the search that runs, to end it when another begins
let after = null;

function fateOf(row) {
    return [row.recurs ? 'comes again' : '',
            row.letter ? 'a dead letter that was refused' : ''].filter(text => text !== '').join(', ');
}

async function change(row, line, options) {
    say(row.id + ': waiting for the answer of a relay …');
    line.querySelectorAll('button').forEach(button => { button.disabled = true; });
    try {
        const key = row.key === null ? '' : '?key=' + encodeURIComponent(row.key);
        const [done] = await ask('waiting/' + encodeURIComponent(row.id) + key, options);
        const what = options.method === 'DELETE' ? 'cancelled' : 'moved';
        const sentences = { sure: what, unsure: what + ', perhaps too late: it is due now, or its relay has just started, or runs with --at-least-once',
                            unread: what + ' if a relay reads this in time: none has answered yet' };
        say(row.id + ': ' + sentences[done.state], done.state !== 'sure');
        line.lastElementChild.replaceChildren(done.state === 'sure' ? what : done.state);
    } catch (error) {
        say(error.message, true);
        line.querySelectorAll('button').forEach(button => { button.disabled = false; });
    }
}

function cancel(row, line) {
    if (confirm('Cancel ' + row.id + '?'))
        change(row, line, { method: 'DELETE' });
}

function move(row, line) {
    const at = prompt('Deliver ' + row.id + ' when? An instant, or +DURATION from now.', '+1h');
    if (at !== null)
        change(row, line, { method: 'PATCH', body: at });
}

function addRow(row) {
    const line = rows.insertRow();
    addCell(line, 'Time', row.time);
    addCell(line, 'Id', textOf(row, 'id'));
    addCell(line, 'Destination', textOf(row, 'to'));
    addCell(line, 'Key', textOf(row, 'key'));
    const value = document.createElement('div');
    value.className = 'value';
    value.textContent = textOf(row, 'value').slice(0, 2000);
    addCell(line, 'Value', value);
    const cell = addCell(line, 'Change', fateOf(row));
    if (typeof row.id === 'string' && row.key !== undefined && cell.textContent === '') {
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
