# SPDX-License-Identifier: MIT
"""Commands that block: one redis-cli is blocked, another one pushes its item."""
import time

from clients import Wire, blocked, cli, command
from harness import compared, equal, own, wait_for


def pair(server, commands, script):
    """Blocks a client with each of `commands`, runs `script`, and returns all answers."""
    waiting = blocked(server, *commands)
    answers = cli(server, script)
    return [waiter.answer() for waiter in waiting] + answers


@compared
def one_item_serves_one_client(server):
    answers = pair(server, ["BLPOP a 0"], "RPUSH a item\nLLEN a\nEXISTS a")
    answers += pair(server, ["BRPOP a 0"], "LPUSH a item\nLLEN a")
    answers += pair(server, ["BLPOP a b c 5"], "RPUSH c item\nEXISTS a b c")
    answers += pair(server, ["BLPOP a a a 0"], "RPUSH a one two\nLRANGE a 0 -1\nDEL a")
    answers += pair(server, ["BLPOP a 0", "BLPOP a 0"], "RPUSH a one\nRPUSH a two\nLLEN a")
    answers += pair(server, ["BLPOP a b 0", "BLPOP b 0"], "RPUSH b one\nRPUSH b two\nEXISTS a b")
    answers += pair(server, ["BLPOP \x01\x02 0"], 'RPUSH "\\x01\\x02" "\\x00\\xff"')
    equal(server.info("blocked_clients"), "0", "clients blocked at the end")
    return answers


@compared
def one_push_of_several_items_serves_several_clients(server):
    answers = pair(server, ["BLPOP a 0"], "RPUSH a 1 2 3\nLRANGE a 0 -1\nDEL a")
    answers += pair(server, ["BLPOP a 0"], "LPUSH a 1 2 3\nLRANGE a 0 -1\nDEL a")
    answers += pair(server, ["BRPOP a 0"], "RPUSH a 1 2 3\nLRANGE a 0 -1\nDEL a")
    answers += pair(server, ["BRPOP a 0"], "LPUSH a 1 2 3\nLRANGE a 0 -1\nDEL a")
    answers += pair(server, ["BLPOP a 0", "BRPOP a 0", "BLPOP a 0"],
                    "RPUSH a 1 2 3 4 5\nLRANGE a 0 -1\nDEL a")
    answers += pair(server, ["BLPOP a 0", "BLMOVE a b LEFT RIGHT 0", "BLPOP b 0", "BRPOP a 0"],
                    "RPUSH a 1 2 3\nLRANGE a 0 -1\nLRANGE b 0 -1")
    return answers


@compared
def moves_take_and_put_at_the_sides_named(server):
    answers = []
    for take in ("LEFT", "RIGHT"):
        for put in ("LEFT", "RIGHT"):
            answers += pair(server, [f"BLMOVE a b {take} {put} 0"],
                            f"RPUSH b old older\nRPUSH a 1 2 3\nLRANGE a 0 -1\nLRANGE b 0 -1\n"
                            "DEL a b")
    answers += pair(server, ["BLMOVE a a LEFT RIGHT 0"], "RPUSH a 1 2 3\nLRANGE a 0 -1\nDEL a")
    answers += pair(server, ["BLMOVE a b left right 3"], "RPUSH a x\nLRANGE b 0 -1\nDEL b")
    return answers


@compared
def an_item_passes_through_a_chain_of_moves(server):
    """Each move wakes the next one. The last client of the chain gets the item."""
    commands = [f"BLMOVE s{i} s{i + 1} LEFT RIGHT 0" for i in range(6)] + ["BLPOP s6 0"]
    script = "RPUSH s0 item\n" + "\n".join(f"LLEN s{i}" for i in range(7))
    answers = pair(server, commands, script)
    answers += pair(server, list(reversed(commands)), script)
    return answers + pair(server, ["BLMOVE a b LEFT LEFT 0", "BLMOVE b a LEFT LEFT 0"],
                          "RPUSH a item\nLRANGE a 0 -1\nLRANGE b 0 -1\nDEL a b")


@compared
def what_a_move_brings_goes_to_the_first_client(server):
    """Even if a client that came later is served in the same step and waits there, too."""
    return pair(server, ["BLMOVE a b LEFT LEFT 0", "BLPOP b 0", "BLPOP b a 0"],
                "RPUSH a 1 2\nLRANGE a 0 -1\nLRANGE b 0 -1")


@compared
def keys_are_looked_at_in_the_order_given(server):
    answers = cli(server, "RPUSH low 1 2 3\nRPUSH high 4\nBLPOP high low 0\nBLPOP high low 0\n"
                  "BRPOP high low 0\nBRPOP nosuch low 0\nEXISTS high low")
    # The first push to any of its keys serves a blocked client, whatever their order.
    with Wire(server) as wire:
        waiter, = blocked(server, "BLPOP high low 0")
        wire.send_bytes(b"RPUSH low 1\r\nRPUSH high 2\r\n")
        equal([wire.reply(), wire.reply()], [1, 1])
        answers.append(waiter.answer())
    return answers + cli(server, "LRANGE high 0 -1\nLRANGE low 0 -1\nDEL high low")


