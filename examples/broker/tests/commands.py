# SPDX-License-Identifier: MIT
"""Each command through redis-cli: the same answers as from redis-server, errors included."""
import re

from clients import Wire, cli
from harness import compared, equal, own


@compared
def connection_commands_answer_as_redis(server):
    return cli(server, """
        PING
        ping
        PiNg "a b"
        PING ""
        PING one two
        ECHO hello
        ECHO "with \\"quotes\\" \\r\\n \\x00 and bytes \\xff\\xfe"
        ECHO
        ECHO one two
        SELECT 0
        SELECT 99999
        SELECT -1
        SELECT x
        SELECT
        SELECT 0 1
        CLIENT
        CLIENT GETNAME
        CLIENT SETNAME tester
        CLIENT GETNAME
        CLIENT SETNAME "two words"
        CLIENT SETNAME "new\\nline"
        CLIENT SETNAME ""
        CLIENT GETNAME
        CLIENT SETNAME
        CLIENT GETNAME more
        CLIENT ID more
        CLIENT NOSUCH
        CLIENT NOSUCH with arguments
        INFO nosuchsection
    """)


@compared
def unknown_commands_are_refused_as_by_redis(server):
    return cli(server, """
        NOSUCH
        nosuch
        NoSuch one
        NOSUCH one "two words" three
        NOSUCH "" x
        "two words" x
        "x\\r\\ny" "a\\r\\nb" "\\x00\\xff"
        NOSUCH aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa b c
        nosuchcommandofmorethanonehundredandtwentyeightcharactersxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx a
        NOSUCH aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa bbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbbb ccccccccccccccccccccccccccccccc ddddddd eeeeeee
    """)


@compared
def strings_behave_as_in_redis(server):
    return cli(server, """
        GET k
        SET k v
        GET k
        SET k "" 
        GET k
        SET k "\\x00\\x01\\xff binary"
        GET k
        SET "" empty
        GET ""
        SET k
        SET
        GET
        GET a b
        SET k v NOSUCH
        SET n 12345678901234567890
        GET n
        EXISTS k
        EXISTS k k nosuch n
        EXISTS
        DEL
        DEL nosuch
        DEL k nosuch n k
        EXISTS k n
        GET k
        LPUSH l x
        GET l
        SET l string
        GET l
        LPUSH l x
        RPUSH l x
        LPOP l
        RPOP l
        LLEN l
        LRANGE l 0 -1
        BLPOP l 1
        BRPOP nosuch l 1
        BLMOVE l m LEFT LEFT 1
        DEL l
    """)


@compared
def set_options_behave_as_in_redis(server):
    return cli(server, """
        SET k v EX 100
        TTL k
        SET k v PX 100900
        TTL k
        SET k v
        TTL k
        SET k v EX 100 KEEPTTL
        SET k v EX 0
        SET k v EX -1
        SET k v PX 0
        SET k v EX x
        SET k v EX
        SET k v EX 9223372036854775807
        SET k v PX 100000 EX 100
        SET k w NX
        GET k
        SET new w NX
        GET new
        SET k w XX
        GET k
        SET nosuch w XX
        GET nosuch
        SET k v XX NX
        SET k v EX 100
        SET k w KEEPTTL
        TTL k
        set k w ex 200
        TTL k
    """)


@compared
def lists_behave_as_in_redis(server):
    return cli(server, """
        LLEN l
        LPOP l
        RPOP l
        LRANGE l 0 -1
        LPUSH l a
        LPUSH l b c d
        RPUSH l x y z
        LRANGE l 0 -1
        LLEN l
        LRANGE l 0 0
        LRANGE l 1 2
        LRANGE l -2 -1
        LRANGE l -100 100
        LRANGE l 3 2
        LRANGE l 7 9
        LRANGE l -1 -2
        LRANGE l -100 -100
        LRANGE l 6 6
        LRANGE l 0 9223372036854775807
        LRANGE l -9223372036854775808 9223372036854775807
        LRANGE l 0 9223372036854775808
        LRANGE l a b
        LRANGE l 0 1.5
        LRANGE l 0 " 1"
        LRANGE l 0 +1
        LRANGE l 00 1
        LRANGE l 0
        LRANGE l 0 1 2
        LPOP l
        RPOP l
        LRANGE l 0 -1
        LPUSH l ""
        RPUSH l "\\x00\\xff"
        LRANGE l 0 -1
        LPOP l
        RPOP l
        LPUSH l
        RPUSH l
        LPUSH
        LPOP
        RPOP
        LLEN
        LLEN a b
        LPOP l 1 2
        LPOP l -1
        LPOP l x
        EXISTS l
        DEL l
        LLEN l
        RPUSH l one
        LPOP l
        EXISTS l
        RPUSH l one
        RPOP l
        EXISTS l
    """)


@compared
def pops_with_a_count_behave_as_in_redis(server):
    return cli(server, """
        RPUSH l 1 2 3 4 5 6
        LPOP l 2
        RPOP l 2
        LPOP l 0
        LPOP nosuch 2
        LPOP nosuch 0
        LPOP l 100
        EXISTS l
        RPOP l 1
    """)


