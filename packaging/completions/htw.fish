# SPDX-License-Identifier: MIT
# htw.fish - completions for fish. The commands and options are those that the programs print with --help.

# What is asked for its help: "htw-top", or "htw" and the command.
function __htw_run
    set -l words (commandline -opc)
    if string match -qr '(^|/)htw$' -- $words[1]
        test (count $words) -ge 2; and printf '%s\n' $words[1..2]
    else
        printf '%s\n' $words[1]
    end
end

function __htw_commands
    set -l words (commandline -opc)
    $words[1] --help 2>/dev/null | string replace -rf '^  ([a-z]+)  +(.*)' '$1\t$2'
end

function __htw_options
    set -l run (__htw_run)
    test -n "$run"; or return
    for line in ($run --help 2>/dev/null)
        for option in (string match -ra -- '(?:^ *|, )(--?[A-Za-z0-9-]+)' (string match -r -- '^ *-.*?(?:  |$)' $line) | string match -r -- '^-.*')
            printf '%s\t%s\n' $option (string replace -r -- '^ *-.*?  +' '' $line)
        end
    end
end

function __htw_programs
    set -l run (__htw_run)
    $run --list 2>/dev/null | string replace -r '^ *([0-9]+) +([^ ]*).*' '$1\t$2'
end

# The actions in the help of a command: `htw journal` and `htw relay` have some.
function __htw_actions
    set -l run (__htw_run)
    test -n "$run"; or return
    $run --help 2>/dev/null | sed -n '/^Actions:/,/^$/s/^  \([a-z][a-z]*\) [^ ]*  *\(.*\)/\1\t\2/p'
end

function __htw_wants_action
    set -l words (commandline -opc)
    set -l names (__htw_actions | string replace -r '\t.*' '')
    test (count $names) -gt 0; or return
    for word in $words[3..-1]
        contains -- $word $names; and return 1
    end
    return 0
end

function __htw_wants_command
    set -l words (commandline -opc)
    test (count $words) -eq 1; or contains -- "$words[2]" help
end

function __htw_is_top
    string match -q '*top' -- (__htw_run)[-1]
end

complete -c htw -n __htw_wants_command -f -a '(__htw_commands)'
complete -c htw -n __htw_wants_command -f -a '--help --version'
for program in htw htw-cron htw-relay htw-serve htw-top
    complete -c $program -n 'string match -q -- "-*" (commandline -ct)' -f -a '(__htw_options)'
    complete -c $program -n __htw_wants_action -f -a '(__htw_actions)'
    complete -c $program -n __htw_is_top -a '(__htw_programs)'
end
