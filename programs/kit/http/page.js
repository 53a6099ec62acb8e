// SPDX-License-Identifier: MIT
// page.js - what the pages of commands share. What others wrote becomes text, never markup.
'use strict';

const token = document.getElementById('token');

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

function addCell(line, name, ...parts) {
    const cell = line.insertCell();
    cell.dataset.name = name;
    cell.append(...parts);
    return cell;
}

function addButton(cell, text, id, act) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = text;
    button.setAttribute('aria-label', text + ' ' + id);
    button.addEventListener('click', act);
    cell.append(button);
}
