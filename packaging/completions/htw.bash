# SPDX-License-Identifier: MIT
# shellcheck shell=bash
# htw.bash - completions of htw, htw-cron, htw-relay, htw-serve and htw-top for bash.
#
# The commands and options are those that the programs print with --help: so there is no list here that could
# be out of date.

# The options in the help of a command.
_htw_options() {
    local help
    help=$("$@" --help 2>/dev/null)
    sed -n 'h; s/^ *-[^-], \(--[a-z-]*\).*/\1/p; g; s/^ *\(-[^ ,=[]*\).*/\1/p' <<<"$help"
}

# The actions in the help of a command: `htw journal` and `htw relay` have some.
_htw_actions() {
    local help
    help=$("$@" --help 2>/dev/null)
    sed -n '/^Actions:/,/^$/s/^  \([a-z][a-z]*\) .*/\1/p' <<<"$help" | sort -u
}

# Whether a word before the present one is one of these.
_htw_has_word() {
    local word
    for word in "${COMP_WORDS[@]:2:COMP_CWORD - 2}"; do
        [[ " $* " != *" $word "* ]] || return 0
    done
    return 1
}

_htw() {
    local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]}
    local -a run=("${COMP_WORDS[0]}") actions
    COMPREPLY=()
    if [[ ${COMP_WORDS[0]##*/} == htw ]]; then
        if ((COMP_CWORD == 1)) || [[ ${COMP_WORDS[1]} == help ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$("${run[0]}" --help 2>/dev/null |
                sed -n 's/^  \([a-z][a-z]*\)  .*/\1/p') --help --version" -- "$current")
            return
        fi
        run+=("${COMP_WORDS[1]}")
    fi
    case $previous in
    --sort) mapfile -t COMPREPLY < <(compgen -W "name pending rate memory" -- "$current") ;;
    --state) mapfile -t COMPREPLY < <(compgen -W "delayed ready leased buried done" -- "$current") ;;
    *)
        if [[ $current == -* ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$(_htw_options "${run[@]}")" -- "$current")
        elif [[ ${run[*]} == *top ]]; then
            mapfile -t COMPREPLY < <(compgen -W "$("${run[@]}" --list 2>/dev/null | awk '{ print $1 }')" -- "$current")
        else
            mapfile -t actions < <(_htw_actions "${run[@]}")
            _htw_has_word "${actions[@]}" ||
                mapfile -t COMPREPLY < <(compgen -W "${actions[*]}" -- "$current")
        fi
        ;;
    esac
}

# Where nothing fits: names of files.
complete -o default -o bashdefault -F _htw htw htw-cron htw-relay htw-serve htw-top
