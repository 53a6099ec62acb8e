/* SPDX-License-Identifier: MIT */
/*
 * index.h - cancelling and replacing by htw-id: which of the records with an id that wait are alive.
 *
 * THE RULE. A record with an id gets the offset that it had in the input into a header, htw-offset, when it is filed, and
 * the index (ids.h) leads from key and id to it. It is alive as long as it does, and that is asked each time it
 * leaves a bucket. So a cancel removes the entry, a record with the same id enters its own offset, and
 * nothing is written beside the victim. A record that recurs keeps its entry from one occurrence to the next.
 *
 * ITS TOPIC. Each change is published to the partition of the stripe in INPUT.ids, by FILE: together with what was filed
 * and with the position of the input. A stripe that is taken over reads it before anything else.
 *
 * TWO CHANNELS. DELIVER acts on what FILE has not committed. It may drop the victim of a cancel or of a replacement: whoever
 * takes the stripe over reads those again, and they do the same, whether there is a victim or not. A record with
 * htw-if-offset does NOT do the same if its victim is gone. So while one of them waits for the commit of FILE,
 * that commit has to come before the next one of DELIVER (htw__index_files_first).
 *   What DELIVER has delivered is LEAVING until that is committed: too late for a cancel and for htw-if-offset. Its entry is
 * removed by the FILE transaction after that: earlier, and an abort of DELIVER would leave a record that is dead. A record that
 * recurs OCCURS for as long: its entry stays, and a cancel is not sure, as the occurrence may come.
 *
 * A LOST INDEX. That an entry is missing kills its record, so all of the index must be there. What is known of its
 * partition stands beside the position of the input (struct htw__ids_log). If it ends earlier or begins later, by a deleted
 * topic or by retention, the stripe is not taken over. An option of the operator takes it over all the same: then a record
 * that came before that, and has no entry, is not dropped.
 *
 * QUESTIONS. A record of the input with htw-ask is done as any other, and its partition of the topic gets an ANSWER, in the
 * same transaction: which record waited under its key and id, and whether that has changed. So an answer that can be
 * read is that of the owner of the stripe, and an aborted one is given again by the successor. Without transactions a relay that
 * has lost the stripe may answer, too: so no answer is sure then; and that of a cancel goes first, as after a crash nothing waits
 * any more that was erased. All answers have one key, of which compaction leaves the last.
 *
 * STALE ENTRIES. A crash between the two leaves an entry whose record was delivered. It must not let a htw-if-offset
 * through, which would deliver twice. So an entry whose time is over when a stripe is taken over, or whose record may be in
 * level 0, is UNSURE until its record comes out of a bucket: too late for htw-if-offset. When the clock of the stripe has
 * passed all of these, and the input is read to where it ended then, what is unsure has no record.
 */
#ifndef HTW_RELAY_INDEX_H
#define HTW_RELAY_INDEX_H

#include "request.h"
#include "state.h"

/* A stripe was taken over: begins to read its partition, which ends at `end`. */
void htw__index_begin(struct htw__relay *relay, struct htw__stripe *stripe, int64_t end);

/* A record of it, and its end. */
void htw__index_read(struct htw__stripe *stripe, const struct htw__relay_record *record);
void htw__index_reached(struct htw__relay *relay, struct htw__stripe *stripe, int64_t offset);

/* What such a record says. `offset` is HTW__IDS_NONE if it removes the entry. False: it is none. */
struct htw__index_entry {
    uint64_t hash;
    int64_t offset, deadline_ms;
};
bool htw__index_parse(const struct htw__relay_record *record, struct htw__index_entry *ret_entry);

/* What an answer says. */
struct htw__index_answer {
    int64_t ask;
    int64_t offset; /* what waited, as the index has it; HTW__IDS_NONE: nothing did */
    bool is_done;   /* it is cancelled or replaced */
    bool is_sure;   /* it was not delivered before, and is not */
};
bool htw__index_parse_answer(const struct htw__relay_record *record,
                             struct htw__index_answer *ret_answer);

/* Answers what became of a request at `offset` of the input, before which the index had `before` with these flags; of a cancel
 * before it is done. Returns 0 or a negative errno. */
int htw__index_answer(struct htw__relay *relay, struct htw__stripe *stripe,
                      const struct htw__relay_request *request, int64_t offset, int64_t before,
                      int64_t flags);

/* Frees it. */
void htw__index_fini(struct htw__relay *relay, struct htw__stripe *stripe);

/* A cancel of the input: answers it, and removes the entry of the record that waits. If none does, it is counted, and has no
 * later effect. Returns 0 or a negative errno. */
int htw__index_cancel(struct htw__relay *relay, struct htw__stripe *stripe,
                      const struct htw__relay_request *request);

/* A record of the input with an id. False: there is nothing more to do with it. */
bool htw__index_arrive(struct htw__relay *relay, const struct htw__stripe *stripe,
                       const struct htw__relay_request *request, int64_t offset);

/* It is filed: enters it. `last_ms`: when it is over, if it recurs with its last occurrence. Returns 0 or a negative errno. */
int htw__index_enter(struct htw__relay *relay, struct htw__stripe *stripe, uint64_t hash,
                     int64_t offset, int64_t last_ms);

/* Whether a record that comes out of a bucket is alive. */
bool htw__index_is_alive(struct htw__stripe *stripe, const struct htw__relay_request *request);

/* Whether one that is has lost its entry. */
bool htw__index_has_lost(const struct htw__stripe *stripe,
                         const struct htw__relay_request *request);

/* An entry that was published is there, at this offset. */
void htw__index_published(struct htw__stripe *stripe, int64_t offset);

/* It was delivered, or is a dead letter; or an occurrence of it is, and it `stays`. Returns 0 or a negative errno. */
int htw__index_leave(struct htw__relay *relay, struct htw__stripe *stripe,
                     enum htw__channel channel, uint64_t hash, bool stays);

/* All that has left is committed: nothing leaves while a commit of its channel is in flight. */
void htw__index_committed(struct htw__stripe *stripe, enum htw__channel channel);

/* Removes entries of what was delivered, and what is stale. Returns 0 or a negative errno. */
int htw__index_clean(struct htw__relay *relay, struct htw__stripe *stripe);

#endif /* HTW_RELAY_INDEX_H */
