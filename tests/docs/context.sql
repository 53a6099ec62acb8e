-- SPDX-License-Identifier: MIT
-- context.sql - the tables that statements in the documents take for given.
CREATE TABLE finished (job INTEGER PRIMARY KEY);
CREATE TABLE account (owner TEXT, balance INTEGER);
CREATE TABLE htw_inbox (id INTEGER PRIMARY KEY, deadline, key, payload, queue, priority, lease);
