# SPDX-License-Identifier: MIT
"""htw-gdb.py - shows schedulers, wheels and timers in gdb.

usage, in gdb: source PREFIX/share/htw/htw-gdb.py
  print *scheduler                  one line
  print *wheel                      one line
  htw-timer SCHEDULER HANDLE        the timer of a handle: state, deadline, callback or site, argument;
                                    who armed it, if stacks are observed
  htw-timers SCHEDULER              what is pending, by site; then the next timers, and the groups with most

Needs the debugging information of the library. It reads memory only, and calls no function, so it
works on core files, too.
"""

import gdb

STATES = ["free", "pending", "claimed", "queued", "running", "done"]
HAS_ATTRIBUTES = 0x08
HAS_SITE = 0x80
STOPPING = 0x200
PAGE_BITS = 12
FIRST_BITS = 6
STATE_BITS = 12
NEVER_NS = 2 ** 63 - 1


def pending(wheel):
    """As htw_wheel_count()."""
    return int(wheel["inserted"]) - int(wheel["moved_by_insertion"]) - int(wheel["demoted"]) - int(wheel["cancelled"]) - int(wheel["expired"]) - int(wheel["drained"])


def counted(count, name):
    return f"{count} {name}{'' if count == 1 else 's'}"


class WheelPrinter:
    def __init__(self, wheel):
        self.wheel = wheel

    def to_string(self):
        wheel = self.wheel
        return (f"htw_wheel: clock {int(wheel['clock'])}, {counted(pending(wheel), 'timer')}, "
                f"{int(wheel['level_count'])} levels of {int(wheel['mask']) + 1} buckets")


def clockworks(shard):
    """The one of the own clock, and those of other clocks that timers have had."""
    yield shard["own"]
    first, last = shard["others"].type.range()
    for i in range(first, last + 1):
        other = shard["others"][i].cast(gdb.lookup_type("struct htw__clockwork").pointer())
        if int(other) != 0:
            yield other.dereference()


class SchedulerPrinter:
    def __init__(self, scheduler):
        self.scheduler = scheduler

    def to_string(self):
        scheduler = self.scheduler
        shards = [scheduler["shards"][i] for i in range(int(scheduler["shard_count"]))]
        held = sum(pending(clockwork[name].dereference()) for shard in shards
                   for clockwork in clockworks(shard) for name in ["wheel", "previous"]
                   if int(clockwork[name]) != 0)
        stopping = ", stopping" if int(scheduler["mode"]) & STOPPING else ""
        return (f"htw_scheduler {scheduler['thread_name'].string()}: {len(shards)} shards with "
                f"{counted(held, 'timer')}, {int(scheduler['work_queue']['started'])} of "
                f"{int(scheduler['worker_count'])} workers started, "
                f"{int(scheduler['work_queue']['queued'])} batches queued{stopping}")


def find_cell(slab, index):
    """As htw__slab_find()."""
    shifted = (index >> PAGE_BITS) + (1 << FIRST_BITS)
    bit = shifted.bit_length() - 1
    views = slab["views"][bit - FIRST_BITS]
    if int(views) == 0:
        return None
    view = views[shifted - (1 << bit)]
    slot = index & ((1 << PAGE_BITS) - 1)
    if int(view["cells"]) == 0 or slot >= int(view["fresh"]):
        return None
    return view["cells"] + slot


def describe(scheduler, handle):
    """The timer of a handle, as text."""
    number = handle >> int(scheduler["index_bits"]) & int(scheduler["shard_mask"])
    index = handle & int(scheduler["index_mask"])
    generation = handle >> int(scheduler["generation_shift"])
    if handle == 0 or number >= int(scheduler["shard_count"]):
        return "no handle of this scheduler"
    place = f"shard {number}, record {index}, generation {generation}"
    cell = find_cell(scheduler["shards"][number]["slab"], index)
    status = 0 if cell is None else int(cell["status"])
    if status >> 32 != generation:
        return f"{place}: gone"
    record = cell.cast(gdb.lookup_type("struct htw__record").pointer())
    arg = record["attributes"]["arg"] if status & HAS_ATTRIBUTES else record["arg"]
    lines = [f"{place}: {STATES[status & 7]}, deadline {deadline_of(record)}, "
             f"{origin(record, status)}, arg {arg}"]
    return "\n".join(lines + stack_of(scheduler, number, index, handle))


def stack_of(scheduler, number, index, handle):
    """As htw__stacks_find(), a line for each frame."""
    tables = scheduler["observation"]["observers"][number]["tables"]
    stacks = tables[int(gdb.parse_and_eval("HTW__TABLE_STACKS"))].cast(gdb.lookup_type("struct stacks").pointer())
    if int(stacks) == 0:
        return []
    kept = stacks["kept"][index & (int(stacks["size"]) - 1)]
    if int(kept["handle"]) != handle:
        return []
    stack = kept["stack"]
    return ["armed by"] + [frame_at(int(stack["frames"][i])) for i in range(int(stack["depth"]))]