@compared
def expiry_commands_answer_as_redis(server):
    return cli(server, """
        TTL k
        PTTL k
        PERSIST k
        EXPIRE k 100
        PEXPIRE k 100000
        SET k v
        TTL k
        PTTL k
        PERSIST k
        EXPIRE k 100
        TTL k
        PERSIST k
        PERSIST k
        TTL k
        PEXPIRE k 100900
        TTL k
        PEXPIRE k 99400
        TTL k
        SET k w
        TTL k
        EXPIRE k 100
        RPUSH l a b
        EXPIRE l 100
        LPOP l
        TTL l
        RPUSH l c
        TTL l
        LPOP l
        LPOP l
        RPUSH l again
        TTL l
        EXPIRE l 0
        EXISTS l
        GET k
        EXPIRE k -1
        GET k
        SET k v
        PEXPIRE k 0
        GET k
        SET k v
        PEXPIRE k -5
        EXISTS k
        SET k v
        EXPIRE k x
        EXPIRE k 1.5
        EXPIRE k 9223372036854775807
        PEXPIRE k 9223372036854775807
        PEXPIRE k 9223372036854775808
        EXPIRE k -9223372036854775808
        EXPIRE k -9223372036854775
        EXISTS k
        SET k v
        EXPIRE k -9223372036854776
        EXISTS k
        PEXPIRE k -9223372036854775808
        EXISTS k
        EXPIRE k -9223372036854776
        EXPIRE k 9223372036854776
        SET k v
        EXPIRE k 10000000000
        EXPIRE k
        EXPIRE
        PEXPIRE k
        TTL
        PTTL a b
        PERSIST
        PERSIST a b
        EXPIRE k 100 NOSUCH
        DEL k
        DEL l
        EXISTS k l
    """)


@compared
def blocking_commands_with_something_there_answer_as_redis(server):
    return cli(server, """
        RPUSH a 1 2 3
        RPUSH b 4 5 6
        BLPOP a 0
        BLPOP nosuch a b 0
        BRPOP nosuch b a 0
        BLPOP b a 0.001
        BRPOP a b 0
        BRPOP a b 0
        EXISTS a b
        RPUSH a 1 2 3
        BLMOVE a b LEFT RIGHT 0
        BLMOVE a b RIGHT LEFT 0
        BLMOVE a a LEFT RIGHT 0
        blmove b a left left 0
        BLMOVE b b RIGHT LEFT 0
        LRANGE a 0 -1
        LRANGE b 0 -1
        SET s string
        BLMOVE a s LEFT LEFT 0
        BLMOVE s a LEFT LEFT 0
        BLMOVE nosuch s LEFT LEFT 0.01
        LRANGE a 0 -1
        BLPOP s a 0
        BLPOP a s 0
        LRANGE a 0 -1
    """)


@compared
def blocking_commands_refuse_as_redis(server):
    return cli(server, """
        BLPOP
        BLPOP l
        BRPOP l
        BLPOP l x
        BLPOP l ""
        BLPOP l -1
        BLPOP l -0.5
        BLPOP l nan
        BLPOP l inf
        BLPOP l -inf
        BLPOP l 1e300
        BLPOP l 99999999999999999999
        BLPOP l 9223372036854776
        BLPOP l " 1"
        BLPOP l "1 "
        BLPOP l 0x
        BLPOP l 1,5
        BLPOP a b c
        BLMOVE a b LEFT
        BLMOVE a b LEFT RIGHT
        BLMOVE a b UP LEFT 0
        BLMOVE a b LEFT DOWN 0
        BLMOVE a b LEFT LEFT x
        BLMOVE a b LEFT LEFT -1
        BLMOVE a b LEFT LEFT 0 more
        BLPOP l 0.01
        BLPOP l .01
        BLPOP l 1e-2
        BLPOP l 0x0.1p0
        BRPOP a b c 0.01
        BLMOVE a b LEFT LEFT 0.01
    """)


@compared
def keys_of_a_command_are_named_as_by_redis(server):
    return cli(server, """
        COMMAND GETKEYS GET k
        COMMAND GETKEYS set k v EX 10
        COMMAND GETKEYS DEL a b c
        COMMAND GETKEYS BLPOP a b c 0
        COMMAND GETKEYS BLMOVE a b LEFT RIGHT 0
        COMMAND GETKEYS LMOVE a b LEFT RIGHT
        COMMAND GETKEYS BRPOP a 0
        COMMAND GETKEYS PING
        COMMAND GETKEYS PING x
        COMMAND GETKEYS GET
        COMMAND GETKEYS GET a b
        COMMAND GETKEYS NOSUCH k
        COMMAND GETKEYS
        COMMAND COUNT more
        COMMAND NOSUCH
    """)


@compared
def flushing_takes_its_two_options_only(server):
    return cli(server, """
        SET k v
        FLUSHALL BAD
        FLUSHDB BAD
        FLUSHALL SYNC more
        FLUSHDB ASYNC SYNC
        EXISTS k
        FLUSHALL ASYNC
        EXISTS k
        SET k v
        flushdb sync
        EXISTS k
        SET k v
        FLUSHALL
        EXISTS k
    """)


@compared
def two_clients_have_different_ids(server):
    ids = []
    for _ in range(3):
        with Wire(server) as wire:
            ids.append(wire.ask("CLIENT", "ID"))
    equal(ids, sorted(set(ids)), "ids in order of connection")
    return []


@own()
def what_clients_ask_at_their_start_is_answered(server):
    """redis-cli, redis-benchmark and libraries send these, and continue after any answer."""
    [(_, count)] = cli(server, "COMMAND COUNT")
    assert int(re.fullmatch(r"\(integer\) (\d+)\n", count)[1]) >= 28, count
    for asked, answer in cli(server, "COMMAND\nCOMMAND DOCS\nCONFIG GET save\nCLIENT LIST"):
        assert "(error)" not in answer, f"{asked}: {answer}"