@compared
def other_types_do_not_serve(server):
    """A string serves no client. A move to a string fails when its item arrives, and the next client
    gets the item."""
    answers = pair(server, ["BLPOP a 0"], "SET a string\nDEL a\nRPUSH a item\nEXISTS a")
    answers += pair(server, ["BLMOVE a s LEFT LEFT 0"], "SET s string\nRPUSH a item\n"
                    "LRANGE a 0 -1\nDEL a s")
    answers += pair(server, ["BLMOVE a s LEFT LEFT 0", "BLPOP a 0"],
                    "SET s string\nRPUSH a item\nEXISTS a\nDEL s")
    return answers + pair(server, ["BLPOP a 0"], "DEL a\nEXPIRE a 10\nPERSIST a\nRPUSH a item")


@compared
def a_client_that_goes_leaves_what_it_waited_for(server):
    first, second, third = blocked(server, "BLPOP a b 0", "BLPOP a 0", "BLMOVE a c LEFT LEFT 0")
    first.kill()
    server.wait_until_blocked(2)
    answers = cli(server, "RPUSH b kept\nLRANGE b 0 -1\nRPUSH a next\nLLEN a")
    answers.append(second.answer())
    third.kill()
    server.wait_until_blocked(0)
    return answers + cli(server, "RPUSH a kept\nLRANGE a 0 -1\nEXISTS c\nDEL a b")


@compared
def a_client_that_has_sent_much_before_it_disconnects_takes_no_item(server):
    """The end of the connection comes behind more input than the kernel buffers."""
    with Wire(server) as gone, Wire(server) as other:
        gone.send("BLPOP", "a", 0)
        server.wait_until_blocked(1)
        gone.send_bytes(command("PING") * 600000)
        gone.close()
        server.wait_until_blocked(0)
        return [(str(asked), other.ask(*asked)) for asked in
                [("RPUSH", "a", "precious"), ("LLEN", "a"), ("LPOP", "a")]]


@own()
def an_item_that_its_client_has_not_taken_goes_back(server):
    """The client dies when part of the reply is sent: then the next client gets the item."""
    item = bytes(range(256)) * 60000
    for number in range(3):
        with Wire(server) as other, Wire(server) as following:
            gone = Wire(server, receive_buffer=4096)
            gone.send("BLPOP", "a", 0)
            server.wait_until_blocked(1)
            equal(other.ask("RPUSH", "a", item), 1)
            assert gone.socket.recv(1000).startswith(b"*2\r\n$1\r\na\r\n$15360000\r\n")
            equal(other.ask("LLEN", "a"), 0)
            if number == 0:  # another client is blocked already
                following.send("BRPOP", "a", 0)
                server.wait_until_blocked(1)
            gone.close()
            if number != 0:
                wait_for(lambda: other.ask("LLEN", "a") == 1, "that the item is back")
                following.send("BLPOP", "a", 0)
            assert following.reply() == [b"a", item], "the item has changed"
            equal(other.ask("LLEN", "a"), 0)


@own()
def an_item_that_a_client_has_taken_is_its_own(server):
    with Wire(server) as slow, Wire(server) as other:
        slow.send_bytes(command("BLPOP", "a", 0) + command("LLEN", "a"))
        server.wait_until_blocked(1)
        item = b"v" * 8000000
        equal(other.ask("RPUSH", "a", item, "next"), 2)
        assert slow.reply() == [b"a", item], "the item has changed"
        equal(slow.reply(), 1, "what the client has asked after it")
    with Wire(server) as other:
        equal(other.ask("LRANGE", "a", 0, -1), [b"next"])


@compared
def a_wait_that_is_over_is_answered_with_nil(server):
    """Fractions count, 0 means for ever, and no answer is early."""
    answers = []
    with Wire(server) as wire:
        for arguments in ("BLPOP a 0.05", "BRPOP a b c 0.111", "BLMOVE a b LEFT RIGHT 0.2",
                          "BLPOP a 3e-1", "BLPOP a 0.001", "BLPOP a 0.0001"):
            seconds = float(arguments.split()[-1])
            began = time.monotonic()
            answers.append((arguments, wire.ask(*arguments.split())))
            took = time.monotonic() - began
            # redis-server counts whole milliseconds of a clock that it has read before.
            early = 0 if server.is_broker else 0.002
            assert took >= seconds - early, f"{arguments}: answered after {took:.6f} s"
        for_ever = Wire(server)
        for_ever.send("BLPOP", "a", "0")
        assert for_ever.is_silent(0.2), "0 is not for ever"
        # What expired takes nothing.
        equal(wire.ask("RPUSH", "a", "1", "2"), 2)
        answers.append(("BLPOP a 0", for_ever.reply()))
        answers.append(("LRANGE a 0 -1", wire.ask("LRANGE", "a", 0, -1)))
        for_ever.close()
    return answers


@compared
def a_client_may_block_again_and_again(server):
    with Wire(server) as waiter, Wire(server) as other:
        for i in range(500):
            waiter.send("BLPOP", "a", f"b{i % 3}", 0)
            if i % 50 == 0:
                server.wait_until_blocked(1)
            equal(other.ask("RPUSH", f"b{i % 3}", i), 1)
            equal(waiter.reply(), [b"b%d" % (i % 3), b"%d" % i])
        equal(other.ask("EXISTS", "a", "b0", "b1", "b2"), 0)
    return []