def frame_at(address):
    """The call before a return address."""
    symbol = gdb.execute(f"info symbol {address - 1:#x}", to_string=True).split(" in section")[0]
    line = gdb.find_pc_line(address - 1)
    place = f" {line.symtab.filename}:{line.line}" if line.symtab is not None else ""
    return f"  {symbol.strip()}{place}"


def deadline_of(record):
    deadline = int(record["deadline_ns"])
    return "never" if deadline == NEVER_NS else f"{deadline} ns"


def text_at(pointer):
    return pointer.string(errors="replace") if int(pointer) != 0 else "-"


def origin(record, status):
    """The site of a record or, without one, its callback."""
    if not status & HAS_SITE:
        return f"callback {record['callback']}"
    try:
        site = record["site"].dereference()
        function = f" {text_at(site['function'])}()" if int(site["function"]) else ""
        file = f" {text_at(site['file'])}:{int(site['line'])}" if int(site["file"]) else ""
        return f"site {text_at(site['name'])}{function}{file}, callback {site['callback']}"
    except gdb.MemoryError:
        return f"site {record['site']}, which cannot be read"


def waiting(scheduler):
    """The records that are pending or queued, with status and handle."""
    pointer = gdb.lookup_type("struct htw__record").pointer()
    for number in range(int(scheduler["shard_count"])):
        slab = scheduler["shards"][number]["slab"]
        for index in range(int(slab["page_count"]) << PAGE_BITS):
            cell = find_cell(slab, index)
            status = 0 if cell is None else int(cell["status"])
            if STATES[status & 7] in ("pending", "queued"):
                handle = (status >> 32 << int(scheduler["generation_shift"])
                          | number << int(scheduler["index_bits"]) | index)
                yield cell.cast(pointer), status, handle


def groups(scheduler):
    """The groups that are not destroyed."""
    member = gdb.lookup_type("struct htw__member").pointer()  # its link is first
    for number in range(int(scheduler["shard_count"])):
        ring = scheduler["shards"][number]["all_groups"]
        link = ring["_next"]
        while int(link) != int(ring.address):
            group = link.cast(member)["object"].cast(gdb.lookup_type("struct htw_group").pointer())
            if int(group) != 0 and not group["destroyed"]:
                yield group.dereference()
            link = link["_next"]


def list_timers(scheduler):
    origins = {}  # by the word that names it: how many, the least deadline, the text
    timers = []
    for record, status, handle in waiting(scheduler):
        word = int(record["callback"]), status & HAS_SITE
        deadline = int(record["deadline_ns"])
        if word not in origins:
            origins[word] = [0, deadline, deadline_of(record), origin(record, status)]
        entry = origins[word]
        entry[0] += 1
        if deadline < entry[1]:
            entry[1:3] = deadline, deadline_of(record)
        timers.append((deadline, handle, deadline_of(record), word))
    for count, _, deadline, text in sorted(origins.values(), key=lambda entry: -entry[0]):
        print(f"{count} from {text}: the first {deadline}")
    for _, handle, deadline, word in sorted(timers)[:10]:
        print(f"{deadline}: handle {handle:#x}, {origins[word][3]}")
    for group in sorted(groups(scheduler), key=lambda group: -int(group["count"]))[:10]:
        name = group["name"].string(errors="replace")
        print(f"{counted(int(group['count']), 'timer')} in group {name or group.address}"
              f"{', paused' if group['paused'] else ''}")


def scheduler_at(text):
    scheduler = gdb.parse_and_eval(text)
    if scheduler.type.strip_typedefs().code == gdb.TYPE_CODE_PTR:
        scheduler = scheduler.dereference()
    # A program sees only the name of the struct; the library has all of it.
    whole = gdb.lookup_type("struct htw_scheduler")
    return scheduler.address.cast(whole.pointer()).dereference()


class Command(gdb.Command):
    def __init__(self, name, words, text, function):
        self.__doc__ = f"{text}: {name} {words}"  # what gdb shows as its help
        super().__init__(name, gdb.COMMAND_DATA, gdb.COMPLETE_EXPRESSION)
        self.usage, self.count, self.function = f"usage: {name} {words}", len(words.split()), function

    def invoke(self, argument, from_tty):
        words = gdb.string_to_argv(argument)
        if len(words) != self.count:
            raise gdb.GdbError(self.usage)
        self.function(scheduler_at(words[0]), *words[1:])


def printer_of(value):
    name = value.type.strip_typedefs().unqualified().tag
    if name == "htw_wheel" and value.type.sizeof > 1:
        return WheelPrinter(value)
    if name == "htw_scheduler" and value.type.sizeof > 1:
        return SchedulerPrinter(value)
    return None


gdb.pretty_printers.append(printer_of)
Command("htw-timer", "SCHEDULER HANDLE", "Shows the timer of a handle",
        lambda scheduler, handle: print(describe(scheduler, int(gdb.parse_and_eval(handle)))))
Command("htw-timers", "SCHEDULER", "Shows what is pending, by site, and the next timers", list_timers)
