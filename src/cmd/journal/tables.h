/* SPDX-License-Identifier: MIT */
/* tables.h - parts of queries: which jobs are in places. */
#ifndef HTW_SRC_CMD_JOURNAL_TABLES_H
#define HTW_SRC_CMD_JOURNAL_TABLES_H

#define NOT_MOVED "NOT EXISTS (SELECT 1 FROM @moved m WHERE m.id = j.id) "

/* Jobs that are where they were put: `b` is their block, and says the place. */
#define PUT_IN "FROM @block b CROSS JOIN @job j ON j.id BETWEEN b.first AND b.last WHERE "

/* Those that are not: `p` says the place. */
#define MOVED_TO "FROM @moved_place p CROSS JOIN @moved m ON m.id = p.id WHERE "

#endif /* HTW_SRC_CMD_JOURNAL_TABLES_H */
